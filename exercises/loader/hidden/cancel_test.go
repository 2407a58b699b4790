package hidden

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
)

var ctxErrors = []error{context.Canceled, context.DeadlineExceeded}

// errCause is why a ctx is done, which is not its Err.
var errCause = errors.New("cause")

// itself records whether the error that ended a pass is that of ctx, and not another
// one around it.
func (r result) itself(o *observe.Observer, name string, ctx context.Context) {
	o.Bool(name+": the error is ctx.Err() itself", r.err == ctx.Err())
}

// ofCtx records the error of ctx that ended a pass, and not the batches before it.
func (r result) ofCtx(o *observe.Observer, name string, ctx context.Context) {
	r.onlyError(o, name, ctxErrors...)
	r.itself(o, name, ctx)
}

// endings are the ways in which a ctx comes to be done.
var endings = []string{"a cancel", "a deadline"}

// endingBy makes a ctx, and what has it done: a cancel, or the passing of its deadline.
func endingBy(t *testing.T, how string) (ctx context.Context, end func()) {
	if how == "a cancel" {
		ctx, stop := context.WithCancelCause(t.Context())
		return ctx, func() { stop(errCause) }
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 10*time.Hour, errCause)
	t.Cleanup(stop)
	return ctx, func() { time.Sleep(11 * time.Hour) }
}

// When ctx is done, the next pair is the zero value and ctx.Err() itself, and the
// last: also if batches are ready, if a batch has failed meanwhile, and at once if a
// Get is waiting. If ctx was done before the loop, Get is not called.
func TestCancel(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 4} {
			cfg := config{BatchSize: 2, Workers: workers, Prefetch: workers * 3}
			for _, how := range endings {
				doneBefore(t, o, cfg, how)
				doneInTheBody(t, o, cfg, how)
				if workers > 0 {
					doneUnderGets(t, o, cfg, how)
				}
				doneAfterAFailure(t, o, cfg, how)
				doneInGetOrCollate(t, o, cfg, how)
				doneWhileAGetWaits(t, o, cfg, how)
			}
		}
	})
}

// doneBefore has ctx done before the loop: before Epoch is called, or after it.
func doneBefore(t *testing.T, o *observe.Observer, cfg config, how string) {
	s := newSource(o.Rand(), 100)
	ctx, end := endingBy(t, how)
	seq := newLoader(t, s, copies, cfg).Epoch(ctx, 0)
	end()
	name := "done before the loop by " + how
	run(seq).ofCtx(o, name, ctx)
	run(newLoader(t, s, copies, cfg).Epoch(ctx, 0)).ofCtx(o, name, ctx)
	begun, _, _ := s.counts()
	o.Int(name+": Gets", begun)
}

// doneInTheBody has ctx done in the body, when the next batches have long been ready.
func doneInTheBody(t *testing.T, o *observe.Observer, cfg config, how string) {
	s := newSource(o.Rand(), 100)
	s.randomDelays(o.Rand(), 1, 5)
	ctx, end := endingBy(t, how)
	last := below(o.Rand(), 2, 12)
	got := untilBatch(newLoader(t, s, copies, cfg).Epoch(ctx, 0), last, end)
	name := "done in the body by " + how
	o.Int(name+": batches before it", len(got.batches))
	got.ofCtx(o, name, ctx)
}

// doneUnderGets has ctx done in the body while Gets wait: theirs is done then, and not when the body
// comes back.
func doneUnderGets(t *testing.T, o *observe.Observer, cfg config, how string) {
	s := &keeping{source: newSource(o.Rand(), 40)}
	s.delay = func(i int) time.Duration {
		if i < cfg.BatchSize {
			return ms(1)
		}
		return 24 * time.Hour
	}
	ctx, end := endingBy(t, how)
	for range newLoader(t, s, copies, cfg).Epoch(ctx, 0) {
		time.Sleep(time.Minute)
		end()
		synctest.Wait()
		o.Int("done in the body by "+how+": contexts of Gets that are not done yet", len(s.contexts)-s.done())
		break
	}
}

