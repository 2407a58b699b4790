package hidden

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"

	"grade/observe"
	"grade/reference/trainer"
)

// rows is a tensor of numbers.
type rows struct {
	x      [][]float64
	device trainer.Device
}

func (t *rows) Len() int               { return len(t.x) }
func (t *rows) Device() trainer.Device { return t.device }
func (t *rows) To(d trainer.Device) (trainer.Tensor, error) {
	return &rows{t.x, d}, nil
}

// linear is a linear model with its gradient descent. It keeps the weights after
// each step.
type linear struct {
	weights, gradient []float64
	x                 [][]float64
	training          bool
	path              []float64
}

func (m *linear) To(trainer.Device) error { return nil }
func (m *linear) SetTraining(on bool)     { m.training = on }
func (m *linear) Training() bool          { return m.training }

func (m *linear) Forward(_ context.Context, x trainer.Tensor) (trainer.Tensor, error) {
	m.x = x.(*rows).x
	pred := &rows{device: x.Device()}
	for _, row := range m.x {
		sum := 0.0
		for j, w := range m.weights {
			sum += w * row[j]
		}
		pred.x = append(pred.x, []float64{sum})
	}
	return pred, nil
}

func (m *linear) Backward(grad trainer.Tensor) error {
	for i, g := range grad.(*rows).x {
		for j := range m.gradient {
			m.gradient[j] += g[0] * m.x[i][j]
		}
	}
	return nil
}

func (m *linear) ScaleGrads(f float64) {
	for j := range m.gradient {
		m.gradient[j] *= f
	}
}

func (m *linear) ClipGrads(maxNorm float64) {
	norm := 0.0
	for _, g := range m.gradient {
		norm += g * g
	}
	if norm = math.Sqrt(norm); norm > maxNorm {
		m.ScaleGrads(maxNorm / norm)
	}
}

func (m *linear) ZeroGrad() { clear(m.gradient) }

func (m *linear) Step() error {
	for j, g := range m.gradient {
		m.weights[j] -= 0.05 * g
	}
	m.path = append(m.path, m.weights...)
	return nil
}

// squares is the loss of linear models.
func squares(pred, y trainer.Tensor) (float64, trainer.Tensor, error) {
	p, want := pred.(*rows), y.(*rows)
	grad := &rows{device: p.device}
	sum := 0.0
	for i := range p.x {
		d := p.x[i][0] - want.x[i][0]
		sum += d * d
		grad.x = append(grad.x, []float64{2 * d})
	}
	return sum / float64(len(p.x)), grad, nil
}

// samples is a set of data.
type samples struct{ x, y [][]float64 }

func draw(r *rand.Rand, n int) samples {
	var s samples
	for range n {
		x := []float64{1, r.NormFloat64(), r.NormFloat64()}
		s.x = append(s.x, x)
		s.y = append(s.y, []float64{1.5 - 2*x[1] + 0.5*x[2] + 0.3*r.NormFloat64()})
	}
	return s
}

// batches is a loader of s.
type batches struct {
	samples
	size int
}

func (b batches) Batches(context.Context, int) iter.Seq2[trainer.Batch, error] {
	return func(yield func(trainer.Batch, error) bool) {
		for at := 0; at < len(b.x); at += b.size {
			to := min(at+b.size, len(b.x))
			if !yield(trainer.Batch{X: &rows{b.x[at:to], "disk"}, Y: &rows{b.y[at:to], "disk"}}, nil) {
				return
			}
		}
	}
}

// still is a sample that leaves no gradient, for runs that are not about validation.
var still = samples{[][]float64{{0, 0, 0}}, [][]float64{{0}}}

// regression trains a linear model on s from zero, records it, and returns the loss
// of each epoch and the weights that it came to.
func regression(o *observe.Observer, s samples, size int, cfg trainer.Config) (losses, weights []float64) {
	m := &linear{weights: make([]float64, 3), gradient: []float64{7, 7, 7}}
	t, err := trainer.New(m, m, squares, cfg)
	if err == nil {
		var h trainer.History
		h, err = t.Fit(context.Background(), batches{s, size}, batches{still, 1})
		for _, e := range h.Epochs {
			losses = append(losses, e.TrainLoss)
		}
	}
	o.Error("error of Fit", err)
	o.Int("Steps", len(m.path)/len(m.weights))
	o.Floats("weights after each step", m.path)
	return losses, m.weights
}
