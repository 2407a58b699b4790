package grader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang/golang"
	"grade/grader/lang/golang/vet"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/grader/wholefile"
	"grade/sandbox"
)

// errRefused stops what runs beside a build that came to a verdict.
var errRefused = errors.New("the submission does not build")

// build compiles submission and reference side by side. The reference's errors
// come first: a build that fails for both is our fault.
func (r *grading) build(ctx context.Context) error {
	defer r.phase("build", &r.result.Phases.BuildMs)()
	api, err := r.api(r.exercise)
	if err != nil {
		return err
	}
	if err := r.sandbox.Prepare(ctx, sandbox.Build); err != nil {
		return err
	}
	var built outcome
	group, beside := errgroup.WithContext(ctx) // which ends with the group: a second look needs ctx
	if r.ref.program == nil {
		group.Go(func() (err error) {
			r.ref.program, err = r.reference(beside, r.exercise)
			return err
		})
	}
	group.Go(func() (err error) {
		built, err = r.compile(beside, r.exercise, submitted(r.snapshot, r.exercise), api, r.opened)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	refusal, problems, err := judgeBuild(built, api, r.snapshot)
	if err == nil && refusal == verdict.CompileError && len(problems) == 0 {
		built, refusal, problems, err = r.rebuild(ctx)
	}
	if err != nil {
		return err
	}
	if refusal != verdict.Graded {
		r.refuse(refusal, problems)
		return errRefused
	}
	r.sub.program = built.program
	return nil
}

// rebuild takes a second look at a build that failed for no reason that lies in
// a file of the submission's: it may have been ours. The reference, compiled
// just now, has to build; and the submission has to fail again.
func (r *grading) rebuild(ctx context.Context) (built outcome, v verdict.Verdict, problems []verdict.Problem, err error) {
	if _, err = r.compileReference(ctx, r.exercise); err != nil {
		return outcome{}, "", nil, err
	}
	api, err := r.api(r.exercise)
	if err != nil {
		return outcome{}, "", nil, err
	}
	if built, err = r.compile(ctx, r.exercise, submitted(r.snapshot, r.exercise), api, nil); err != nil {
		return outcome{}, "", nil, err
	}
	v, problems, err = judgeBuild(built, api, r.snapshot)
	if v == verdict.CompileError && len(problems) == 0 {
		problems = wholly(r.snapshot, "compile",
			"the compiler or the linker gives up on this package or never ends, or it does not fit the hidden tests: declare everything as the exercise's README spells it")
	}
	return built, v, problems, err
}

// api spells out what a package must have. Each build needs one of its own, or
// the go command could take the package from its cache, past the typed vet.
func (g *Grader) api(e *course.Exercise) (*golang.API, error) {
	api, err := golang.NewAPI(golang.PackageDir(e), golang.Contents(e.Reference))
	if err != nil {
		return nil, fmt.Errorf("exercise %s: %w", e.Name, err)
	}
	return api, nil
}

// opened lets the other boxes start. The builder is closed at the end of the
// grading: to remove a container takes an engine as long as some tests.
func (r *grading) opened(builder sandbox.Box) {
	r.builder = builder
	close(r.building)
}

// outcome is what came of a build.
type outcome struct {
	sandbox.Outcome
	program []byte // nil if there is none
	vetted  []byte // the typed vet's report; nil if it did not come to one
}

// well reports whether the go command was content.
func (b outcome) well() bool {
	return b.ExitCode == 0 && b.Signal == 0 && b.Cause == sandbox.CauseNone && b.OOMKills == 0
}

// judgeBuild decides on a build, given that the reference's went well. A compile
// error without a problem is one that nothing in the submission explains.
func judgeBuild(b outcome, api *golang.API, s *submission.Snapshot) (verdict.Verdict, []verdict.Problem, error) {
	refused, err := vet.ParseReport(b.vetted)
	switch {
	case err != nil:
		return "", nil, err
	case len(refused) > 0:
		return verdict.Invalid, refused, nil
	case b.well() && b.vetted == nil:
		return "", nil, errors.New("build: the package was compiled without the vet seeing it")
	case b.well() && b.program != nil:
		return verdict.Graded, nil, nil
	}
	if limit := buildLimit(b); limit != "" {
		return verdict.CompileError, wholly(s, "build-limit", "building the package "+limit+": make it simpler"), nil
	}
	return verdict.CompileError, api.Problems(append(slices.Clone(b.Stdout), b.Stderr...), s), nil
}

// buildLimit names the limit that a build has passed, if it has.
func buildLimit(b outcome) string {
	switch {
	case b.OOMKills > 0, b.Cause == sandbox.CauseMemory:
		return fmt.Sprintf("takes the compiler more than %d MiB", golang.BuildMemory>>20)
	case b.Cause == sandbox.CauseCPU:
		return fmt.Sprintf("takes the compiler more than %v", golang.BuildTime)
	case b.well():
		return fmt.Sprintf("gives a program of more than %d MiB", golang.ProgramMax>>20)
	}
	return ""
}

// wholly is a problem of the submission as a whole, shown at its first file.
func wholly(s *submission.Snapshot, rule, message string) []verdict.Problem {
	p := verdict.Problem{Rule: rule, Message: message}
	if len(s.Files) > 0 {
		p.File = s.Files[0].Name
	}
	return []verdict.Problem{p}
}

// submitted are the files of a submission, with the exercise's own in place of
// its copies.
func submitted(s *submission.Snapshot, e *course.Exercise) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range s.Files {
		files[f.Name] = f.Data
	}
	for _, f := range e.Starter {
		if slices.Contains(e.Provided, f.Name) {
			files[f.Name] = f.Data
		}
	}
	return files
}

// reference is the program of the exercise's own solution, from the cache if it
// was compiled before from the same files in the same image.
func (g *Grader) reference(ctx context.Context, e *course.Exercise) ([]byte, error) {
	cached := ""
	if g.config.CacheDir != "" {
		key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", g.sandbox.Info().Build, e.Hash, golang.KitHash(g.config.Kit), golang.BuildFlags))
		cached = filepath.Join(g.config.CacheDir, fmt.Sprintf("%s-%x.test", e.Name, key[:8]))
		if program, err := os.ReadFile(cached); err == nil {
			return program, nil
		}
	}
	program, err := g.compileReference(ctx, e)
	if err != nil {
		return nil, err
	}
	if cached != "" {
		err := wholefile.Write(cached, func(w io.Writer) error {
			_, err := w.Write(program)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("keep the compiled reference: %w", err)
		}
	}
	return program, nil
}

func (g *Grader) compileReference(ctx context.Context, e *course.Exercise) ([]byte, error) {
	api, err := g.api(e)
	if err != nil {
		return nil, err
	}
	b, err := g.compile(ctx, e, golang.Contents(e.Reference), api, nil)
	if err != nil {
		return nil, err
	}
	if b.program == nil || !b.well() {
		return nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not build with the hidden tests (status %d, %v): %s%s",
			e.Name, b.ExitCode, b.Cause, b.Stderr, b.vetted))
	}
	return b.program, nil
}

