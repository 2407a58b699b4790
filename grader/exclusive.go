package grader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const lockRetry = 50 * time.Millisecond

// lock waits for other gradings on this machine to stop measuring; hasty ones, whose
// figures are not shown, only for those that are not. Whoever comes first makes the
// file, for all users; it is only ever read afterwards, because a kernel may forbid
// writing to another user's file in a shared folder.
func (r *grading) lock(ctx context.Context) (unlock func(), err error) {
	name := r.config.LockFile
	if name == "" {
		return func() {}, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock for measuring: %w", err)
	}
	l := flock.New(name, flock.SetFlag(os.O_RDONLY))
	try, wait := l.TryLock, l.TryLockContext
	if r.options.Hasty {
		try, wait = l.TryRLock, l.TryRLockContext
	}
	if ok, err := try(); err != nil {
		return nil, fmt.Errorf("lock for measuring: %w: remove %s if no grading needs it", err, name)
	} else if !ok {
		r.tell(Event{Phase: "measure", Text: "waiting for another grading to finish measuring"})
		if _, err := wait(ctx, lockRetry); err != nil {
			return nil, fmt.Errorf("wait for another grading to finish measuring (%s): %w", name, err)
		}
	}
	return func() { _ = l.Unlock() }, nil
}

// cpu is the last CPU that both boxes may use, because the first serves the
// machine's interrupts. Hasty gradings take one each, and wait for one.
func (r *grading) cpu(ctx context.Context) (cpu int, giveBack func(), err error) {
	var both []int
	for _, c := range r.ref.box.CPUs() {
		if slices.Contains(r.sub.box.CPUs(), c) {
			both = append(both, c)
		}
	}
	if len(both) == 0 {
		return 0, nil, errors.New("the boxes share no CPU to measure on")
	}
	if !r.options.Hasty {
		return both[len(both)-1], func() {}, nil
	}
	return r.cpus.take(ctx, both)
}

// cpus are those that are measured on, each by one hasty grading.
type cpus struct {
	once sync.Once
	free chan int
}

func (c *cpus) take(ctx context.Context, all []int) (cpu int, giveBack func(), err error) {
	c.once.Do(func() {
		c.free = make(chan int, len(all))
		for _, one := range all {
			c.free <- one
		}
	})
	select {
	case cpu = <-c.free:
		return cpu, func() { c.free <- cpu }, nil
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	}
}
