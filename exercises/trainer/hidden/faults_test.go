package hidden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// The first error of the loader, of a move, of Forward, loss, Backward or Step ends
// Fit: it is returned with epoch and batch, nothing of the window is stepped, the
// epoch is not in the History (rules 24, 25 and 30).
func TestBatchErrors(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"train load", "train move X", "train move Y", "train forward", "train loss", "backward", "step"} {
		places := []int{0, 1, 7, 10, 17} // of 3 times 6
		if at == "step" {
			places = []int{0, 1, 2, 5, 8} // of 3 times 3
		}
		for i, n := range places {
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: w.singles("a")})
			w.fail(at, n)
			w.junk = i%2 == 1
			name := "error of " + at
			if i == 2 {
				name += " that is a BatchError" // as of a loader that trains another model
				w.failAs(at, n, ofPlace(true))
			}
			train := w.loader("train", w.sizes(6)...)
			train.bare = i%2 == 0
			h, err := tr.Fit(w.ctx(), train, w.aside())
			o.String(name+": the error and its batch", w.place(err))
			w.after(name, h)
			o.Int(name+": loaders left open", w.open)
		}
	}
	numbered(o)
	knownInFit(o)
	late(o)
	latePlaces(o)
	// Of two errors the first counts: ctx is done when this one is there already.
	for _, at := range []string{"train move X", "train forward", "train loss", "backward", "step"} {
		w := newWorld(o)
		ctx, cancel := context.WithCancelCause(w.ctx())
		f := &fault{w.r.Uint64()}
		w.at(at, 1, func() error { cancel(errCause); return f })
		_, err := w.trainer(trainer.Config{Epochs: 2}).Fit(ctx, w.loader("train", w.sizes(4)...), w.aside())
		o.String("error of "+at+", which ends ctx: the error and its batch", w.place(err))
		cancel(nil)
	}
	w := newWorld(o)
	tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: w.singles("a")})
	w.fail("step", 2)
	h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), w.aside())
	o.String("in a short window, error of step: the error and its batch", w.place(err))
	w.after("in a short window, error of step", h)
}

// gaps are the sizes of an epoch with batches without samples, which have no
// number: the loader's calls and the numbers of batches differ.
var gaps = []int{0, 3, 0, 0, 4, 5, 0, 6}

// numbered has something fail where batches without samples came before.
func numbered(o *observe.Observer) {
	for _, at := range []struct {
		kind string
		n    []int
	}{{"train load", []int{0, 1, 3, 7, 13}}, {"train forward", []int{0, 1, 3, 6}}, {"step", []int{0, 1, 2}}} {
		for i := range 2 * len(at.n) {
			w := newWorld(o)
			w.fail(at.kind, at.n[i/2])
			train := w.loader("train", gaps...)
			train.bare = i%2 == 0 // or there is a batch beside the error, with samples or without
			_, err := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2}).Fit(w.ctx(), train, w.aside())
			o.String("after empty batches, error of "+at.kind+": the error and its batch", w.place(err))
		}
	}
	for n := range 4 { // windows of 3 and of 1, and then an empty batch
		w := newWorld(o)
		w.fail("step", n)
		train := w.loader("train", append(slices.Clone(gaps), 0)...)
		_, err := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 3}).Fit(w.ctx(), train, w.aside())
		o.String("after empty batches, also at the end, error of step: the error and its batch", w.place(err))
	}
}

// late has something fail at a batch whose number 8 bits do not hold.
func late(o *observe.Observer) {
	w := newWorld(o)
	n := 260 + w.r.IntN(100)
	w.fail("train forward", n)
	w.fail("test forward", n)
	tr := w.trainer(trainer.Config{AccumSteps: 5})
	_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(400)...), w.aside())
	o.String("error at a late batch of Fit", w.place(err))
	w.firstEpoch = 0
	_, err = tr.Evaluate(w.ctx(), w.loader("test", w.sizes(400)...))
	o.String("error at a late batch of Evaluate", w.place(err))
}

