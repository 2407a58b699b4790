// Command mutants compares the times of `grade exercise mutate` and of a loop that
// writes each mutant to a folder and grades it with `grade submit`. The first grades
// all mutants; the second grades a sample, spread evenly over the reference. The time
// of the second does not include making the mutants.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"grade"
	"grade/exercises/course"
	"grade/grader/mutate"
	"grade/grader/prove"
)

// pointsMissing is grade's exit status if points are missing.
const pointsMissing = 1

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	name := flags.String("exercise", "autograd", "exercise with the mutants")
	size := flags.Int("n", 20, "number of mutants to grade one by one")
	command := flags.String("grade", "bin/grade", "the grade to time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	e, err := course.Open(grade.Course).Load(*name)
	if err != nil {
		return err
	}
	mutants, _, err := prove.Mutants(ctx, e, nil)
	if err != nil {
		return err
	}
	if *size = min(*size, len(mutants)); *size < 1 {
		return errors.New("-n: want at least one mutant")
	}
	one, err := oneByOne(ctx, *command, e.Reference, mutants, *size)
	if err != nil {
		return err
	}
	total, seconds, err := together(ctx, *command, *name)
	if err != nil {
		return err
	}
	each := time.Duration(seconds / float64(total) * float64(time.Second))
	fmt.Printf("%s: grade submit takes %v a mutant (%d of them), grade exercise mutate %v (all %d, %.0f s): %.1f times as fast\n",
		*name, one.Round(time.Millisecond), *size, each.Round(time.Millisecond), total, seconds, one.Seconds()/each.Seconds())
	return nil
}

// oneByOne returns the mean time of grade submit for a mutant.
func oneByOne(ctx context.Context, command string, files []course.File, mutants []mutate.Mutant, size int) (time.Duration, error) {
	var sum time.Duration
	for i := range size {
		took, err := submit(ctx, command, files, mutants[i*len(mutants)/size])
		if err != nil {
			return 0, err
		}
		sum += took
	}
	return sum / time.Duration(size), nil
}

func submit(ctx context.Context, command string, files []course.File, m mutate.Mutant) (time.Duration, error) {
	dir, err := os.MkdirTemp("", "grade-mutant-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for _, f := range files {
		if f.Name == m.File {
			f.Data = m.Data
		}
		if !strings.HasSuffix(f.Name, ".go") || strings.Contains(f.Name, "/") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			return 0, err
		}
	}
	started := time.Now()
	_, err = output(ctx, command, "submit", dir, "--json", "--quiet")
	return time.Since(started), err
}

// together returns the number of mutants and the time that grade exercise mutate
// reports.
func together(ctx context.Context, command, name string) (total int, seconds float64, err error) {
	out, err := output(ctx, command, "exercise", "mutate", name, "--json", "--quiet", "--course", ".")
	if err != nil {
		return 0, 0, err
	}
	var m struct {
		Total   int     `json:"total"`
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return 0, 0, err
	}
	if m.Total == 0 {
		return 0, 0, errors.New("no mutant was graded")
	}
	return m.Total, m.Seconds, nil
}

// output runs a grading and returns its output, also if points are missing.
func output(ctx context.Context, command string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command, args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if exit.ExitCode() == pointsMissing {
			return out, nil
		}
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, exit.Stderr)
	}
	return out, err
}
