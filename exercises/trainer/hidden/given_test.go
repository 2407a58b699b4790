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
