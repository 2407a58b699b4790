package grader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
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
func (r *grading) build(ctx context.Context, l *boxes.Lease, a *ahead) (verdict.Refusal, error) {
	built, err := r.buildAndOpen(ctx, l, a)
	if err == nil && built.Unexplained {
		built, err = r.secondLook(ctx)
	}
	if err != nil {
		return verdict.Refusal{}, err
	}
	l.Submission.Load(built.Program)
	return built.Refused, nil
}

func (r *grading) buildAndOpen(ctx context.Context, l *boxes.Lease, a *ahead) (built lang.Built, err error) {
	group, ctx := errgroup.WithContext(ctx)
	opening, refused := context.WithCancel(ctx)
	defer refused()
	builder := make(chan struct{})
	group.Go(func() error {
		err := r.open(opening, l, a, builder)
		if opening.Err() != nil && ctx.Err() == nil {
			return nil // the boxes are not needed any more
		}
		return err
	})
	group.Go(func() (err error) {
		built, err = r.buildBoth(ctx, l, a, func(b sandbox.Box) {
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
func (r *grading) open(ctx context.Context, l *boxes.Lease, a *ahead, builder <-chan struct{}) error {
	select {
	case <-builder:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer r.phase(Start)()
	if err := l.Open(ctx); err != nil {
		return err
	}
	a.ready <- struct{}{}
	return nil
}

func (r *grading) buildBoth(ctx context.Context, l *boxes.Lease, a *ahead, opened func(sandbox.Box)) (built lang.Built, err error) {
	defer r.phase(Build)()
	if err := r.sandbox.Prepare(ctx, sandbox.Build); err != nil {
		return built, err
	}
	if err := r.prepareRace(ctx); err != nil {
		return built, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if !l.Reference.Loaded() {
			program, err := r.reference(ctx, r.exercise)
			if err != nil {
				return err
			}
			l.Reference.Load(program)
		}
		a.ready <- struct{}{}
		return nil
	})
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
	if _, _, err := r.compileReference(ctx, r.exercise); err != nil {
		return lang.Built{}, err
	}
	return r.submitted(ctx, nil)
}

// submitted builds the submission, by the recipe of the reference's build if that is kept.
func (r *grading) submitted(ctx context.Context, opened func(sandbox.Box)) (lang.Built, error) {
	var recipe []byte
	if kept := r.kept(r.exercise); kept != "" {
		recipe, _ = os.ReadFile(kept + recipeSuffix)
	}
	b, o, err := r.compile(ctx, r.exercise, r.snapshot, recipe, r.builder, opened)
	if err != nil {
		return lang.Built{}, err
	}
	r.built = b
	return b.Outcome(o)
}

// What is kept of a reference's builds: its program, and the recipes for those of submissions.
const (
	programSuffix = ".test"
	recipeSuffix  = ".recipe"
	raceSuffix    = ".race"
)

// kept is the name, but for its ending, of the files that are kept of a reference's build:
// of the same files in the same image. It is empty if nothing is kept, as while another grading
// finds out that the image was deleted: its name is then unknown.
func (g *Grader) kept(e *course.Exercise) string {
	image := g.sandbox.Info().Build
	if g.config.CacheDir == "" || image == "" {
		return ""
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", image, e.Hash, g.lang.BuildKey()))
	return filepath.Join(g.config.CacheDir, fmt.Sprintf("%s-%x", e.Name, key[:8]))
}

// reference is the program of the exercise's own solution, compiled now unless it is kept.
func (r *grading) reference(ctx context.Context, e *course.Exercise) ([]byte, error) {
	kept := r.kept(e)
	if kept != "" {
		if program, err := os.ReadFile(kept + programSuffix); err == nil {
			return program, nil
		}
	}
	program, recipe, err := r.compileReference(ctx, e)
	// The program comes last: where it is kept, no recipe is made any more.
	if err == nil && kept != "" && r.keep(kept+recipeSuffix, recipe) {
		r.keep(kept+programSuffix, program)
	}
	return program, err
}

// keep keeps a file for the next grading, and reports whether it could. This grading has what
// it needs, so a full disk is only told of.
func (r *grading) keep(name string, data []byte) bool {
	if len(data) == 0 {
		return true
	}
	err := wholefile.Write(name, wholefile.Bytes(data))
	if err != nil {
		r.warn("the compiled reference cannot be kept as %s, and every grading has to compile it anew: %v", filepath.Base(name), unplaced(err))
	}
	return err == nil
}

// unplaced is an error of a disk without the path, which a student reads too.
func unplaced(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

func (g *Grader) compileReference(ctx context.Context, e *course.Exercise) (program, recipe []byte, err error) {
	b, o, err := g.compile(ctx, e, nil, nil, g.lang.BuildBox(), nil)
	if err != nil {
		return nil, nil, err
	}
	return b.Reference(o)
}

// compile builds the hidden tests with a submission, or without one with the
// reference, in a box of its own, as spec says. With opened, which is told of the box as soon as
// it is there, the box is opened's to close.
func (g *Grader) compile(ctx context.Context, e *course.Exercise, s *submission.Snapshot, recipe []byte, spec sandbox.Spec, opened func(sandbox.Box)) (lang.Build, sandbox.Outcome, error) {
	b, err := g.lang.Build(ctx, e, s, recipe, g.sandbox.Info().GoArch)
	if err != nil {
		return nil, sandbox.Outcome{}, err
	}
	o, err := g.boxes.Build(ctx, spec, b.Request, opened)
	if err != nil {
		return nil, sandbox.Outcome{}, fmt.Errorf("build: %w", err)
	}
	return b, o, nil
}
