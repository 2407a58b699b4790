package hidden

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

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
	ownNothing(o)
	ownRoom(o)
	x := random(r, 4, 4) // one tensor may be several operands, and a result the next operand
	ask(o, "the same operand twice", "ij,jk->ik", x, x)
	ask(o, "the same operand three times", "ij,jk,kl->il", x, x, x)
	for range 3 {
		x, _ = einsum.Einsum("ij->ji", x)
		o.Floats("the result of a result", x.Data)
	}
}

// ownNothing asks for sums over no values and for results without numbers, twice each. What
// is written to the first result, also into the room behind what counts, shows neither in the
// second one nor in an operand.
func ownNothing(o *observe.Observer) {
	r := o.Rand()
	for _, equation := range []string{"i->", "i->i", "ij->i", "ij->ji", "ij->", "i,i->", "i,i->i", "i,j->ij", "i,j->i", "i,j->", "ij,j->i", "ij,jk->ik", "bij,bjk->bik", ",i->i", ",i->", "ij,jk,kl->il", "i,ij,j->", "i,,j->"} {
		for _, c := range lettersOf(sizesOf(equation, same(2))) {
			size := sizesOf(equation, same(2+r.IntN(2)))
			size[c] = 0
			operands := operandsOf(r, equation, size)
			for i, x := range operands {
				operands[i].Data = append(x.Data, dyadic(r), dyadic(r))[:len(x.Data)]
			}
			askTwice(o, "of nothing: ", equation, operands...)
		}
	}
	for _, n := range []int{70, 300} { // sums of nothing that are large
		size := map[rune]int{'i': n, 'j': 0, 'k': n}
		for _, equation := range []string{"ij->i", "ij,jk->ik"} {
			first, err := einsum.Einsum(equation, operandsOf(r, equation, size)...)
			o.Error("of nothing, large: error", err, kinds...)
			for i := range first.Data {
				first.Data[i] = 1
			}
			second, err := einsum.Einsum(equation, operandsOf(r, equation, size)...)
			o.Error("of nothing, large: error", err, kinds...)
			o.Float("of nothing, large: second result, added up", fingerprint([]float64{1}, second.Data))
		}
	}
}

// ownRoom asks for results of all kinds twice, and writes behind what counts of the first.
func ownRoom(o *observe.Observer) {
	r := o.Rand()
	for _, equation := range append([]string{"i->", "ij->", "i,i->", "i->i", ",i->i", "i,j,k->ijk", "ij,jk,kl->il", "i,ij,j->", ",->", "->"}, equations...) {
		operands := operandsOf(r, equation, sizesOf(equation, distinct(r)))
		for i, x := range operands {
			operands[i].Data = append(x.Data, dyadic(r), dyadic(r))[:len(x.Data)]
		}
		askTwice(o, "", equation, operands...)
	}
}

// askTwice asks twice, with two numbers of room behind those of each operand. It writes to
// and behind the first result, and records the second one, a third one and the operands.
func askTwice(o *observe.Observer, about, equation string, operands ...tensor) {
	r := o.Rand()
	first, _ := einsum.Einsum(equation, operands...)
	second, err := einsum.Einsum(equation, operands...)
	for i := range first.Data {
		first.Data[i] += 7
	}
	for i := range first.Shape {
		first.Shape[i] += 7
	}
	_ = append(first.Data, dyadic(r), dyadic(r))
	_ = append(first.Shape, 2+r.IntN(5), 2+r.IntN(5))
	record(o, about+"second result, the first was changed", second, err)
	third, err := einsum.Einsum(equation, operands...)
	record(o, about+"third result, the first was changed", third, err)
	for _, x := range operands {
		o.Floats(about+"operand and room behind it, a result was changed", x.Data[:len(x.Data)+2])
		o.Ints(about+"operand's shape, a result was changed", x.Shape)
	}
}
