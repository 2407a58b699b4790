package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// Callbacks are told what the README says, when it says, in the order of the
// list; those that lack a method are passed over (rule 19).
func TestCallbackOrder(t *testing.T) {
	o := observe.New(t)
	for _, accum := range []int{1, 2, 3, 6} {
		w := newWorld(o)
		list := []trainer.Callback{
			&batchOnly{callback{w, "a"}}, callback{w, "b"}, endOnly{callback{w, "c"}}, &epochOnly{callback{w, "d"}}, callback{w, "e"}}
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: accum, Callbacks: list})
		h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(6)...), w.loader("val", w.sizes(2)...))
		o.String("error of Fit", kind(err))
		o.Strings("who is told of what", w.heard())
		for _, kind := range []string{"BatchEnd", "StepEnd", "EpochEnd"} {
			o.Ints("the numbers that "+kind+" is told", w.told(kind))
		}
		var losses []float64
		var steps, val []int // of validation before each EpochEnd
		same := true
		for _, e := range w.events {
			if steps = append(steps, e.steps); e.kind == "EpochEnd" {
				val = append(val, e.val)
			}
			if e.kind == "BatchEnd" {
				losses = append(losses, e.loss)
			}
			if i := e.stats.Epoch; e.kind == "EpochEnd" {
				same = same && i >= 0 && i < len(h.Epochs) && h.Epochs[i] == e.stats
			}
		}
		o.Ints("Steps before each event", steps)
		o.Ints("batches of validation before each EpochEnd", val)
		o.Floats("losses that BatchEnd is told", losses)
		o.Bool("EpochEnd is told what is in the History", same)
	}
	lateNumbers(o)
}

// after is what there is to see of a run that was ended.
func (w *world) after(name string, h trainer.History) {
	w.samples(name, h)
	w.o.Strings(name+": who is told of what", w.heard())
	w.o.Int(name+": calls of Step", w.calls["step"])
	w.o.Int(name+": batches that were loaded", w.calls["train load"])
	val := w.calls["val load"]
	for _, e := range w.events {
		if e.kind != "TrainEnd" {
			val = w.calls["val load"] - e.val
		}
	}
	w.o.Int(name+": batches of validation that were loaded after the last event of training", val)
	w.o.Int(name+": moves, computations, ZeroGrads and Steps after the first error or stop", w.afterwards)
}

// ErrStop from a callback, wrapped or not, ends the run without an error: the
// others hear of the event, TrainEnd comes, and nothing else (rules 18 and 20).
func TestStop(t *testing.T) {
	o := observe.New(t)
	for _, stop := range wraps(trainer.ErrStop) {
		for _, at := range []struct {
			kind    string
			n       int
			batches int
		}{
			{"TrainStart", 0, 6},
			{"BatchEnd", 0, 6}, {"BatchEnd", 1, 6}, {"BatchEnd", 6, 6}, {"BatchEnd", 17, 6},
			{"StepEnd", 0, 6}, {"StepEnd", 2, 6}, {"StepEnd", 8, 6},
			{"EpochEnd", 0, 6}, {"EpochEnd", 1, 6}, {"EpochEnd", 2, 6},
			{"BatchEnd", 4, 5}, {"StepEnd", 2, 5},
		} {
			w := newWorld(o)
			list := w.singles("a", "b", "c")
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: list})
			w.at("b "+at.kind, at.n, func() error { return stop })
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(at.batches)...), w.loader("val", w.sizes(2)...))
			name := "stop at " + at.kind
			if at.batches%2 == 1 {
				name = "in a short window, " + name
			}
			o.String(name+": error of Fit", kind(err))
			w.after(name, h)
		}
	}
	// A stop is none the less one where ctx is done at the same time.
	for _, at := range []string{"TrainStart", "BatchEnd", "StepEnd"} {
		w := newWorld(o)
		ctx, cancel := context.WithCancel(w.ctx())
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: w.singles("a", "b")})
		w.at("a "+at, 0, func() error { cancel(); return trainer.ErrStop })
		h, err := tr.Fit(ctx, w.loader("train", w.sizes(4)...), w.loader("val", 1))
		o.String("stop and done at "+at+": error of Fit", kind(err))
		w.after("stop and done at "+at, h)
	}
	w := newWorld(o) // of more epochs than there is memory for
	end := &epochOnly{callback{w, "a"}}
	w.at("a EpochEnd", 2, func() error { return trainer.ErrStop })
	h, err := w.trainer(trainer.Config{Epochs: math.MaxInt, Callbacks: []trainer.Callback{end}}).
		Fit(w.ctx(), w.loader("train", w.sizes(2)...), w.loader("val", w.sizes(1)...))
	o.String("stop of a run without end: error of Fit", kind(err))
	w.after("stop of a run without end", h)
}

