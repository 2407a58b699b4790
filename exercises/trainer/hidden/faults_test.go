package hidden

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/trainer"
)

// outcome records what a Fit has come to.
func (w *world) outcome(h trainer.History, err error) {
	w.o.String("error", place(err))
	w.history(h)
	w.o.Strings("events", w.events)
	w.o.Int("steps", w.calls["step"])
	w.o.String("state", w.state())
}

// The first error of the loader, of a move, of Forward, loss, Backward or Step ends
// Fit: it is returned with epoch and batch, nothing of the window is stepped, the
// epoch is not in the History (rules 24, 25 and 30).
func TestBatchErrors(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"train load", "train move X", "train move Y", "train forward", "train loss", "backward"} {
		for _, n := range []int{0, 1, 7, 10, 14} { // of 3 times 5
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{callback{w, "a"}}})
			w.fail(at, n)
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), nil)
			o.String("error", place(err))
			w.history(h)
			o.Strings("events", w.events)
			o.Int("steps", w.calls["step"])
			o.String("state", w.state())
		}
	}
	for _, n := range []int{0, 1, 2, 5, 8} { // of 3 times 3
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{callback{w, "a"}}})
		w.fail("step", n)
		w.outcome(tr.Fit(w.ctx(), w.loader("train", w.sizes(5)...), nil))
	}
}

// The first error in validation, Evaluate or Predict ends it and is returned with
// its batch; Predict yields it once (rules 24 and 25).
func TestEvaluationErrors(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"load", "move X", "move Y", "forward", "loss"} {
		for _, n := range []int{0, 4, 8} { // of 3 times 3
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{callback{w, "a"}}})
			w.fail("val "+at, n)
			w.outcome(tr.Fit(w.ctx(), w.loader("train", w.sizes(3)...), w.loader("val", w.sizes(3)...)))
			w.fail("test "+at, n%3)
			_, err := tr.Evaluate(w.ctx(), w.loader("test", w.sizes(3)...))
			o.String("Evaluate", place(err))
			o.String("state", w.state())
		}
	}
	for _, at := range []string{"load", "move X", "forward", "move prediction"} {
		for n := range 3 {
			w := newWorld(o)
			tr := w.trainer(trainer.Config{})
			w.fail("test "+at, n)
			l := w.loader("test", w.sizes(3)...)
			l.noY = true
			for p, err := range tr.Predict(w.ctx(), l) {
				o.String("error", place(err))
				if p == nil {
					o.String("prediction", "nil")
				} else {
					o.String("prediction", hex(p.(*tensor).token))
				}
			}
			o.String("state", w.state())
		}
	}
}

// A panic goes on to the caller with its value, after the mode was restored, the
// loader closed and TrainEnd called, with an error (rules 22, 29 and 30).
func TestPanic(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"train load", "train move X", "train forward", "train loss", "backward", "step", "val forward",
		"a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd", "body"} {
		for n := range 3 {
			w := newWorld(o)
			tr := w.trainer(trainer.Config{Epochs: 3, Callbacks: []trainer.Callback{callback{w, "a"}, callback{w, "b"}}})
			token := w.r.Uint64()
			w.at(at, n, func() error { panic(token) })
			caught(o, func() {
				if at != "body" {
					tr.Fit(w.ctx(), w.loader("train", w.sizes(3)...), w.loader("val", w.sizes(1)...))
					return
				}
				for range tr.Predict(w.ctx(), w.loader("test", w.sizes(5)...)) {
					w.call("body")
				}
			})
			o.Strings("events", w.events)
			o.String("state", w.state())
		}
	}
	for _, do := range []func(*trainer.Trainer, *world){
		func(tr *trainer.Trainer, w *world) { tr.Evaluate(w.ctx(), w.loader("test", 1, 2, 3)) },
		func(tr *trainer.Trainer, w *world) {
			for range tr.Predict(w.ctx(), w.loader("test", 1, 2, 3)) {
			}
		},
	} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{})
		w.training = true
		token := w.r.Uint64()
		w.at("test forward", 1, func() error { panic(token) })
		caught(o, func() { do(tr, w) })
		o.String("state", w.state())
	}
}

// caught records the token that f panics with.
func caught(o *observe.Observer, f func()) {
	defer func() {
		token, _ := recover().(uint64)
		o.String("recovered", hex(token))
	}()
	f()
}

