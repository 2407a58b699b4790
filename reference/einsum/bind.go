package einsum

import (
	"math"
	"slices"
)

// sizes has the size of every label: that of all its axes, or of those that are not 1.
type sizes map[label]int

// ellipsis lists the labels of axes that ellipses stand for, first axis first.
func (s sizes) ellipsis() []label {
	var labels []label
	for l := label(-1); ; l-- {
		if _, ok := s[l]; !ok {
			slices.Reverse(labels)
			return labels
		}
		labels = append(labels, l)
	}
}

// empty reports whether an axis is.
func (s sizes) empty() bool {
	for _, n := range s {
		if n == 0 {
			return true
		}
	}
	return false
}

// volume is the number of elements of a tensor with these axes.
func volume(labels []label, s sizes) int {
	n := 1
	for _, l := range labels {
		n *= s[l]
	}
	return n
}

// bind gives each axis of the operands its label, and each label its size.
func bind(eq equation, operands []Tensor) ([]view, sizes, error) {
	if len(operands) != len(eq.terms) {
		return nil, nil, &Error{Err: ErrOperands, Operand: min(len(operands), len(eq.terms))}
	}
	all := sizes{}
	views := make([]view, len(operands))
	for i, t := range operands {
		axes, ok := eq.terms[i].expand(len(t.Shape))
		if !ok || !t.valid() {
			return nil, nil, shapeError(i, eq.terms[i].pos)
		}
		if axis := all.merge(axes, t.Shape); axis >= 0 {
			return nil, nil, shapeError(i, axes[axis].pos)
		}
		views[i] = newView(t, axes)
	}
	return views, all, nil
}

// expand lists one symbol for each of rank axes. It is not ok if they are too few or
// too many for the term.
func (t term) expand(rank int) (axes []symbol, ok bool) {
	at := t.index(ellipsis)
	if at < 0 {
		return t.symbols, len(t.symbols) == rank
	}
	hidden := rank - (len(t.symbols) - 1)
	if hidden < 0 {
		return nil, false
	}
	axes = slices.Clone(t.symbols[:at])
	for l := hidden; l > 0; l-- {
		axes = append(axes, symbol{label(-l), t.symbols[at].pos})
	}
	return append(axes, t.symbols[at+1:]...), true
}

// merge adds the axes of one operand. It returns the first axis whose size does not fit,
// or -1. Within an operand equal labels need equal sizes; between operands 1 fits all.
func (s sizes) merge(axes []symbol, shape []int) int {
	own := sizes{}
	for i, a := range axes {
		n, seen := own[a.label]
		if seen && n != shape[i] {
			return i
		}
		own[a.label] = shape[i]
		switch n, seen := s[a.label]; {
		case !seen || n == 1:
			s[a.label] = shape[i]
		case shape[i] != 1 && shape[i] != n:
			return i
		}
	}
	return -1
}

// valid reports whether t has as many numbers as its shape says.
func (t Tensor) valid() bool {
	if slices.ContainsFunc(t.Shape, func(n int) bool { return n < 0 }) {
		return false
	}
	if slices.Contains(t.Shape, 0) {
		return len(t.Data) == 0
	}
	n := 1
	for _, size := range t.Shape {
		if n > math.MaxInt/size {
			return false
		}
		n *= size
	}
	return n == len(t.Data)
}
