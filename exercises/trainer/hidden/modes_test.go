package hidden

import (
	"context"
	"math"
	"strings"

	"grade/observe"
	"grade/reference/trainer"
)

// restoredAfterLooks has callbacks, and the body of a range over Predict, evaluate and
// predict: each has a mode of its own to restore.
func restoredAfterLooks(o *observe.Observer, training bool) {
	for _, at := range []string{"TrainStart", "BatchEnd", "StepEnd", "EpochEnd"} {
		for _, what := range []string{"Evaluate", "Predict"} {
			w := newWorld(o)
			var tr *trainer.Trainer
			w.at("a "+at, 0, func() error {
				l := w.loader("test", 2)
				if what == "Evaluate" {
					_, err := tr.Evaluate(w.ctx(), l)
					return err
				}
				for range tr.Predict(w.ctx(), l) {
				}
				return nil
			})
			tr = w.trainer(trainer.Config{Epochs: 2, Callbacks: w.singles("a")})
			w.training = training
			tr.Fit(w.ctx(), w.loader("train", 2, 3), w.aside())
			o.Bool("training mode after Fit with "+what+" in "+at, w.training)
			o.Bool("there was something to compute in "+at, len(w.forwards) > 4)
		}
	}
	apart := newWorld(o)
	tr := apart.trainer(trainer.Config{})
	apart.training = training
	for range tr.Predict(apart.ctx(), apart.loader("test", 2, 3)) {
		tr.Evaluate(apart.ctx(), apart.loader("again", 1))
	}
	o.Bool("training mode after Predict with Evaluate in the body", apart.training)
}

// restoredAfterEnds has a run end in validation and in training, by a stop or ctx.
func restoredAfterEnds(o *observe.Observer, training bool) {
	for _, at := range []string{"val load", "val forward", "val loss", "train load", "train forward", "a BatchEnd", "a StepEnd", "a EpochEnd"} {
		for _, stop := range []bool{false, true} {
			w := newWorld(o)
			ctx, cancel := context.WithCancel(w.ctx())
			w.at(at, 1, func() error {
				if stop {
					return trainer.ErrStop
				}
				cancel()
				return nil
			})
			tr := w.trainer(trainer.Config{Epochs: 3, Callbacks: w.singles("a")})
			w.training = training
			tr.Fit(ctx, w.loader("train", 2, 3), w.loader("val", 2, 1))
			o.Bool("training mode after a Fit that ends in "+at, w.training)
			cancel()
		}
	}
}

// restoredAfterErrors has each method end by each error there is.
func restoredAfterErrors(o *observe.Observer, training bool) {
	for _, end := range []string{"load", "move X", "move Y", "forward", "loss", "a mean", "a ctx", "a ctx at the end"} {
		restoredAfter(o, training, "Fit", end)
		restoredAfter(o, training, "validation", end)
		restoredAfter(o, training, "Evaluate", end)
		restoredAfter(o, training, "Predict", end)
	}
	restoredAfter(o, training, "Predict", "move prediction")
	for _, end := range []string{"backward", "step", "a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd", "a TrainEnd"} {
		restoredAfter(o, training, "Fit", end)
	}
}

// restoredAfter has one method end by one error, at its first batch or its second one.
func restoredAfter(o *observe.Observer, training bool, method, end string) {
	w := newWorld(o)
	ctx, cancel := context.WithCancel(w.ctx())
	defer cancel()
	l := w.loader("test", w.sizes(3)...)
	n := w.r.IntN(2)
	if strings.HasPrefix(end, "a Train") { // of which there is one
		n = 0
	}
	switch end {
	case "a mean":
		l.means = func(int) []float64 { return []float64{1, math.NaN(), 1} }
	case "a ctx":
		w.at("test load", n, func() error { cancel(); return nil })
	case "a ctx at the end":
		l.end = cancel
	default:
		w.fail(end, n)
		w.fail("test "+end, n)
	}
	tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: w.singles("a")})
	w.training = training
	w.run(tr, ctx, method, l)
	o.Bool("training mode after "+method+" that ends by "+end, w.training)
}

// run calls a method with l: of Fit, the loader for training, or for validation.
func (w *world) run(tr *trainer.Trainer, ctx context.Context, method string, l trainer.Loader) {
	switch method {
	case "Fit":
		tr.Fit(ctx, l, w.aside())
	case "validation":
		tr.Fit(ctx, w.loader("train", 2, 3), l)
	case "Evaluate":
		tr.Evaluate(ctx, l)
	case "Predict":
		for range tr.Predict(ctx, l) {
		}
	}
}

// afterValidation records whether the model is in training mode where the callbacks hear of
// the end of an epoch, whatever mode Fit has found it in.
func afterValidation(o *observe.Observer) {
	for _, found := range []bool{false, true} {
		w := newWorld(o)
		training := true
		look := onEpochEnd(func(trainer.EpochStats) error {
			training = training && w.training
			return nil
		})
		tr := w.trainer(trainer.Config{Epochs: 1 + w.r.IntN(3), Callbacks: []trainer.Callback{look}})
		w.training = found
		tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), w.loader("val", w.sizes(1+w.r.IntN(3))...))
		o.Bool("training mode after each validation", training)
	}
}