// wraps are an error, and ways to wrap it.
func wraps(err error) []error {
	return []error{err, fmt.Errorf("patience: %w", err), errors.Join(errors.New("patience"), err), fmt.Errorf("%w, %w", errors.New("patience"), err),
		&trainer.BatchError{Epoch: 77, Batch: 99, Err: err}, like{err}}
}

// like is an error that says of itself that it is another.
type like struct{ other error }

func (l like) Error() string        { return "patience" }
func (l like) Is(target error) bool { return target == l.other }

// stopElsewhere has a loader, a tensor, a model or the loss return ErrStop in Evaluate and Predict.
func stopElsewhere(o *observe.Observer) {
	for i, stop := range wraps(trainer.ErrStop) {
		for _, at := range []string{"load", "move X", "move Y", "forward", "loss"} {
			w := newWorld(o)
			w.at("test "+at, i%3, func() error { return stop })
			_, err := w.trainer(trainer.Config{}).Evaluate(w.ctx(), w.loader("test", w.sizes(3)...))
			o.String("ErrStop from "+at+" in Evaluate: error", kind(err))
		}
		for _, at := range []string{"load", "move X", "forward", "move prediction"} {
			for n := range 3 {
				w := newWorld(o)
				w.at("test "+at, n, func() error { return stop })
				var errs []string
				for _, err := range w.trainer(trainer.Config{}).Predict(w.ctx(), w.loader("test", w.sizes(3)...)) {
					if errs = append(errs, kind(err)); len(errs) > 9 {
						break
					}
				}
				o.Strings("ErrStop from "+at+" in Predict: errors", errs)
			}
		}
	}
}

// ErrStop is a wish of callbacks only: from a loader, a model, the loss or the
// optimizer it is an error, in Fit as well as in Evaluate and Predict. And where another
// callback fails at the same event, it is that error which counts (rules 20 and 21).
func TestStopIsForCallbacks(t *testing.T) {
	o := observe.New(t)
	for _, from := range []string{"train load", "train move X", "train move Y", "train forward", "train loss", "backward", "step",
		"val load", "val move X", "val forward", "val loss"} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2})
		w.at(from, 1, func() error { return fmt.Errorf("a model's: %w", trainer.ErrStop) })
		h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(6)...), w.loader("val", w.sizes(3)...))
		o.String("ErrStop from "+from+": error of Fit", kind(err))
		w.after("ErrStop from "+from, h)
	}
	stopElsewhere(o)
	for _, event := range []string{"TrainStart", "BatchEnd", "StepEnd", "EpochEnd"} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: w.singles("a", "b", "c")})
		w.at("a "+event, 0, func() error { return trainer.ErrStop })
		w.fail("b "+event, 0)
		_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(4)...), w.loader("val", 1))
		o.String("a stop and a fault at "+event+": error of Fit", kind(err))
		o.Strings("a stop and a fault at "+event+": who is told of what", w.heard())
	}
}

// Any other error of a callback ends the run at once and is what Fit returns, in a
// BatchError where it is of BatchEnd or StepEnd, also if it is one of another place;
// the callbacks after it do not hear of that event, but all hear TrainEnd (rules 21,
// 22 and 25).
func TestCallbackErrors(t *testing.T) {
	o := observe.New(t)
	for _, at := range []struct {
		kind    string
		n       []int
		batches int
	}{
		{"TrainStart", []int{0}, 6}, {"BatchEnd", []int{0, 7, 17}, 6}, {"StepEnd", []int{0, 4, 8}, 6}, {"EpochEnd", []int{0, 1, 2}, 6},
		{"StepEnd", []int{2}, 5},
	} {
		for _, n := range at.n {
			for _, placed := range []bool{false, true} {
				w := newWorld(o)
				list := w.singles("a", "b", "c")
				tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: list})
				w.fail("b "+at.kind, n)
				name := "error of " + at.kind
				if at.batches%2 == 1 {
					name = "in a short window, " + name
				}
				if placed { // as that of an Evaluate
					name += " that is a BatchError"
					w.failAs("b "+at.kind, n, func(f error) error { return fmt.Errorf("look: %w", &trainer.BatchError{Epoch: 77, Batch: 99, Err: f}) })
				}
				h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(at.batches)...), w.aside())
				if at.kind == "BatchEnd" || at.kind == "StepEnd" {
					o.String(name+": what Fit returns", w.place(err))
				} else {
					o.String(name+": what Fit returns", kind(err))
				}
				w.after(name, h)
			}
		}
	}
}

