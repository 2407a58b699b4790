package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"grade/bench/gotest"
	"grade/exercises/course"
	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// bare is contender a: go test on this machine.
type bare struct {
	exercise *course.Exercise
	dir      string
	command  string // go
	rounds   int
}

// newBare makes a build tree and builds it once, so that the user's build cache has all
// packages but those that every round compiles.
func newBare(ctx context.Context, g toolchain.Go, e *course.Exercise) (*bare, error) {
	b, err := newTree(g, e)
	if err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// newTree makes a build tree in a temporary folder.
func newTree(g toolchain.Go, e *course.Exercise) (b *bare, err error) {
	b = &bare{exercise: e, command: g.Command()}
	if b.dir, err = os.MkdirTemp("", "grade-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	kit, err := gotest.Kit()
	if err != nil {
		return nil, err
	}
	return b, b.write(append(kit, gotest.Packages(e, e.Reference)...))
}

// build runs go test without the grader's flags, which save time: contender a is
// the command as users type it.
func (b *bare) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.command, "test", "-c", "-o", b.at("hidden.test"), gotest.Hidden(b.exercise))
	cmd.Dir, cmd.Env = b.at("work"), append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w: %s", err, out)
	}
	return nil
}

func (b *bare) close() { os.RemoveAll(b.dir) }

func (b *bare) at(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bare) write(files []sandbox.File) error {
	for _, f := range files {
		name := b.at("work/" + f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// renew changes a constant in both packages, so that they miss the build cache: a
// grader compiles each submission only once.
func (b *bare) renew() error {
	b.rounds++
	constant := fmt.Sprintf("\n\nconst BenchRound = %d\n", b.rounds)
	return b.write([]sandbox.File{
		{Name: "reference/" + b.exercise.Name + "/zz_bench.go", Data: []byte("package " + b.exercise.Package + constant)},
		{Name: path.Join(gotest.Hidden(b.exercise), "zz_bench_test.go"), Data: []byte("package hidden" + constant)},
	})
}

func (b *bare) round(ctx context.Context) (time.Duration, error) {
	if err := b.renew(); err != nil {
		return 0, err
	}
	started := time.Now()
	if err := b.build(ctx); err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, b.at("hidden.test"), "-test.run="+gotest.Pattern(b.exercise), "-test.count=1").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("hidden tests: %w: %s", err, out)
	}
	return time.Since(started), nil
}
