package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// nearly returns lengths of layers that are others by numbers of which 8 or 16 bits
// see nothing.
func nearly(lengths ...int) (others [][]int) {
	for _, n := range []int{1 << 8, 1 << 16} {
		first, last := slices.Clone(lengths), slices.Clone(lengths)
		first[0] += n
		last[len(last)-1] += n
		others = append(others, first, last)
	}
	return append(others, append(slices.Clone(lengths), make([]int, 1<<8)...)) // empty layers
}

// newLarge makes a model of a layer of more than two million weights between two small
// ones.
func newLarge(o *observe.Observer) *model {
	n := 2<<20 + 1 + o.Rand().IntN(200_000)
	return &model{layers: [][]float64{make([]float64, 1), make([]float64, n), make([]float64, 3)}}
}

// fill writes another number into every weight. It takes less time than train.
func (m *model) fill(o *observe.Observer) {
	x := o.Rand().Uint64()
	for _, layer := range m.layers {
		for i := range layer {
			x += 0x9e3779b97f4a7c15
			layer[i] = float64(x >> 11)
		}
	}
}

// ends records the last weights of each layer, and a sum of all.
func (m *model) ends(o *observe.Observer, name string) {
	var sum uint64
	for _, layer := range m.layers {
		o.Floats(name+": the end of a layer", layer[max(0, len(layer)-5):])
		for _, w := range layer {
			sum = sum*31 + math.Float64bits(w)
		}
	}
	o.Int(name+": sum of all weights", int(sum>>1))
}

// large records what Restore brings back of a large layer, of a first best and of a
// second one, which gets the memory of the first.
func large(t *testing.T, o *observe.Observer) {
	s, m := newStopper(t, earlystop.Config{Patience: endless}), newLarge(o)
	for epoch := range 2 {
		m.fill(o)
		s.Observe(epoch, float64(-epoch), m)
		for _, layer := range m.layers {
			clear(layer)
		}
		o.Error("a large layer: error of Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
		m.ends(o, "a large layer")
	}
}

// largeState records what a State holds of a large layer. A Stopper that sees a new
// best does not change it, and it does not change the one that it was given to.
func largeState(t *testing.T, o *observe.Observer) {
	cfg := earlystop.Config{Patience: endless}
	s, next, m := newStopper(t, cfg), newStopper(t, cfg), newLarge(o)
	m.fill(o)
	s.Observe(0, 1, m)
	st := s.State()
	m.fill(o)
	s.Observe(1, 0, m)
	o.Error("a large layer: error of SetState", next.SetState(st))
	for _, layer := range st.Weights {
		if len(layer) > 0 {
			layer[len(layer)-1] = o.Rand().NormFloat64()
		}
	}
	o.Error("a large layer: error of Restore", next.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
	m.ends(o, "a large layer")
}
