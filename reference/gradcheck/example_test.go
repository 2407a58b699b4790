package gradcheck

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

func TestMul(t *testing.T) {
	tape := NewTape()
	x, y := tape.Leaf([]float64{1, 2, 3}), tape.Leaf([]float64{4, 5, 6})
	z, err := Apply(Mul{}, x, y)
	if err != nil || z == nil {
		t.Fatalf("Apply: %v, %v", z, err)
	}
	if want := []float64{4, 10, 18}; !slices.Equal(z.Data, want) {
		t.Errorf("the product is %v, want %v", z.Data, want)
	}
	if err := tape.Backward(z, []float64{1, 10, 100}); err != nil {
		t.Fatal(err)
	}
	if want := []float64{4, 50, 600}; !slices.Equal(x.Grad(), want) {
		t.Errorf("the gradient of x is %v, want %v", x.Grad(), want)
	}
	if want := []float64{1, 20, 300}; !slices.Equal(y.Grad(), want) {
		t.Errorf("the gradient of y is %v, want %v", y.Grad(), want)
	}
	if err := tape.Backward(z, []float64{1, 1, 1}); !errors.Is(err, ErrFreed) {
		t.Errorf("a second Backward: got the error %v", err)
	}
}

func TestSoftplusOfMuch(t *testing.T) {
	y, err := Apply(Softplus{}, Const([]float64{-1000, 0, 1000}))
	if err != nil || y == nil || len(y.Data) != 3 {
		t.Fatalf("Apply: %v, %v", y, err)
	}
	if y.Data[0] != 0 || math.Abs(y.Data[1]-math.Ln2) > 1e-12 || y.Data[2] != 1000 {
		t.Errorf("got %v", y.Data)
	}
}

// half squares its input, and forgets the 2 in the gradient of element 1.
type half struct{}

func (half) Forward(c *Context, in [][]float64) ([]float64, error) {
	c.Save(in[0])
	out := make([]float64, len(in[0]))
	for i, x := range in[0] {
		out[i] = x * x
	}
	return out, nil
}

func (half) Backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	g := make([]float64, len(grad))
	for i, x := range saved[0] {
		g[i] = 2 * x * grad[i]
		if i == 1 {
			g[i] /= 2
		}
	}
	return [][]float64{g}, nil
}

func TestCheck(t *testing.T) {
	report, err := Check(half{}, []float64{3, 4, 5})
	if err != nil || report == nil {
		t.Fatalf("Check: %v, %v", report, err)
	}
	if !slices.Equal(report.Wrong, []Place{{0, 1}}) || len(report.Kinks) != 0 || report.Unstable {
		t.Errorf("of a wrong gradient: got %+v", *report)
	}
	report, err = Check(ReLU{}, []float64{-1, 0, 1})
	if err != nil || report == nil {
		t.Fatalf("Check: %v, %v", report, err)
	}
	if !slices.Equal(report.Kinks, []Place{{0, 1}}) || len(report.Wrong) != 0 || report.Unstable {
		t.Errorf("of ReLU: got %+v", *report)
	}
}
