package hidden

import (
	"context"
	"fmt"
	"math"

	"grade/observe"
	"grade/reference/trainer"
)

// again ends a Fit in each way there is, and begins another one on the same Trainer.
func again(o *observe.Observer) {
	for _, c := range []struct {
		name string
		end  func(cancel func()) error
	}{
		{"a stop", func(func()) error { return trainer.ErrStop }},
		{"an error", func(func()) error { return &fault{1} }},
		{"a panic", func(func()) error { panic("fresh") }},
		{"a context that was done", func(cancel func()) error { cancel(); return nil }},
		{"nothing in the way", func(func()) error { return nil }},
	} {
		name := c.name
		for _, at := range []string{"a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd", "train forward", "val forward"} {
			if name == "a stop" && (at == "train forward" || at == "val forward") {
				continue
			}
			w := newWorld(o)
			ctx, cancel := context.WithCancel(w.ctx())
			w.at(at, 0, func() error { return c.end(cancel) })
			w.fitAgain(name, ctx, "a")
			cancel()
		}
	}
	againAfterTwo(o)
}

// againAfterTwo has two callbacks end a Fit at one event, of which the first wants to stop, and
// one at TrainEnd.
func againAfterTwo(o *observe.Observer) {
	stop := func() error { return trainer.ErrStop }
	fails := func() error { return &fault{1} }
	for _, event := range []string{"TrainStart", "BatchEnd", "StepEnd", "EpochEnd"} {
		for _, c := range []struct {
			name string
			end  func() error
		}{{"an error", fails}, {"a panic", func() error { panic("fresh") }}, {"another stop", stop}} {
			w := newWorld(o)
			w.at("a "+event, 0, stop)
			w.at("b "+event, 0, c.end)
			w.fitAgain("a stop and "+c.name+" at one event", w.ctx(), "a", "b")
		}
	}
	for _, c := range []struct {
		name, at string
		end      func() error
	}{
		{"a stop at TrainEnd", "b TrainEnd", stop}, {"a stop and an error at TrainEnd", "b TrainEnd", fails},
		{"an error, and a stop at TrainEnd", "train forward", fails}, {"two stops, one at TrainEnd", "b BatchEnd", stop},
	} {
		w := newWorld(o)
		w.at("a TrainEnd", 0, stop)
		w.at(c.at, 0, c.end)
		w.fitAgain(c.name, w.ctx(), "a", "b")
	}
}

// fitAgain has a Fit end as the faults of w say, and begins another one on the same Trainer.
func (w *world) fitAgain(name string, ctx context.Context, callbacks ...string) {
	means := []float64{1 + w.r.Float64(), 3 + w.r.Float64(), 7 + w.r.Float64()}
	begin := func(w *world) (tr *trainer.Trainer, train, val *loader) {
		train, val = w.loader("train", 2, 3, 4), w.loader("val", 2)
		train.means = func(int) []float64 { return means }
		return w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: w.singles(callbacks...)}), train, val
	}
	tr, train, val := begin(w)
	survive(func() { tr.Fit(ctx, train, val) })
	w.events, train.asked, w.updates, w.scales = nil, nil, nil, nil
	h, err := tr.Fit(w.ctx(), train, val)
	w.o.String("Fit after "+name+": error", kind(err))
	w.samples("Fit after "+name, h)
	w.o.Ints("Fit after "+name+": epochs that Batches is asked for", train.asked)
	w.o.Int("Fit after "+name+": calls of ZeroGrad, Backward and Step", len(w.updates))
	w.o.Int("Fit after "+name+": events", len(w.events))
	fresh := newWorld(w.o)
	tr, train, val = begin(fresh)
	ofNew, _ := tr.Fit(fresh.ctx(), train, val)
	w.o.Bool("Fit after "+name+": all numbers are as in the first Fit of a Trainer", w.numbers(h) == fresh.numbers(ofNew))
}

// numbers are what callbacks are told in a Fit, what it scales by, and what is in its History but for
// validation, which is the matter of evaluatesAgain.
func (w *world) numbers(h trainer.History) string {
	var losses []float64
	for _, e := range w.events {
		losses = append(losses, e.loss)
	}
	for _, e := range h.Epochs {
		losses = append(losses, e.TrainLoss, float64(e.Steps))
	}
	return fmt.Sprint(w.told("BatchEnd"), w.told("StepEnd"), w.told("EpochEnd"), losses, w.scales)
}

// evaluatesAgain ends an Evaluate in each way there is, and begins another one on the same Trainer.
func evaluatesAgain(o *observe.Observer) {
	for _, end := range []string{"load", "move X", "move Y", "forward", "loss", "a mean", "a ctx", "a panic", "no samples"} {
		w, fresh := newWorld(o), newWorld(o)
		means := []float64{1 + w.r.Float64(), 3 + w.r.Float64(), 7 + w.r.Float64()}
		evaluate := func(w *world, tr *trainer.Trainer) string {
			l := w.loader("again", 2, 3, 4)
			l.means = func(int) []float64 { return means }
			loss, err := tr.Evaluate(w.ctx(), l)
			return fmt.Sprint(loss, kind(err))
		}
		first := w.loader("test", 5, 2, 3)
		first.means = func(int) []float64 { return means }
		ctx, cancel := context.WithCancel(w.ctx())
		switch end {
		case "a mean":
			first.means = func(int) []float64 { return []float64{2, math.NaN(), 2} }
		case "a ctx":
			w.at("test load", 1, func() error { cancel(); return nil })
		case "a panic":
			w.at("test forward", 1, func() error { panic("fresh") })
		case "no samples":
			first = w.loader("test", 0, 0)
		default:
			w.fail("test "+end, 1)
		}
		tr := w.trainer(trainer.Config{})
		survive(func() { tr.Evaluate(ctx, first) })
		cancel()
		o.Bool("Evaluate after one that ended by "+end+": as the first of a Trainer",
			evaluate(w, tr) == evaluate(fresh, fresh.trainer(trainer.Config{})))
	}
}
