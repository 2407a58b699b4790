package hidden

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// equations of all kinds, for tests that are about something else.
var equations = []string{"ij->ij", "ij->ji", "ij->i", "ij,jk->ik", "ij,j->i", "i,j->ij", "ij,ij->ij", "bij,bjk->bik"}

// Einsum writes to no operand, neither to its numbers nor to its shape, not even beyond
// its length (rule 15).
func TestOperandsUnchanged(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	more := []string{"ij,jk,kl->il", "ij,kl,jk->il", "i,i,i,i->i", "ij,,jk,k->i", "a,ab,bc,cd,de->e", "ii->i", "iij,jk", "i,j", "...i,...ij->...j", ",ij->ij", "i->", "ij,jk->iz", "ij,jk,ij->i->", "ij,jj,jk,j->i?"}
	for n, equation := range append(more, equations...) {
		if n >= len(more) { // and as large as blocks are
			n = r.IntN(2)
		}
		draw := []func() int{distinct(r), same(20)}[n%2]
		if strings.Count(equation, ",") > 3 {
			draw = distinct(r)
		}
		operands := operandsOf(r, equation, sizesOf(equation, draw), []int{2}, []int{2})
		var before tensors
		for i, x := range operands {
			// There is room behind what counts.
			x.Data = append(slices.Clone(x.Data), dyadic(r), dyadic(r))[:len(x.Data)]
			x.Shape = append(slices.Clone(x.Shape), 7, 8)[:len(x.Shape)]
			operands[i] = x
			before = append(before, tensor{Shape: slices.Clone(x.Shape[:len(x.Shape)+2]), Data: slices.Clone(x.Data[:len(x.Data)+2])})
		}
		list := append(slices.Clone(operands), random(r, 2))[:len(operands)]
		behind := &list[:len(list)+1][len(list)].Data[0]
		got, err := einsum.Einsum(equation, list...)
		record(o, kind(equation)+"result", got, err)
		same := behind == &list[:len(list)+1][len(list)].Data[0]
		for i, x := range operands {
			same = same && slices.Equal(x.Data[:len(x.Data)+2], before[i].Data) && slices.Equal(x.Shape[:len(x.Shape)+2], before[i].Shape)
			same = same && len(list[i].Data) == len(x.Data) && slices.Equal(list[i].Shape, x.Shape) && &list[i].Data[0] == &x.Data[0]
		}
		o.SelfReported().Bool("operands are as before", same)
	}
}

