package attention

import (
	"errors"
	"math"
	"testing"
)

// These are examples out of README.md. The hidden tests check all of its rules.

// near fails the test unless got has the numbers want.
func near(t *testing.T, got Matrix, rows, cols int, want ...float64) {
	t.Helper()
	if got.Rows != rows || got.Cols != cols || len(got.Data) != len(want) {
		t.Fatalf("got %d × %d (%d numbers), want %d × %d", got.Rows, got.Cols, len(got.Data), rows, cols)
	}
	for i, x := range got.Data {
		if !(math.Abs(x-want[i]) <= 1e-9) { // false for NaN
			t.Errorf("got %v, want %v", got.Data, want)
			return
		}
	}
}

// column is a matrix of one column.
func column(xs ...float64) Matrix { return Matrix{len(xs), 1, xs} }

// The second key has e times the weight of the first (rules 1 and 2).
func TestAttend(t *testing.T) {
	got, err := Attend(column(1), column(0, 1), column(10, 20), Options{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, got, 1, 1, (10+20*math.E)/(1+math.E))
}

// Two columns a query, so the default scale is 1/√2 (rule 2).
func TestScale(t *testing.T) {
	q, k := Matrix{1, 2, []float64{1, 1}}, Matrix{2, 2, []float64{0, 0, 1, 1}}
	got, err := Weights(q, k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := math.Exp(2 / math.Sqrt2)
	near(t, got, 1, 2, 1/(1+e), e/(1+e))
}

// The first query sees one key, the second both (rule 4).
func TestCausal(t *testing.T) {
	got, err := Attend(column(0, 0), column(0, 0), column(10, 20), Options{Causal: true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, got, 2, 1, 10, 15)
}

// A query that sees nothing gets zeros, and NaN behind a mask stays there (rules 6
// and 7).
func TestMask(t *testing.T) {
	mask := []bool{true, false, false, false}
	got, err := Attend(column(0, 0), column(0, math.NaN()), column(10, math.NaN()), Options{Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	near(t, got, 2, 1, 10, 0)
}

// Two heads of queries share one head of keys and values (rules 11 and 12).
func TestMultiHead(t *testing.T) {
	q := Matrix{1, 2, []float64{0, 1}}
	got, err := MultiHead(q, column(0, 1), column(10, 20), Heads{Query: 2, KV: 1}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, got, 1, 2, 15, (10+20*math.E)/(1+math.E))
}

// Token by token, and a token taken back (rules 14 to 17).
func TestCache(t *testing.T) {
	c, err := NewCache(CacheConfig{Heads: Heads{Query: 1, KV: 1}, KeyDim: 1, ValueDim: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []struct{ value, want float64 }{{10, 10}, {20, 15}} {
		got, err := c.Step(column(0), column(0), column(token.value))
		if err != nil {
			t.Fatal(err)
		}
		near(t, got, 1, 1, token.want)
	}
	if err := c.Truncate(1); err != nil || c.Len() != 1 {
		t.Fatalf("Truncate(1) = %v, and Len is %d", err, c.Len())
	}
	got, err := c.Step(column(0), column(0), column(40))
	if err != nil {
		t.Fatal(err)
	}
	near(t, got, 1, 1, 25)
}

// A query of two columns does not fit a key of one (rule 9).
func TestShape(t *testing.T) {
	_, err := Attend(Matrix{1, 2, []float64{1, 2}}, column(1), column(1), Options{})
	if !errors.Is(err, ErrShape) {
		t.Errorf("the error is %v, want ErrShape", err)
	}
}
