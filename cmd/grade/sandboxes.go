package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade"
	"grade/exercises/course"
	"grade/grader"
	"grade/grader/lang/golang"
	"grade/grader/verdict"
	"grade/sandbox"
	"grade/sandbox/docker"
	"grade/sandbox/process"
	"grade/sandbox/toolchain"
)

// This is the one file that names the sandboxes.

// The kinds of sandbox, and the values of --sandbox.
const (
	sandboxDocker  = "docker"
	sandboxProcess = "process"
)

var sandboxKinds = []string{sandboxDocker, sandboxProcess}

// sandboxOptions say which sandbox a submission is graded in.
type sandboxOptions struct {
	Kind       string // one of sandboxKinds; empty: docker, or process on a machine without
	BuildImage string // --build-image
	Runtime    string // --runtime
	Apart      bool   // keep a CPU for measuring, if there are enough, while other gradings go on
	// Progress hears of long work, such as an image being made. Total is 0 where
	// it is not known.
	Progress func(what string, current, total int64)
}

func (s *sandboxOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Kind, "sandbox", "", "grade in a docker container or in a child process: `KIND` is "+strings.Join(sandboxKinds, " or "))
	f.StringVar(&s.BuildImage, "build-image", "", "compile in this Docker `IMAGE` with Go, not in one made of this machine's Go")
	f.StringVar(&s.Runtime, "runtime", "", "run containers with this OCI `RUNTIME`, such as runsc")
	_ = cmd.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions(sandboxKinds, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"build-image", "runtime"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// check refuses what contradicts itself.
func (s *sandboxOptions) check() error {
	if s.Kind != "" && !slices.Contains(sandboxKinds, s.Kind) {
		return usage("", "--sandbox %s: want %s", s.Kind, strings.Join(sandboxKinds, " or "))
	}
	if s.Kind == sandboxProcess && (s.BuildImage != "" || s.Runtime != "") {
		return usage("", "--build-image and --runtime are for --sandbox docker")
	}
	return nil
}

// openedSandbox is a sandbox that has to be closed.
type openedSandbox interface {
	grader.Sandbox
	Close() error
}

// openSandbox opens the sandbox asked for. Without a wish, a machine that has
// no Docker at all gets the process sandbox. An engine that should be there and
// does not answer is an error: to grade outside it without a word would run
// what strangers wrote where nobody meant it to.
func openSandbox(ctx context.Context, o sandboxOptions) (openedSandbox, error) {
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

func openDocker(ctx context.Context, o sandboxOptions) (*docker.Engine, error) {
	return docker.Open(ctx, docker.Config{
		Sources: grade.Sources, Warm: golang.Warm(grade.Sources),
		BuildImage: o.BuildImage, Runtime: o.Runtime, Progress: o.Progress,
	})
}

func openProcess(ctx context.Context, o sandboxOptions) (openedSandbox, error) {
	s, err := process.Open(ctx, process.Config{Sources: grade.Sources, Warm: golang.Warm(grade.Sources), Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// noSandboxError says what to do where the engine does not answer.
type noSandboxError struct{ err error }

func (e *noSandboxError) Error() string { return e.err.Error() }
func (e *noSandboxError) Unwrap() error { return e.err }

// Hint is what to do.
func (e *noSandboxError) Hint() string {
	return "start the Docker engine (grade doctor says more), or check your own work without one: --sandbox process"
}

// gradeInSandbox opens a sandbox for one grading and closes it.
func gradeInSandbox(ctx context.Context, dir string, e *course.Exercise, s sandboxOptions, o grader.Options) (*verdict.Result, error) {
	g, done, err := openGrader(ctx, s)
	if err != nil {
		return nil, err
	}
	result, err := g.Grade(ctx, dir, e, o)
	if closing := done(); closing != nil && result != nil {
		result.Warnings = append(result.Warnings, closing.Error())
	}
	return result, err
}

// openGrader opens a sandbox and a grader in it. Call done when all is graded.
func openGrader(ctx context.Context, s sandboxOptions) (g *grader.Grader, done func() error, err error) {
	opened, err := openSandbox(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	g, err = newGrader(ctx, opened, s)
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return g, func() error {
		g.Close()
		if err := opened.Close(); err != nil {
			return fmt.Errorf("close the sandbox: %w", err)
		}
		return nil
	}, nil
}

// enoughCPUs is from how many on one of them is kept for measuring: two builds at a time
// still find a CPU each.
const enoughCPUs = 3

// newGrader wires a grader to a sandbox. Submissions are built with this
// machine's Go, or with that of an image.
func newGrader(ctx context.Context, s grader.Sandbox, o sandboxOptions) (*grader.Grader, error) {
	apart := 0
	if o.Apart {
		apart = enoughCPUs
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
		Kit: grade.Sources, CacheDir: cache,
		LockFile: filepath.Join(os.TempDir(), "grade-measure.lock"),
		Version:  buildVersion(info), Toolchain: cmp.Or(o.BuildImage, g.Version), ApartFrom: apart,
		VetTool: func(ctx context.Context, goarch string) ([]byte, error) {
			program, err := g.Compile(ctx, grade.Sources, "grader/lang/golang/vet/typed", goarch)
			if err != nil {
				return nil, err
			}
			return os.ReadFile(program)
		},
	}), nil
}
