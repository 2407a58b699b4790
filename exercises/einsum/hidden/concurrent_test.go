package hidden

import (
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// Calls at the same time, with the same operands and with others, do not disturb each
// other (rule 15).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const workers, rounds = 6, 20
	shared, large := random(r, 12, 12), random(r, 90, 90)
	deep, long := random(r, 2, 3, 2, 3, 2, 3, 2), random(r, 70_000)
	wide := tensorOf(r, dyadic, slices.Repeat([]int{2}, 11)...)
	own := make([]tensor, workers)
	sums := make([][]float64, workers)
	big, huge := largeCalls(o), veryLargeCalls(o)
	for i := range own {
		own[i] = random(r, 12, 5+i)
		sums[i] = make([]float64, 6)
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			if got, err := einsum.Einsum("ij,jk->ik", large, large); err == nil && len(got.Data) > 0 {
				sums[i][0] += fingerprint(shared.Data, got.Data)
			}
			for _, c := range []struct { // of all kinds
				equation string
				operands tensors
			}{
				{"abcdefg->gfedcba", tensors{deep}}, {"abcdefg->bdfg", tensors{deep}}, {"abcdefg,gfedcba->aceg", tensors{deep, deep}},
				{"abcdefghijk->kdjfihegcba", tensors{wide}}, {"...gh->...hg", tensors{wide}}, {"abc...,...->cab...", tensors{deep, {Shape: []int{3, 2, 3, 2}, Data: shared.Data[:36]}}},
				{"abcdabcdabc->da", tensors{wide}}, {"i->", tensors{long}}, {"i->i", tensors{long}}, {"i,i->", tensors{long, long}},
				{"ii->i", tensors{shared}}, {"iJ,J", tensors{shared, {Shape: []int{12}, Data: shared.Data[:12]}}}, {",ij->ji", tensors{{Data: shared.Data[:1]}, shared}},
				{"ij,jk,kl,lm,mi", tensors{shared, shared, shared, shared, shared}}, {"ij,j->i", tensors{{Shape: []int{2, 0}}, {Shape: []int{0}}}},
			} {
				for range 4 {
					if got, err := einsum.Einsum(c.equation, c.operands...); err == nil && len(got.Data) > 0 {
						sums[i][4] += fingerprint(shared.Data, got.Data)
					}
				}
			}
			for k, c := range big { // each is made by every second one
				if k%2 != i%2 {
					continue
				}
				if got, err := einsum.Einsum(c.equation, c.operands...); err == nil && len(got.Data) > 0 {
					sums[i][5] += fingerprint(shared.Data, got.Data)
				}
			}
			for k, c := range huge { // each is made by two
				if k%3 != i%3 {
					continue
				}
				if got, err := einsum.Einsum(c.equation, c.operands...); err == nil && len(got.Data) > 0 {
					sums[i][5] += fingerprint(shared.Data, got.Data)
				}
			}
			for _, equation := range []string{"", "ij,jk->ik", "ij->", "ii", "i?", "ij,i...j...,"} { // of all kinds of errors
				if _, err := einsum.Einsum(equation, own[i], shared); err != nil {
					sums[i][3]++
				}
			}
			for range rounds {
				for k, c := range []struct {
					equation string
					operands tensors
				}{
					{"ij,jk->ik", tensors{shared, own[i]}},
					{"ij,jk,kl->li", tensors{shared, shared, own[i]}},
					{"ij->ji", tensors{shared}},
					{"ij,ik->jk", tensors{own[i], own[i]}},
				} {
					if got, err := einsum.Einsum(c.equation, c.operands...); err == nil && len(got.Data) > 0 {
						sums[i][k] += fingerprint(shared.Data, got.Data)
					}
				}
				if _, err := einsum.Einsum("ij,jk->iz", shared, own[i]); err != nil {
					sums[i][3]++
				}
			}
		})
	}
	wg.Wait()
	for i := range sums {
		o.Floats("results added up", sums[i])
	}
}

// aCall is an equation with its operands.
type aCall struct {
	equation string
	operands tensors
}

// largeCalls are calls with operands or results of some ten thousand numbers, and few
// products, so that the race detector is through in a second. Each axis is the large one once,
// in each order of axes.
func largeCalls(o *observe.Observer) (calls []aCall) {
	r := o.Rand()
	store := random(r, 1<<17).Data
	add := func(equation string, size map[rune]int) {
		var operands tensors
		for _, term := range terms(equation) {
			shape := shapeOf(term, size, []int{3, 50})
			operands = append(operands, tensor{Shape: shape, Data: store[:volume(shape)]})
		}
		calls = append(calls, aCall{equation, operands})
	}
	for _, equation := range []string{"ij,jk->ik", "ji,kj->ik", "ij,kj->ki", "ji,jk->ki"} {
		add(equation, map[rune]int{'i': 2, 'j': 1 << 15, 'k': 2})
		add(equation, map[rune]int{'i': 150, 'j': 150, 'k': 2})
		add(equation, map[rune]int{'i': 2, 'j': 150, 'k': 150})
		add(equation, map[rune]int{'i': 150, 'j': 2, 'k': 150})
	}
	square := map[rune]int{'i': 257, 'j': 257, 'k': 1}
	for _, equation := range []string{"ij->ji", "ij->ij", "ij->i", "ij->j", "ij->", "ii->i", "ij,j->i", "i,ij->j", "ij,ij->ji", "ij,->ij", "i,j->ji", "ij,ji->i", "i,ij,j->", "ji,ik,->j", "i,ij,->ij", "ij,k,->ji"} {
		add(equation, square)
	}
	for _, equation := range []string{"...i->i...", "i...->...", "...i,i->...", "...ij->ji..."} {
		add(equation, map[rune]int{'i': 30, 'j': 10})
	}
	cube := map[rune]int{'b': 30, 'i': 20, 'j': 20, 'k': 20}
	for _, equation := range []string{"bij,bjk->bik", "bji,bkj->ibk", "bij->jib", "bij->ij", "ij,bjk,ki->b"} {
		add(equation, cube)
	}
	return calls
}

// veryLargeCalls are calls with an operand of a million numbers in another order: one alone, and
// either one of a product.
func veryLargeCalls(o *observe.Observer) (calls []aCall) {
	store := newStore(o)
	n := 1<<10 + 1 + store.r.IntN(8)
	matrix, vector := store.tensor(store.dyadic, n, n), store.tensor(store.dyadic, n)
	row, column := tensor{Shape: []int{1, n}, Data: vector.Data}, tensor{Shape: []int{n, 1}, Data: vector.Data}
	return []aCall{
		{"ij->ji", tensors{matrix}}, {"ij,kj->ik", tensors{row, matrix}}, {"ji,jk->ik", tensors{matrix, column}},
	}
}
