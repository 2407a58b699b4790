package gradcheck

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normal(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// The contenders make the Jacobian, which is the naive way, and compute the gradient without
// a tape, which is the least that any way costs.
func BenchmarkSoftmax(b *testing.B) {
	const n = 1000
	x, seed := normal(n), normal(n)
	contender := func(name string, gradient func() []float64) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if g := gradient(); len(g) != n {
					b.Fatal(len(g))
				}
			}
		})
	}
	contender("reference", func() []float64 { return onTape(b, Softmax{}, x, seed) })
	contender("jacobian", func() []float64 { return onTape(b, jacobianSoftmax{}, x, seed) })
	contender("no-tape", func() []float64 {
		y, mean := softmax(x), 0.0
		for i, v := range y {
			mean += seed[i] * v
		}
		for i, v := range y {
			y[i] = v * (seed[i] - mean)
		}
		return y
	})
}

// onTape returns the gradient of a leaf.
func onTape(b *testing.B, f Function, x, seed []float64) []float64 {
	tape := NewTape()
	leaf := tape.Leaf(x)
	v, err := Apply(f, leaf)
	if err != nil {
		b.Fatal(err)
	}
	if err := tape.Backward(v, seed); err != nil {
		b.Fatal(err)
	}
	return leaf.Grad()
}

// jacobianSoftmax multiplies the gradient by a matrix.
type jacobianSoftmax struct{ Softmax }

func (jacobianSoftmax) Backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	y := saved[0]
	rows := make([][]float64, len(y))
	for i := range rows {
		rows[i] = make([]float64, len(y))
		for j := range rows[i] {
			rows[i][j] = -y[i] * y[j]
		}
		rows[i][i] += y[i]
	}
	out := make([]float64, len(y))
	for i, row := range rows {
		for j, v := range row {
			out[i] += v * grad[j]
		}
	}
	return [][]float64{out}, nil
}

// meanOf is a Function of few elements of a long input.
type meanOf struct{ of []int }

func (m meanOf) Forward(_ *Context, in [][]float64) ([]float64, error) {
	sum := 0.0
	for _, i := range m.of {
		sum += in[0][i]
	}
	return []float64{sum / float64(len(m.of))}, nil
}

func (m meanOf) Backward(_ *Context, grad []float64) ([][]float64, error) {
	out := make([]float64, m.of[len(m.of)-1]+1)
	for _, i := range m.of {
		out[i] = grad[0] / float64(len(m.of))
	}
	return [][]float64{out}, nil
}

// The contenders copy the input for each element that they move, which is the naive way, and
// compare one output without anything that a Report says besides, which is the least.
func BenchmarkCheck(b *testing.B) {
	x := normal(10_000)
	f := meanOf{of: []int{5, 500, 5000, len(x) - 1}}
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r, err := Check(f, x); err != nil || len(r.Wrong) > 0 {
				b.Fatal(r, err)
			}
		}
	})
	contender := func(name string, moved func(i int, h float64) []float64) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				grads, _ := f.Backward(nil, []float64{1})
				for i, g := range grads[0] {
					before, _ := f.Forward(nil, [][]float64{moved(i, -stepSize)})
					after, _ := f.Forward(nil, [][]float64{moved(i, stepSize)})
					if math.Abs((after[0]-before[0])/(2*stepSize)-g) > agree.relative {
						b.Fatal(i)
					}
				}
			}
		})
	}
	contender("copies", func(i int, h float64) []float64 {
		y := slices.Clone(x)
		y[i] += h
		return y
	})
	own := slices.Clone(x)
	contender("one-output", func(i int, h float64) []float64 {
		before := (i + len(x) - 1) % len(x) // which was moved last
		own[before] = x[before]
		own[i] = x[i] + h
		return own
	})
}
