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

// looks is how many more elements of each copy are looked at, wherever they are.
const looks = 32

// probe changes some elements before each copy, at places that are drawn, and looks whether
// the copy has them; and then at others, which are drawn when the copy is made. So no copy is
// good for the next one, none can be left out, and none can be what has changed alone: of
// another view each time, an element that is left from the copy before is a wrong one.
type probe struct {
	r     *rand.Rand
	from  []float64
	n     int           // how many elements a copy has
	where func(int) int // where in from an element of a copy is
	at    []int         // the elements of a copy that are looked at because they were changed
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

// seen takes note of what a copy has at the places that were changed, and at others.
func (p *probe) seen(element func(i int) float64) {
	for _, i := range p.at {
		p.sum = fold(p.sum, element(i))
	}
	for range looks {
		p.sum = fold(p.sum, element(p.r.IntN(p.n)))
	}
}

// look is seen for a copy that lies in a slice of ours.
func (p *probe) look(to []float64) { p.seen(func(i int) float64 { return to[i] }) }

// lookAt is seen for a matrix that has so many columns.
func (p *probe) lookAt(y *tensor, cols int) {
	p.seen(func(i int) float64 {
		x, _ := y.At(i/cols, i%cols)
		return x
	})
}

func (p *probe) record(o *observe.Observer, name string) { o.Int(name, int(p.sum)) }
