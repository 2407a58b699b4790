// Command batch measures how many submissions this machine grades in a minute, compared
// with the usual way of courses. A class of students hands in the submissions that are
// shipped with the exercises. In one run the command times, of the same submissions,
//
//	b   grade batch, which measures speed and memory as well;
//	u1  docker run --rm with go test of the hidden tests, without benchmarks, one
//	    submission after the other, and without a build cache, as in the golang images,
//	    which have none since Go 1.20;
//	u2  the same with a build cache that was filled for these very flags.
//
// Work that is done once for a machine (images, compiled references) is done before.
// The verdicts of b have to be as the submissions declare, and a second grade batch has
// to grade nothing. Where the kernel allows process accounting, the command shows where
// CPU time went during b. It prints figures of this run only.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"grade/bench/class"
	"grade/bench/gotest"
)

func main() {
	// The command handles TERM because the kernel would keep accounts after its death.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench-batch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("batch", flag.ContinueOnError)
	size := flags.Int("n", 64, "`number` of submissions, or a few more: at least one of each class")
	program := flags.String("grade", "bin/grade", "the grade to time")
	beside := flags.Bool("usual", true, "time u1 and u2 as well, and compare")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *size < 1 {
		return fmt.Errorf("-n %d: nothing to grade", *size)
	}
	shipped, err := class.Load(os.DirFS("."))
	if err != nil {
		return err
	}
	engine, err := gotest.Open(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	g, err := newGraded(*program, shipped, class.HandIn(shipped, *size))
	if err != nil {
		return err
	}
	defer g.close()
	fmt.Fprintf(out, "%s; %s, %d CPUs, %s\n\n", class.Describe(g.class), runtime.Version(), runtime.NumCPU(), engine)
	f, err := g.figures(ctx, progress)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, f)
	if *beside {
		u, err := usual(ctx, engine, g.class, progress)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, u.compare(f))
	}
	return f.fault()
}
