package strided

import (
	"errors"
	"slices"
	"testing"
)

// Examples of README.md. The hidden tests check all of it.

// matrix is [[1 2 3] [4 5 6]].
func matrix(t *testing.T) *Tensor {
	return right(t)(FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3))
}

// right ends a test if a call fails.
func right(t *testing.T) func(x *Tensor, err error) *Tensor {
	return func(x *Tensor, err error) *Tensor {
		t.Helper()
		if x == nil || err != nil {
			t.Fatalf("a call returned %v, %v", x, err)
		}
		return x
	}
}

// same fails if x is not of this shape with these values.
func same(t *testing.T, x *Tensor, shape []int, values ...float64) {
	t.Helper()
	if !slices.Equal(x.Shape(), shape) || !slices.Equal(x.Values(), values) {
		t.Errorf("shape %v, values %v, want %v, %v", x.Shape(), x.Values(), shape, values)
	}
}

// Rules 2 to 4.
func TestMatrix(t *testing.T) {
	x := matrix(t)
	same(t, x, []int{2, 3}, 1, 2, 3, 4, 5, 6)
	if v, err := x.At(-1, 0); v != 4 || err != nil {
		t.Errorf("At(-1, 0) = %v, %v, want 4", v, err)
	}
	if _, err := x.At(2, 0); !errors.Is(err, ErrIndex) {
		t.Errorf("At(2, 0): %v, want ErrIndex", err)
	}
}

// Rules 7 to 16.
func TestViews(t *testing.T) {
	right, x := right(t), matrix(t)
	same(t, right(x.Transpose(0, 1)), []int{3, 2}, 1, 4, 2, 5, 3, 6)
	same(t, right(x.Permute(1, 0)), []int{3, 2}, 1, 4, 2, 5, 3, 6)
	same(t, right(x.Slice(1, 1, Open, 1)), []int{2, 2}, 2, 3, 5, 6)
	same(t, right(x.Slice(1, Open, Open, -1)), []int{2, 3}, 3, 2, 1, 6, 5, 4)
	same(t, right(x.Select(0, -1)), []int{3}, 4, 5, 6)
	same(t, right(right(x.Unsqueeze(0)).Squeeze()), []int{2, 3}, 1, 2, 3, 4, 5, 6)
	same(t, right(right(x.Slice(1, 0, 1, 1)).Expand(2, 2)), []int{2, 2}, 1, 1, 4, 4)
}

// Rules 17 to 20.
func TestViewOrCopy(t *testing.T) {
	x := matrix(t)
	same(t, right(t)(x.View(3, -1)), []int{3, 2}, 1, 2, 3, 4, 5, 6)
	turned := right(t)(x.Transpose(0, 1))
	if _, err := turned.View(6); !errors.Is(err, ErrLayout) {
		t.Errorf("View of a transposed matrix: %v, want ErrLayout", err)
	}
	same(t, right(t)(turned.Reshape(6)), []int{6}, 1, 4, 2, 5, 3, 6)
}

// Rules 22 and 24.
func TestWrite(t *testing.T) {
	x := matrix(t)
	if err := right(t)(x.Transpose(0, 1)).Set(7, 2, 0); err != nil {
		t.Error(err)
	}
	same(t, x, []int{2, 3}, 1, 2, 7, 4, 5, 6)
	if err := right(t)(x.Expand(4, 2, 3)).Set(8, 0, 0, 0); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Set of an expanded tensor: %v, want ErrReadOnly", err)
	}
	same(t, x, []int{2, 3}, 1, 2, 7, 4, 5, 6)
}
