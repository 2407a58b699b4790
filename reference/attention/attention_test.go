package attention

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw makes a matrix of ordinary numbers.
func draw(rows, cols int) Matrix {
	m := newMatrix(rows, cols)
	for i := range m.Data {
		m.Data[i] = rand.NormFloat64()
	}
	return m
}

// formula is attention as it is written in the paper, for numbers of ordinary size.
func formula(q, k, v Matrix, sees func(i, j int) bool) Matrix {
	out := newMatrix(q.Rows, v.Cols)
	for i := range q.Rows {
		total := 0.0
		for j := range k.Rows {
			if sees(i, j) {
				w := math.Exp(dot(q.row(i), k.row(j)) / math.Sqrt(float64(q.Cols)))
				total += w
				for c, x := range v.row(j) {
					out.row(i)[c] += w * x
				}
			}
		}
		for c := range v.Cols {
			if total > 0 {
				out.row(i)[c] /= total
			}
		}
	}
	return out
}

// near fails the test unless got is want.
func near(t *testing.T, name string, got, want Matrix) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s: %d × %d, want %d × %d", name, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i, x := range got.Data {
		if !(math.Abs(x-want.Data[i]) <= 1e-9) {
			t.Fatalf("%s: number %d is %v, want %v", name, i, x, want.Data[i])
		}
	}
}

func TestAttendIsTheFormula(t *testing.T) {
	q, k, v := draw(7, 3), draw(9, 3), draw(9, 4)
	mask := make([]bool, 7*9)
	for i := range mask {
		mask[i] = i >= 9 && rand.IntN(2) == 0 // the first query sees nothing
	}
	for name, c := range map[string]struct {
		opt  Options
		sees func(i, j int) bool
	}{
		"everything": {Options{}, func(i, j int) bool { return true }},
		"causal":     {Options{Causal: true}, func(i, j int) bool { return j <= i }},
		"offset":     {Options{Causal: true, Offset: -2}, func(i, j int) bool { return j <= i-2 }},
		"mask":       {Options{Mask: mask}, func(i, j int) bool { return mask[i*9+j] }},
		"both":       {Options{Mask: mask, Causal: true}, func(i, j int) bool { return j <= i && mask[i*9+j] }},
	} {
		want := formula(q, k, v, c.sees)
		got, err := Attend(q, k, v, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, got, want)
		weights, err := Weights(q, k, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		unit := newMatrix(9, 9)
		for i := range 9 {
			unit.row(i)[i] = 1
		}
		near(t, name+" weights", weights, formula(q, k, unit, c.sees))
	}
}

func TestHiddenNumbersStayHidden(t *testing.T) {
	q, k, v := draw(4, 2), draw(4, 2), draw(4, 3)
	want, _ := Attend(q, k, v, Options{Causal: true})
	for _, m := range []Matrix{k, v} {
		for c := range m.Cols {
			m.row(3)[c] = math.NaN()
		}
	}
	got, _ := Attend(q, k, v, Options{Causal: true})
	near(t, "the first three", Matrix{3, 3, got.Data[:9]}, Matrix{3, 3, want.Data[:9]})
	weights, _ := Weights(q, k, Options{Mask: slices.Repeat([]bool{true, true, true, false}, 4)})
	for i := range 4 {
		if weights.row(i)[3] != 0 {
			t.Errorf("a hidden key has weight %v", weights.row(i)[3])
		}
	}
}

func TestCacheIsMultiHead(t *testing.T) {
	h := Heads{Query: 6, KV: 2}
	c, err := NewCache(CacheConfig{Heads: h, KeyDim: 2, ValueDim: 3})
	if err != nil {
		t.Fatal(err)
	}
	q, k, v := draw(9, 12), draw(9, 4), draw(9, 6)
	want, err := MultiHead(q, k, v, h, Options{Causal: true})
	if err != nil {
		t.Fatal(err)
	}
	part := func(m Matrix, i, j int) Matrix { return Matrix{j - i, m.Cols, m.Data[i*m.Cols : j*m.Cols]} }
	for _, piece := range [][2]int{{0, 1}, {1, 5}, {5, 5}, {5, 9}} {
		i, j := piece[0], piece[1]
		got, err := c.Step(part(q, i, j), part(k, i, j), part(v, i, j))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "piece", got, part(want, i, j))
	}
	fork := c.Fork()
	if err := fork.Truncate(3); err != nil || fork.Len() != 3 || c.Len() != 9 {
		t.Errorf("after Truncate of a fork: %v, %d and %d tokens", err, fork.Len(), c.Len())
	}
	if err := c.Truncate(10); !errors.Is(err, ErrOption) {
		t.Errorf("Truncate(10) of 9 tokens: %v", err)
	}
}

func TestErrors(t *testing.T) {
	ok := draw(2, 2)
	for name, opt := range map[string]Options{"mask": {Mask: make([]bool, 3)}, "scale": {Scale: math.Inf(1)}} {
		if _, err := Attend(ok, ok, ok, opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, bad := range []Matrix{draw(2, 3), draw(2, 0), {Rows: 2, Cols: 2}, {Rows: -2, Cols: -2, Data: make([]float64, 4)}} {
		if _, err := Attend(bad, ok, ok, Options{}); !errors.Is(err, ErrShape) {
			t.Errorf("%d × %d: %v", bad.Rows, bad.Cols, err)
		}
	}
}
