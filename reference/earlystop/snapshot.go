package earlystop

import "slices"

// snapshot is a copy of a model's weights, in memory that is used again.
//
// All layers lie in one slice: a model of ten thousand small layers then costs two
// allocations and not ten thousand, and is copied front to back.
type snapshot struct {
	saved   bool // there is a copy; if not, lengths and data are free for use
	lengths []int
	data    []float64
}

// take makes s the copy of m's weights, or of nothing if m is nil. It changes
// nothing if it returns [ErrShape].
func (s *snapshot) take(m Params) error {
	if m == nil {
		s.drop()
		return nil
	}
	if !s.fits(m) {
		if s.saved {
			return ErrShape
		}
		s.measure(m)
	}
	rest := s.data
	for layer := range m.Params() {
		n := copy(rest, layer)
		rest = rest[n:]
	}
	s.saved = true
	return nil
}

// restore copies the weights back, once it is known that all of them fit.
func (s *snapshot) restore(m Params) error {
	if !s.saved {
		return ErrNoBest
	}
	if !s.fits(m) {
		return ErrShape
	}
	rest := s.data
	for layer := range m.Params() {
		n := copy(layer, rest)
		rest = rest[n:]
	}
	return nil
}

func (s *snapshot) drop() { s.saved = false }

// fits reports whether m has layers of the lengths that s has memory for.
func (s *snapshot) fits(m Params) bool {
	i := 0
	for layer := range m.Params() {
		if i == len(s.lengths) || len(layer) != s.lengths[i] {
			return false
		}
		i++
	}
	return i == len(s.lengths)
}

// measure gets the memory that m's weights need. What there was goes first, so
// that two models never have a copy at the same time.
func (s *snapshot) measure(m Params) {
	*s = snapshot{}
	total := 0
	for layer := range m.Params() {
		s.lengths = append(s.lengths, len(layer))
		total += len(layer)
	}
	s.lengths = slices.Clip(s.lengths)
	s.data = make([]float64, total)
}

// layers returns a copy of the copy, layer by layer.
func (s *snapshot) layers() [][]float64 {
	all := make([][]float64, len(s.lengths))
	rest := s.data
	for i, n := range s.lengths {
		all[i] = slices.Clone(rest[:n])
		rest = rest[n:]
	}
	return all
}
