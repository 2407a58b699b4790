package hidden

import (
	"context"
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// A linear model learns: one step for each batch, with the gradient divided by
// the number of samples (rules 4, 6, 9 and 12).
func TestLinearRegression(t *testing.T) {
	o := observe.New(t)
	regression(o, draw(o.Rand(), 24), 6, trainer.Config{Epochs: 5, AccumSteps: 1})
}

// The loss of an epoch is that of a sample, on average: a short batch weighs as
// much as it has samples (rule 9).
func TestEpochLoss(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	sizes := [][]int{{6, 6, 6, 5}, append(w.sizes(9), 1), append(w.sizes(4), 40)}
	means := make([][]float64, len(sizes))
	for epoch := range sizes {
		for range sizes[epoch] {
			means[epoch] = append(means[epoch], 1000*w.r.Float64())
		}
	}
	train := w.loader("train")
	train.sizes = func(epoch int) []int { return sizes[epoch] }
	train.means = func(epoch int) []float64 { return means[epoch] }
	h, err := w.trainer(trainer.Config{Epochs: len(sizes)}).Fit(w.ctx(), train, nil)
	o.String("error", kind(err))
	var losses []float64
	for _, e := range h.Epochs {
		losses = append(losses, e.TrainLoss)
	}
	o.Floats("losses", losses)
}

// Gradients accumulated over small batches train as one batch of as many samples
// does, also where the last window is short: it is divided by its own samples
// (rules 10 to 12).
func TestAccumulation(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{23, 22, 24, 25} {
		s := draw(o.Rand(), n)
		whole := regression(o, s, 6, trainer.Config{Epochs: 5, AccumSteps: 1})
		for _, in := range [][2]int{{2, 3}, {3, 2}, {1, 6}} {
			parts := regression(o, s, in[0], trainer.Config{Epochs: 5, AccumSteps: in[1]})
			apart := 0.0
			for i := range min(len(whole), len(parts)) {
				apart = max(apart, math.Abs(whole[i]-parts[i]))
			}
			o.Float("difference to whole batches", apart, observe.Within(1e-12, 0))
		}
	}
}

// What is left at the end of an epoch is a window of its own, which is stepped in
// this epoch and divided by its own number of samples, also where an epoch has
// fewer batches than a window, or one batch (rules 10 and 12).
func TestShortWindow(t *testing.T) {
	o := observe.New(t)
	for _, batches := range []int{1, 2, 3, 4, 5, 7, 11} {
		w := newWorld(o)
		train := w.loader("train", w.sizes(batches)...)
		h, err := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 4}).Fit(w.ctx(), train, nil)
		o.String("error", kind(err))
		o.Floats("scales", w.scales)
		var steps []int
		for _, e := range h.Epochs {
			steps = append(steps, e.Steps)
		}
		o.Ints("steps", steps)
		o.Int("steps taken", w.calls["step"])
	}
}

// ZeroGrad once for a window: before its first Backward and after the Step before,
// never between (rule 11).
func TestZeroGrad(t *testing.T) {
	o := observe.New(t)
	for _, accum := range []int{1, 3} {
		w := newWorld(o)
		train := w.loader("train", w.sizes(8)...)
		_, err := w.trainer(trainer.Config{Epochs: 2, AccumSteps: accum}).Fit(w.ctx(), train, nil)
		o.String("error", kind(err))
		o.Strings("ZeroGrad, Backward, Step", w.updates)
	}
}

// X and Y of every batch are moved to the device of the model, once each, in
// training and validation (rules 6 and 14).
func TestDevices(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	train, val := w.loader("train", w.sizes(3)...), w.loader("val", w.sizes(2)...)
	_, err := w.trainer(trainer.Config{Epochs: 2}).Fit(w.ctx(), train, val)
	o.String("error", kind(err))
	for _, kind := range []string{"train X", "train Y", "val X", "val Y"} {
		o.Strings("moves of "+kind, w.movesOf(kind))
	}
	o.Int("moves", len(w.moves))
}

