package hidden

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// measured is a call of a workload. It is made twice, with other numbers in all operands, so
// that nothing that was computed is good for the next call.
type measured struct {
	equation string
	operands [2]tensors
	results  [2]tensor
	diagonal bool // of the first two axes of an operand of three
}

// run calls Einsum.
func (m *measured) run(r *rand.Rand) {
	for i, operands := range m.operands {
		for _, t := range operands {
			m.renew(r, t)
		}
		m.results[i], _ = einsum.Einsum(m.equation, operands...)
	}
}

// renew draws some numbers of an operand anew, each of them somewhere else. Operands share
// numbers, so a program may have seen most of these before; which ones it has not, it learns
// only by a look at all that count.
func (m *measured) renew(r *rand.Rand, t tensor) {
	for range 8 {
		t.Data[m.counts(r, t)] = positive(r)
	}
}

// counts draws the place of a number of an operand that its result depends on: any one, or
// one of the diagonal of its first two axes.
func (m *measured) counts(r *rand.Rand, t tensor) int {
	if !m.diagonal {
		return r.IntN(len(t.Data))
	}
	n, rest := t.Shape[0], t.Shape[2]
	return r.IntN(n)*(n+1)*rest + r.IntN(rest)
}

// record writes down all of the results, in some sums with weights.
func (m *measured) record(o *observe.Observer, weights []float64) {
	for _, got := range m.results {
		o.Ints("shape of a result", got.Shape)
		o.Float("numbers of a result, weighted and added up", fingerprint(weights, got.Data))
	}
}

// shift is how far apart two operands may begin in the numbers that they share.
const shift = 1009

// begin draws where in numbers drawn for an operand of this shape two operands begin.
func (m *measured) begin(r *rand.Rand, shape []int, numbers []float64) {
	n := len(numbers) - 2*shift
	for i := range m.operands {
		at := i*shift + r.IntN(shift)
		m.operands[i] = append(m.operands[i], tensor{Shape: shape, Data: numbers[at : at+n : at+n]})
	}
}

// numbersOf draws numbers for operands of a shape.
func numbersOf(r *rand.Rand, shape []int) []float64 {
	numbers := tensorOf(r, positive, shape...).Data
	return append(numbers, tensorOf(r, positive, 2*shift).Data...)
}

// call draws positive operands of these shapes. Sizes of a hundred or more become up to one
// percent larger or smaller, the same ones all over.
func call(o *observe.Observer, equation string, shapes ...[]int) *measured {
	r, about := o.Rand(), map[int]int{}
	m := &measured{equation: equation}
	for _, shape := range shapes {
		shape = slices.Clone(shape)
		for i, n := range shape {
			if about[n] == 0 {
				about[n] = n - n/100 + r.IntN(2*(n/100)+1)
			}
			shape[i] = about[n]
		}
		m.begin(r, shape, numbersOf(r, shape))
	}
	return m
}

// measure makes calls in the window.
func measure(o *observe.Observer, calls ...*measured) {
	r := o.Rand()
	weights := tensorOf(r, positive, 1009).Data
	for o.Loop() {
		for _, m := range calls {
			m.run(r)
		}
	}
	for _, m := range calls {
		m.record(o, weights)
	}
}

// Batched products of matrices. Time: that of plain loops over slices, with no search for
// a place in the innermost one.
func BenchmarkBatched(b *testing.B) {
	o := observe.New(b)
	measure(o,
		call(o, "bij,bjk->bik", []int{6, 160, 160}, []int{6, 160, 160}),
		call(o, "bqhd,bkhd->bhqk", []int{2, 160, 8, 32}, []int{2, 160, 8, 32}),
	)
}

// Products of matrices. Memory: results and copies of operands, but not all products
// before they are summed.
func BenchmarkProduct(b *testing.B) {
	o := observe.New(b)
	measure(o,
		call(o, "bij,bjk->bik", []int{4, 128, 128}, []int{4, 128, 128}),
		call(o, "ij,jk->ik", []int{20, 4000}, []int{4000, 100}),
	)
}

