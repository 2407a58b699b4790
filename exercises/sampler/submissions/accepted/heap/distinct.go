package sampler

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// latest is a heap with the latest arrival on top.
type latest []arrival

type arrival struct {
	at float64
	i  int
}

func (l latest) Len() int           { return len(l) }
func (l latest) Less(i, j int) bool { return l[i].at > l[j].at }
func (l latest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(x any)        { *l = append(*l, x.(arrival)) }
func (l *latest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

func Distinct(weights []float64, k int, r *rand.Rand) ([]int, error) {
	if err := allowed(weights); err != nil {
		return nil, err
	}
	some := 0
	for _, w := range weights {
		if w != 0 {
			some++
		}
	}
	if k < 0 || k > some {
		return nil, ErrSamples
	}
	return earliest(weights, k, r), nil
}

func earliest(weights []float64, k int, r *rand.Rand) []int {
	var kept latest
	for i, w := range weights {
		if w == 0 {
			continue
		}
		a := arrival{math.Log(r.ExpFloat64()) - math.Log(w), i}
		if len(kept) < k {
			heap.Push(&kept, a)
		} else if k > 0 && a.at < kept[0].at {
			kept[0] = a
			heap.Fix(&kept, 0)
		}
	}
	indices := make([]int, k)
	for j := k - 1; j >= 0; j-- {
		indices[j] = heap.Pop(&kept).(arrival).i
	}
	return indices
}
