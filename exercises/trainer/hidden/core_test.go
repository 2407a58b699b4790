package hidden

import (
	"context"
	"fmt"
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
	losses, _ := regression(o, draw(o.Rand(), 24), 6, trainer.Config{Epochs: 5, AccumSteps: 1})
	for i, loss := range losses {
		o.Float(fmt.Sprintf("mean loss of a sample in epoch %d of training", i), loss)
	}
}

// The loss of an epoch is that of a sample, on average: a short batch weighs as
// much as it has samples, and sums are float64 (rule 9).
func TestEpochLoss(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	sizes := [][]int{{6, 6, 6, 5}, append(w.sizes(9), 1), append(w.sizes(4), 40), w.sizes(7), w.sizes(7), w.sizes(7), w.sizes(300)}
	// Means of any size, also of very different ones in one epoch, and zeros.
	scale := []func() float64{
		func() float64 { return 1000 }, func() float64 { return 1 }, func() float64 { return 1e-3 },
		func() float64 { return -1e150 }, func() float64 { return 1e-150 }, func() float64 { return 0 },
		func() float64 { return math.Pow(10, float64(w.r.IntN(200)-100)) },
	}
	means := make([][]float64, len(sizes))
	for epoch := range sizes {
		for range sizes[epoch] {
			means[epoch] = append(means[epoch], scale[epoch]()*(0.1+w.r.Float64()))
		}
	}
	train := w.loader("train")
	train.sizes = func(pass int) []int { return sizes[pass%len(sizes)] }
	train.means = func(pass int) []float64 { return means[pass%len(sizes)] }
	h, err := w.trainer(trainer.Config{Epochs: len(sizes)}).Fit(w.ctx(), train, w.aside())
	o.String("error of Fit", kind(err))
	for i, e := range h.Epochs {
		o.Float(fmt.Sprintf("mean loss of a sample in epoch %d of training", i), e.TrainLoss, observe.Within(0, 1e-9))
	}
	other := newWorld(o)
	other.elsewhere = true
	h, err = other.trainer(trainer.Config{AccumSteps: 2}).Fit(other.ctx(), other.loader("train", 6, 2, 9, 1), other.aside())
	o.String("predictions with a Len of their own: error of Fit", kind(err))
	for _, e := range h.Epochs {
		o.Float("predictions with a Len of their own: mean loss", e.TrainLoss)
	}
	for _, n := range []int{1 << 16, 1 << 31, 1 << 32, 1 << 40} { // more samples than 16 or 32 bits count
		w := newWorld(o)
		train, test := w.loader("train", n, n-1, 2*n), w.loader("test", n, n-1, 2*n)
		means := []float64{1 + w.r.Float64(), 3 + w.r.Float64(), 7 + w.r.Float64()}
		train.means, test.means = func(int) []float64 { return means }, func(int) []float64 { return means }
		tr := w.trainer(trainer.Config{})
		h, err := tr.Fit(w.ctx(), train, test)
		o.String("batches of very many samples: error of Fit", kind(err))
		for _, e := range h.Epochs {
			o.Floats("batches of very many samples: mean losses", []float64{e.TrainLoss, e.ValLoss}, observe.Within(0, 1e-9))
		}
		w.samples("batches of very many samples", h)
	}
}

// Gradients accumulated over small batches train as one batch of as many samples
// does, also where the last window is short: it is divided by its own samples
// (rules 10 to 12).
func TestAccumulation(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{23, 22, 24, 25} {
		s := draw(o.Rand(), n)
		_, whole := regression(o, s, 6, trainer.Config{Epochs: 5, AccumSteps: 1})
		for _, in := range [][2]int{{2, 3}, {3, 2}, {1, 6}} {
			_, parts := regression(o, s, in[0], trainer.Config{Epochs: 5, AccumSteps: in[1]})
			apart := 0.0
			for i := range min(len(whole), len(parts)) {
				apart = max(apart, math.Abs(whole[i]-parts[i]))
			}
			o.Float("difference of the weights to those of whole batches", apart, observe.Within(1e-12, 0))
		}
	}
}

