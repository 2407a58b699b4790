package earlystop

import "iter"

// buffer holds layers end to end; ends says where each ends.
type buffer struct {
	data []float64
	ends []int
}

func (b *buffer) add(layer []float64) {
	b.data = append(b.data, layer...)
	b.ends = append(b.ends, len(b.data))
}

// layers walks over what is kept.
func (b *buffer) layers() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		start := 0
		for _, end := range b.ends {
			if !yield(b.data[start:end]) {
				return
			}
			start = end
		}
	}
}

// exchange calls f with every pair of layers, once it is sure that all fit.
func (b *buffer) exchange(m Params, f func(kept, live []float64)) error {
	fit := true
	pairs(b.layers(), m.Params(), func(kept, live []float64, both bool) bool {
		fit = both && len(kept) == len(live)
		return fit
	})
	if !fit {
		return ErrShape
	}
	pairs(b.layers(), m.Params(), func(kept, live []float64, _ bool) bool {
		f(kept, live)
		return true
	})
	return nil
}

// pairs walks two sequences in step; both is false where only one goes on.
func pairs(a, b iter.Seq[[]float64], yield func(x, y []float64, both bool) bool) {
	next, stop := iter.Pull(b)
	defer stop()
	for x := range a {
		y, ok := next()
		if !yield(x, y, ok) {
			return
		}
	}
	if y, more := next(); more {
		yield(nil, y, false)
	}
}

// split copies what is kept, layer by layer.
func (b *buffer) split() [][]float64 {
	all := [][]float64{}
	for layer := range b.layers() {
		all = append(all, append([]float64{}, layer...))
	}
	return all
}
