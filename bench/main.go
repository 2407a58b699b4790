// Command bench answers one question with figures of this machine: what does a
// grading cost, beside what it cannot do without, and beside what courses
// usually do? In one run, in turns, it takes the time of
//
//	a  go test -c and one run of its program, bare, on this machine;
//	b  grade submit --only correctness of the same package;
//	c  a container of the same toolchain with go test in it, made for the
//	   purpose and removed afterwards.
//
// All three compile the exercise's reference with its hidden tests, from a cache
// that has the standard library and has never seen the package, and run the same
// tests. Contender a is what anyone would type; the flags that make builds quick
// are part of what b has to offer, and c gets them too, because its image's cache
// is filled for them. It prints medians, and no figure that it did not just take.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	"grade"
	"grade/bench/gotest"
	"grade/exercises/course"
	"grade/sandbox"
	"grade/sandbox/toolchain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A contender does the work once and returns how long it took.
type contender interface {
	round(ctx context.Context) (time.Duration, error)
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	rounds := flags.Int("n", 10, "how often each of the three is timed")
	program := flags.String("grade", "bin/grade", "the grade to time")
	name := flags.String("exercise", "autograd", "the exercise whose reference is graded")
	flags.Parse(args) // exits on an error
	if *rounds < 1 {
		return fmt.Errorf("-n %d: nothing to take a median of", *rounds)
	}
	e, err := course.Open(grade.Course).Load(*name)
	if err != nil {
		return err
	}
	g, err := toolchain.Find(ctx)
	if err != nil {
		return err
	}
	a, err := newBare(ctx, g, e)
	if err != nil {
		return fmt.Errorf("prepare go test on this machine: %w", err)
	}
	defer a.close()
	contenders := []contender{a}
	b := &graded{program: *program, dir: "reference/" + e.Name}
	c, err := newContained(ctx, e)
	switch {
	case errors.Is(err, sandbox.ErrUnavailable):
		fmt.Fprintf(progress, "no Docker engine answers, so that b and c are left out: %v\n", err)
	case err != nil:
		return err
	default:
		defer c.close()
		contenders = append(contenders, b, c)
	}
	times, err := measure(ctx, contenders, *rounds, progress)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: reference and %d hidden tests; medians of %d rounds in turns; %s, %d CPUs%s\n\n",
		e.Name, len(gotest.Tests(e)), *rounds, g.Version, runtime.NumCPU(), c)
	return report(out, times, b.phases)
}

// measure has the contenders take turns, so that whatever slows the machine down
// for a while slows all of them. The first round fills caches and does not count.
func measure(ctx context.Context, contenders []contender, rounds int, progress io.Writer) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(contenders))
	for i := range rounds + 1 {
		fmt.Fprintf(progress, "round %d of %d\n", i, rounds)
		for j, c := range contenders {
			d, err := c.round(ctx)
			if err != nil {
				return nil, fmt.Errorf("%c: %w", 'a'+j, err)
			}
			if i > 0 {
				times[j] = append(times[j], d)
			}
		}
	}
	return times, nil
}