// What is left at the end of an epoch is a window of its own, which is stepped in
// this epoch and divided by its own number of samples, also where an epoch has
// fewer batches than a window, or one batch (rules 10 and 12).
func TestShortWindow(t *testing.T) {
	o := observe.New(t)
	for i, c := range []struct{ batches, accum int }{
		{1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}, {7, 4}, {11, 4}, {700, 300}, {5, math.MaxInt}, {5, 1<<8 + 1}, {5, 1<<16 + 2}, {5, 1 << 31}, {5, 1<<32 + 1}, {5, 1<<53 + 1},
	} {
		w := newWorld(o)
		train := w.loader("train", w.sizes(c.batches)...)
		if i == 6 {
			train = w.loader("train", w.manySamples(c.batches)...)
		}
		cfg := trainer.Config{Epochs: 3, AccumSteps: c.accum, Callbacks: w.singles("a")}
		h, err := w.trainer(cfg).Fit(w.ctx(), train, w.aside())
		name := fmt.Sprintf("%d batches, AccumSteps %d", c.batches, c.accum)
		o.String(name+": error of Fit", kind(err))
		o.Floats(name+": factors of ScaleGrads", w.scales)
		o.Ints(name+": StepEnd is told epoch, step, samples", w.told("StepEnd"))
		var steps []int
		for _, e := range h.Epochs {
			steps = append(steps, e.Steps)
		}
		o.Ints(name+": Steps of each epoch in the History", steps)
		o.Int(name+": calls of Step", w.calls["step"])
	}
	one := newWorld(o)
	_, err := one.trainer(trainer.Config{}).Fit(one.ctx(), one.loader("train", 1, 2, 1), one.aside())
	o.String("windows of one sample: error of Fit", kind(err))
	o.Floats("windows of one sample: factors of ScaleGrads", one.scales)
	otherLength(o)
	for _, n := range []int{1<<16 + 1, 1 << 31, 1<<32 + 5, 1 << 40} { // more samples than 16 or 32 bits count
		w := newWorld(o)
		_, err := w.trainer(trainer.Config{AccumSteps: 2, Callbacks: w.singles("a")}).Fit(w.ctx(), w.loader("train", n, 3, n+1), w.aside())
		o.String("batches of very many samples: error of Fit", kind(err))
		o.Floats("batches of very many samples: factors of ScaleGrads", w.scales, observe.Within(0, 1e-9))
		o.Ints("batches of very many samples: StepEnd is told epoch, step, samples", w.told("StepEnd"))
	}
	long := newTinyBatches(o, 1<<17+1+o.Rand().IntN(1000)) // two windows that 16 bits do not count
	m := &tiny{y: &tiny{n: 1}, quick: true}
	tr, err := trainer.New(tinyModel{m}, m, m.loss, trainer.Config{Epochs: 1, AccumSteps: 1<<16 + o.Rand().IntN(900)})
	o.Error("error of New", err)
	h, err := tr.Fit(context.Background(), long, newTinyBatches(o, 1))
	o.Error("a long window: error of Fit", err)
	for _, e := range h.Epochs {
		o.Int("a long window: samples in the History", e.Samples)
		o.Int("a long window: Steps in the History", e.Steps)
	}
	o.Int("a long window: calls of ScaleGrads", m.calls[3])
	o.Int("a long window: calls of Step", m.calls[5])
}

// otherLength has predictions with a Len of their own, which counts nowhere.
func otherLength(o *observe.Observer) {
	w := newWorld(o)
	w.elsewhere = true
	h, err := w.trainer(trainer.Config{AccumSteps: 2, Callbacks: w.singles("a")}).Fit(w.ctx(), w.loader("train", 6, 2, 9), w.aside())
	o.String("predictions with a Len of their own: error of Fit", kind(err))
	o.Floats("predictions with a Len of their own: factors of ScaleGrads", w.scales)
	o.Ints("predictions with a Len of their own: StepEnd is told epoch, step, samples", w.told("StepEnd"))
	o.Ints("predictions with a Len of their own: BatchEnd is told epoch, batch, samples", w.told("BatchEnd"))
	w.samples("predictions with a Len of their own", h)
}

