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
	model := newModel(cfg.Features, cfg.Classes)
	var forecasts []forecast
	for i := range cfg.Epochs {
		order := rand.New(rand.NewPCG(cfg.Seed, uint64(i))).Perm(len(samples))
		for len(order) > 0 {
			var batch []Sample
			for _, i := range order[:min(cfg.Batch, len(order))] {
				batch = append(batch, samples[i])
			}
			forecasts = append(forecasts, step(model, cfg.Rate, batch)...)
			order = order[len(batch):]
		}
	}
	return model, summarize(forecasts, cfg.Epochs, len(samples)), nil
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

// forecast is what the model said of a sample before it learned from it.
type forecast struct {
	probabilities []float64
	class         int // the right one
}

// step moves the model by the mean gradient of a batch.
func step(model *Model, rate float64, batch []Sample) []forecast {
	var forecasts []forecast
	gradient := newModel(model.features, model.classes)
	for _, s := range batch {
		p := model.Probabilities(s.X)
		forecasts = append(forecasts, forecast{probabilities: p, class: s.Class})
		for c := range p {
			d := p[c]
			if c == s.Class {
				d--
			}
			gradient.addBias(c, d)
			for _, e := range s.X {
				gradient.add(e.Index, c, float64(e.Value*d))
			}
		}
	}
	model.descend(gradient, rate/float64(len(batch)))
	return forecasts
}

// summarize computes the metrics of each epoch.
func summarize(forecasts []forecast, epochs, samples int) []Epoch {
	metrics := []Epoch{}
	for i := range epochs {
		loss, right := 0.0, 0
		for _, f := range forecasts[i*samples : (i+1)*samples] {
			loss -= math.Log(f.probabilities[f.class])
			if best(f.probabilities) == f.class {
				right++
			}
		}
		metrics = append(metrics, Epoch{Loss: loss / float64(samples), Accuracy: float64(right) / float64(samples)})
	}
	return metrics
}
