package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	"grade"
	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/boxes"
	"grade/grader/lang/golang"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
	"grade/sandbox/checkup"
	"grade/sandbox/docker"
	"grade/sandbox/process"
	"grade/sandbox/toolchain"
)

// This is the one file that names the sandboxes, and where graders are put together.

// openedSandbox is a sandbox that the caller closes, or leaves if the process ends then.
type openedSandbox interface {
	boxes.Sandbox
	Close() error
	Leave() error
}

// openSandbox opens the sandbox that the flags name. Without one, a machine that has no
// Docker at all gets the process sandbox. An engine that is installed and does not answer
// is an error: grading outside it silently would run students' programs where they can do
// harm.
func openSandbox(ctx context.Context, o sandboxFlags) (openedSandbox, error) {
	if o.Kind == sandboxProcess || o.Kind == "" && !docker.Expected() {
		return openProcess(ctx, o)
	}
	e, err := openDocker(ctx, o)
	if errors.Is(err, sandbox.ErrUnavailable) {
		return nil, &noSandboxError{err}
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

func openDocker(ctx context.Context, o sandboxFlags) (*docker.Engine, error) {
	return docker.Open(ctx, docker.Config{
		Sources: grade.Sources, Warm: golang.Warm(grade.Sources), Race: warmRace(),
		BuildImage: o.BuildImage, Runtime: o.Runtime, Progress: o.Progress,
	})
}

func openProcess(ctx context.Context, o sandboxFlags) (openedSandbox, error) {
	s, err := process.Open(ctx, process.Config{
		Sources: grade.Sources, Warm: golang.Warm(grade.Sources), Race: warmRace(), Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// warmRace fills a cache for the race detector; it finds Go when it is first needed.
func warmRace() sandbox.Warm {
	return golang.WarmRace(grade.Sources, func(ctx context.Context, goarch string) ([]byte, error) {
		g, err := toolchain.Find(ctx)
		if err != nil {
			return nil, err
		}
		return compiler(g)(ctx, goarch)
	})
}

// noSandboxError adds a hint to an engine that does not answer.
type noSandboxError struct{ err error }

func (e *noSandboxError) Error() string { return e.err.Error() }
func (e *noSandboxError) Unwrap() error { return e.err }

// Hint is what to do.
func (e *noSandboxError) Hint() string {
	if errors.Is(e.err, fs.ErrPermission) {
		return "the engine is there, and its socket is not for this user: use sudo, or have this user added to the socket's group (often docker), " +
			"which gives the rights of root, and sign in anew; or check your own work without an engine: --sandbox process"
	}
	return "start the Docker engine (grade doctor says more), or check your own work without one: --sandbox process"
}

// engineFindings returns the doctor's findings on the engine and all that depends on it.
func engineFindings(ctx context.Context, s sandboxFlags) []checkup.Finding {
	return checkup.Engine(ctx, func(ctx context.Context) (*docker.Engine, error) { return openDocker(ctx, s) })
}

// gradeInSandbox opens a sandbox for one grading. It leaves the sandbox with a verdict, and
// closes it without one.
func gradeInSandbox(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, s sandboxFlags, o grader.Options) (*verdict.Result, error) {
	opened, g, err := openBoth(ctx, s)
	if err != nil {
		return nil, err
	}
	result, err := g.Grade(ctx, snapshot, e, o)
	g.Close()
	if err != nil {
		opened.Close()
		return nil, err
	}
	if closing := opened.Leave(); closing != nil {
		result.Warnings = append(result.Warnings, "close the sandbox: "+closing.Error())
	}
	return result, nil
}

// openGrader opens a sandbox and a grader in it. The caller calls done when all is graded.
func openGrader(ctx context.Context, s sandboxFlags) (g *grader.Grader, done func() error, err error) {
	opened, g, err := openBoth(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return g, func() error {
		g.Close()
		if err := opened.Close(); err != nil {
			return fmt.Errorf("close the sandbox: %w", err)
		}
		return nil
	}, nil
}

// openBoth opens a sandbox and makes a grader in it. The go command, which the grader needs, is
// asked meanwhile.
func openBoth(ctx context.Context, s sandboxFlags) (opened openedSandbox, g *grader.Grader, err error) {
	if _, err := toolchain.CacheDir(); err != nil {
		return nil, nil, &hinted{fmt.Errorf("make the cache folder, where grade keeps what it has compiled: %w", err), "set XDG_CACHE_HOME or HOME to a folder that you may write in"}
	}
	var finding sync.WaitGroup
	finding.Go(func() { _, _ = toolchain.Find(ctx) }) // which remembers it; an error comes again
	opened, err = openSandbox(ctx, s)
	finding.Wait()
	if err != nil {
		return nil, nil, err
	}
	if g, err = newGrader(ctx, opened, s); err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return opened, g, nil
}

// enoughCPUs is the number of CPUs from which on one of them is kept for measuring: two
// builds at a time still get a CPU each.
const enoughCPUs = 3

// newGrader wires a grader to a sandbox. Submissions are built with this
// machine's Go, or with that of an image.
func newGrader(ctx context.Context, s boxes.Sandbox, o sandboxFlags) (*grader.Grader, error) {
	reserve := 0
	if o.ReserveCPU {
		reserve = enoughCPUs
	}
	cache, err := toolchain.CacheDir("references")
	if err != nil {
		return nil, err
	}
	g, err := toolchain.Find(ctx)
	if err != nil {
		return nil, err
	}
	info, _ := debug.ReadBuildInfo()
	return grader.New(s, grader.Config{
		Language: golang.New(grade.Sources, compiler(g)), CacheDir: cache,
		Boxes:   boxes.Config{LockFile: filepath.Join(os.TempDir(), "grade-measure.lock"), ReserveFrom: reserve},
		Version: buildVersion(info), Toolchain: cmp.Or(o.BuildImage, g.Version),
	}), nil
}

// compiler is the program that compiles in a box, made with this machine's Go.
func compiler(g toolchain.Go) golang.Compiler {
	return func(ctx context.Context, goarch string) ([]byte, error) {
		program, err := g.Compile(ctx, grade.Sources, "grader/lang/golang/compile", goarch)
		if err != nil {
			return nil, err
		}
		return os.ReadFile(program)
	}
}

// gradeWith adapts a grader to a batch, whose submissions to one exercise get the same
// inputs: the reference answers once for all, and what is asked of one is asked of each.
func gradeWith(g *grader.Grader) batch.GradeFunc {
	var seeds sync.Map // by the hashes of exercises
	return func(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		if seed == "" {
			one, _ := seeds.LoadOrStore(e.Hash, grader.NewSeed())
			seed = one.(string)
		}
		return g.Grade(ctx, snapshot, e, grader.Options{Purpose: grader.ForBatch, Seed: seed})
	}
}

// identity describes all that a result depends on besides submission and exercise: the
// sources that decide, the images, whose names are hashes of Go and all else in them, and
// the runtime, and whether there is a compiler for the race detector: without it, points are given that
// another machine may not give.
func identity(info sandbox.Info) (string, error) {
	sources, err := results.SourceDigest(grade.Deciding)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %q %q %q race detector: %t", sources, runtime.Version(), info.Build, info.Image, info.Runtime, toolchain.HasCompiler()), nil
}