// The result belongs to the caller: what is written to it shows in no operand and in no
// later result, and the other way round (rule 15).
func TestOwnMemory(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	check := func(equation string, operands tensors) {
		first, err := einsum.Einsum(equation, operands...)
		record(o, kind(equation)+"result", first, err)
		for i := range first.Data {
			first.Data[i] += dyadic(r)
		}
		for i := range first.Shape {
			first.Shape[i] += 1 + r.IntN(5)
		}
		for _, x := range operands {
			o.Floats("operand, the result was written to", x.Data)
			o.Ints("operand's shape, the result was written to", x.Shape)
		}
		second, err := einsum.Einsum(equation, operands...)
		record(o, kind(equation)+"second result", second, err)
		for _, x := range operands {
			for i := range x.Data {
				x.Data[i] += 1 + dyadic(r)/8
			}
		}
		o.Floats(kind(equation)+"second result, operands were written to", second.Data)
		o.Floats(kind(equation)+"first result, operands were written to", first.Data)
		third, err := einsum.Einsum(equation, operands...)
		record(o, kind(equation)+"result of other numbers in the same memory", third, err)
	}
	for _, equation := range append([]string{"i->i", "ij,->ij", ",ij->ij", "ij,,->ij", "ij,kl->ij"}, equations...) {
		size := sizesOf(equation, distinct(r))
		if equation == "ij,kl->ij" {
			size['k'], size['l'] = 1, 1
		}
		check(equation, operandsOf(r, equation, size))
	}
	// One operand is not changed by the others, which are 1 or the identity, or not by the
	// equation, as an axis of it has size 1; sums are of nothing but zeros.
	for _, equation := range []string{",ij->ij", "ij,->ij", ",ij,->ij", ",i->i", "k,ij->ij", "ij,kl->ij", "ij,j->ij", "j,ij->ij", "ij,ij->ij", "i,i,i->i", "ijk,jk->ijk",
		"ij,jk->ik", "jk,ij->ik", "ij,jk,kl->il", "bij,bjk->bik", ",->", ",,->"} {
		for at := range terms(equation) {
			operands := operandsOf(r, equation, map[rune]int{'i': 3, 'j': 3, 'k': 3, 'l': 3, 'b': 1})
			for i, x := range operands {
				if i == at {
					continue
				}
				if strings.Contains(equation, "kl->ij") || strings.HasPrefix(equation, "k,") {
					x = random(r, slices.Repeat([]int{1}, len(x.Shape))...)
				}
				for k := range x.Data {
					x.Data[k] = 1
					if strings.ContainsAny(equation, "bl") && len(x.Data) > 1 || strings.HasSuffix(equation, "->ik") {
						x.Data[k] = float64((5 - k%4) / 5) // the identity of 3×3
					}
				}
				operands[i] = x
			}
			if strings.HasSuffix(equation, "kl->ij") && at == 1 {
				operands[0], operands[1] = random(r, 3, 3), random(r, 1, 1)
			}
			check(equation, operands)
			for k := range operands[at].Data {
				operands[at].Data[k] = 0
			}
			check(equation, operands)
		}
	}
	for _, shape := range [][]int{{1, 3}, {3, 1}, {1, 1}} {
		for _, equation := range []string{"ij->ji", "ij->i", "ij->j", "ij->ij", "ij->", "...j->...", "...->...", "i...->...i", "ij"} {
			check(equation, tensors{random(r, shape...)})
		}
		check("ij,i->ij", tensors{random(r, shape...), tensorOf(r, func(*rand.Rand) float64 { return 1 }, 1)})
	}
	check("", tensors{random(r)})
	check("->", tensors{random(r)})
	check("i->i", tensors{random(r, 1)})
	check("ii->i", tensors{random(r, 1, 1)})
	check("iii->", tensors{random(r, 1, 1, 1)})

	// Large results, of which two are alive.
	n := 1<<18 + r.IntN(99)
	m := 520 + r.IntN(9)
	weights := tensorOf(r, positive, 1009).Data
	for _, c := range []struct {
		equation string
		shapes   [][]int
	}{
		{"i->i", [][]int{{n}}}, {"ij->ji", [][]int{{m, m}}}, {"ij->ij", [][]int{{m, m}}}, {",ij->ij", [][]int{{}, {m, m}}},
		{"i,j->ij", [][]int{{m}, {m}}}, {"i,i->i", [][]int{{n}, {n}}}, {"ij,jk->ik", [][]int{{m, 2}, {2, m}}}, {"ij,jk->ik", [][]int{{m, 1}, {1, m}}},
		{"ij,j->ij", [][]int{{m, m}, {m}}}, {"i,j,->ij", [][]int{{m}, {m}, {}}}, {"...i->...i", [][]int{{3, n / 3}}}, {"ii->i", [][]int{{m, m}}}, {"i->i", [][]int{{1<<20 + r.IntN(99)}}},
	} {
		operands := make(tensors, len(c.shapes))
		for i, shape := range c.shapes {
			operands[i] = random(r, shape...)
		}
		if c.equation == ",ij->ij" {
			operands[0].Data[0] = 1
		}
		first, err := einsum.Einsum(c.equation, operands...)
		o.Error(kind(c.equation)+"large: error", err, kinds...)
		operands[0].Data[0] += 1000
		second, err := einsum.Einsum(c.equation, operands...)
		o.Error(kind(c.equation)+"large: error", err, kinds...)
		o.Float(kind(c.equation)+"large: the first result, after the second call", fingerprint(weights, first.Data))
		for i := range first.Data {
			first.Data[i] = -1
		}
		o.Float(kind(c.equation)+"large: the second result, the first was written to", fingerprint(weights, second.Data))
		for _, x := range operands {
			o.Float("large: an operand, a result was written to", fingerprint(weights, x.Data))
		}
		for i := range second.Data {
			second.Data[i] = -2
		}
		for _, x := range operands {
			o.Float("large: an operand, a result was written to", fingerprint(weights, x.Data))
		}
		third, err := einsum.Einsum(c.equation, operands...)
		o.Error(kind(c.equation)+"large: error", err, kinds...)
		o.Float(kind(c.equation)+"large: the third result", fingerprint(weights, third.Data))
		o.Float(kind(c.equation)+"large: the first result, after the third call", fingerprint(weights, first.Data))
	}
	x := random(r, 4, 4) // one tensor may be several operands, and a result the next operand
	ask(o, "the same operand twice", "ij,jk->ik", x, x)
	ask(o, "the same operand three times", "ij,jk,kl->il", x, x, x)
	for range 3 {
		x, _ = einsum.Einsum("ij->ji", x)
		o.Floats("the result of a result", x.Data)
	}
}