// ZeroGrad once for a window: before its first Backward and after the Step before,
// never between (rule 11).
func TestZeroGrad(t *testing.T) {
	o := observe.New(t)
	for _, accum := range []int{1, 3} {
		w := newWorld(o)
		train := w.loader("train", w.sizes(9)...)
		_, err := w.trainer(trainer.Config{Epochs: 2, AccumSteps: accum}).Fit(w.ctx(), train, w.aside())
		o.String("error of Fit", kind(err))
		o.Strings("order of ZeroGrad, Backward and Step", w.updates)
	}
}

// X and Y of every batch are moved to the device of the model, once each, in
// training and validation, also where they are there already (rules 6 and 14).
func TestDevices(t *testing.T) {
	o := observe.New(t)
	for _, at := range []trainer.Device{"disk", "gpu7", trainer.CPU} {
		w := newWorld(o, devices)
		train, val := w.loader("train", w.sizes(3)...), w.loader("val", w.sizes(2)...)
		train.device, val.device = at, at
		device := at
		if at == "disk" {
			device = ""
		}
		_, err := w.trainer(trainer.Config{Epochs: 2, Device: device}).Fit(w.ctx(), train, val)
		o.String("error of Fit", kind(err))
		for _, of := range []string{"train", "val"} {
			for _, kind := range []string{"X", "Y"} {
				o.Strings(fmt.Sprintf("moves of %s of %s", kind, of), w.movesOf(of, kind))
			}
		}
		o.Int("moves in all", len(w.moves))
	}
	far := newWorld(o)
	far.elsewhere = true
	tr := far.trainer(trainer.Config{})
	_, err := tr.Fit(far.ctx(), far.loader("train", 2, 3), far.loader("val", 1))
	o.String("predictions that are elsewhere: error of Fit", kind(err))
	_, err = tr.Evaluate(far.ctx(), far.loader("test", 2))
	o.String("predictions that are elsewhere: error of Evaluate", kind(err))
	for _, of := range []string{"train", "val", "test"} {
		o.Strings("predictions that are elsewhere: moves of Y of "+of, far.movesOf(of, "Y"))
	}
	w := newWorld(o)
	train, val, test := w.loader("train", w.sizes(3)...), w.loader("val", w.sizes(2)...), w.loader("test", w.sizes(2)...)
	train.same, val.same, test.same = true, true, true
	tr = w.trainer(trainer.Config{})
	_, err = tr.Fit(w.ctx(), train, val)
	o.String("Y is X: error of Fit", kind(err))
	_, err = tr.Evaluate(w.ctx(), test)
	o.String("Y is X: error of Evaluate", kind(err))
	for _, of := range []string{"train", "val", "test"} {
		o.Strings("Y is X: moves of "+of, w.movesOf(of, "X"))
	}
}

// modesOf lists the mode of each Forward of what a loader gave.
func (w *world) modesOf(of string) (list []string) {
	for _, f := range w.forwards {
		if f.of == of {
			list = append(list, fmt.Sprintf("%x, training: %t", f.base, f.training))
		}
	}
	return list
}

// The model trains in training mode, at the start of every epoch set anew, and
// validates in evaluation mode, after which it trains again (rules 5 and 17).
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
		tr := w.trainer(trainer.Config{Epochs: 3, Callbacks: append(w.singles("a"), flip)})
		w.at("a TrainStart", 0, func() error { w.training = false; return nil })
		w.training = false
		_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), val)
		o.String("error of Fit", kind(err))
		o.Strings("mode of each Forward in training", w.modesOf("train"))
		o.Strings("mode of each Forward in validation", w.modesOf("val"))
	}
	afterValidation(o)
}

