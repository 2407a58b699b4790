// Command batch answers one question with figures of this machine: how many
// submissions does it grade in a minute, beside what courses usually do? A class of
// students hands in what is shipped with the exercises, of all classes; then, in one
// run and of the same submissions, it takes the time of
//
//	b   grade batch, which measures speed and memory as well;
//	u1  docker run --rm with go test of the hidden tests, without benchmarks, one
//	    submission after the other, and no build cache: so it is in an image such as
//	    golang, which has brought none since Go 1.20;
//	u2  the same with a build cache that somebody has filled for these very flags.
//
// What is made once for a machine (images, compiled references) is made before. All
// verdicts of b have to be as the submissions declare, a second grade batch has to
// grade nothing, and where the kernel keeps accounts of processes for us, it says
// where the time of the CPUs went during b. It prints no figure that it did not just
// take.
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

	"grade/bench/gotest"
)

func main() {
	// Killed without a word it would leave the kernel keeping accounts.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench-batch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("batch", flag.ContinueOnError)
	size := flags.Int("n", 64, "hand in so many submissions, or a few more: of each class one at least")
	program := flags.String("grade", "bin/grade", "the grade to time")
	beside := flags.Bool("usual", true, "take the time of u1 and u2; without, nothing is compared")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *size < 1 {
		return fmt.Errorf("-n %d: nothing to grade", *size)
	}
	shelf, err := load(os.DirFS("."))
	if err != nil {
		return err
	}
	engine, err := gotest.Open(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	g, err := newGraded(*program, shelf, handIn(shelf, *size))
	if err != nil {
		return err
	}
	defer g.close()
	fmt.Fprintf(out, "%s; %s, %d CPUs, %s\n\n", describe(g.class), runtime.Version(), runtime.NumCPU(), engine)
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
		fmt.Fprintln(out, u.beside(f))
	}
	return f.fault()
}
