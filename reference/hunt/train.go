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
	if err := cfg.check(samples); err != nil {
		return nil, nil, err
	}
	t := newTrainer(cfg, samples)
	epochs := make([]Epoch, cfg.Epochs)
	for i := range epochs {
		epochs[i] = t.epoch(i)
	}
	return t.model, epochs, nil
}

func (cfg Config) check(samples []Sample) error {
	if cfg.Features < 1 || cfg.Classes < 1 || cfg.Epochs < 0 || cfg.Batch < 1 || math.IsNaN(cfg.Rate) || math.IsInf(cfg.Rate, 0) {
		return fmt.Errorf("%w: %+v", ErrConfig, cfg)
	}
	for i, s := range samples {
		if s.Class < 0 || s.Class >= cfg.Classes || !s.X.fits(cfg.Features) {
			return fmt.Errorf("%w: number %d", ErrSample, i)
		}
	}
	return nil
}

// fits reports whether the indices ascend, from 0 at least, and stay below n.
func (x Vector) fits(n int) bool {
	last := -1
	for _, e := range x {
		if e.Index <= last {
			return false
		}
		last = e.Index
	}
	return last < n
}

// trainer is a training on its way. A step touches few of many features, so it keeps a
// list of those, and their rows of the gradient alone are looked at and cleared.
type trainer struct {
	Config
	samples  []Sample
	model    *Model
	gradient []float64 // laid out as the weights are
	bias     []float64 // its gradient
	touched  []int     // features with a gradient
	isIn     []bool    // by features: touched has it
	p        []float64 // of the sample at hand
}

func newTrainer(cfg Config, samples []Sample) *trainer {
	return &trainer{
		Config:  cfg,
		samples: samples,
		model: &Model{
			classes: cfg.Classes,
			weights: make([]float64, cfg.Features*cfg.Classes),
			bias:    make([]float64, cfg.Classes),
		},
		gradient: make([]float64, cfg.Features*cfg.Classes),
		bias:     make([]float64, cfg.Classes),
		isIn:     make([]bool, cfg.Features),
		p:        make([]float64, cfg.Classes),
	}
}

// epoch sees each sample once, in an order of its own.
func (t *trainer) epoch(i int) Epoch {
	order := rand.New(rand.NewPCG(t.Seed, uint64(i))).Perm(len(t.samples))
	n, loss, right := float64(len(order)), 0.0, 0
	for len(order) > 0 {
		batch := order[:min(t.Batch, len(order))]
		for _, i := range batch {
			s := &t.samples[i]
			t.model.into(t.p, s.X)
			loss -= math.Log(t.p[s.Class])
			if highest(t.p) == s.Class {
				right++
			}
			t.add(s)
		}
		t.step(t.Rate / float64(len(batch)))
		order = order[len(batch):]
	}
	return Epoch{Loss: loss / n, Accuracy: float64(right) / n}
}

// add adds the gradient of the cross-entropy of a sample, whose probabilities are in p:
// p - 1 for its class and p for the others, times the inputs.
func (t *trainer) add(s *Sample) {
	d := t.p
	d[s.Class]--
	for c := range d {
		t.bias[c] += d[c]
	}
	for _, e := range s.X {
		if !t.isIn[e.Index] {
			t.isIn[e.Index] = true
			t.touched = append(t.touched, e.Index)
		}
		g := t.gradient[e.Index*t.Classes:][:len(d)]
		for c := range d {
			g[c] += float64(e.Value * d[c])
		}
	}
}

// step moves all weights against their gradients, which are 0 after it.
func (t *trainer) step(rate float64) {
	descend(t.model.bias, t.bias, rate)
	for _, f := range t.touched {
		i, j := f*t.Classes, (f+1)*t.Classes
		descend(t.model.weights[i:j], t.gradient[i:j], rate)
		t.isIn[f] = false
	}
	t.touched = t.touched[:0]
}

func descend(weights, gradient []float64, rate float64) {
	for i, g := range gradient {
		weights[i] -= float64(rate * g)
	}
	clear(gradient)
}
