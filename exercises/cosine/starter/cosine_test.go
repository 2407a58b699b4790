package cosine

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

// matrix makes a matrix without gaps.
func matrix[T Float](cols int, data ...T) Matrix[T] {
	return Matrix[T]{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-6 {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestSimilarity(t *testing.T) {
	a := matrix[float64](2, 1, 0, 3, 4)
	b := matrix[float64](2, 2, 0, 0, -1, 4, 3)
	dst := matrix(3, make([]float64, 6)...)
	if err := Similarity(context.Background(), dst, a, b); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 0, 0.8, 0.6, -0.8, 0.96} {
		near(t, "similarity", dst.Data[i], want)
	}
}

// A row of zeros has no direction: it is similar to nothing, and never NaN.
func TestZeroRow(t *testing.T) {
	a := matrix[float32](2, 0, 0, 1, 1)
	dst := matrix(2, make([]float32, 4)...)
	if err := Similarity(context.Background(), dst, a, a); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 0, 0, 1} {
		near(t, "similarity", float64(dst.Data[i]), want)
	}
}

// Rows are Stride apart, and what lies between them stays as it is.
func TestStride(t *testing.T) {
	a := Matrix[float64]{Rows: 2, Cols: 1, Stride: 3, Data: []float64{5, 77, 77, -2}}
	dst := Matrix[float64]{Rows: 2, Cols: 2, Stride: 3, Data: []float64{9, 9, 9, 9, 9}}
	if err := Similarity(context.Background(), dst, a, a); err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, -1, 9, -1, 1}; !slices.Equal(dst.Data, want) {
		t.Errorf("dst.Data = %v, want %v", dst.Data, want)
	}
}

func TestWrongShapes(t *testing.T) {
	a, b := matrix[float64](2, 1, 2), matrix[float64](3, 1, 2, 3)
	dst := matrix[float64](1, 0)
	if err := Similarity(context.Background(), dst, a, b); !errors.Is(err, ErrShape) {
		t.Errorf("2 and 3 columns: error %v, want one that wraps ErrShape", err)
	}
}

func TestBlocks(t *testing.T) {
	a := matrix[float64](2, 1, 0, 0, 1, 3, 4)
	b := matrix[float64](2, 4, 3, -1, 0)
	want := [][]float64{{0.8, -1}, {0.6, 0}, {0.96, -0.6}}
	seen := 0
	for block, err := range Blocks(context.Background(), a, b, 16) { // two numbers
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.Sim.Rows {
			for j := range block.Sim.Cols {
				near(t, "similarity", block.Sim.Data[i*block.Sim.Stride+j], want[block.Row+i][block.Col+j])
				seen++
			}
		}
	}
	if seen != 6 {
		t.Errorf("the blocks have %d numbers together, want 6", seen)
	}
}

func TestTopK(t *testing.T) {
	a := matrix[float64](2, 1, 0)
	b := matrix[float64](2, 0, 1, 2, 0, 3, 4, 1, 0)
	got, err := TopK(context.Background(), a, b, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0]) != 3 {
		t.Fatalf("TopK = %v, want one list of three", got)
	}
	for i, want := range []Neighbor[float64]{{1, 1}, {3, 1}, {2, 0.6}} { // 1 before 3: they are equally good
		if got[0][i].Index != want.Index {
			t.Errorf("place %d is row %d, want %d", i, got[0][i].Index, want.Index)
		}
		near(t, "score", float64(got[0][i].Score), float64(want.Score))
	}
}
