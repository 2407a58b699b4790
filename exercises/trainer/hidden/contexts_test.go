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

// Loader, model and callbacks get the context of the call, or one made from it, so
// that one who waits for data is released when it is done, and not before (rule 28).
func TestDeadline(t *testing.T) {
	o := observe.New(t)
	given(o)
	synctest.Test(t, func(t *testing.T) {
		releasedByCtx(o)
		keptContexts(o)
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2})
		slow := slowLoader{w.loader("train", w.sizes(4)...), 10 * time.Millisecond}
		wait := func(name string, f func(context.Context) error) {
			begin := time.Now()
			after := time.Duration(5+10*w.r.IntN(4)) * time.Millisecond
			ctx, cancel := context.WithTimeoutCause(w.ctx(), after, errCause)
			defer cancel()
			o.String("error of "+name, kind(f(ctx)))
			o.Int("milliseconds until "+name+" has ended", int(time.Since(begin).Milliseconds()))
		}
		for range 4 {
			wait("Fit", func(ctx context.Context) error { _, err := tr.Fit(ctx, slow, w.aside()); return err })
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

// given records whose context it is that the fakes are given.
func given(o *observe.Observer) {
	w := newWorld(o, contexts)
	ctx := w.ctx()
	tr := w.trainer(trainer.Config{Callbacks: []trainer.Callback{callback{w, "a"}}})
	train, val := w.loader("train", 1), w.loader("val", 1)
	if _, err := tr.Fit(ctx, train, val); err != nil {
		o.String("error of Fit", kind(err))
	}
	for _, e := range w.events {
		if e.kind != "TrainEnd" {
			o.Bool("the context of "+e.kind+" is the caller's", contextToken(e.ctx) == contextToken(ctx))
		}
	}
	for _, l := range []*loader{train, val} {
		for _, token := range l.given {
			o.Bool("the context of the loader "+l.name+" is the caller's", token == contextToken(ctx))
		}
	}
	for p := range tr.Predict(ctx, w.loader("test", 1)) {
		o.String("a prediction, which knows the contexts of loader and Forward", tokenOf(p))
	}
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
				yield(b, ctx.Err())
				return
			case <-time.After(l.pause):
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// Trainers with models of their own may run at the same time, by turns, or one in a
// callback or body of the other: each does what it does alone (rule 31).
func TestIndependentTrainers(t *testing.T) {
	o := observe.New(t)
	within(o)
	byTurns(o)
	oneInAnother(o)
	everyPathTogether(o)
	alone, together := make([]*job, 4), make([]*job, 4)
	for i := range alone {
		r1, r2 := twins(o.Rand())
		alone[i], together[i] = newJob(o, worldOf(o, r1, everything&^devices), i), newJob(o, worldOf(o, r2, everything&^devices), i)
		alone[i].run()
	}
	var wg sync.WaitGroup
	for _, j := range together {
		j.w.shared = true
		wg.Go(j.run)
	}
	wg.Wait()
	for i, j := range together {
		o.String("error of Fit and Evaluate", kind(j.err))
		j.w.samples("at the same time as others", j.h)
		o.Int("batches that were computed", len(j.w.forwards))
		o.Bool("at the same time as others all comes as it does alone", j.String() == alone[i].String())
	}
}

// within fits another Trainer in a callback of one, and from a goroutine that the callback waits
// for: neither may wait for the other.
func within(o *observe.Observer) {
	for _, apart := range []bool{false, true} {
		outer, inner := newWorld(o), newWorld(o)
		other := inner.trainer(trainer.Config{Epochs: 2, AccumSteps: 2})
		var h trainer.History
		var err error
		fit := func() { h, err = other.Fit(inner.ctx(), inner.loader("train", 2, 3, 4), inner.loader("val", 1)) }
		tr := outer.trainer(trainer.Config{Callbacks: []trainer.Callback{afterBatch(func() error {
			if apart {
				var wg sync.WaitGroup
				wg.Go(fit)
				wg.Wait()
			} else {
				fit()
			}
			return err
		})}})
		_, outerErr := tr.Fit(outer.ctx(), outer.loader("train", 2, 2), outer.aside())
		o.String("a Fit within a Fit: errors", kind(err)+" and "+kind(outerErr))
		inner.samples("a Fit within a Fit", h)
	}
}

// A job is a world with a trainer and its loaders.
type job struct {
	w          *world
	tr         *trainer.Trainer
	train, val *loader
	ctx        context.Context
	h          trainer.History
	loss       float64
	err        error
}

func newJob(o *observe.Observer, w *world, i int) *job {
	cfg := trainer.Config{Epochs: 20 + i, AccumSteps: 2 + i, Callbacks: []trainer.Callback{&epochOnly{callback{w, fmt.Sprint(i)}}}}
	return &job{w: w, train: w.loader("train", w.sizes(30+i)...), val: w.loader("val", w.sizes(3)...), ctx: w.ctx(), tr: w.trainer(cfg)}
}

func (j *job) run() {
	if j.h, j.err = j.tr.Fit(j.ctx, j.train, j.val); j.err == nil {
		j.loss, j.err = j.tr.Evaluate(j.ctx, j.val)
	}
}

func (j *job) String() string {
	return fmt.Sprint(kind(j.err), j.h, j.loss, j.w.heard(), j.w.scales, j.w.updates, j.w.parameters)
}
