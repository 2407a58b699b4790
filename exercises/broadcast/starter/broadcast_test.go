package broadcast

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func equal(a, b Tensor) bool {
	return slices.Equal(a.Shape, b.Shape) && slices.EqualFunc(a.Data, b.Data, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

// Examples of rules 2 and 17. The hidden tests check all rules.
func TestShapes(t *testing.T) {
	got, err := Shapes([]int{10, 1, 5}, []int{5})
	if want := []int{10, 1, 5}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Shapes((10, 1, 5), (5)) = %v, %v, want %v", got, err, want)
	}
	got, err = Shapes([]int{8, 1, 6, 1}, []int{7, 1, 5})
	if want := []int{8, 7, 6, 5}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Shapes((8, 1, 6, 1), (7, 1, 5)) = %v, %v, want %v", got, err, want)
	}
	_, err = Shapes([]int{2, 3}, []int{4, 3})
	want := ShapeError{Dim: -2, Operands: [2]int{0, 1}, Sizes: [2]int{2, 4}}
	var e *ShapeError
	if !errors.Is(err, ErrShape) || !errors.As(err, &e) || *e != want {
		t.Errorf("Shapes((2, 3), (4, 3)): error %v, want %+v", err, want)
	}
}

var (
	tens = Tensor{Shape: []int{3, 1}, Data: []float64{10, 20, 30}}
	ones = Tensor{Shape: []int{1, 4}, Data: []float64{1, 2, 3, 4}}
)

// The picture of the README: rule 6.
func TestApply(t *testing.T) {
	got, err := Add.Apply(tens, ones)
	want := Tensor{[]int{3, 4}, []float64{11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34}}
	if err != nil || !equal(got, want) {
		t.Errorf("Add.Apply = %v, %v, want %v", got, err, want)
	}
}

// Rules 9 and 10: what was repeated is summed.
func TestGrad(t *testing.T) {
	table := Tensor{[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}}
	got, err := SumTo(table, []int{3})
	if want := (Tensor{[]int{3}, []float64{5, 7, 9}}); err != nil || !equal(got, want) {
		t.Errorf("SumTo(%v, (3)) = %v, %v, want %v", table, got, err, want)
	}
	x, y := Tensor{[]int{2, 1}, []float64{10, 100}}, Tensor{[]int{3}, []float64{1, 2, 3}}
	dx, dy, err := Mul.Grad(x, y, table)
	wantX, wantY := Tensor{[]int{2, 1}, []float64{14, 32}}, Tensor{[]int{3}, []float64{410, 520, 630}}
	if err != nil || !equal(dx, wantX) || !equal(dy, wantY) {
		t.Errorf("Mul.Grad = %v, %v, %v, want %v, %v", dx, dy, err, wantX, wantY)
	}
}

// Rules 21 and 23. Set PICTURE to the name of a file, and look at it in a browser.
func TestSVG(t *testing.T) {
	got, err := Add.SVG(Operand{"tens", tens}, Operand{"ones", ones})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(got, "'", `"`) // XML has both
	for _, part := range []string{`data-tensor="result"`, `data-index="2,1"`, `data-a="2,0"`, `data-b="0,1"`, "tens[2, 0] + ones[0, 1] = 32"} {
		if !strings.Contains(text, part) {
			t.Errorf("the picture has no %s", part)
		}
	}
	if name := os.Getenv("PICTURE"); name != "" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