// untilBatch goes through a pass; the body of one of its batches takes a minute, and
// then calls end.
func untilBatch(seq func(func([]int, error) bool), last int, end func()) (got result) {
	for b, err := range seq {
		if got.err != nil {
			got.after++
			continue
		}
		if err != nil {
			got.err, got.value = err, b
			continue
		}
		if got.batches = append(got.batches, b); len(got.batches) == last {
			time.Sleep(time.Minute)
			end()
		}
	}
	return got
}

var errOfItsOwn = errors.New("an error of its own")

// ends are how a Get or a Collate may end.
var ends = map[string]func() error{
	"fails":    func() error { return errOfItsOwn },
	"panics":   func() error { panic(errOfItsOwn) },
	"succeeds": func() error { return nil },
}

// doneAfterAFailure has ctx done in the body, when the next batch has failed already.
func doneAfterAFailure(t *testing.T, o *observe.Observer, cfg config, how string) {
	for _, in := range []string{"Get", "Collate"} {
		for _, end := range []string{"fails", "panics"} {
			s := newSource(o.Rand(), 40)
			k := below(o.Rand(), 1, 9)
			at := k * cfg.BatchSize
			s.delay = func(i int) time.Duration { // the one that fails comes last
				if i == at {
					return time.Second
				}
				return ms(1)
			}
			ctx, done := endingBy(t, how)
			collate := s.endsIn(in, at, ends[end])
			got := untilBatch(newLoader(t, s, collate, cfg).Epoch(ctx, 0), k, done)
			got.ofCtx(o, "done in the body by "+how+", when the next "+in+" "+end, ctx)
		}
	}
}

// endsIn has the Get of one sample, or the Collate of its batch, call end.
func (s *source) endsIn(in string, at int, end func() error) func(idx, samples []int) ([]int, error) {
	s.fail = func(i int) error {
		if in == "Get" && i == at {
			return end()
		}
		return nil
	}
	return func(idx, samples []int) ([]int, error) {
		if in == "Collate" && samples[0] == s.tokens[at] {
			if err := end(); err != nil {
				return nil, err
			}
		}
		return copies(idx, samples)
	}
}

// doneInGetOrCollate has ctx done while a Get or a Collate runs, which goes on to its
// end: what comes of it is not wanted any more.
func doneInGetOrCollate(t *testing.T, o *observe.Observer, cfg config, how string) {
	for _, in := range []string{"Get", "Collate"} {
		for _, end := range []string{"fails", "panics", "succeeds"} {
			s := newSource(o.Rand(), 40)
			ctx, done := endingBy(t, how)
			collate := s.endsIn(in, cfg.BatchSize*below(o.Rand(), 1, 9), func() error {
				done()
				return ends[end]()
			})
			got := run(newLoader(t, s, collate, cfg).Epoch(ctx, 0))
			name := "done by " + how + " in a " + in + " that " + end
			if cfg.Workers == 0 { // how far workers are ahead is not graded
				o.Int(name+": batches before it", len(got.batches))
			}
			got.ofCtx(o, name, ctx)
		}
	}
}

// doneWhileAGetWaits has ctx done while everybody waits for Gets that take a day.
func doneWhileAGetWaits(t *testing.T, o *observe.Observer, cfg config, how string) {
	s := newSource(o.Rand(), 100)
	slow := below(o.Rand(), 20, 60)
	s.delay = func(i int) time.Duration {
		if i >= slow {
			return 24 * time.Hour
		}
		return 100 * time.Microsecond
	}
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(ms(30), func() { stop(errCause) })
	if how == "a deadline" {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(t.Context(), ms(20+below(o.Rand(), 1, 50)), errCause)
		defer cancel()
	}
	// How many batches come before it is not graded: a later one may have been begun first.
	name := "done while a Get waits by " + how
	o.Float(name+": milliseconds", elapsed(func() {
		run(newLoader(t, s, copies, cfg).Epoch(ctx, 0)).ofCtx(o, name, ctx)
	}), observe.AtMost(1, 0.001))
}
