package hunt

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// What Train refuses, for errors.Is.
var (
	ErrConfig = errors.New("hunt: bad config")
	ErrSample = errors.New("hunt: bad sample")
)

// Train fits a softmax regression to samples by gradient descent in mini-batches, and
// returns what each epoch came to.
func Train(cfg Config, samples []Sample) (*Model, []Epoch, error) {
	if err := check(cfg, samples); err != nil {
		return nil, nil, err
	}
	model, gradient := newModel(cfg.Features, cfg.Classes), newModel(cfg.Features, cfg.Classes)
	epochs := make([]Epoch, 0, cfg.Epochs)
	p := make([]float64, cfg.Classes)
	for i := range cfg.Epochs {
		order := rand.New(rand.NewPCG(cfg.Seed, uint64(i))).Perm(len(samples))
		var m metrics
		for len(order) > 0 {
			batch := order[:min(cfg.Batch, len(order))]
			m.step(model, gradient, p, cfg.Rate, samples, batch)
			order = order[len(batch):]
		}
		n := float64(len(samples))
		epochs = append(epochs, Epoch{Loss: m.loss / n, Accuracy: float64(m.right) / n})
	}
	return model, epochs, nil
}

func check(cfg Config, samples []Sample) error {
	if cfg.Features < 1 || cfg.Classes < 1 || cfg.Epochs < 0 || cfg.Batch < 1 || math.IsNaN(cfg.Rate) || math.IsInf(cfg.Rate, 0) {
		return fmt.Errorf("%w: %+v", ErrConfig, cfg)
	}
	for i, s := range samples {
		if s.Class < 0 || s.Class >= cfg.Classes {
			return fmt.Errorf("%w: number %d: class %d", ErrSample, i, s.Class)
		}
		last := -1
		for _, e := range s.X {
			if e.Index <= last || e.Index >= cfg.Features {
				return fmt.Errorf("%w: number %d: index %d", ErrSample, i, e.Index)
			}
			last = e.Index
		}
	}
	return nil
}

// metrics are added up while an epoch goes on.
type metrics struct {
	loss  float64
	right int
}

// step moves the model by the mean gradient of a batch. The gradient is 0 before and
// after it.
func (m *metrics) step(model, gradient *Model, p []float64, rate float64, samples []Sample, batch []int) {
	for _, i := range batch {
		s := &samples[i]
		model.probabilities(p, s.X)
		m.loss -= math.Log(p[s.Class])
		if best(p) == s.Class {
			m.right++
		}
		p[s.Class]--
		for c, d := range p {
			gradient.bias[c] += d
		}
		for _, e := range s.X {
			row := gradient.row(e.Index)
			for c, d := range p {
				row[c] += float64(e.Value * d)
			}
		}
	}
	rate /= float64(len(batch))
	descend(model.bias, gradient.bias, rate)
	for _, i := range batch {
		for _, e := range samples[i].X {
			descend(model.row(e.Index), gradient.row(e.Index), rate) // the second time, it is 0
		}
	}
}

func descend(weights, gradient []float64, rate float64) {
	for c, g := range gradient {
		if g != 0 {
			weights[c] -= float64(rate * g)
			gradient[c] = 0
		}
	}
}
