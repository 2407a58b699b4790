package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

// kept is a tensor of random numbers, and the slice that it is made of. What is written to
// the slice, and read from it, is no call that a solution could watch.
func kept(t testing.TB, r *rand.Rand, shape ...int) (*tensor, []float64) {
	t.Helper()
	data := values(r, count(shape))
	return get(t)(strided.FromSlice(data, shape...)), data
}

// fold makes one number of a number and an element, by all of their bits and their order.
func fold(sum uint64, x float64) uint64 { return (sum ^ math.Float64bits(x)) * 0x100000001b3 }

// probe changes some elements before each copy, at places that are drawn, and looks whether
// the copy has them. So no copy is good for the next one, and none can be left out.
type probe struct {
	r     *rand.Rand
	from  []float64
	n     int           // how many elements a copy has
	where func(int) int // where in from an element of a copy is
	at    []int         // the elements of a copy that are looked at
	sum   uint64
}

func newProbe(r *rand.Rand, places int, from []float64, n int, where func(int) int) *probe {
	return &probe{r: r, from: from, n: n, where: where, at: make([]int, places)}
}

// change draws places, and new numbers for them.
func (p *probe) change() {
	for k := range p.at {
		p.at[k] = p.r.IntN(p.n)
	}
	p.again()
}

// again draws new numbers for the same places.
func (p *probe) again() {
	for _, i := range p.at {
		p.from[p.where(i)] = 1 + 99*p.r.Float64()
	}
}

// look takes note of what a copy has at these places.
func (p *probe) look(to []float64) {
	for _, i := range p.at {
		p.sum = fold(p.sum, to[i])
	}
}

// lookAt is look for a matrix that has so many columns.
func (p *probe) lookAt(y *tensor, cols int) {
	for _, i := range p.at {
		x, _ := y.At(i/cols, i%cols)
		p.sum = fold(p.sum, x)
	}
}

func (p *probe) record(o *observe.Observer, name string) { o.Int(name, int(p.sum)) }