// The model trains in training mode, at the start of every epoch set anew, and
// validates in evaluation mode (rules 5 and 17).
func TestModes(t *testing.T) {
	o := observe.New(t)
	for _, validate := range []bool{false, true} {
		w := newWorld(o)
		flip := onEpochEnd(func(trainer.EpochStats) error {
			w.training = false
			return nil
		})
		var val trainer.Loader
		if validate {
			val = w.loader("val", w.sizes(2)...)
		}
		tr := w.trainer(trainer.Config{Epochs: 3, Callbacks: []trainer.Callback{flip}})
		w.training = false
		_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), val)
		o.String("error", kind(err))
		o.Strings("Forward", w.forwards)
	}
}

// Evaluate: the mean loss of a sample, in evaluation mode, without Backward,
// gradients, optimizer or callbacks (rules 9, 14 and 17).
func TestEvaluate(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	tr := w.trainer(trainer.Config{AccumSteps: 2, MaxGradNorm: 1, Callbacks: []trainer.Callback{callback{w, "a"}}})
	w.training = true
	l := w.loader("test", append(w.sizes(5), 30, 1)...)
	before := w.parameters
	for range 2 {
		loss, err := tr.Evaluate(w.ctx(), l)
		o.String("error", kind(err))
		o.Float("loss", loss)
	}
	o.Strings("Forward", w.forwards)
	o.Ints("Batches", l.asked)
	o.Ints("calls of the rest", []int{len(w.updates), len(w.scales), len(w.clips), len(w.events)})
	o.Bool("parameters as they were", w.parameters == before)
}

// Predict: one prediction for each batch, in order, moved to the CPU, without a
// look at Y; nothing happens before the range, and each range is a new pass
// (rule 16).
func TestPredict(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	tr := w.trainer(trainer.Config{})
	w.training = true
	l := w.loader("test", w.sizes(6)...)
	l.noY = true
	predictions := tr.Predict(w.ctx(), l)
	o.Ints("before the range", []int{len(l.asked), len(w.forwards)})
	for range 2 {
		var tokens []string
		for p, err := range predictions {
			o.String("error", kind(err))
			pt := p.(*tensor)
			o.String("on", string(pt.device))
			tokens = append(tokens, pt.kind, hex(pt.token, pt.base))
			o.Int("batches loaded", w.calls["test load"])
		}
		o.Strings("predictions", tokens)
	}
	o.Strings("moves", w.moves)
	for range tr.Predict(w.ctx(), w.loader("nothing")) {
		o.String("a prediction", "of nothing")
	}
}

// Validation comes after the last step of each epoch, with the parameters of then;
// without a loader for it ValLoss is NaN (rules 15 and 18).
func TestValidation(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2})
	val := w.loader("val", append(w.sizes(2), 20)...)
	h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(3)...), val)
	o.String("error", kind(err))
	w.history(h)
	o.Ints("Batches", val.asked)
	h, err = tr.Fit(w.ctx(), w.loader("train", w.sizes(1)...), nil)
	o.String("error", kind(err))
	w.history(h)
}

// A whole run, with everything: what each call is made with is what the README
// says, in an order that it allows.
func TestWholeRun(t *testing.T) {
	o := observe.New(t)
	for _, accum := range []int{1, 3, 50} {
		w := newWorld(o)
		cfg := trainer.Config{Epochs: 3, AccumSteps: accum, MaxGradNorm: 0.5 + w.r.Float64(),
			Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}}}
		train, val := w.loader("train", w.sizes(7)...), w.loader("val", w.sizes(2)...)
		train.sizes = func(epoch int) []int { return append(slices.Repeat([]int{2}, epoch), 5, 1, 3, 8) }
		h, err := w.trainer(cfg).Fit(w.ctx(), train, val)
		o.String("error", kind(err))
		w.history(h)
		o.Strings("updates", w.updates)
		o.Strings("events", w.events)
		o.Floats("losses", w.losses)
		o.Floats("scales", w.scales)
		o.String("state", w.state())
		loss, err := w.trainer(cfg).Evaluate(context.Background(), val)
		o.String("error", kind(err))
		o.Float("loss", loss)
	}
}