// ofPlace wraps a fault as one of another batch, or leaves it as it is.
func ofPlace(another bool) func(error) error {
	return func(f error) error {
		if another {
			return &trainer.BatchError{Epoch: 77, Batch: 99, Err: f}
		}
		return f
	}
}

// failAs has a call fail with what wrap makes of its fault.
func (w *world) failAs(kind string, n int, wrap func(error) error) {
	f := wrap(&fault{w.r.Uint64()})
	w.at(kind, n, func() error { return f })
}

// TrainEnd is called for every callback that has it, once, whatever has ended the
// run, with what Fit has come to, and the batch of its error. Its own error counts where there was none
// (rule 22).
func TestTrainEnd(t *testing.T) {
	o := observe.New(t)
	for i, end := range []string{"nothing", "train load", "train forward", "step", "val loss", "a TrainStart", "a EpochEnd", "c TrainEnd", "a TrainEnd",
		"a ctx", "a mean", "an empty validation"} {
		for _, also := range []string{"", "b TrainEnd"} {
			w := newWorld(o)
			list := []trainer.Callback{callback{w, "a"}, endOnly{callback{w, "b"}}, callback{w, "c"}, &epochOnly{callback{w, "d"}}}
			tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: list})
			ctx, cancel := context.WithCancel(w.ctx())
			train, val := w.loader("train", w.sizes(2)...), w.loader("val", w.sizes(2)...)
			name := "fault of " + end
			switch end {
			case "a ctx":
				w.at("train load", 0, func() error { cancel(); return nil })
			case "a mean":
				train.means = func(int) []float64 { return []float64{1, math.NaN()} }
			case "an empty validation":
				val = w.loader("val")
			default:
				w.fail(end, 0)
			}
			if also != "" {
				w.fail(also, 0)
				name += " and of another TrainEnd"
			}
			h, err := tr.Fit(ctx, train, val)
			cancel()
			o.String(name+": error of Fit", kind(err))
			w.samples(name, h)
			o.Strings(name+": what TrainEnd is given", w.ends())
			for _, e := range w.events {
				if e.kind == "TrainEnd" && e.err == kind(err) && (i > 0 && i < 5) { // as rule 25 lists them
					o.Bool(name+": TrainEnd is told the batch that Fit says", e.place == w.place(err))
				}
			}
		}
	}
	for _, at := range []string{"TrainStart", "BatchEnd", "StepEnd", "EpochEnd"} {
		for _, ends := range [][]string{{"a"}, {"b"}, {"a", "b"}} {
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}}})
			w.at("b "+at, 0, func() error { return trainer.ErrStop })
			for _, name := range ends {
				w.fail(name+" TrainEnd", 0)
			}
			_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), w.loader("val", 1))
			o.String("ErrStop of "+at+", and a TrainEnd fails: error of Fit", kind(err))
			o.Strings("ErrStop of "+at+": what TrainEnd is given", w.ends())
		}
	}
	for _, stop := range wraps(trainer.ErrStop) {
		for _, also := range []string{"", "b TrainEnd"} {
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}}})
			w.at("a TrainEnd", 0, func() error { return stop })
			if also != "" {
				w.fail(also, 0)
			}
			_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(1)...), w.loader("val", 1))
			o.String("ErrStop of TrainEnd: error of Fit", kind(err))
		}
	}
	for _, c := range [][2]string{{"train forward", "a TrainEnd"}, {"a TrainEnd", "b TrainEnd"}} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}}})
		w.fail(c[0], 0)
		w.at(c[1], 0, func() error { return trainer.ErrStop })
		_, err := tr.Fit(w.ctx(), w.loader("train", 2), w.aside())
		o.String("a fault of "+c[0]+", and ErrStop of a TrainEnd: error of Fit", kind(err))
	}
}