// A thousand calls in one process: each answer depends on its own operands, whatever was
// asked before (rules 2 and 15).
func TestThousandCalls(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	weights := make([]float64, 97)
	for i := range weights {
		weights[i] = float64(1 + r.IntN(50))
	}
	for range 20 {
		sum, shapes := map[string]float64{}, map[string]int{}
		for i := range 60 { // the same equation, with other sizes and ranks
			equation := append(equations, "...i,...i->...")[r.IntN(len(equations)+1)]
			hidden := [][]int{{}, {2}, {1, 3}}[i%3]
			operands := operandsOf(r, equation, sizesOf(equation, upTo(r, 5)), hidden, hidden)
			got, err := einsum.Einsum(equation, operands...)
			if err != nil {
				continue
			}
			sum[kind(equation)] += fingerprint(weights, got.Data) * float64(1+i%7)
			for k, n := range got.Shape {
				shapes[kind(equation)] += (k + 1) * n
			}
		}
		for _, kind := range []string{"", "ellipsis: "} {
			o.Float(kind+"numbers of many results", sum[kind])
			o.Int(kind+"shapes of many results", shapes[kind])
		}
	}
	// And more than 16 bits count, of small calls that are right, most of them with letters that
	// are new, and of some that are not.
	x, y := random(r, 3, 1, 2), random(r, 2)
	sum, refused, bad := 0.0, 0, 0
	for i := range 1<<16 + 100 {
		equation := "ijk->ik"
		if i%4 > 0 {
			equation = string([]byte{small[i%26], small[(i+1+i/26%25)%26], alphabet[i/650%26]}) + "->" + small[i%26:][:1]
		}
		got, err := einsum.Einsum(equation, x)
		if err != nil || len(got.Data) == 0 || len(got.Shape) == 0 {
			refused++
			continue
		}
		sum += got.Data[i%len(got.Data)] * float64(1+i%7)
	}
	for range 1<<16 + 100 {
		if _, err := einsum.Einsum("ij", y); errors.Is(err, einsum.ErrShape) {
			bad++
		}
	}
	o.Float("numbers of very many results", sum)
	o.Int("how many of very many were refused", refused)
	o.Int("how many of very many bad ones were refused", bad)
	ask(o, "after very many calls", "ij,jk->ik", random(r, 2, 3), random(r, 3, 2))
}

// After a call that was refused the next one is as ever (rules 13 and 15).
func TestAfterErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		for _, bad := range []struct {
			equation string
			operands tensors
		}{
			{"ij,jk->ik->", tensors{random(r, 2, 3), random(r, 3, 2)}},
			{"ij,jk->iz", tensors{random(r, 2, 3), random(r, 3, 2)}},
			{"ij,jk->ik", tensors{random(r, 2, 3)}},
			{"ij,jk->ik", tensors{random(r, 2, 3), random(r, 4, 2)}},
			{"ij,jk->ik", tensors{random(r, 2, 3), random(r, 3)}},
			{"ij,jk->ik", tensors{random(r, 2, 3), {Shape: []int{3, 2}}}},
			{"ij,jk->ik", tensors{random(r, 2, 3), random(r, 3, 2), random(r, 2)}},
			{"ij,jk->ik", nil},
			{"", nil},
			{"i?", tensors{random(r, 2, 3)}},
			{"ij->ii", tensors{random(r, 3, 3)}},
			{"ij.->i", tensors{random(r, 2, 3)}},
			{"ij-i", tensors{random(r, 2, 3)}},
			{"ii->i", tensors{random(r, 2, 3)}},
			{"...i,...j->...ij", tensors{random(r, 2, 3), random(r, 4, 3)}},
			{"...ijk->i", tensors{random(r, 2, 3)}},
			{"ij->j", tensors{{Shape: []int{-2, -3}, Data: make([]float64, 6)}}},
			{"ij->j", tensors{{Shape: []int{2, 3}, Data: make([]float64, 7)}}},
			{"ij->j", tensors{{Shape: []int{0, 3}, Data: make([]float64, 3)}}},
			{"ij->j", tensors{{Shape: []int{1 << 32, 1 << 32}}}},
			{"->", tensors{{}}},
		} {
			got, err := einsum.Einsum(bad.equation, bad.operands...)
			o.Bool("refused", err != nil)
			o.Bool("nothing is returned with an error", len(got.Shape) == 0 && len(got.Data) == 0)
			ask(o, "after an error", "ij,jk->ik", random(r, 2, 3), random(r, 3, 2))
			ask(o, "after an error", "ij->ji", random(r, 2, 3))
		}
	}
}

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
	for i := range own {
		own[i] = random(r, 12, 5+i)
		sums[i] = make([]float64, 5)
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
