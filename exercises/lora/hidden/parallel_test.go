package hidden

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/lora"
)

// A thousand Layers know nothing of each other, and one has a thousand adapters.
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bases := make([]*lora.Linear, 1000+r.IntN(50))
	layers := make([]*lora.Layer, len(bases))
	for i := range layers {
		bases[i] = newBase(r, 1+r.IntN(4), 1+r.IntN(4), true)
		layers[i] = newLayer(t, bases[i])
		active(t, r, layers[i], bases[i], "a", plain(1+r.IntN(3)))
	}
	var sum, weights []float64
	for _, i := range r.Perm(len(layers)) {
		x := numbers(r, bases[i].In)
		sum = append(sum, forward(t, layers[i], x)[0])
		backward(t, layers[i], x, numbers(r, bases[i].Out))
		if i%3 == 0 {
			merge(t, layers[i])
		}
		weights = append(weights, bases[i].W[0])
	}
	o.Floats("outputs of a thousand Layers", sum)
	o.Floats("weights of a thousand Layers", weights)

	base := newBase(r, 3, 2, false)
	l := newLayer(t, base)
	for i := range layers {
		add(t, r, l, base, fmt.Sprint("adapter ", i), plain(1))
	}
	sum = nil
	for _, i := range r.Perm(len(layers)) {
		use(t, l, fmt.Sprint("adapter ", i))
		sum = append(sum, forward(t, l, numbers(r, 3))...)
	}
	o.Floats("outputs of a thousand adapters", sum)
	o.Int("names", len(l.Names()))
}

// someRows draws of how many rows round k is: few, and now and then up to 16 or 70, since rows may be
// worked off in blocks.
func someRows(r *rand.Rand, k int) int {
	switch {
	case k%50 == 23:
		return 32 + r.IntN(39)
	case k%10 == 7:
		return 4 + r.IntN(13)
	}
	return 1 + r.IntN(3)
}

// Forward and Backward of one Layer, and of Layers with one base, may be called by several
// goroutines at once, with arguments of their own or the same ones: each has its own answer, and the
// gradients have all of them. Layers with different bases have nothing in common, so that one is merged
// while another one is (rules 20 and 22).
func TestTogether(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	base := newBase(r, 24, 17, true)
	layers := []*lora.Layer{newLayer(t, base), newLayer(t, base), newLayer(t, base)}
	var adapters []*lora.Adapter
	for i, l := range layers[:2] {
		a := active(t, r, l, base, "a", plain([]int{1 + r.IntN(4), 40 + r.IntN(9)}[i]))
		adapters = append(adapters, a)
	}
	sameX, sameDY := numbers(r, 2*base.In), numbers(r, 2*base.Out) // read by all
	const workers, rounds = 8, 100
	var alone []*lora.Layer // each with a base of its own, for one goroutine
	for range workers {
		base := newBase(r, 24, 17, true)
		l := newLayer(t, base)
		active(t, r, l, base, "a", plain(1+r.IntN(4)))
		alone = append(alone, l)
	}
	outputs, inputs := make([][]float64, workers), make([][]float64, workers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range workers {
		own := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		l := layers[i%2]
		wg.Go(func() {
			<-start
			for k := range rounds {
				n := someRows(own, k)
				x, dy := numbers(own, n*base.In), numbers(own, n*base.Out)
				y, _ := l.Forward(x)
				plain, _ := layers[2].Forward(x)
				if k%3 == 0 {
					runtime.Gosched()
				}
				dx, _ := l.Backward(x, dy)
				if k%5 == 0 {
					y, _ = l.Forward(sameX)
					dx, _ = l.Backward(sameX, sameDY)
				}
				if k%10 == 4 { // what comes of it is for other tests to see
					alone[i].Merge()
					alone[i].Forward(sameX)
					alone[i].Unmerge()
					alone[i].Backward(sameX, sameDY)
					alone[i].ZeroGrad()
				}
				if k%10 < 2 {
					outputs[i] = append(append(outputs[i], y...), plain...)
					inputs[i] = append(inputs[i], dx...)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	for i := range workers {
		o.Floats("outputs", outputs[i])
		o.Floats("gradients of x", inputs[i])
	}
	for i, a := range adapters {
		o.Ints("an adapter is its Layer's still", []int{i, a.Rank, len(layers[i].Names())})
		gradients(o, a)
	}
}
