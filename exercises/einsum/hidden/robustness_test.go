package hidden

import (
	"errors"
	"math"
	"slices"
	"strings"
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
			x.Data[r.IntN(len(x.Data))] = math.Copysign(0, -1)
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
			same = same && slices.EqualFunc(x.Data[:len(x.Data)+2], before[i].Data, sameBits) && slices.Equal(x.Shape[:len(x.Shape)+2], before[i].Shape)
			same = same && len(list[i].Data) == len(x.Data) && slices.Equal(list[i].Shape, x.Shape) && &list[i].Data[0] == &x.Data[0]
		}
		o.SelfReported().Bool("operands are as before", same)
	}
}

// sameBits tells 0 from -0.
func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

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
	alike(o)
	exchanged(o)
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

// alike asks for sizes of which two read the same without commas, have the same product, sum
// or last bits, or are the same in another order, one after another.
func alike(o *observe.Observer) {
	r := o.Rand()
	weights := tensorOf(r, positive, 97).Data
	shapes := [][2]int{{1, 11}, {11, 1}, {3, 12}, {31, 2}, {2, 21}, {22, 1}, {2, 6}, {6, 2}, {3, 4}, {4, 3}, {12, 1}, {1, 12}, {1, 32}, {2, 1}, {257, 1}, {1, 1}, {1, 257}, {258, 2}, {2, 258}, {2, 2}}
	for _, equation := range []string{"ij->ji", "ij->i", "ij->j", "i,j->ij", "ij,jk->ik", "ij,j->ij", "kij->jik"} {
		for range 2 {
			r.Shuffle(len(shapes), func(i, j int) { shapes[i], shapes[j] = shapes[j], shapes[i] })
			for _, shape := range shapes {
				got, err := einsum.Einsum(equation, operandsOf(r, equation, map[rune]int{'i': shape[0], 'j': shape[1], 'k': 2})...)
				o.Error("sizes alike, one after another: error", err, kinds...)
				o.Ints("sizes alike, one after another: shape", got.Shape)
				o.Float("sizes alike, one after another: numbers, added up", fingerprint(weights, got.Data))
			}
		}
	}
}

// exchanged asks for the same operands again and again, in which two numbers have changed places since
// the call before: in the same memory, and with the same sum. So have the sizes of one operand.
func exchanged(o *observe.Observer) {
	r := o.Rand()
	weights := tensorOf(r, positive, 97).Data
	asked := func(equation string, operands tensors) {
		got, err := einsum.Einsum(equation, operands...)
		o.Error("numbers exchanged since the call before: error", err, kinds...)
		o.Ints("numbers exchanged since the call before: shape", got.Shape)
		o.Float("numbers exchanged since the call before: numbers, added up", fingerprint(weights, got.Data))
	}
	for _, equation := range []string{"ij->ji", "ij->ij", "ij->i", "ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bkj->bik", "ij,ji->i", "i,j->ji", "kj,ij,kl->il"} {
		for _, n := range []int{2, 9, 400} {
			size := sizesOf(equation, func() int { return n + r.IntN(4) })
			if n == 400 && len(size) > 2 { // two of them are large
				if strings.ContainsAny(equation, "bl") {
					continue
				}
				size['i'] = 2
			}
			operands := operandsOf(r, equation, size)
			asked(equation, operands)
			for range 3 {
				for _, x := range operands {
					i, j := r.IntN(len(x.Data)), r.IntN(len(x.Data))
					x.Data[i], x.Data[j] = x.Data[j], x.Data[i]
					asked(equation, operands)
				}
			}
			if len(operands) == 1 {
				slices.Reverse(operands[0].Shape)
				asked(equation, operands)
			}
		}
	}
}

// says reports whether the Err of an *Error is what the error is. An error that is no *Error, or of
// no kind, is for other tests to see.
func says(err error) bool {
	var e *einsum.Error
	if !errors.As(err, &e) || e == nil {
		return true
	}
	of := false
	for _, kind := range kinds {
		if errors.Is(err, kind) && errors.Is(e.Err, kind) {
			return true
		}
		of = of || errors.Is(err, kind)
	}
	return !of
}

// An error says of which kind it is, and after a call that was refused the next one is as ever (rules
// 13 and 15).
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
			o.Bool("Err is what the error is", says(err))
			ask(o, "after an error", "ij,jk->ik", random(r, 2, 3), random(r, 3, 2))
			ask(o, "after an error", "ij->ji", random(r, 2, 3))
		}
	}
	// Where an equation was right, it may be wrong with other spaces, and a mistake stands
	// elsewhere.
	for range 3 {
		equation := rename(r, "ij,jk->ki")
		ask(o, "before other spaces", equation, random(r, 2, 3), random(r, 3, 2))
		spaced := strings.Repeat(" ", 1+r.IntN(5)) + strings.Replace(equation, ",", " ,  ", 1)
		refused(o, "other spaces", spaced, random(r, 2, 3), random(r, 4, 2))
		refused(o, "a space in the arrow", strings.Replace(equation, "->", "- >", 1), random(r, 2, 3), random(r, 3, 2))
	}
	for _, equation := range []string{"ij,jk->ki", "ij,jk", "i,j,ij->"} {
		equation := rename(r, equation)
		size := sizesOf(equation, distinct(r))
		right := operandsOf(r, equation, size)
		wrong := slices.Clone(right)
		wrong[len(wrong)-1] = random(r, right[len(wrong)-1].Shape[0]+1, 2)
		for _, spaced := range spacings(equation) {
			ask(o, "with any spaces", spaced, right...)
			for _, other := range spacings(equation) {
				if r.IntN(8) == 0 {
					refused(o, "sizes that do not fit, with other spaces than before", other, wrong...)
				}
			}
		}
	}
}

// spacings are an equation without spaces, with one in each place where one may stand, and
// with many.
func spacings(equation string) []string {
	list := []string{equation, strings.NewReplacer(",", ", ", "->", " -> ").Replace(equation), strings.NewReplacer(",", " , ").Replace(equation)}
	for i := range len(equation) + 1 {
		if i == 0 || i == len(equation) || equation[i-1:i+1] != "->" {
			list = append(list, equation[:i]+" "+equation[i:])
		}
	}
	return list
}
