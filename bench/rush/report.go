package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"
	"time"
)

// printTable writes the waits of each number of students on each number of machines.
func printTable(out io.Writer, m measured, o options) error {
	own := shareOf(append([]time.Duration{}, m.gradings...))
	fmt.Fprintf(out, "%d gradings: median %v, 95th percentile %v; %d at a time on a machine\n", len(m.gradings), round(own.median), round(own.p95), o.slots)
	fmt.Fprintf(out, "%d uploads of each student for each of %d exercises, half of them in the last %v; medians of %d simulations\n\n", o.uploads, o.exercises, o.half, o.rounds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "students\tmachines\tturn, median\t95 %\tverdict, median\t95 %\t")
	for _, students := range o.students {
		for _, machines := range o.machines {
			turn, verdict := o.simulated(m, students, machines)
			fmt.Fprintf(w, "%d\t%d\t%v\t%v\t%v\t%v\t\n", students, machines, round(turn.median), round(turn.p95), round(verdict.median), round(verdict.p95))
			if turn.p95 <= o.within {
				break // more machines change little
			}
		}
	}
	return w.Flush()
}

// simulated returns the waits of some simulations of a course together.
func (o options) simulated(m measured, students, machines int) (turn, verdict share) {
	var waits []wait
	for round := range o.rounds {
		r := rand.New(rand.NewPCG(o.seed, uint64(round)))
		waits = append(waits, simulate(rush(r, students, o), machines*o.slots, resample(r, m.gradings))...)
	}
	return shares(waits)
}

// near is how far the model's waits may be from the measured ones, as a share of these.
const near = 0.2

// errFar says that the model does not describe the run.
var errFar = errors.New("the model is more than 20 % away from what was measured")

// printCheck writes the waits of the real run beside those of its simulation.
func printCheck(out io.Writer, m measured, o options) error {
	if len(m.uploads) == 0 {
		return errors.New("no result says when its submission was handed in")
	}
	var waits []wait
	for round := range o.rounds {
		r := rand.New(rand.NewPCG(o.seed, uint64(round)))
		waits = append(waits, simulate(m.uploads, o.slots, resample(r, m.gradings))...)
	}
	turn, verdict := shares(m.waits)
	turnModel, verdictModel := shares(waits)
	fmt.Fprintf(out, "%d uploads within %v, %d gradings at a time\n\n", len(m.uploads), round(m.uploads[len(m.uploads)-1].at), o.slots)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tmeasured\tmodel\tmodel / measured\t")
	var far error
	line := func(what string, measured, model time.Duration) {
		ratio := float64(model) / float64(max(measured, 1))
		if math.Abs(ratio-1) > near {
			far = errFar
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%.2f\t\n", what, round(measured), round(model), ratio)
	}
	line("turn, median", turn.median, turnModel.median)
	line("turn, 95 %", turn.p95, turnModel.p95)
	line("verdict, median", verdict.median, verdictModel.median)
	line("verdict, 95 %", verdict.p95, verdictModel.p95)
	return errors.Join(w.Flush(), far)
}

// round leaves what a reader needs of a time.
func round(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Minute:
		return d.Round(time.Minute)
	case d >= 10*time.Second:
		return d.Round(time.Second)
	}
	return d.Round(10 * time.Millisecond)
}
