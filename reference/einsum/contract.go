package einsum

import (
	"math"
	"slices"
)

// cheapest chooses which two views to contract next: those that take the fewest
// multiplications. That order is not always the best one, but it is found in no time for any
// number of operands. To count what a result holds in place of what it takes to compute it,
// as the greedy order of opt_einsum does, would not tell the two ends of a chain of
// square matrices and a vector apart.
func cheapest(views []view, s sizes) (i, j int) {
	least := math.Inf(1)
	for y := range views {
		for x := range y {
			if n := products(views[x], views[y], s); n < least {
				i, j, least = x, y, n
			}
		}
	}
	return i, j
}

// products is how many there are of an element of a and one of b that fits to it. They
// may be too many for an int, but not for a float64.
func products(a, b view, s sizes) float64 {
	n := 1.0
	for _, l := range union(a, b) {
		n *= float64(s[l])
	}
	return n
}

// needed are the labels of views i and j that the output or another view has too.
func needed(views []view, i, j int, output []label) []label {
	var labels []label
	for _, l := range union(views[i], views[j]) {
		used := slices.Contains(output, l)
		for k, v := range views {
			used = used || k != i && k != j && v.has(l)
		}
		if used {
			labels = append(labels, l)
		}
	}
	return labels
}

// union is the labels of a, and those of b that a has not.
func union(a, b view) []label {
	var labels []label
	for _, x := range a.axes {
		labels = append(labels, x.label)
	}
	for _, x := range b.axes {
		if !a.has(x.label) {
			labels = append(labels, x.label)
		}
	}
	return labels
}

// contract multiplies a by b and sums over all labels that are not in keep. It is a
// product of matrices, one for each value of the labels that both have and keep.
func contract(a, b view, keep []label, s sizes) view {
	var batch, rows, cols, inner []label
	for _, l := range union(a, b) {
		kept := slices.Contains(keep, l)
		switch inA, inB := a.has(l), b.has(l); {
		case inA && inB && kept:
			batch = append(batch, l)
		case inA && inB:
			inner = append(inner, l)
		case inA && kept:
			rows = append(rows, l)
		case inB && kept:
			cols = append(cols, l)
		}
	}
	g := gemm{volume(rows, s), volume(inner, s), volume(cols, s)}
	x := a.packed(slices.Concat(batch, rows, inner), s)
	y := b.packed(slices.Concat(batch, g.orient(inner, cols)), s)
	return dense(slices.Concat(batch, rows, cols), s, g.multiply(x, y, volume(batch, s)))
}

// dense is a view of data with these axes, the last one contiguous.
func dense(labels []label, s sizes, data []float64) view {
	v := view{data: data}
	stride := 1
	for _, l := range slices.Backward(labels) {
		v.axes = append(v.axes, axis{l, stride})
		stride *= s[l]
	}
	slices.Reverse(v.axes)
	return v
}

// gemm is the shape of a product of matrices: m×k by k×n.
type gemm struct{ m, k, n int }

// wide says that rows of the result are longer than the sums in it. The innermost loop
// goes along whichever is longer.
func (g gemm) wide() bool { return g.n >= g.k }

// orient is how the second matrix is to lie: k×n, or transposed if it is not wide.
func (g gemm) orient(inner, cols []label) []label {
	if g.wide() {
		return slices.Concat(inner, cols)
	}
	return slices.Concat(cols, inner)
}

// multiply multiplies each of the matrices in a by its partner in b.
func (g gemm) multiply(a, b []float64, batch int) []float64 {
	c := make([]float64, batch*g.m*g.n)
	for i := range batch * g.m {
		x := a[i*g.k:][:g.k]
		y := b[i/g.m*g.k*g.n:][:g.k*g.n]
		if g.wide() {
			combine(c[i*g.n:][:g.n], x, y)
		} else {
			dots(c[i*g.n:][:g.n], x, y)
		}
	}
	return c
}

// combine sets dst to the sum of the rows of b, each times its number in a.
func combine(dst, a, b []float64) {
	n := len(dst)
	for k, x := range a {
		for j, y := range b[k*n:][:n] {
			dst[j] += x * y
		}
	}
}

// dots sets dst to the products of a with each row of b.
func dots(dst, a, b []float64) {
	for j := range dst {
		sum := 0.0
		for k, y := range b[j*len(a):][:len(a)] {
			sum += a[k] * y
		}
		dst[j] = sum
	}
}
