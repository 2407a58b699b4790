package hidden

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/lora"
)

// large is a base of a million weights with an adapter of rank 16. It has no memory for gradients,
// which would be room for a matrix in the window.
func large(b testing.TB, o *observe.Observer, in, out int) (*lora.Linear, *lora.Layer, *lora.Adapter) {
	r := o.Rand()
	base := &lora.Linear{In: in, Out: out, W: numbers(r, in*out), B: numbers(r, out)}
	l := newLayer(b, base)
	return base, l, active(b, r, l, base, "a", plain(16))
}

// about draws a size that is n, or up to one percent more or less.
func about(r *rand.Rand, n int) int { return n - n/100 + r.IntN(n/50+1) }

// round is what a call of a window is given, which no other one is: numbers for all of A and B,
// or for one place in each, rows and gradients. Room has numbers of nobody, and takes what the
// call answers: it is copied in the window and added up behind it.
type round struct {
	a, b               int       // the places from which on numbers are written
	numbersA, numbersB []float64 // these numbers
	x, dy, room        []float64
}

// newRounds draws rounds of n rows, with room for so many numbers. All of A and B change before most
// of them, as an optimizer does it, and a single number, which is easily overlooked, before every third.
func newRounds(r *rand.Rand, base *lora.Linear, a *lora.Adapter, rounds, n, room int) []round {
	list := make([]round, rounds)
	for i := range list {
		list[i] = round{
			numbersA: numbers(r, len(a.A)), numbersB: numbers(r, len(a.B)),
			x: numbers(r, n*base.In), dy: numbers(r, n*base.Out), room: numbers(r, room),
		}
		if i%3 == 1 {
			list[i].one(r)
		}
	}
	return list
}

// one leaves a single number of A and one of B to be changed.
func (c *round) one(r *rand.Rand) {
	c.a, c.b = r.IntN(len(c.numbersA)), r.IntN(len(c.numbersB))
	c.numbersA, c.numbersB = []float64{1 + r.Float64()}, []float64{-1 - r.Float64()}
}

// change changes the adapter.
func (c *round) change(a *lora.Adapter) {
	copy(a.A[c.a:], c.numbersA)
	copy(a.B[c.b:], c.numbersB)
}

// keep copies answers into the room, one behind the other.
func (c *round) keep(answers ...[]float64) {
	room := c.room
	for _, list := range answers {
		room = room[copy(room, list):]
	}
}

// record records the answers of all rounds.
func record(o *observe.Observer, name string, rounds []round) {
	for _, c := range rounds {
		o.Float(name, product(c.room))
	}
}

// Forward of four rows through a layer of 1,500 × 1,400 with an adapter of rank 16, which
// changes between calls. Time: that of the base and a little more. Memory: the outputs.
func BenchmarkForward(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	base, l, a := large(b, o, about(r, 1500), about(r, 1400))
	rounds := newRounds(r, base, a, 6, 4, 4*base.Out)
	for o.Loop() {
		for _, c := range rounds {
			c.change(a)
			c.keep(forward(b, l, c.x))
		}
	}
	record(o, "outputs of a call, added up with weights", rounds)
}

// Backward of four rows through the same. Time: that of the gradient of x of the base and a
// little more. Memory: the gradient of x.
func BenchmarkBackward(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	base, l, a := large(b, o, about(r, 1500), about(r, 1400))
	rounds := newRounds(r, base, a, 6, 4, 4*base.In+len(a.GradA)+len(a.GradB))
	for o.Loop() {
		for _, c := range rounds {
			l.ZeroGrad()
			c.change(a)
			dx := backward(b, l, c.x, c.dy)
			c.keep(dx, a.GradA, a.GradB)
		}
	}
	record(o, "gradients of a call, added up with weights", rounds)
}

// Merge and Unmerge of an adapter of rank 16 in a layer of 2,100 × 2,000. Time: each weight
// is changed once for each number of the rank. Memory: none, neither for scale·B·A nor for a
// copy of the weights.
func BenchmarkMerge(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	base, l, a := large(b, o, about(r, 2100), about(r, 2000))
	merged := numbers(r, base.Out)
	for o.Loop() {
		a.A[r.IntN(len(a.A))] = 0.25
		merge(b, l)
		for i := range merged { // places that nobody knows before
			merged[i] = base.W[i*base.In+r.IntN(base.In)]
		}
		unmerge(b, l)
	}
	o.Floats("a weight of each row while merged", merged)
	o.Float("weights afterwards, added up", product(base.W))
}

// Use of each of fifty adapters of a layer of 1,000 × 1,000, and a Forward of one row.
// Time: a switch takes no longer than a look-up.
func BenchmarkSwitch(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	base := newBase(r, about(r, 1000), about(r, 1000), false)
	l := newLayer(b, base)
	var a *lora.Adapter
	names := make([]string, 50)
	for i, number := range r.Perm(len(names)) {
		names[number] = fmt.Sprint("adapter ", i)
		a = add(b, r, l, base, names[number], plain(1+i%3))
	}
	rounds := newRounds(r, base, a, len(names), 1, base.Out)
	for o.Loop() {
		for i, c := range rounds {
			use(b, l, names[i])
			c.keep(forward(b, l, c.x))
		}
	}
	record(o, "outputs after a switch, added up with weights", rounds)
}
