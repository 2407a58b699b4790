// Package boxes lends gradings the boxes that run programs, and the CPU that times them. It
// knows neither exercises nor verdicts; the caller judges what a program does.
//
// A grading takes a [Lease]: a [Runner] for the submission's program and one for the
// reference's. The build has a box of its own, from [Pool.Builder]. Once a builder is
// there, [Lease.Open] starts the other two; [Lease.Reserve] waits for a CPU to time
// programs on; [Lease.Release] gives everything back.
//
// What the reference did in a test is kept as well, for other gradings with the same seed:
// [Lease.Recall].
//
// The reference may take [referencePatience] times as long as its requests allow.
//
// A submission's box serves one grading. The reference's serves many: only our own programs
// have ever run in it, so it waits idle for the next grading of the same exercise. Creating
// a container takes a third of the time that a grading costs an engine.
package boxes

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grade/sandbox"
)

// Sandbox makes boxes.
type Sandbox interface {
	Info() sandbox.Info
	// Prepare makes the image for boxes of a purpose, unless it is there. Info names it
	// afterwards.
	Prepare(ctx context.Context, p sandbox.Purpose) error
	Box(ctx context.Context, s sandbox.Spec) (sandbox.Box, error)
}

// Config configures a pool.
type Config struct {
	// LockFile, and files whose names begin with it, are locked while programs are timed,
	// so that gradings of other processes wait. Empty: no other process is waited for.
	LockFile string
	// ReserveFrom is the number of CPUs from which on a machine keeps its last one for
	// timing, while everything else runs on the others. 0: it keeps none.
	ReserveFrom int
}

// Pool lends boxes to gradings, several at a time. The caller closes it before its sandbox.
type Pool struct {
	sandbox Sandbox
	config  Config
	idle    idlePool
	recalls recalls
	turn    atomic.Uint32
	cpus    atomic.Pointer[[]int] // that an unconfined box may use; nil: no such box has been opened yet
}

// New returns a pool of boxes of s.
func New(s Sandbox, c Config) *Pool { return &Pool{sandbox: s, config: c} }

// Builder opens a box to build in. The caller closes it.
func (p *Pool) Builder(ctx context.Context, s sandbox.Spec) (sandbox.Box, error) {
	s.CPUs = p.unreserved()
	return p.sandbox.Box(ctx, s)
}

// Build opens a builder and runs a request in it, in others if that one is gone or fails.
// The caller closes the first, which it is told of; without opened, Build closes it.
func (p *Pool) Build(ctx context.Context, s sandbox.Spec, request func(sandbox.Dirs) sandbox.Request, opened func(sandbox.Box)) (o sandbox.Outcome, err error) {
	for i := range boxesPerRequest {
		box, err := p.Builder(ctx, s)
		if err != nil {
			return o, err
		}
		if i == 0 && opened != nil {
			opened(box)
		} else {
			defer box.Close()
		}
		o, err = box.Run(ctx, request(box.Dirs()))
		if last := i == boxesPerRequest-1; err == nil || last || !another(err, last) || ctx.Err() != nil {
			return o, err
		}
	}
	return o, err
}

// Runner opens a box for one program, apart from any grading. The caller releases it.
func (p *Pool) Runner(ctx context.Context, s sandbox.Spec, program []byte) (r *Runner, release func(), err error) {
	s.CPUs = p.unreserved()
	r = p.runner(s)
	r.Load(program)
	if err := r.open(ctx); err != nil {
		return nil, nil, err
	}
	return r, r.close, nil
}

// unreserved lists the CPUs for boxes that are not timed. Nil means all: there are too few
// to keep one, or no box has reported yet how many there are.
func (p *Pool) unreserved() []int {
	all := p.cpus.Load()
	if all == nil || p.config.ReserveFrom < 1 || len(*all) < max(2, p.config.ReserveFrom) {
		return nil
	}
	return (*all)[:len(*all)-1]
}

// learn records the machine's CPUs, from the first box that may use all of them.
func (p *Pool) learn(r *Runner) {
	if len(r.spec.CPUs) == 0 {
		cpus := slices.Clone(r.box.CPUs())
		p.cpus.CompareAndSwap(nil, &cpus)
	}
}

// Lease holds the two runners of one grading.
type Lease struct {
	Submission, Reference *Runner

	pool    *Pool
	program string      // names the reference's program among the idle runners
	builder sandbox.Box // nil: there is none to close
	third   *Runner     // nil: likewise
}

// Lease takes runners for boxes as spec says. It reuses an idle runner of the reference's
// program, which a name identifies; without one, the reference's runner has no program yet.
func (p *Pool) Lease(program string, spec sandbox.Spec) *Lease {
	spec.CPUs = p.unreserved()
	l := &Lease{pool: p, program: program, Submission: p.runner(spec), Reference: p.idle.take(program)}
	if l.Reference == nil {
		l.Reference = p.runner(spec)
		l.Reference.patience = referencePatience
	}
	return l
}

func (p *Pool) runner(spec sandbox.Spec) *Runner {
	return &Runner{sandbox: p.sandbox, spec: spec, patience: 1}
}

// Open opens the boxes that are not open yet.
func (l *Lease) Open(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.Submission.open(ctx) })
	if l.Reference.box == nil {
		group.Go(func() error { return l.Reference.open(ctx) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	l.pool.learn(l.Submission)
	return nil
}

// Keep closes a builder when the lease is released, and not at once: removing a container
// takes an engine as long as some tests.
func (l *Lease) Keep(builder sandbox.Box) { l.builder = builder }

// Builder returns the box that was kept, or nil.
func (l *Lease) Builder() sandbox.Box { return l.builder }

// Third opens another box for the submission, as spec says, with a program of its own, off
// the CPU that the first two may be timed on. It is closed when the lease is released.
func (l *Lease) Third(ctx context.Context, spec sandbox.Spec, program []byte) (*Runner, error) {
	spec.CPUs = l.pool.unreserved()
	if all := l.pool.cpus.Load(); all != nil && len(*all) > 1 {
		spec.CPUs = (*all)[:len(*all)-1]
	}
	r := l.pool.runner(spec)
	r.Load(program)
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	l.third = r
	return r, nil
}

// Release closes the submission's boxes and lets the reference's wait for another grading.
// After an error it closes both, because their state is unknown.
func (l *Lease) Release(err error) {
	l.Submission.close()
	if l.third != nil {
		l.third.close()
	}
	if l.builder != nil {
		l.builder.Close()
	}
	if err != nil || !l.Reference.asNew(l.pool.unreserved()) {
		l.Reference.close()
		return
	}
	l.pool.idle.put(l.program, l.Reference)
}

// Pin moves both boxes to a CPU for the rest of the lease.
func (l *Lease) Pin(ctx context.Context, cpu int) error {
	return errors.Join(l.Reference.pin(ctx, cpu), l.Submission.pin(ctx, cpu))
}

// Close closes the idle boxes.
func (p *Pool) Close() { p.idle.close() }
