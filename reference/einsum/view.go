package einsum

import "slices"

// view is an operand or what has come of some. It has no label twice, and none of size
// 1: its elements do not depend on those.
type view struct {
	axes []axis
	data []float64
}

// axis is a label, and how far apart two neighbours along it lie.
type axis struct {
	label  label
	stride int
}

// newView makes a view of t. A label that occurs again walks along both axes at once,
// which is the diagonal, so its strides add up.
func newView(t Tensor, symbols []symbol) view {
	v := view{data: t.Data}
	stride := 1
	for i, s := range slices.Backward(symbols) {
		size := t.Shape[i]
		if at := v.index(s.label); at >= 0 {
			v.axes[at].stride += stride
		} else if size != 1 {
			v.axes = append(v.axes, axis{s.label, stride})
		}
		stride *= size
	}
	slices.Reverse(v.axes)
	return v
}

// index is the place of l among the axes, or -1.
func (v view) index(l label) int {
	return slices.IndexFunc(v.axes, func(a axis) bool { return a.label == l })
}

func (v view) has(l label) bool { return v.index(l) >= 0 }

// packed lays the numbers of v out along labels, the last one contiguous, and sums over
// all other labels. It copies nothing if they lie so already.
func (v view) packed(labels []label, s sizes) []float64 {
	if v.lies(labels, s) {
		return v.data
	}
	return v.copied(labels, s)
}

// copied is packed, in memory of its own.
func (v view) copied(labels []label, s sizes) []float64 {
	dst := make([]float64, volume(labels, s))
	v.addTo(dst, labels, s)
	return dst
}

// lies reports whether the axes of v are labels, in this order and without gaps.
func (v view) lies(labels []label, s sizes) bool {
	if len(labels) != len(v.axes) {
		return false
	}
	stride := 1
	for i, a := range slices.Backward(v.axes) {
		if a.label != labels[i] || a.stride != stride {
			return false
		}
		stride *= s[a.label]
	}
	return true
}

// addTo adds each number of v to its place in dst, which has the axes labels, the last
// one contiguous. Numbers that differ in other labels have the same place.
func (v view) addTo(dst []float64, labels []label, s sizes) {
	var loops []loop
	stride := 1
	for _, l := range slices.Backward(labels) {
		if at := v.index(l); at >= 0 {
			loops = append(loops, loop{s[l], stride, v.axes[at].stride})
		}
		stride *= s[l]
	}
	for _, a := range slices.Backward(v.axes) {
		if !slices.Contains(labels, a.label) {
			loops = append(loops, loop{s[a.label], 0, a.stride})
		}
	}
	slices.SortStableFunc(loops, func(x, y loop) int { return y.src - x.src })
	accumulate(loops, dst, v.data)
}

// loop is one of several nested ones: how often it goes round, and how far it steps.
type loop struct{ n, dst, src int }

// accumulate runs the loops, the first of them outermost, and adds src to dst.
func accumulate(loops []loop, dst, src []float64) {
	switch len(loops) {
	case 0:
		dst[0] += src[0]
	case 1:
		l := loops[0]
		for i := range l.n {
			dst[i*l.dst] += src[i*l.src]
		}
	default:
		l := loops[0]
		for i := range l.n {
			accumulate(loops[1:], dst[i*l.dst:], src[i*l.src:])
		}
	}
}