// inner is the sizes of a chain that is narrow within, from the left or from the right. The
// pair with the fewest multiplications is the right one in each step, by a tenth or more:
// where sizes are equal, that rule would find the cheap order by luck only.
func inner(r *rand.Rand, sizes ...int) []int {
	if r.IntN(2) == 0 {
		slices.Reverse(sizes)
	}
	return sizes
}

// matrices is the shapes of a chain.
func matrices(sizes []int) (shapes [][]int) {
	for i := range sizes[1:] {
		shapes = append(shapes, sizes[i:i+2])
	}
	return shapes
}

// Chains of matrices that are cheap from the right, from the left, from both ends, and from
// within to both ends. Time: that of the cheap order.
func BenchmarkChain(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	measure(o,
		call(o, "ij,jk,kl->il", []int{700, 700}, []int{700, 700}, []int{700, 4}),
		call(o, "ij,jk,kl->il", []int{4, 700}, []int{700, 700}, []int{700, 700}),
		call(o, "ij,jk,kl,lm->im", []int{600, 4}, []int{4, 600}, []int{600, 600}, []int{600, 4}),
		call(o, "ab,bc,cd,de,ef->af", append(slices.Repeat([][]int{{500, 500}}, 4), []int{500, 2})...),
		call(o, "ab,bc,cd,de,ef,fg->ag", append([][]int{{2, 500}}, slices.Repeat([][]int{{500, 500}}, 5)...)...),
		call(o, "ab,bc,cd,de,ef,fg,gh,hi,ij->aj", append(slices.Repeat([][]int{{400, 400}}, 8), []int{400, 2})...),
		call(o, "ab,bc,cd,de->ae", matrices(inner(r, 500, 900, 2, 600, 600))...),
		call(o, "ab,bc,cd,de,ef->af", matrices(inner(r, 500, 400, 2, 600, 400, 450))...),
	)
}

// Operands that share no letter with their neighbour. Memory: they are not multiplied
// before one that joins them.
func BenchmarkOrder(b *testing.B) {
	o := observe.New(b)
	measure(o,
		call(o, "ij,kl,jk->il", []int{60, 50}, []int{50, 60}, []int{50, 50}),
		call(o, "ab,cd,bc,de->ae", []int{100, 60}, []int{60, 60}, []int{60, 60}, []int{60, 100}),
		call(o, "ab,cd,bc,de,ef->af", slices.Repeat([][]int{{60, 60}}, 5)...),
		call(o, "cd,ab,ef,de,bc,fg->ag", slices.Repeat([][]int{{60, 60}}, 6)...),
		call(o, "ab,cd,bc,de,ef,fg,gh,hi,ij,jk->ak", slices.Repeat([][]int{{60, 60}}, 10)...),
	)
}

// Diagonals of large operands. Time: that of the diagonal.
func BenchmarkDiagonal(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	shape := []int{50, 50, 594 + r.IntN(13)}
	numbers := numbersOf(r, shape)
	var calls []*measured
	for range 100 {
		for _, equation := range []string{"iij->j", "iij->ij"} {
			m := &measured{equation: equation, diagonal: true}
			m.begin(r, shape, numbers)
			calls = append(calls, m)
		}
	}
	measure(o, calls...)
}

// Sums and other orders of axes of one operand, and products of two that are none of matrices.
// Time: that of loops over their numbers.
func BenchmarkAxes(b *testing.B) {
	o := observe.New(b)
	measure(o,
		call(o, "ijk->kj", []int{80, 150, 150}),
		call(o, "ijk->kij", []int{100, 100, 100}),
		call(o, "ijkl->jl", []int{30, 60, 30, 40}),
		call(o, "...->", []int{80, 100, 120}),
		call(o, "ij,ij->i", []int{700, 700}, []int{700, 700}),
		call(o, "ij,i->ij", []int{700, 700}, []int{700}),
	)
}