// compile builds the hidden tests against a package, in a box of its own. With
// opened, which is told of the box as soon as it is there, the box is opened's to
// close.
func (g *Grader) compile(ctx context.Context, e *course.Exercise, pkg map[string][]byte, api *golang.API, opened func(sandbox.Box)) (outcome, error) {
	tool, err := g.config.VetTool(ctx, g.sandbox.Info().GoArch)
	if err != nil {
		return outcome{}, fmt.Errorf("compile the vet: %w", err)
	}
	spec := golang.BuildSpec
	spec.CPUs = g.aside()
	box, err := g.sandbox.Box(ctx, spec)
	if err != nil {
		return outcome{}, err
	}
	if opened == nil {
		defer box.Close()
	} else {
		opened(box)
	}
	files, err := golang.KitFiles(g.config.Kit, e.Module)
	if err != nil {
		return outcome{}, err
	}
	for name, data := range pkg {
		files = append(files, sandbox.File{Name: path.Join(golang.PackageDir(e), name), Data: data})
	}
	files = append(files,
		sandbox.File{Name: path.Join(golang.PackageDir(e), submission.APIFile), Data: api.File},
		sandbox.File{Name: golang.ToolName, Exec: true, Data: tool})
	for _, f := range e.Hidden {
		files = append(files, sandbox.File{Name: path.Join(golang.HiddenDir(e), f.Name), Data: f.Data})
	}
	o, err := box.Run(ctx, golang.BuildRequest(box.Dirs(), files, "./"+golang.HiddenDir(e), e.ImportPath, e.Imports))
	if err != nil {
		return outcome{}, fmt.Errorf("build: %w", err)
	}
	b := outcome{Outcome: o}
	for _, f := range o.Files {
		switch f.Name {
		case golang.ProgramName:
			b.program = f.Data
		case golang.ReportName:
			b.vetted = append([]byte{}, f.Data...) // there, even if empty
		}
	}
	return b, nil
}
