package grader

import (
	"context"
	"fmt"

	"grade/grader/boxes"
	"grade/sandbox"
)

// ahead is the reference's side of the tests. It does not wait for the submission's: it runs
// from when its box is open, while the submission is still being compiled.
type ahead struct {
	ready  chan struct{} // told twice: the box is open, and the program is there
	start  chan sandbox.Outcome
	tests  chan sandbox.Outcome // in the order of the plan, round by round; closed at the end
	races  []sandbox.Outcome    // for the race check; to be read after the end
	enough chan struct{}        // closed when no further test is needed
	ended  chan struct{}
	err    error // to be read after the end
	cancel context.CancelFunc
}

// runAhead begins the reference's side. The caller stops it before it releases the lease.
func (r *grading) runAhead(ctx context.Context, l *boxes.Lease) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{
		ready: make(chan struct{}, 2), start: make(chan sandbox.Outcome, 1), tests: make(chan sandbox.Outcome, len(r.plan.Tests)*r.plan.Runs),
		enough: make(chan struct{}), ended: make(chan struct{}), cancel: cancel,
	}
	go func() {
		defer close(a.ended)
		defer close(a.tests)
		defer close(a.start)
		a.err = a.run(ctx, r, l)
	}()
	return a
}

// stop ends the reference's side at once, in the middle of a test if need be.
func (a *ahead) stop() {
	a.cancel()
	<-a.ended
}

// end waits for the rest of the reference's side.
func (a *ahead) end() error {
	<-a.ended
	return a.err
}

// next waits for what the reference gave in its next run.
func (a *ahead) next(ctx context.Context, from <-chan sandbox.Outcome) (sandbox.Outcome, error) {
	select {
	case o, ok := <-from:
		if !ok {
			return o, a.end()
		}
		return o, nil
	case <-ctx.Done():
		return sandbox.Outcome{}, ctx.Err()
	}
}

func (a *ahead) run(ctx context.Context, r *grading, l *boxes.Lease) error {
	for range cap(a.ready) {
		select {
		case <-a.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	o, err := l.Reference.Run(ctx, r.lang.Smoke(r.exercise))
	if err != nil {
		return fmt.Errorf("run the reference without a test: %w", err)
	}
	a.start <- o
	if err := a.test(ctx, r, l); err != nil {
		return err
	}
	return a.race(ctx, r, l)
}

// test runs every test, until that is enough.
func (a *ahead) test(ctx context.Context, r *grading, l *boxes.Lease) error {
	for round := range r.plan.Runs {
		for _, c := range r.plan.Tests {
			select {
			case <-a.enough:
				return nil
			default:
			}
			o, err := r.askReference(ctx, l, r.lang.Test(r.exercise, c, r.testSeed(c, round)))
			if err != nil {
				return fmt.Errorf("run the reference in %s: %w", c.Func, err)
			}
			a.tests <- o
		}
	}
	return nil
}

// race runs the tests of the race check, without the detector, which changes no value. It
// does so after the tests, because its box measures while the submission races.
func (a *ahead) race(ctx context.Context, r *grading, l *boxes.Lease) error {
	if r.noRace != "" {
		return nil
	}
	for _, t := range r.raceRuns() {
		o, err := r.askReference(ctx, l, r.lang.Test(r.exercise, t.Check, r.raceSeed(t)))
		if err != nil {
			return fmt.Errorf("run the reference in %s: %w", t.Func, err)
		}
		a.races = append(a.races, o)
	}
	return nil
}

// askReference runs a test on the reference's side. A seed that the caller has given may
// serve other submissions as well, which then are compared with the same run.
func (r *grading) askReference(ctx context.Context, l *boxes.Lease, q sandbox.Request) (sandbox.Outcome, error) {
	if r.options.Seed == "" {
		return l.Reference.Run(ctx, q)
	}
	return l.Recall(ctx, q)
}
