// Command bench measures on this machine what a grading costs, compared with the
// least possible work and with the usual way of courses. In one run, in turns, it
// times
//
//	a  go test -c and one run of its program, bare, on this machine;
//	b  grade submit --only correctness of the same package, until it ends; the engine
//	   removes its containers afterwards, before anything else is timed;
//	c  go test in a container of the same toolchain, which is created for the run
//	   and removed afterwards;
//	d  with -go-judge: the same build, with b's flags and its settings of Go, and the same
//	   tests, each in a process of its own, through that program, which is up already.
//
// All compile the exercise's reference with its hidden tests, from a cache
// that has the standard library but not the package, and run the same tests.
// Contender a uses no special flags. Contender b uses the flags that make builds
// quick, and c gets them too, because its image's cache is filled for them; the tests of b
// and d collect garbage more seldom than those of a, those of c only when memory is short. The order of the
// contenders alternates. The command prints medians of this run only.
//
// With -full it times, for the reference of each exercise, grade submit --only correctness
// and the whole of grade submit: what the race detector and the benchmarks add.
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

// A contender does the work once and returns the time that it took.
type contender interface {
	round(ctx context.Context) (time.Duration, error)
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	rounds := flags.Int("n", 10, "number of timed rounds of each contender")
	program := flags.String("grade", "bin/grade", "the grade to time")
	name := flags.String("exercise", "autograd", "the exercise whose reference is graded")
	judge := flags.String("go-judge", "", "a go-judge to time as well")
	full := flags.Bool("full", false, "time whole gradings of every reference")
	flags.Parse(args) // exits on an error
	if *rounds < 1 {
		return fmt.Errorf("-n %d: want at least one round", *rounds)
	}
	if *full {
		return runFull(ctx, *program, *rounds, out, progress)
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
		fmt.Fprintf(progress, "no Docker engine answers, so b and c are left out: %v\n", err)
	case err != nil:
		return err
	default:
		defer c.close()
		b.settle = c.engine.Settle
		contenders = append(contenders, b, c)
		if *judge != "" {
			d, err := newGoJudge(ctx, *judge, c.engine, g, e)
			if err != nil {
				return fmt.Errorf("prepare go-judge: %w", err)
			}
			defer d.close()
			contenders = append(contenders, d)
		}
	}
	times, err := measure(ctx, contenders, *rounds, progress)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: reference and %d hidden tests; medians of %d rounds in turns; %s, %d CPUs%s\n\n",
		e.Name, len(gotest.Tests(e)), *rounds, g.Version, runtime.NumCPU(), c)
	return report(out, times, b.phases)
}

// runFull times gradings of correctness and whole ones, of all references in turns.
func runFull(ctx context.Context, program string, rounds int, out, progress io.Writer) error {
	names, err := course.Open(grade.Course).Names()
	if err != nil {
		return err
	}
	engine, err := gotest.Open(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	var contenders []contender
	for _, name := range names {
		for _, whole := range []bool{false, true} {
			contenders = append(contenders, &graded{program: program, dir: "reference/" + name, whole: whole, settle: engine.Settle})
		}
	}
	times, err := measure(ctx, contenders, rounds, progress)
	if err != nil {
		return err
	}
	return reportFull(out, names, times)
}

// measure lets the contenders take turns, so that a slow phase of the machine slows
// all of them. The first round fills caches and does not count.
func measure(ctx context.Context, contenders []contender, rounds int, progress io.Writer) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(contenders))
	for i := range rounds + 1 {
		fmt.Fprintf(progress, "round %d of %d\n", i, rounds)
		for k := range contenders {
			j := k
			if i%2 == 1 {
				j = len(contenders) - 1 - k
			}
			d, err := contenders[j].round(ctx)
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
