package hidden

import (
	"context"

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
	tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: w.singles(callbacks...)})
	train, val := w.loader("train", 2, 3, 4), w.loader("val", 2)
	func() {
		defer func() { _ = recover() }()
		tr.Fit(ctx, train, val)
	}()
	w.events, train.asked, w.updates = nil, nil, nil
	h, err := tr.Fit(w.ctx(), train, val)
	w.o.String("Fit after "+name+": error", kind(err))
	w.samples("Fit after "+name, h)
	w.o.Ints("Fit after "+name+": epochs that Batches is asked for", train.asked)
	w.o.Int("Fit after "+name+": calls of ZeroGrad, Backward and Step", len(w.updates))
	w.o.Int("Fit after "+name+": events", len(w.events))
}