// Where ctx is done, the run ends before the next batch, or when the loader ends,
// with ctx.Err(): no step of an unfinished window, no epoch in the History
// (rule 28).
func TestCancel(t *testing.T) {
	o := observe.New(t)
	for _, at := range []string{"train load", "train forward", "backward", "a BatchEnd", "val load", "val forward", "at once"} {
		for _, n := range []int{0, 1, 4, 7} {
			w := newWorld(o)
			ctx, cancel := context.WithCancel(w.ctx())
			tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{&batchOnly{callback{w, "a"}}}})
			w.at(at, n, func() error { cancel(); return nil })
			if at == "at once" {
				cancel()
			}
			h, err := tr.Fit(ctx, w.loader("train", w.sizes(5)...), w.loader("val", w.sizes(3)...))
			cancel()
			o.String("error", kind(err))
			w.history(h)
			o.Strings("events", w.events)
			o.Strings("moves", w.movesOf("train X"))
			o.Strings("Forward", w.forwards)
			o.String("state", w.state())
			o.Ints("steps", []int{w.calls["step"]})
		}
	}
	// A loader that ends early because of ctx, without a word.
	for _, name := range []string{"train", "val", "test"} {
		w := newWorld(o)
		ctx, cancel := context.WithCancel(w.ctx())
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 4})
		short := w.loader(name, w.sizes(3)...)
		short.end = cancel
		var err error
		switch name {
		case "train":
			var h trainer.History
			h, err = tr.Fit(ctx, short, nil)
			w.history(h)
		case "val":
			var h trainer.History
			h, err = tr.Fit(ctx, w.loader("train", w.sizes(5)...), short)
			w.history(h)
		case "test":
			_, err = tr.Evaluate(ctx, short)
		}
		o.String("a loader that ends early", kind(err))
		for p, err := range tr.Predict(ctx, short) { // ctx is done
			o.String("Predict", kind(err))
			o.Bool("a prediction", p != nil)
		}
		o.String("state", w.state())
		cancel()
	}
}

// Loader and model get the context of the call, so that one who waits for data
// is released when it is done (rule 28).
func TestDeadline(t *testing.T) {
	o := observe.New(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2})
		slow := slowLoader{w.loader("train", w.sizes(4)...), 10 * time.Millisecond}
		wait := func(name string, f func(context.Context) error) {
			begin := time.Now()
			ctx, cancel := context.WithTimeout(w.ctx(), time.Duration(5+10*w.r.IntN(8))*time.Millisecond)
			defer cancel()
			o.String(name, kind(f(ctx)))
			o.Int("milliseconds", int(time.Since(begin).Milliseconds()))
			o.String("state", w.state())
		}
		for range 4 {
			wait("Fit", func(ctx context.Context) error { _, err := tr.Fit(ctx, slow, nil); return err })
			wait("Evaluate", func(ctx context.Context) error { _, err := tr.Evaluate(ctx, slow); return err })
			wait("Predict", func(ctx context.Context) (last error) {
				for _, err := range tr.Predict(ctx, slow) {
					last = err
				}
				return last
			})
		}
	})
}

// slowLoader takes its time for each batch, unless ctx is done before.
type slowLoader struct {
	*loader
	pause time.Duration
}

func (l slowLoader) Batches(ctx context.Context, epoch int) iter.Seq2[trainer.Batch, error] {
	return func(yield func(trainer.Batch, error) bool) {
		for b, err := range l.loader.Batches(ctx, epoch) {
			select {
			case <-ctx.Done():
				yield(trainer.Batch{}, ctx.Err())
				return
			case <-time.After(l.pause):
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// Trainers with models of their own may run at the same time (rule 31).
func TestIndependentTrainers(t *testing.T) {
	o := observe.New(t)
	type job struct {
		w          *world
		tr         *trainer.Trainer
		train, val *loader
		ctx        context.Context
		h          trainer.History
		loss       float64
		err        error
	}
	var jobs []*job
	for i := range 4 {
		w := newWorld(o)
		w.shared = true
		jobs = append(jobs, &job{w: w, train: w.loader("train", w.sizes(30+i)...), val: w.loader("val", w.sizes(3)...), ctx: w.ctx(),
			tr: w.trainer(trainer.Config{Epochs: 20 + i, AccumSteps: 2 + i, Callbacks: []trainer.Callback{&epochOnly{callback{w, fmt.Sprint(i)}}}})})
	}
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			if j.h, j.err = j.tr.Fit(j.ctx, j.train, j.val); j.err == nil {
				j.loss, j.err = j.tr.Evaluate(j.ctx, j.val)
			}
		})
	}
	wg.Wait()
	for _, j := range jobs {
		o.String("error", kind(j.err))
		j.w.history(j.h)
		o.Float("loss", j.loss)
		o.Strings("events", j.w.events)
		o.Floats("scales", j.w.scales)
		o.String("state", j.w.state())
	}
}
