package grader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/lang"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/grader/wholefile"
	"grade/sandbox"
)

// vet refuses a submission by reading its source.
func (r *grading) vet() verdict.Refusal {
	defer r.phase(Vet)()
	return r.lang.Vet(r.snapshot, r.exercise)
}

// build compiles submission and reference side by side, and opens the boxes as soon
// as the submission's builder is there, which everything waits for. A refusal ends
// what is on its way; the reference's errors come first, because a build that fails
// for both is our fault.
func (r *grading) build(ctx context.Context, l *boxes.Lease) (verdict.Refusal, error) {
	built, err := r.buildAndOpen(ctx, l)
	if err == nil && built.Unexplained {
		built, err = r.secondLook(ctx)
	}
	if err != nil {
		return verdict.Refusal{}, err
	}
	l.Submission.Load(built.Program)
	return built.Refused, nil
}

func (r *grading) buildAndOpen(ctx context.Context, l *boxes.Lease) (built lang.Built, err error) {
	group, ctx := errgroup.WithContext(ctx)
	opening, refused := context.WithCancel(ctx)
	defer refused()
	builder := make(chan struct{})
	group.Go(func() error {
		err := r.open(opening, l, builder)
		if opening.Err() != nil && ctx.Err() == nil {
			return nil // the boxes are not needed any more
		}
		return err
	})
	group.Go(func() (err error) {
		built, err = r.buildBoth(ctx, l, func(b sandbox.Box) {
			l.Keep(b)
			close(builder)
		})
		if built.Refused.Any() && !built.Unexplained {
			refused()
		}
		return err
	})
	return built, group.Wait()
}

// open opens the boxes once the builder is there.
func (r *grading) open(ctx context.Context, l *boxes.Lease, builder <-chan struct{}) error {
	select {
	case <-builder:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer r.phase(Start)()
	return l.Open(ctx)
}

func (r *grading) buildBoth(ctx context.Context, l *boxes.Lease, opened func(sandbox.Box)) (built lang.Built, err error) {
	defer r.phase(Build)()
	if err := r.sandbox.Prepare(ctx, sandbox.Build); err != nil {
		return built, err
	}
	group, ctx := errgroup.WithContext(ctx)
	if !l.Reference.Loaded() {
		group.Go(func() error {
			program, err := r.reference(ctx, r.exercise)
			l.Reference.Load(program)
			return err
		})
	}
	group.Go(func() (err error) {
		built, err = r.submitted(ctx, opened)
		return err
	})
	return built, group.Wait()
}

// secondLook is at a build that failed for no reason that lies in a file of the
// submission's: it may have been ours. The reference, compiled just now, has to
// build, and the submission has to fail again.
func (r *grading) secondLook(ctx context.Context) (lang.Built, error) {
	if _, err := r.compileReference(ctx, r.exercise); err != nil {
		return lang.Built{}, err
	}
	return r.submitted(ctx, nil)
}

// submitted builds the submission.
func (r *grading) submitted(ctx context.Context, opened func(sandbox.Box)) (lang.Built, error) {
	b, o, err := r.compile(ctx, r.exercise, r.snapshot, opened)
	if err != nil {
		return lang.Built{}, err
	}
	return b.Outcome(o)
}

// reference is the program of the exercise's own solution, from the cache if it
// was compiled before from the same files in the same image.
func (g *Grader) reference(ctx context.Context, e *course.Exercise) ([]byte, error) {
	if g.config.CacheDir == "" {
		return g.compileReference(ctx, e)
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", g.sandbox.Info().Build, e.Hash, g.lang.BuildKey()))
	cached := filepath.Join(g.config.CacheDir, fmt.Sprintf("%s-%x.test", e.Name, key[:8]))
	if program, err := os.ReadFile(cached); err == nil {
		return program, nil
	}
	program, err := g.compileReference(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := wholefile.Write(cached, func(w io.Writer) error { _, err := w.Write(program); return err }); err != nil {
		return nil, fmt.Errorf("keep the compiled reference: %w", err)
	}
	return program, nil
}

func (g *Grader) compileReference(ctx context.Context, e *course.Exercise) ([]byte, error) {
	b, o, err := g.compile(ctx, e, nil, nil)
	if err != nil {
		return nil, err
	}
	return b.Reference(o)
}

// compile builds the hidden tests with a submission, or without one with the
// reference, in a box of its own. With opened, which is told of the box as soon as
// it is there, the box is opened's to close.
func (g *Grader) compile(ctx context.Context, e *course.Exercise, s *submission.Snapshot, opened func(sandbox.Box)) (lang.Build, sandbox.Outcome, error) {
	b, err := g.lang.Build(ctx, e, s, g.sandbox.Info().GoArch)
	if err != nil {
		return nil, sandbox.Outcome{}, err
	}
	box, err := g.boxes.Builder(ctx, g.lang.BuildBox())
	if err != nil {
		return nil, sandbox.Outcome{}, err
	}
	if opened == nil {
		defer box.Close()
	} else {
		opened(box)
	}
	o, err := box.Run(ctx, b.Request(box.Dirs()))
	if err != nil {
		return nil, sandbox.Outcome{}, fmt.Errorf("build: %w", err)
	}
	return b, o, nil
}
