package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"grade/bench/class"
	"grade/bench/gotest"
	"grade/exercises/course/fixture"
)

// Limits of the usual way: some submissions never end, and some take all the memory
// they can.
const (
	usualTimeout = 30 * time.Second // go test -timeout
	usualMemory  = 2 << 30          // bytes of a container, without swap
	usualPids    = 512
	// usualMost stops a container that has not ended by itself. go test kills a test
	// that ignores its timeout a minute later.
	usualMost = 3 * time.Minute
)

// usualTimes holds the times of the usual way, without a build cache and with one.
type usualTimes struct {
	empty, filled time.Duration
	stopped       int // containers stopped after usualMost
}

// usual runs go test of each submission in a container of its own, one after the
// other, both without and with a build cache.
func usual(ctx context.Context, g *gotest.Engine, students []class.Submission, progress io.Writer) (u usualTimes, err error) {
	for i, h := range students {
		fmt.Fprintf(progress, "docker run of submission %d of %d\n", i+1, len(students))
		timeout := "-timeout=" + usualTimeout.String()
		err := u.add(ctx, g, h, g.Empty(h.Exercise, timeout), &u.empty)
		if err == nil {
			err = u.add(ctx, g, h, g.Filled(h.Exercise, timeout), &u.filled)
		}
		if err != nil {
			return u, fmt.Errorf("go test of %s %s: %w", h.Exercise.Name, h.Name, err)
		}
	}
	return u, nil
}

// add adds the time of one go test to sum. It ignores the result, except that an
// accepted submission must pass.
func (u *usualTimes) add(ctx context.Context, g *gotest.Engine, h class.Submission, r gotest.Run, sum *time.Duration) (err error) {
	if r.Tree, err = g.Tree(h.Exercise, h.Solution()); err != nil {
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
