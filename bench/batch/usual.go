package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"grade/bench/gotest"
	"grade/exercises/course/fixture"
)

// Some submissions never end, and some take all they get: whoever grades has to bound
// them in some way.
const (
	usualTimeout = 30 * time.Second // go test -timeout
	usualMemory  = 2 << 30          // bytes of a container, without swap
	usualPids    = 512
	// usualMost ends a container in which nothing else does: go test itself ends a test
	// that ignores its timeout a minute later.
	usualMost = 3 * time.Minute
)

// theUsual is what the usual way took, without a cache and with one.
type theUsual struct {
	empty, filled time.Duration
	stopped       int // containers, after usualMost
}

// usual runs go test of each submission in a container of its own, one after the
// other, in either way.
func usual(ctx context.Context, g *gotest.Engine, class []handed, progress io.Writer) (u theUsual, err error) {
	for i, h := range class {
		fmt.Fprintf(progress, "docker run of submission %d of %d\n", i+1, len(class))
		timeout := "-timeout=" + usualTimeout.String()
		err := u.add(ctx, g, h, g.Empty(h.exercise, timeout), &u.empty)
		if err == nil {
			err = u.add(ctx, g, h, g.Filled(h.exercise, timeout), &u.filled)
		}
		if err != nil {
			return u, fmt.Errorf("go test of %s %s: %w", h.exercise.Name, h.Name, err)
		}
	}
	return u, nil
}

// add adds the time of one go test. What it comes to is not looked at, but where a right
// solution fails, it is the way that is wrong.
func (u *theUsual) add(ctx context.Context, g *gotest.Engine, h handed, r gotest.Run, sum *time.Duration) (err error) {
	if r.Tree, err = g.Tree(h.exercise, h.solution()); err != nil {
		return err
	}
	r.Memory, r.Pids = usualMemory, usualPids
	bounded, cancel := context.WithTimeout(ctx, usualMost)
	defer cancel()
	o, err := g.Do(bounded, r)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && h.Class != fixture.Accepted:
		u.stopped++
		o.Took, err = usualMost, nil
	case err == nil && o.Status != 0 && h.Class == fixture.Accepted:
		err = fmt.Errorf("status %d: %s", o.Status, o.Output)
	}
	*sum += o.Took
	return err
}
