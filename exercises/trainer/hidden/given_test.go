package hidden

import (
	"context"
	"strings"
	"time"

	"grade/observe"
	"grade/reference/trainer"
)

// releasedByCtx has the caller's context end while a fake has one in its hands: that one is
// done then, and not before.
func releasedByCtx(o *observe.Observer) {
	for _, at := range []string{"train load", "train forward", "val load", "val forward", "a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd",
		"Evaluate load", "Evaluate forward", "Predict load", "Predict forward"} {
		for n := range 2 {
			w := newWorld(o)
			ctx, cancel := context.WithCancel(w.ctx())
			if strings.HasSuffix(at, "TrainStart") { // of which there is one
				n = 0
			}
			early, released := false, false
			w.at(at, n, func() error {
				if w.given == nil {
					return nil
				}
				early = w.given.Err() != nil
				cancel()
				select {
				case <-w.given.Done():
					released = true
				case <-time.After(time.Hour):
				}
				return nil
			})
			tr := w.trainer(trainer.Config{Epochs: 2, Callbacks: w.singles("a")})
			switch at {
			case "Evaluate load", "Evaluate forward":
				tr.Evaluate(ctx, w.loader("Evaluate", 2, 3))
			case "Predict load", "Predict forward":
				for range tr.Predict(ctx, w.loader("Predict", 2, 3)) {
				}
			default:
				tr.Fit(ctx, w.loader("train", 2, 3), w.loader("val", 1))
			}
			o.Bool("the context given to "+at+" is done before the caller's", early)
			o.Bool("the context given to "+at+" is done when the caller's is", released)
			cancel()
		}
	}
}

// keptContexts looks, later in the same call, at the contexts that the fakes were given before:
// none of them may be done, as the caller's is not.
func keptContexts(o *observe.Observer) {
	for _, late := range []string{"train load 4", "train forward 5", "val load 1", "val forward 1", "a BatchEnd 3", "a StepEnd 2", "a EpochEnd 1", "a TrainEnd 0",
		"Evaluate load 1", "Evaluate forward 1", "Predict load 1", "Predict forward 1"} {
		w := newWorld(o)
		w.keeps = true
		at, n := late[:len(late)-2], int(late[len(late)-1]-'0')
		looked, done := false, 0
		w.at(at, n, func() error {
			looked = true
			for _, ctx := range w.kept {
				if ctx != nil && ctx.Err() != nil {
					done++
				}
			}
			return nil
		})
		tr := w.trainer(trainer.Config{Epochs: 3, Callbacks: w.singles("a")})
		switch {
		case strings.HasPrefix(at, "Evaluate"):
			tr.Evaluate(w.ctx(), w.loader("Evaluate", 2, 3))
		case strings.HasPrefix(at, "Predict"):
			for range tr.Predict(w.ctx(), w.loader("Predict", 2, 3)) {
			}
		default:
			tr.Fit(w.ctx(), w.loader("train", 2, 3), w.loader("val", 1))
		}
		o.Bool("at "+at+" the test looked at the contexts given before", looked)
		o.Int("at "+at+", contexts given before that are done, and the caller's is not", done)
	}
}

// An ending ends a context: by its cancel, or by its deadline, in the time of a bubble.
type ending struct {
	ctx context.Context
	end func()
}

func (w *world) ending(deadline bool) (e ending, free func()) {
	if deadline {
		ctx, cancel := context.WithTimeoutCause(w.ctx(), time.Minute, errCause)
		return ending{ctx, func() { time.Sleep(2 * time.Minute) }}, cancel
	}
	ctx, cancel := context.WithCancelCause(w.ctx())
	return ending{ctx, func() { cancel(errCause) }}, func() { cancel(nil) }
}

// leftAndDone leaves a range over Predict whose ctx is done: that is the end, without an error.
func leftAndDone(o *observe.Observer) {
	for n := range 3 {
		w := newWorld(o)
		ctx, cancel := context.WithCancel(w.ctx())
		got := 0
		for _, err := range w.trainer(trainer.Config{}).Predict(ctx, w.loader("test", 1, 2, 3)) {
			o.String("a range that is left as ctx is done: error", kind(err))
			if got++; got > n {
				cancel()
				break
			}
		}
		cancel()
		o.Int("a range that is left as ctx is done: batches that were moved", w.moved("test", "X"))
		o.Int("a range that is left as ctx is done: loaders left open", w.open)
	}
}
