// Command rush models the rush before a deadline: how long uploads wait for their turn, and
// how long for their verdict, on a number of machines. It is a discrete-event simulation of
// the queue of `grade serve`; the times of gradings are those of a real run, drawn anew.
//
//	rush -results DIR                     a table: students by machines
//	rush -results DIR -check -slots 6     the same run, simulated and measured
//	rush -results DIR -check -times DIR2  the same, with the times of another run
//
// DIR is a folder of results, of `grade batch` or of `grade serve export`. What it holds was
// graded several at a time, so a slot of the model is one of those gradings.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-rush:", err)
		os.Exit(1)
	}
}

// options are those of the command.
type options struct {
	results   string
	check     bool
	times     string
	slots     int
	students  []int
	machines  []int
	uploads   int
	exercises int
	half      time.Duration
	within    time.Duration
	rounds    int
	seed      uint64
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("rush", flag.ContinueOnError)
	flags.StringVar(&o.results, "results", "", "the folder `DIR` with results of a real run, for its times")
	flags.BoolVar(&o.check, "check", false, "simulate the uploads of that run, and compare the waits")
	flags.StringVar(&o.times, "times", "", "take the times of gradings from the results in this folder `DIR`")
	flags.IntVar(&o.slots, "slots", 3, "gradings at a time on one machine; with -check, of all machines together")
	students := flags.String("students", "100,3000,100000", "numbers of students")
	machines := flags.String("machines", "1,2,4,8,32,128", "numbers of machines")
	flags.IntVar(&o.uploads, "uploads", 3, "uploads of each student for each exercise")
	flags.IntVar(&o.exercises, "exercises", 1, "exercises that are due at the same time")
	flags.DurationVar(&o.half, "half", time.Hour, "the last time before the deadline in which half of the uploads come")
	flags.DurationVar(&o.within, "within", 10*time.Minute, "a wait that is good enough, for the number of machines that a course needs")
	flags.IntVar(&o.rounds, "n", 5, "simulations of each case")
	flags.Uint64Var(&o.seed, "seed", 1, "of the simulation")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.results == "" {
		return o, errors.New("give a folder of results: -results DIR")
	}
	if o.slots < 1 || o.uploads < 1 || o.exercises < 1 || o.rounds < 1 || o.half <= 0 {
		return o, errors.New("-slots, -uploads, -exercises, -n and -half have to be above 0")
	}
	if o.students, err = numbers(*students); err != nil {
		return o, err
	}
	o.machines, err = numbers(*machines)
	return o, err
}

// numbers reads a list of numbers above 0.
func numbers(list string) (all []int, err error) {
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: want numbers above 0, with commas between", list)
		}
		all = append(all, n)
	}
	return all, nil
}

func run(args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := readMeasured(o.results)
	if err != nil {
		return err
	}
	if o.times != "" {
		another, err := readMeasured(o.times)
		if err != nil {
			return err
		}
		m.gradings = another.gradings
	}
	if o.check {
		return printCheck(out, m, o)
	}
	return printTable(out, m, o)
}
