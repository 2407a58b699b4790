package boxes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

const lockRetry = 50 * time.Millisecond

// Reserve waits until the lease's programs may be timed, and returns their CPU. An
// exclusive lease is the only one on the machine that is timed; shared ones are timed side
// by side on a CPU each, which suits many gradings whose figures are not shown. Reserve
// calls waiting once if it has to wait.
//
// Every grading passes a gate first. An exclusive one keeps the gate shut until it is done,
// so that it is served before those that come later.
func (l *Lease) Reserve(ctx context.Context, shared bool, waiting func()) (cpu int, release func(), err error) {
	cpus, err := l.CPUs()
	if err != nil {
		return 0, nil, err
	}
	last := cpus[len(cpus)-1]
	if l.pool.config.LockFile == "" {
		return last, func() {}, nil
	}
	g := &gate{file: l.pool.config.LockFile, waiting: waiting}
	defer func() {
		if err != nil {
			g.leave()
		}
	}()
	if _, err := g.wait(ctx, g.file); err != nil {
		return 0, nil, err
	}
	slices.Reverse(cpus) // the first CPU serves the machine's interrupts: it comes last
	if shared {
		which, err := g.one(ctx, cpus)
		return which, g.leave, err
	}
	return last, g.leave, g.all(ctx, cpus)
}

// Untimed returns a CPU for programs that are not timed: each in turn of those that are not
// reserved, if there are any.
func (l *Lease) Untimed() (cpu int, err error) {
	cpus, err := l.CPUs()
	if err != nil {
		return 0, err
	}
	others := cpus[:max(1, len(cpus)-1)]
	return others[int(l.pool.turn.Add(1))%len(others)], nil
}

// CPUs lists the CPUs that both boxes may be pinned to; at least one.
func (l *Lease) CPUs() (both []int, err error) {
	sub := l.cpusOf(l.Submission)
	for _, c := range l.cpusOf(l.Reference) {
		if slices.Contains(sub, c) {
			both = append(both, c)
		}
	}
	if len(both) == 0 {
		return nil, errors.New("the boxes share no CPU to measure on")
	}
	return both, nil
}

// cpusOf lists the CPUs that a runner may be pinned to: those of its box, or all of
// the machine's if the box was kept off the reserved one.
func (l *Lease) cpusOf(r *Runner) []int {
	if len(r.spec.CPUs) > 0 {
		return *l.pool.cpus.Load()
	}
	return r.box.CPUs()
}

// gate holds the locked files of a grading: the gate itself, which all gradings pass in
// turn, and one for each CPU.
type gate struct {
	file    string
	waiting func()
	held    []*flock.Flock
}

// one takes any CPU and opens the gate for the next grading.
func (g *gate) one(ctx context.Context, cpus []int) (cpu int, err error) {
	passed := len(g.held)
	which, err := g.wait(ctx, g.files(cpus)...)
	if err != nil {
		return 0, err
	}
	_ = g.held[0].Unlock()
	g.held = g.held[passed:]
	return cpus[which], nil
}

// all takes every CPU and keeps the gate shut.
func (g *gate) all(ctx context.Context, cpus []int) error {
	for _, name := range g.files(cpus) {
		if _, err := g.wait(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (g *gate) files(cpus []int) (names []string) {
	for _, c := range cpus {
		names = append(names, fmt.Sprintf("%s.%d", g.file, c))
	}
	return names
}

// wait locks the first of some files that no other grading holds, and returns its index.
func (g *gate) wait(ctx context.Context, names ...string) (which int, err error) {
	var retry *time.Ticker
	for {
		for i, name := range names {
			if ok, err := g.try(name); ok || err != nil {
				return i, err
			}
		}
		if g.waiting != nil {
			g.waiting()
			g.waiting = nil
		}
		if retry == nil {
			retry = time.NewTicker(lockRetry)
			defer retry.Stop()
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for another grading to finish measuring (%s): %w", names[0], context.Cause(ctx))
		}
	}
}

// try locks a file if no other grading holds it. The first caller creates it for all users;
// later it is only read, because a kernel may forbid writing to another user's file in a
// shared folder.
func (g *gate) try(name string) (bool, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("lock for measuring: %w", err)
	}
	l := flock.New(name, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock()
	if err != nil {
		return false, fmt.Errorf("lock for measuring: %w: remove %s if no grading needs it", err, name)
	}
	if ok {
		g.held = append(g.held, l)
	}
	return ok, nil
}

// leave lets other gradings measure.
func (g *gate) leave() {
	for _, l := range g.held {
		_ = l.Unlock()
	}
	g.held = nil
}