// The first error in validation, Evaluate or Predict ends it and is returned with
// its batch, which it says later too; Predict yields it once (rules 24 and 25).
func TestEvaluationErrors(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"load", "move X", "move Y", "forward", "loss"} {
		for i, n := range []int{0, 4, 8} { // of 3 times 3
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: w.singles("a")})
			w.failAs("val "+at, n, ofPlace(i == 1))
			w.junk = i == 2
			val, test := w.loader("val", w.sizes(3)...), w.loader("test", w.sizes(3)...)
			val.bare, test.bare = i != 0, i != 0
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(4)...), val)
			o.String("validation, error of "+at+": the error and its batch", w.place(err))
			w.after("a validation that fails at "+at, h)
			w.failAs("test "+at, n%3, ofPlace(i == 1))
			w.firstEpoch, w.failed, w.afterwards = 0, false, 0
			_, err = tr.Evaluate(w.ctx(), test)
			o.String("Evaluate, error of "+at+": the error and its batch", w.place(err))
			o.Int("Evaluate, error of "+at+": moves and computations after it", w.afterwards)
			o.Int("loaders left open", w.open)
		}
	}
	for _, at := range []string{"load", "move X", "forward", "move prediction"} {
		for n := range 3 {
			w := newWorld(o)
			w.failAs("test "+at, n, ofPlace(n == 1))
			w.junk = n == 2
			l := w.loader("test", w.sizes(3)...)
			l.noY, l.bare = true, n == 1
			w.predictions("Predict, error of "+at, w.trainer(trainer.Config{}), w.ctx(), l)
		}
	}
	lateLooks(o)
	keptErrors(o)
	knownInLooks(o)
	evaluatesInBody(o)
	for n := range 3 { // one sequence, ranged over twice: its batches count from 0 again
		w := newWorld(o)
		w.fail("test forward", 3+n)
		l := w.loader("test", w.sizes(3)...)
		all := w.trainer(trainer.Config{}).Predict(w.ctx(), l)
		for range 2 {
			for p, err := range all {
				o.String("Predict, ranged over twice: error", w.place(err))
				o.String("Predict, ranged over twice: prediction", baseOf(p))
			}
		}
	}
	leftAndRangedAgain(o)
	for _, n := range []int{0, 3, 5, 7} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{})
		w.fail("val load", n)
		w.fail("test load", n)
		w.fail("late load", n)
		_, err := tr.Fit(w.ctx(), w.loader("train", 2, 2), w.loader("val", gaps...))
		o.String("after empty batches, validation: the error and its batch", w.place(err))
		w.firstEpoch = 0
		_, err = tr.Evaluate(w.ctx(), w.loader("test", gaps...))
		o.String("after empty batches, Evaluate: the error and its batch", w.place(err))
		w.predictions("after empty batches, Predict", tr, w.ctx(), w.loader("late", gaps...))
	}
}

// leftAndRangedAgain leaves a range over Predict, has the next one over the same sequence fail, and the
// third come to its end: none knows how the one before has ended.
func leftAndRangedAgain(o *observe.Observer) {
	w := newWorld(o)
	w.fail("test forward", 2)
	all := w.trainer(trainer.Config{}).Predict(w.ctx(), w.loader("test", w.sizes(3)...))
	for range all {
		break
	}
	for _, after := range []string{"been left", "failed"} {
		for p, err := range all {
			o.String("Predict, ranged over again after it has "+after+": error", w.place(err))
			o.String("Predict, ranged over again after it has "+after+": prediction", baseOf(p))
		}
	}
}

// keptErrors has two calls fail, each with an error of its own, or with one and the same that is a
// BatchError of another place, and looks at the first error after the second.
func keptErrors(o *observe.Observer) {
	for _, same := range []bool{false, true} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{})
		shared := ofPlace(true)(&fault{w.r.Uint64()})
		fail := w.fail
		if same {
			fail = func(kind string, n int) { w.at(kind, n, func() error { return shared }) }
		}
		calls := map[string]func(n int) error{
			"Fit": func(n int) error {
				fail("Fit forward", w.calls["Fit forward"]+n)
				_, err := tr.Fit(w.ctx(), w.loader("Fit", 2, 3), w.aside())
				return err
			},
			"Evaluate": func(n int) error {
				fail("Evaluate load", w.calls["Evaluate load"]+n)
				_, err := tr.Evaluate(w.ctx(), w.loader("Evaluate", 2, 3))
				return err
			},
			"Predict": func(n int) (last error) {
				fail("Predict forward", w.calls["Predict forward"]+n)
				for _, err := range tr.Predict(w.ctx(), w.loader("Predict", 2, 3)) {
					last = err
				}
				return last
			},
		}
		for _, first := range []string{"Fit", "Evaluate", "Predict"} {
			for _, then := range []string{"Fit", "Evaluate", "Predict"} {
				err := calls[first](1)
				before := w.place(err)
				calls[then](0)
				if !same { // else it is the matter of other observations which place is in it
					o.String("error of "+first, before)
				}
				o.Bool("the error of "+first+" is the same after one of "+then, w.place(err) == before)
			}
		}
	}
}

