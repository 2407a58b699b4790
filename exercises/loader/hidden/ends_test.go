package hidden

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
)

var ctxErrors = []error{context.Canceled, context.DeadlineExceeded}

// errCause is why a ctx was cancelled, which is not its Err.
var errCause = errors.New("cause")

// itself records whether the error that ended a pass is that of ctx, and not another
// one around it.
func (r result) itself(o *observe.Observer, name string, ctx context.Context) {
	o.Bool(name+": the error is ctx.Err() itself", r.err == ctx.Err())
}

// When ctx is done, the next pair is the zero value and ctx.Err() itself, and the
// last: also if batches are ready, and at once if a Get is waiting. If ctx was done
// before, Get is not called.
func TestCancel(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	soon := observe.AtMost(1, 0.001)
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 4} {
			cfg := config{BatchSize: 2, Workers: workers, Prefetch: workers * 3}
			s := newSource(r, 100)
			ctx, stop := context.WithCancelCause(t.Context())
			stop(errCause)
			got := run(newLoader(t, s, gather, cfg).Epoch(ctx, 0))
			got.observe(o, "done before", ctxErrors...)
			got.itself(o, "done before", ctx)
			begun, _, _ := s.counts()
			o.Int("Gets after it was done", begun)

			// In the body, when the next batches have long been ready.
			ctx, stop = context.WithCancelCause(t.Context())
			s = newSource(r, 100)
			s.randomDelays(r, 1, 5)
			last, k := below(r, 2, 12), 0
			got = result{}
			for b, err := range newLoader(t, s, gather, cfg).Epoch(ctx, 0) {
				if err != nil {
					got.after += len(got.value)
					got.err, got.value = err, b
					continue
				}
				got.batches = append(got.batches, b)
				if k++; k == last {
					time.Sleep(time.Minute)
					stop(errCause)
				}
			}
			got.observe(o, "done in the body", ctxErrors...)
			got.itself(o, "done in the body", ctx)
			inGetOrCollate(t, o, cfg)

			// While everybody waits for a Get that takes an hour.
			for _, at := range []time.Duration{ms(below(r, 1, 50)), 0} {
				s = newSource(r, 100)
				slow := below(r, 20, 60)
				s.delay = func(i int) time.Duration {
					if i >= slow {
						return time.Hour
					}
					return 100 * time.Microsecond
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), ms(20)+at, errCause)
				if at == 0 {
					ctx, stop = context.WithCancelCause(t.Context())
					time.AfterFunc(ms(30), func() { stop(errCause) })
				}
				o.Float("done while a Get waits: milliseconds", elapsed(func() {
					// How many batches come before it is not graded: a later one may
					// have been begun first.
					got := run(newLoader(t, s, gather, cfg).Epoch(ctx, 0))
					got.batches = nil
					got.observe(o, "done while a Get waits", ctxErrors...)
					got.itself(o, "done while a Get waits", ctx)
				}), soon)
				cancel()
			}

			// A Get that fails with such an error by itself is a failure like any other.
			s = newSource(r, 40)
			at := r.IntN(40)
			s.fail = func(i int) error {
				if i == at {
					return fmt.Errorf("read: %w", context.DeadlineExceeded)
				}
				return nil
			}
			run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)).observe(o, "an error of Get's own", ctxErrors...)
		}
	})
}

// inGetOrCollate has ctx done while a Get or a Collate runs, which goes on to its end
// and succeeds: what it has made is not wanted any more.
func inGetOrCollate(t *testing.T, o *observe.Observer, cfg config) {
	for _, in := range []string{"Get", "Collate"} {
		s := newSource(o.Rand(), 40)
		at := below(o.Rand(), 1, 9)
		ctx, stop := context.WithCancelCause(t.Context())
		s.fail = func(i int) error {
			if in == "Get" && i == at*cfg.BatchSize {
				stop(errCause)
			}
			return nil
		}
		collate := func(idx []int, samples []int) ([]int, error) {
			if in == "Collate" && idx[0] == at*cfg.BatchSize {
				stop(errCause)
			}
			return gather(idx, samples)
		}
		got := run(newLoader(t, s, collate, cfg).Epoch(ctx, 0))
		if cfg.Workers > 0 {
			got.batches = nil // how far the workers are ahead is not graded
		}
		got.observe(o, "done in a "+in, ctxErrors...)
		got.itself(o, "done in a "+in, ctx)
	}
}

// However the loop ends (a break, a return, a panic in its body, an error, ctx),
// Gets that still run are cancelled by their ctx and the loop waits for them: then
// neither Get nor Collate runs, none is called any more, and no goroutine is left.
// A panic in the body comes out as it is.
func TestLoopEnds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	failure := errors.New("failure")
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 6} {
			for _, way := range []string{"all batches", "break", "return", "panic", "ctx", "Get", "Collate"} {
				e := &ending{source: newSource(r, 60), way: way, at: below(r, 4, 9), value: r.IntN(1e9), failure: failure}
				e.randomDelays(r, 5, 20)
				quick := e.delay
				e.delay = func(i int) time.Duration {
					if i >= (e.at+2)*3 && way != "all batches" {
						return time.Hour
					}
					return quick(i)
				}
				e.cleanup = ms(7)
				if way == "Get" {
					broken(r, e.source, e.at*3)
				}
				cfg := config{BatchSize: 3, Workers: workers, Prefetch: 4}
				ctx, cancel := context.WithCancel(t.Context())
				var panicked any
				took := elapsed(func() { panicked = e.loop(newLoader(t, e, e.collate, cfg).Epoch(ctx, 0), cancel) })
				begun, running, _ := e.counts()
				collating := e.collating.Load()
				o.Ints(way+": Gets and Collates that still run", []int{running, int(collating)})
				time.Sleep(2 * time.Hour)
				later, _, _ := e.counts()
				o.Int(way+": Gets after the loop", later-begun)
				// A Get that is not cancelled takes an hour. So few batches may come half
				// as long again after those of a loader that shares out its Gets otherwise.
				o.Float(way+": milliseconds", took, observe.AtMost(3, 0))
				o.String(way+": panic", fmt.Sprint(panicked))
				for _, b := range e.batches {
					o.Ints(way, b)
				}
				cancel()
			}
		}
	})
}

// ending is a loop that ends in some way, and a dataset that is slow to let go.
type ending struct {
	*source
	way       string
	at        int // the batch at which it ends
	value     int // what the body panics with
	failure   error
	collating atomic.Int32
	batches   [][]int
}

func (e *ending) collate(idx []int, samples []int) ([]int, error) {
	e.collating.Add(1)
	defer e.collating.Add(-1)
	time.Sleep(ms(3))
	if e.way == "Collate" && idx[0] == e.at*3 {
		return nil, e.failure
	}
	return gather(idx, samples)
}

func (e *ending) loop(seq func(func([]int, error) bool), cancel func()) (panicked any) {
	defer func() { panicked = recover() }()
	k := 0
	for b, err := range seq {
		if err != nil {
			continue
		}
		e.batches = append(e.batches, b)
		if k++; k < e.at {
			continue
		}
		switch e.way {
		case "return":
			return nil
		case "panic":
			panic(e.value)
		case "ctx":
			cancel()
		}
		if e.way == "break" {
			break
		}
	}
	return nil
}
