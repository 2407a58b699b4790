package einsum_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/reference/einsum"
)

// tensor draws whole numbers, so that sums are exact in any order.
func tensor(r *rand.Rand, shape ...int) einsum.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	t := einsum.Tensor{Shape: shape, Data: make([]float64, n)}
	for i := range t.Data {
		t.Data[i] = float64(r.IntN(19) - 9)
	}
	return t
}

// naive goes through all values of all letters, for equations with an output and
// without an ellipsis.
func naive(equation string, size map[rune]int, operands []einsum.Tensor) einsum.Tensor {
	inputs, output, _ := strings.Cut(equation, "->")
	at := map[rune]int{}
	offset := func(term string) (n int) {
		for _, c := range term {
			n = n*size[c] + at[c]
		}
		return n
	}
	result := einsum.Tensor{Data: []float64{}}
	n := 1
	for _, c := range output {
		result.Shape = append(result.Shape, size[c])
		n *= size[c]
	}
	result.Data = make([]float64, n)
	var letters []rune
	for c := range size {
		letters = append(letters, c)
	}
	var loop func(letters []rune)
	loop = func(letters []rune) {
		if len(letters) > 0 {
			for i := range size[letters[0]] {
				at[letters[0]] = i
				loop(letters[1:])
			}
			return
		}
		product := 1.0
		for i, term := range strings.Split(inputs, ",") {
			product *= operands[i].Data[offset(term)]
		}
		result.Data[offset(output)] += product
	}
	loop(letters)
	return result
}

// Random equations, of up to five operands and up to four axes, against all loops.
func TestNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		size := map[rune]int{}
		var terms, all []string
		var operands []einsum.Tensor
		for range 1 + r.IntN(5) {
			var term string
			var shape []int
			for range r.IntN(5) {
				c := rune("abcdeXY"[r.IntN(7)])
				if _, ok := size[c]; !ok {
					size[c] = []int{0, 1, 2, 3, 3, 4}[r.IntN(6)]
					all = append(all, string(c))
				}
				term += string(c)
				shape = append(shape, size[c])
			}
			terms = append(terms, term)
			operands = append(operands, tensor(r, shape...))
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		equation := strings.Join(terms, ",") + "->" + strings.Join(all[:r.IntN(len(all)+1)], "")
		check(t, equation, operands, naive(equation, size, operands))
	}
}

// check compares, and looks whether operands are as they were.
func check(t *testing.T, equation string, operands []einsum.Tensor, want einsum.Tensor) {
	t.Helper()
	before := fmt.Sprint(operands)
	got, err := einsum.Einsum(equation, operands...)
	if err != nil || !slices.Equal(got.Shape, want.Shape) || !slices.Equal(got.Data, want.Data) {
		t.Errorf("%q of %v\n got %v, %v\nwant %v", equation, operands, got, err, want)
	}
	if after := fmt.Sprint(operands); after != before {
		t.Errorf("%q: operands %s became %s", equation, before, after)
	}
}

func matrix(rows, cols int, data ...float64) einsum.Tensor {
	return einsum.Tensor{Shape: []int{rows, cols}, Data: data}
}

func vector(data ...float64) einsum.Tensor {
	return einsum.Tensor{Shape: []int{len(data)}, Data: data}
}

func scalar(x float64) einsum.Tensor { return einsum.Tensor{Data: []float64{x}} }

