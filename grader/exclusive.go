package grader

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

// exclusive waits until this grading may measure, and says on which CPU. On a machine
// one grading measures at a time; those of which there are many measure side by side, on
// a CPU each. Whoever wants to measure passes a gate, which a grading that measures alone
// keeps shut until it is done: so nobody waits for those that came later.
func (r *grading) exclusive(ctx context.Context) (cpu int, release func(), err error) {
	cpus, err := r.sharedCPUs()
	if err != nil {
		return 0, nil, err
	}
	last := cpus[len(cpus)-1]
	if r.config.LockFile == "" {
		return last, func() {}, nil
	}
	q := &queue{file: r.config.LockFile, waiting: func() {
		r.tell(Event{Phase: "measure", Text: "waiting for another grading to finish measuring"})
	}}
	defer func() {
		if err != nil {
			q.leave()
		}
	}()
	if _, err := q.wait(ctx, q.file); err != nil {
		return 0, nil, err
	}
	// The first CPU serves the machine's interrupts: it comes last.
	slices.Reverse(cpus)
	if r.options.Beside {
		gate := q.held
		cpu, err := q.wait(ctx, q.ofCPUs(cpus)...)
		if err != nil {
			return 0, nil, err
		}
		q.held = q.held[len(gate):]
		_ = gate[0].Unlock()
		return cpus[cpu], q.leave, nil
	}
	for _, name := range q.ofCPUs(cpus) {
		if _, err := q.wait(ctx, name); err != nil {
			return 0, nil, err
		}
	}
	return last, q.leave, nil
}

// besides is a CPU to measure memory on: each in turn of those that speed is not measured
// on, if there are any.
func (r *grading) besides() (cpu int, err error) {
	cpus, err := r.sharedCPUs()
	if err != nil {
		return 0, err
	}
	others := cpus[:max(1, len(cpus)-1)]
	return others[int(r.turn.Add(1))%len(others)], nil
}

// sharedCPUs are those that both boxes may be pinned to.
func (r *grading) sharedCPUs() (both []int, err error) {
	sub := r.cpusOf(r.sub)
	for _, c := range r.cpusOf(r.ref) {
		if slices.Contains(sub, c) {
			both = append(both, c)
		}
	}
	if len(both) == 0 {
		return nil, errors.New("the boxes share no CPU to measure on")
	}
	return both, nil
}

// cpusOf are the CPUs that a station may be pinned to: those of its box, or, if that has
// been put aside, of any.
func (r *grading) cpusOf(s *station) []int {
	if len(s.spec.CPUs) > 0 {
		return *r.cpus.Load()
	}
	return s.box.CPUs()
}

// learn takes down which CPUs there are, from the first box that may use all.
func (g *Grader) learn(s *station) {
	if len(s.spec.CPUs) == 0 {
		cpus := slices.Clone(s.box.CPUs())
		g.cpus.CompareAndSwap(nil, &cpus)
	}
}

// aside are the CPUs of all boxes that nothing is measured in, so that the last one is
// left for that; nil: all, where there are too few, or nobody knows yet how many.
func (g *Grader) aside() []int {
	all := g.cpus.Load()
	if all == nil || g.config.ApartFrom < 1 || len(*all) < max(2, g.config.ApartFrom) {
		return nil
	}
	return (*all)[:len(*all)-1]
}

// queue is a grading among those that want to measure, and what it holds.
type queue struct {
	file    string
	waiting func() // called once, if there is somebody to wait for
	held    []*flock.Flock
}

func (q *queue) ofCPUs(cpus []int) (files []string) {
	for _, c := range cpus {
		files = append(files, fmt.Sprintf("%s.%d", q.file, c))
	}
	return files
}

// wait takes the first of some files that nobody else holds, and says which.
func (q *queue) wait(ctx context.Context, files ...string) (which int, err error) {
	var retry *time.Ticker
	for {
		for i, name := range files {
			if ok, err := q.try(name); ok || err != nil {
				return i, err
			}
		}
		if q.waiting != nil {
			q.waiting()
			q.waiting = nil
		}
		if retry == nil {
			retry = time.NewTicker(lockRetry)
			defer retry.Stop()
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for another grading to finish measuring (%s): %w", files[0], context.Cause(ctx))
		}
	}
}

// try takes a file if nobody else holds it. Whoever comes first makes it, for all
// users; it is only ever read afterwards, because a kernel may forbid writing to
// another user's file in a shared folder.
func (q *queue) try(name string) (bool, error) {
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
		q.held = append(q.held, l)
	}
	return ok, nil
}

// leave lets others measure.
func (q *queue) leave() {
	for _, l := range q.held {
		_ = l.Unlock()
	}
	q.held = nil
}
