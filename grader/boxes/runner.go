package boxes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"grade/sandbox"
)

// programName is the name of a runner's program in its box.
const programName = "hidden.test"

// boxesPerRequest is how many boxes may end over one request before the program is blamed. The
// first box may have ended for another reason, because it is older than the request; the
// other two are opened for it.
const boxesPerRequest = 3

// referencePatience is how many times a request's limits on time the reference may take: they
// bound a submission's program, and ours shall not fail where a machine is slow.
const referencePatience = 4

// Runner runs one program in a box. It opens another box when the first has ended, since a
// submission can take its box down with it.
type Runner struct {
	sandbox Sandbox
	spec    sandbox.Spec
	program []byte
	// patience is how many times a request's limits on time the program may take.
	patience time.Duration

	mu     sync.Mutex
	box    sandbox.Box
	loaded bool         // the box holds the program
	cpu    *int         // where the box is pinned, if it is
	spent  atomic.Int64 // nanoseconds
	peak   int64        // bytes: the most that the box has held
	before int64        // likewise, before its last run
	killed int          // how often the program was run again because something may have killed it
}

// Load sets the program.
func (r *Runner) Load(program []byte) { r.program = program }

// Loaded reports whether there is a program to run.
func (r *Runner) Loaded() bool { return r.program != nil }

// Spent returns the wall time that the program has taken so far: that of its runs, and of the
// boxes that were opened and wiped for it, as far as they took what such things take. An engine
// that pauses is not the program's doing.
func (r *Runner) Spent() time.Duration { return time.Duration(r.spent.Load()) }

// BoxPeakBefore returns the most that the box of the last run had held before it, in bytes; 0 if
// nothing had run in it, or nothing counts it.
func (r *Runner) BoxPeakBefore() int64 { return r.before }

// open opens the box, and another one if that is gone before it is pinned.
func (r *Runner) open(ctx context.Context) (err error) {
	for range boxesPerRequest {
		if err = r.openOne(ctx); !errors.Is(err, sandbox.ErrGone) || ctx.Err() != nil {
			break
		}
		r.close()
	}
	return err
}

func (r *Runner) openOne(ctx context.Context) error {
	box, err := r.sandbox.Box(ctx, r.spec)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.box, r.loaded, r.peak = box, false, 0
	r.mu.Unlock()
	if r.cpu != nil {
		return box.Pin(ctx, *r.cpu)
	}
	return nil
}

// pin moves the runner to one CPU for good.
func (r *Runner) pin(ctx context.Context, cpu int) error {
	r.cpu = &cpu
	err := r.box.Pin(ctx, cpu)
	if errors.Is(err, sandbox.ErrGone) {
		return r.reopen(ctx)
	}
	return err
}

// close closes the box, if there is one.
func (r *Runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.box != nil {
		r.box.Close()
	}
}

func (r *Runner) reopen(ctx context.Context) error {
	r.close()
	return r.open(ctx)
}

// asNew reports whether the runner's box is as good as a new one for the same program: it
// has run it, is pinned to no CPU, and may use the CPUs that a new one may use.
func (r *Runner) asNew(cpus []int) bool {
	return r.loaded && r.cpu == nil && slices.Equal(r.spec.CPUs, cpus)
}

// repeatsOfKills is how often a runner runs its program again, in one grading, because something
// may have killed it from outside of the box. What a program does to itself, it does again.
const repeatsOfKills = 3

// Run runs the program once, and once more in another box if something outside may have killed
// it: a machine without memory may have a daemon that kills programs, by no account of the
// kernel's. A program that has taken down every box is said to have been killed.
func (r *Runner) Run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	o, err := r.run(ctx, q)
	if err == nil && fromOutside(o) && r.killed < repeatsOfKills {
		r.killed++
		started := time.Now()
		if err = r.replace(ctx); err == nil {
			r.charge(started, 0)
			o, err = r.run(ctx, q)
		}
	}
	if errors.Is(err, errNoBoxLeft) {
		return sandbox.Outcome{Signal: int(syscall.SIGKILL)}, nil
	}
	return o, err
}

// fromOutside reports whether a program may have been killed from outside of its box: by a
// signal that neither the sandbox nor the kernel answers for, or together with the whole box,
// which took no figures of it.
func fromOutside(o sandbox.Outcome) bool {
	if o.Signal != int(syscall.SIGKILL) && o.Signal != int(syscall.SIGTERM) {
		return false
	}
	return o.Cause == sandbox.CauseNone && o.OOMKills == 0 || o.OOMKills > 0 && o.CPU == 0
}

// errNoBoxLeft says that every box has ended over a request.
var errNoBoxLeft = errors.New("every box has ended")

// run runs the program once. If [boxesPerRequest] boxes in a row end over a request, while new
// ones can be opened, the program is the cause, which is [errNoBoxLeft] and no fault of ours:
// otherwise a submission could trade a bad grade for an error. A box that fails says nothing of
// the program: another one is tried, and if no box serves the request, the failure is the error.
func (r *Runner) run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	var failed error
	for i := range boxesPerRequest {
		started := time.Now()
		asked := r.request(q)
		o, err := r.box.Run(ctx, asked)
		switch {
		case err == nil:
			r.charge(started, o.Wall)
			r.loaded, r.before, r.peak = true, r.peak, o.BoxPeak
			return o, nil
		case errors.Is(err, sandbox.ErrGone):
			r.charge(started, asked.Limits.Wall)
		}
		if errors.Is(err, sandbox.ErrFailed) {
			failed = err
		}
		if last := i == boxesPerRequest-1; !another(err, last) || ctx.Err() != nil {
			r.loaded = false // the box may be in the middle of it
			return sandbox.Outcome{}, err
		}
		started = time.Now()
		if err := r.replace(ctx); err != nil {
			return sandbox.Outcome{}, err
		}
		if errors.Is(err, sandbox.ErrGone) {
			r.charge(started, 0)
		}
	}
	if failed != nil { // too few boxes have ended to blame the program
		return sandbox.Outcome{}, failed
	}
	return sandbox.Outcome{}, errNoBoxLeft
}

// replace opens another box in place of one that ended, or may have.
func (r *Runner) replace(ctx context.Context) error {
	err := r.reopen(ctx)
	if err != nil {
		r.loaded = false
		err = fmt.Errorf("open a box in place of one that ended: %w", err)
	}
	return err
}

// besides is the most that counts, for one request, beside a program's own time: for a box to
// be opened or wiped.
const besides = 5 * time.Second

// charge counts the time since as spent, but for what is more than a program's own and some.
func (r *Runner) charge(since time.Time, own time.Duration) {
	r.spent.Add(int64(min(time.Since(since), own+besides)))
}

// another reports whether a request may do better in another box.
func another(err error, last bool) bool {
	return errors.Is(err, sandbox.ErrGone) || errors.Is(err, sandbox.ErrFailed) && !last
}

// request returns q for the program in its box. The first request carries the program.
func (r *Runner) request(q sandbox.Request) sandbox.Request {
	q.Path, q.Files = programName, nil
	if !r.loaded {
		q.Files = []sandbox.File{{Name: programName, Exec: true, Data: r.program}}
	}
	q.Env = append(slices.Clip(q.Env), "TMPDIR="+r.box.Dirs().Scratch)
	l := &q.Limits
	l.CPU, l.Wall, l.Idle = r.patience*l.CPU, r.patience*l.Wall, r.patience*l.Idle
	return q
}
