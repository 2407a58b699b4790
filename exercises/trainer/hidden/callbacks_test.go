package hidden

import (
	"context"
	"fmt"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// Callbacks are told what the README says, when it says, in the order of the
// list; those that lack a method are passed over (rule 19).
func TestCallbackOrder(t *testing.T) {
	o := observe.New(t)
	for _, accum := range []int{1, 2, 5} {
		w := newWorld(o)
		list := []trainer.Callback{
			&batchOnly{callback{w, "a"}}, callback{w, "b"}, endOnly{callback{w, "c"}}, &epochOnly{callback{w, "d"}}, callback{w, "e"}}
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: accum, Callbacks: list})
		_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), w.loader("val", w.sizes(2)...))
		o.String("error", kind(err))
		o.Strings("events", w.events)
		o.Floats("losses", w.losses)
	}
}

// ErrStop from a callback, wrapped or not, ends the run without an error: the
// others hear of the event, TrainEnd comes, and nothing else (rules 18 and 20).
func TestStop(t *testing.T) {
	o := observe.New(t)
	for _, stop := range []error{trainer.ErrStop, fmt.Errorf("patience: %w", trainer.ErrStop)} {
		for _, at := range []struct {
			kind string
			n    int
		}{
			{"TrainStart", 0},
			{"BatchEnd", 0}, {"BatchEnd", 1}, {"BatchEnd", 6}, {"BatchEnd", 14},
			{"StepEnd", 0}, {"StepEnd", 2}, {"StepEnd", 8},
			{"EpochEnd", 0}, {"EpochEnd", 1}, {"EpochEnd", 2},
		} {
			w := newWorld(o)
			list := []trainer.Callback{callback{w, "a"}, callback{w, "b"}, callback{w, "c"}}
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: list})
			w.at("b "+at.kind, at.n, func() error { return stop })
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), w.loader("val", w.sizes(2)...))
			o.String("error", kind(err))
			w.history(h)
			o.Strings("events", w.events)
			o.String("state", w.state())
			o.Ints("steps, Forward", []int{w.calls["step"], len(w.forwards)})
		}
	}
}

// ErrStop is a wish of callbacks only: from a loader, a model, the loss or the
// optimizer it is an error. And where another callback fails at the same event,
// it is that error which counts (rules 20 and 21).
func TestStopIsForCallbacks(t *testing.T) {
	o := observe.New(t)
	for _, from := range []string{"train load", "train move X", "train forward", "train loss", "backward", "step", "val forward"} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2})
		w.at(from, 1, func() error { return trainer.ErrStop })
		h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), w.loader("val", w.sizes(3)...))
		o.String("error", place(err))
		w.history(h)
		o.String("state", w.state())
	}
	w := newWorld(o)
	tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}, callback{w, "c"}}})
	w.at("a BatchEnd", 2, func() error { return trainer.ErrStop })
	w.fail("b BatchEnd", 2)
	_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), nil)
	o.String("stop and fault", place(err))
	o.Strings("events", w.events)
}

// Any other error of a callback ends the run at once and is what Fit returns; the
// callbacks after it do not hear of that event, but all hear TrainEnd (rules 21,
// 22 and 25).
func TestCallbackErrors(t *testing.T) {
	o := observe.New(t)
	for _, at := range []struct {
		kind string
		n    []int
	}{{"TrainStart", []int{0}}, {"BatchEnd", []int{0, 7, 14}}, {"StepEnd", []int{0, 4, 8}}, {"EpochEnd", []int{0, 1, 2}}} {
		for _, n := range at.n {
			w := newWorld(o)
			list := []trainer.Callback{callback{w, "a"}, callback{w, "b"}, callback{w, "c"}}
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: list})
			w.fail("b "+at.kind, n)
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), nil)
			if at.kind == "BatchEnd" || at.kind == "StepEnd" {
				o.String("error", place(err))
			} else {
				o.String("error", kind(err))
			}
			w.history(h)
			o.Strings("events", w.events)
			o.String("state", w.state())
		}
	}
}

// TrainEnd is called for every callback that has it, once, whatever has ended the
// run, with what Fit has come to. Its own error counts where there was none
// (rule 22).
func TestTrainEnd(t *testing.T) {
	o := observe.New(t)
	for _, end := range []string{"nothing", "train load", "train forward", "step", "val loss", "a TrainStart", "a EpochEnd", "c TrainEnd", "a TrainEnd"} {
		for _, also := range []string{"", "b TrainEnd"} {
			w := newWorld(o)
			list := []trainer.Callback{callback{w, "a"}, endOnly{callback{w, "b"}}, callback{w, "c"}, &epochOnly{callback{w, "d"}}}
			tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: list})
			w.fail(end, 0)
			if also != "" {
				w.fail(also, 0)
			}
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), w.loader("val", w.sizes(2)...))
			o.String("error", kind(err))
			w.history(h)
			o.Strings("events", w.events)
			o.Floats("losses", w.losses)
		}
	}
	for _, stop := range []error{trainer.ErrStop, fmt.Errorf("patience: %w", trainer.ErrStop)} {
		for _, also := range []string{"", "b TrainEnd"} {
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}}})
			w.at("a TrainEnd", 0, func() error { return stop })
			if also != "" {
				w.fail(also, 0)
			}
			_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(1)...), nil)
			o.String("after an ErrStop", kind(err))
		}
	}
}

// A callback may evaluate and predict with the same Trainer in the middle of a
// window, and the run goes on as if it had not (rule 23).
func TestNested(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	var tr *trainer.Trainer
	ctx := w.ctx()
	test := w.loader("test", w.sizes(3)...)
	look := func() error {
		loss, err := tr.Evaluate(ctx, test)
		w.losses = append(w.losses, loss)
		for p, err := range tr.Predict(ctx, test) {
			w.events = append(w.events, hex(p.(*tensor).token), kind(err))
			break
		}
		return err
	}
	tr = w.trainer(trainer.Config{Epochs: 2, AccumSteps: 3, Callbacks: []trainer.Callback{
		afterBatch(look), callback{w, "a"}, onEpochEnd(func(trainer.EpochStats) error { return look() })}})
	h, err := tr.Fit(ctx, w.loader("train", w.sizes(7)...), w.loader("val", w.sizes(2)...))
	o.String("error", kind(err))
	w.history(h)
	o.Strings("events", w.events)
	o.Floats("losses", w.losses)
	o.Floats("scales", w.scales)
	o.String("state", w.state())
}

// afterBatch is a function as a callback.
type afterBatch func() error

func (f afterBatch) BatchEnd(context.Context, trainer.BatchInfo) error { return f() }