// Evaluate: the mean loss of a sample, in evaluation mode, without Backward,
// gradients, optimizer or callbacks, whatever has ended the one before (rules 9, 14 and 17).
func TestEvaluate(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	tr := w.trainer(trainer.Config{AccumSteps: 2, MaxGradNorm: 1, Callbacks: w.singles("a")})
	l := w.loader("test", append(w.sizes(5), 30, 1)...)
	for range 2 {
		loss, err := tr.Evaluate(w.ctx(), l)
		o.String("error of Evaluate", kind(err))
		o.Float("mean loss of a sample", loss)
	}
	o.Strings("mode of each Forward", w.modesOf("test"))
	o.Ints("epochs that Batches is asked for", l.asked)
	o.Int("calls of ZeroGrad, Backward and Step", len(w.updates))
	o.Int("calls of ScaleGrads", len(w.scales))
	o.Int("calls of ClipGrads", len(w.clips))
	o.Int("events of callbacks", len(w.events))

	w.elsewhere = true
	loss, err := tr.Evaluate(w.ctx(), w.loader("test", 6, 2, 9, 1))
	o.String("predictions with a Len of their own: error of Evaluate", kind(err))
	o.Float("predictions with a Len of their own: mean loss", loss)
	mixed := w.loader("mixed", w.manySamples(9)...)
	means := make([]float64, 9)
	for i := range means {
		means[i] = math.Pow(10, float64(w.r.IntN(200)-100))
	}
	mixed.means = func(int) []float64 { return means }
	loss, err = tr.Evaluate(w.ctx(), mixed)
	o.String("error of Evaluate", kind(err))
	o.Float("mean loss of a sample, of means of any size", loss, observe.Within(0, 1e-9))
	evaluatesAgain(o)
}

// Predict: one prediction for each batch, in order, moved to the CPU, without a
// look at Y; nothing happens before the range, and each range is a new pass
// (rule 16).
func TestPredict(t *testing.T) {
	o := observe.New(t)
	for _, device := range []trainer.Device{"gpu7", trainer.CPU} {
		for _, noY := range []bool{true, false} {
			w := newWorld(o, devices)
			tr := w.trainer(trainer.Config{Device: device})
			l := w.loader("test", w.sizes(6)...)
			l.noY = noY
			predictions := tr.Predict(w.ctx(), l)
			o.Int("calls of Batches before the range", len(l.asked))
			o.Int("calls of Forward before the range", len(w.forwards))
			for range 2 {
				var tokens []string
				n := 0
				for p, err := range predictions {
					n++
					o.String("error of a prediction", kind(err))
					if p != nil {
						o.String("device of a prediction", string(p.Device()))
					}
					tokens = append(tokens, tokenOf(p))
					o.Int("batches loaded so far", w.calls["test load"])
					if n > 6 {
						break
					}
				}
				o.Strings("predictions", tokens)
			}
			o.Ints("different epochs that Batches is asked for", slices.Compact(slices.Clone(l.asked)))
			o.Strings("moves of X", w.movesOf("test", "X"))
			o.Strings("moves of Y", w.movesOf("test", "Y"))
			o.Strings("moves of predictions", w.movesOf("test", "prediction"))
			for range tr.Predict(w.ctx(), w.loader("nothing")) {
				o.String("a prediction", "of nothing")
			}
		}
	}
}

// Validation comes after the last step of each epoch, with the parameters of then;
// without a loader for it ValLoss is NaN (rules 15 and 18).
func TestValidation(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o, progress)
	tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2})
	train, val := w.loader("train", w.sizes(4)...), w.loader("val", append(w.sizes(2), 20)...)
	h, err := tr.Fit(w.ctx(), train, val)
	o.String("error of Fit", kind(err))
	for i, e := range h.Epochs {
		o.Float(fmt.Sprintf("mean loss of a sample in validation of epoch %d", i), e.ValLoss)
	}
	for i := range min(len(train.asked), len(val.asked)) {
		o.Int("epoch asked of val, less that asked of train", val.asked[i]-train.asked[i])
	}
	o.Int("calls of Batches of val", len(val.asked))
	h, err = tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), nil)
	o.String("error of Fit", kind(err))
	for _, e := range h.Epochs {
		o.Float("ValLoss without validation", e.ValLoss)
	}
}