// predictions records what a range over Predict gives.
func (w *world) predictions(name string, tr *trainer.Trainer, ctx context.Context, l trainer.Loader) {
	n := 0
	for p, err := range tr.Predict(ctx, l) {
		w.o.String(name+": error", w.place(err))
		w.o.String(name+": prediction", baseOf(p))
		if n++; n > 9 {
			break
		}
	}
	w.o.Int(name+": pairs", n)
	w.o.Int(name+": moves and computations after an error", w.afterwards)
}

// A panic goes on to the caller with its value, whatever that is, after the mode was restored, the
// loader closed and TrainEnd called, with an error (rules 22, 29 and 30).
func TestPanic(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"train load", "train move X", "train forward", "train loss", "backward", "step", "val load", "val forward",
		"train Batches", "val Batches", "a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd", "body"} {
		for i := range 6 {
			n, training := i/2, i%2 == 1
			w := newWorld(o)
			w.training = training
			tr := w.trainer(trainer.Config{Epochs: 3, Callbacks: w.singles("a", "b")})
			w.panics(at, n, func() {
				if at != "body" {
					tr.Fit(w.ctx(), w.loader("train", w.sizes(3)...), w.loader("val", w.sizes(1)...))
					return
				}
				for range tr.Predict(w.ctx(), w.loader("test", w.sizes(5)...)) {
					w.call("body")
				}
			})
			o.Strings("panic of "+at+": who is told of what", w.heard())
			failed := true
			var epochs []int
			for _, e := range w.events {
				if e.kind == "TrainEnd" {
					failed, epochs = failed && e.err != "none", append(epochs, e.epochs)
				}
			}
			o.Bool("panic of "+at+": TrainEnd is given an error", failed)
			o.Ints("panic of "+at+": epochs in the History of TrainEnd", epochs)
		}
	}
	panicValues(o)
	for _, at := range []string{"test Batches", "test load", "test Len", "test move X", "test forward", "test loss", "test move prediction"} {
		for i := range 4 {
			n, training := i/2, i%2 == 1
			if at == "test Batches" { // which is called once
				n = 0
			}
			if at != "test move prediction" {
				w := newWorld(o)
				w.training = training
				tr := w.trainer(trainer.Config{})
				w.panics(at, n, func() { tr.Evaluate(w.ctx(), w.loader("test", 1, 2, 3)) })
			}
			if at != "test loss" {
				w := newWorld(o)
				w.training = training
				tr := w.trainer(trainer.Config{})
				w.panics(at, n, func() {
					for range tr.Predict(w.ctx(), w.loader("test", 1, 2, 3)) {
					}
				})
			}
		}
	}
}

// panics runs f, in which a call panics, and records what comes out and what is
// left.
func (w *world) panics(at string, n int, f func()) {
	before, token := w.training, w.r.Uint64()
	w.at(at, n, func() error { panic(token) })
	func() {
		defer func() {
			got, _ := recover().(uint64)
			w.o.String("panic of "+at+": value that comes out", hex(got))
		}()
		f()
	}()
	w.o.Bool("panic of "+at+": mode as before", w.training == before)
	w.o.Int("panic of "+at+": loaders left open", w.open)
}

// panicValues panics with errors, which are values like any other.
func panicValues(o *observe.Observer) {
	for i, value := range []any{trainer.ErrStop, fmt.Errorf("patience: %w", trainer.ErrStop), errCause, context.Canceled,
		&trainer.BatchError{Epoch: 77, Batch: 99, Err: errCause}, "a text", io.EOF} {
		for _, at := range []string{"a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd", "train load", "train forward", "step", "val loss", "body"} {
			w := newWorld(o)
			n := 1 - i%2
			if strings.HasSuffix(at, "TrainStart") { // of which there is one
				n = 0
			}
			w.at(at, n, func() error { panic(value) })
			tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: w.singles("a")})
			var got any
			func() {
				defer func() { got = recover() }()
				if at != "body" {
					tr.Fit(w.ctx(), w.loader("train", 2, 3), w.loader("val", 1))
					return
				}
				for range tr.Predict(w.ctx(), w.loader("test", 2, 3)) {
					w.call("body")
				}
			}()
			o.Bool("panic of "+at+" with an error or a text: the same value comes out", got == value)
			for _, e := range w.events {
				if e.kind == "TrainEnd" {
					o.Bool("panic of "+at+" with an error or a text: TrainEnd is given an error", e.err != "none")
				}
			}
		}
	}
}

// errCause is why a context was cancelled, which is not its Err.
var errCause = errors.New("cause")
