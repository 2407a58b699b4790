package einsum

import (
	"errors"
	"slices"
	"testing"
)

// Examples of README.md. The hidden tests check all of it.

func matrix(rows, cols int, data ...float64) Tensor {
	return Tensor{Shape: []int{rows, cols}, Data: data}
}

func vector(data ...float64) Tensor { return Tensor{Shape: []int{len(data)}, Data: data} }

func scalar(x float64) Tensor { return Tensor{Data: []float64{x}} }

// Rules 1 to 10.
func TestEinsum(t *testing.T) {
	a := matrix(2, 3, 1, 2, 3, 4, 5, 6)
	square := matrix(2, 2, 1, 2, 3, 4)
	for _, c := range []struct {
		equation string
		operands []Tensor
		want     Tensor
	}{
		{"ij,j->i", []Tensor{a, vector(1, 10, 100)}, vector(321, 654)},
		{"ij->ji", []Tensor{a}, matrix(3, 2, 1, 4, 2, 5, 3, 6)},
		{"ij->", []Tensor{a}, scalar(21)},
		{"ba", []Tensor{a}, matrix(3, 2, 1, 4, 2, 5, 3, 6)},
		{"ii", []Tensor{square}, scalar(5)},
		{"ii->i", []Tensor{square}, vector(1, 4)},
		{"i...", []Tensor{square}, matrix(2, 2, 1, 3, 2, 4)},
		{"...,...", []Tensor{square, vector(1, 10)}, matrix(2, 2, 1, 20, 3, 40)},
		{"i,i->i", []Tensor{vector(2), vector(1, 10)}, vector(2, 20)},
		{",i->i", []Tensor{scalar(2), vector(1, 10)}, vector(2, 20)},
		{"ij,jk,kl->il", []Tensor{square, square, square}, matrix(2, 2, 37, 54, 81, 118)},
	} {
		got, err := Einsum(c.equation, c.operands...)
		if err != nil || !slices.Equal(got.Shape, c.want.Shape) || !slices.Equal(got.Data, c.want.Data) {
			t.Errorf("Einsum(%q, %v) = %v, %v, want %v", c.equation, c.operands, got, err, c.want)
		}
	}
}

// Rules 13 and 14.
func TestErrors(t *testing.T) {
	a := matrix(2, 3, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		equation string
		operands []Tensor
		want     Error
	}{
		{"ij->ik", []Tensor{a}, Error{Err: ErrSyntax, Pos: 5}},
		{"ij,jk", []Tensor{a}, Error{Err: ErrOperands, Operand: 1}},
		{"ij,jk", []Tensor{a, a}, Error{Err: ErrShape, Pos: 3, Operand: 1}},
		{"ij,jkl", []Tensor{a, a}, Error{Err: ErrShape, Pos: 3, Operand: 1}},
	} {
		_, err := Einsum(c.equation, c.operands...)
		var got *Error
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("Einsum(%q) of %d operands: %v, want %v", c.equation, len(c.operands), err, &c.want)
		}
	}
}

// Rule 16: an equation is tried with your Einsum.
func TestEquations(t *testing.T) {
	x, y := vector(1, 2, 3), vector(1, 10, 100)
	for name, c := range map[string]struct {
		equation string
		want     Tensor
	}{
		"Dot":   {Dot, scalar(321)},
		"Outer": {Outer, matrix(3, 3, 1, 10, 100, 2, 20, 200, 3, 30, 300)},
	} {
		got, err := Einsum(c.equation, x, y)
		if err != nil || !slices.Equal(got.Shape, c.want.Shape) || !slices.Equal(got.Data, c.want.Data) {
			t.Errorf("%s is %q, which makes %v of %v and %v (error %v), want %v", name, c.equation, got, x, y, err, c.want)
		}
	}
}