// What the equation leaves out: an output, the axes behind an ellipsis, sizes of 1.
func TestImplied(t *testing.T) {
	square := matrix(2, 2, 1, 2, 3, 4)
	for _, c := range []struct {
		equation string
		operands []einsum.Tensor
		want     einsum.Tensor
	}{
		{"ba", []einsum.Tensor{matrix(1, 3, 1, 2, 3)}, matrix(3, 1, 1, 2, 3)},
		{"aB", []einsum.Tensor{matrix(1, 3, 1, 2, 3)}, matrix(3, 1, 1, 2, 3)},
		{"ii", []einsum.Tensor{square}, scalar(5)},
		{" i j , j ", []einsum.Tensor{square, vector(1, 10)}, vector(21, 43)},
		{"", []einsum.Tensor{scalar(7)}, scalar(7)},
		{",->", []einsum.Tensor{scalar(7), scalar(2)}, scalar(14)},
		{"...i", []einsum.Tensor{square}, square},
		{"i...", []einsum.Tensor{square}, matrix(2, 2, 1, 3, 2, 4)},
		{"...,...", []einsum.Tensor{square, vector(1, 10)}, matrix(2, 2, 1, 20, 3, 40)},
		{"...,...->", []einsum.Tensor{square, vector(1, 10)}, scalar(64)},
		{"i->...i", []einsum.Tensor{vector(1, 2)}, vector(1, 2)},
		{"i,i", []einsum.Tensor{vector(3), vector(1, 2)}, scalar(9)},
		{"ij,ij->ij", []einsum.Tensor{matrix(2, 1, 1, 2), matrix(1, 2, 1, 10)}, matrix(2, 2, 1, 10, 2, 20)},
		{"i,i->i", []einsum.Tensor{vector(3), vector()}, vector()},
		{"i,j->i", []einsum.Tensor{vector(math.NaN()), vector()}, vector(0)},
	} {
		check(t, c.equation, c.operands, c.want)
	}
}

func TestErrors(t *testing.T) {
	square, empty := matrix(2, 2, 1, 2, 3, 4), einsum.Tensor{}
	for _, c := range []struct {
		equation string
		operands []einsum.Tensor
		want     einsum.Error
	}{
		{"i1", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 1}},
		{"..", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 0}},
		{"....", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 3}},
		{"ij->i->j", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 5}},
		{"ij->i,j", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 5}},
		{"ij->ii", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 5}},
		{"ij->ik", []einsum.Tensor{square}, einsum.Error{Err: einsum.ErrSyntax, Pos: 5}},
		{"", nil, einsum.Error{Err: einsum.ErrOperands}},
		{"ij", []einsum.Tensor{square, square}, einsum.Error{Err: einsum.ErrOperands, Operand: 1}},
		{"ij,ijk", []einsum.Tensor{square, square}, einsum.Error{Err: einsum.ErrShape, Pos: 3, Operand: 1}},
		{"ij,ijk...", []einsum.Tensor{square, square}, einsum.Error{Err: einsum.ErrShape, Pos: 3, Operand: 1}},
		{"ij,jk", []einsum.Tensor{square, matrix(3, 1, 1, 2, 3)}, einsum.Error{Err: einsum.ErrShape, Pos: 3, Operand: 1}},
		{"ii", []einsum.Tensor{matrix(1, 2, 1, 2)}, einsum.Error{Err: einsum.ErrShape, Pos: 1}},
		{"i,", []einsum.Tensor{vector(1), empty}, einsum.Error{Err: einsum.ErrShape, Pos: 2, Operand: 1}},
		{"ij", []einsum.Tensor{{Shape: []int{-2, -1}, Data: []float64{1, 2}}}, einsum.Error{Err: einsum.ErrShape}},
		{"ij", []einsum.Tensor{{Shape: []int{1 << 32, 1 << 32}}}, einsum.Error{Err: einsum.ErrShape}},
	} {
		_, err := einsum.Einsum(c.equation, c.operands...)
		var got *einsum.Error
		if !errors.As(err, &got) || *got != c.want || !errors.Is(err, c.want.Err) {
			t.Errorf("%q: %v, want %v", c.equation, err, &c.want)
		}
	}
}

func ExampleEinsum() {
	a := einsum.Tensor{Shape: []int{2, 3}, Data: []float64{1, 2, 3, 4, 5, 6}}
	x := einsum.Tensor{Shape: []int{3}, Data: []float64{1, 10, 100}}
	y, err := einsum.Einsum("ij,j->i", a, x)
	fmt.Println(y.Shape, y.Data, err)
	_, err = einsum.Einsum("ij,i->j", a, x)
	fmt.Println(err)
	// Output:
	// [2] [321 654] <nil>
	// einsum: shape does not fit: offset 3, operand 1
}
