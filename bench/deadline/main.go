//go:build linux

// Command deadline measures what `grade serve` does with a class before a deadline: one
// machine, one command, its own workers. Students hand in the submissions that are shipped
// with the exercises, at times drawn evenly from a minute; one of them hands in another 50
// times meanwhile, and others look at their pages. It prints
//
//   - how long uploads took to be acknowledged;
//   - how long pages took meanwhile, and after that until all was graded; each who has handed
//     in stays on the page of the attempt, with its stream;
//   - how long the others waited for their verdicts, how many gradings the eager one got, and
//     how many later uploads began to be graded before an earlier one, at most;
//   - the resident memory of the service, and whether each upload has its one result.
//
// It ends with an error where one of these does not hold.
//
// `-n 90 -over 1h` is an hour at a reduced rate, for its memory.
//
// With -results the results are exported to a folder, for bench/rush to compare its model
// with. -verdicts N compares, N times in turn, the time from a hand-in to its verdict through
// the service with that of `grade submit`, and does nothing else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"grade/bench/class"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench-deadline:", err)
		os.Exit(1)
	}
}

// options are those of the command.
type options struct {
	program  string
	students int
	eager    int
	over     time.Duration
	workers  int
	results  string
	verdicts int
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("deadline", flag.ContinueOnError)
	flags.StringVar(&o.program, "grade", "bin/grade", "the grade to look at")
	flags.IntVar(&o.students, "n", 300, "`number` of students who hand in once")
	flags.IntVar(&o.eager, "eager", 50, "`number` of times that one more student hands in")
	flags.DurationVar(&o.over, "over", time.Minute, "the time in which all hand in")
	flags.IntVar(&o.workers, "workers", 2, "gradings at a time")
	flags.StringVar(&o.results, "results", "", "export the results to this new folder")
	flags.IntVar(&o.verdicts, "verdicts", 0, "compare the time to a verdict with that of grade submit so many times, and nothing else")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.students < 1 || o.eager < 0 || o.over <= 0 || o.workers < 1 || o.verdicts < 0 {
		return o, errors.New("-n, -over and -workers have to be above 0, -eager and -verdicts not below")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	shipped, err := class.Load(os.DirFS("."))
	if err != nil {
		return err
	}
	s, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer s.stop()
	if o.verdicts > 0 {
		return compareVerdicts(ctx, s, o, out)
	}
	return rush(ctx, s, o, class.HandIn(shipped, o.students), out, progress)
}
