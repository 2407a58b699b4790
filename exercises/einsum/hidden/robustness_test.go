package hidden

import (
	"slices"
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
	for _, equation := range equations {
		operands := operandsOf(r, equation, sizesOf(equation, distinct(r)))
		var before tensors
		for i, x := range operands {
			// There is room behind what counts.
			x.Data = append(slices.Clone(x.Data), dyadic(r), dyadic(r))[:len(x.Data)]
			x.Shape = append(slices.Clone(x.Shape), 7, 8)[:len(x.Shape)]
			operands[i] = x
			before = append(before, tensor{Shape: slices.Clone(x.Shape[:len(x.Shape)+2]), Data: slices.Clone(x.Data[:len(x.Data)+2])})
		}
		list := slices.Clone(operands)
		got, err := einsum.Einsum(equation, list...)
		record(o, kind(equation)+"result", got, err)
		same := true
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
	for _, equation := range append([]string{"i->i", "ij,->ij", ",ij->ij", "ij,,->ij", "ij,kl->ij"}, equations...) {
		size := sizesOf(equation, distinct(r))
		if equation == "ij,kl->ij" {
			size['k'], size['l'] = 1, 1
		}
		operands := operandsOf(r, equation, size)
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
	own := make([]tensor, workers)
	sums := make([][]float64, workers)
	for i := range own {
		own[i] = random(r, 12, 5+i)
		sums[i] = make([]float64, 4)
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			if got, err := einsum.Einsum("ij,jk->ik", large, large); err == nil && len(got.Data) > 0 {
				sums[i][0] += fingerprint(shared.Data, got.Data)
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
