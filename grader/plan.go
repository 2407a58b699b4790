package grader

import (
	"fmt"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/measure"
	"grade/grader/verdict"
)

// Purpose says what a grading is for, and with it how much of it is worth its time.
type Purpose int

// The purposes. The zero value is for a student.
const (
	// ForStudent measures until the ratios are precise enough to compare, alone on
	// the machine: a person reads them.
	ForStudent Purpose = iota
	// ForBatch measures until the verdict is sure, alone on the machine.
	ForBatch
	// ForProof measures until the verdict is sure, beside other gradings on a CPU
	// each: only verdicts are compared.
	ForProof
	// ForMutant is a proof that ends at the first test that is not passed.
	ForMutant
)

func (p Purpose) String() string {
	return [...]string{"for a student", "for a batch", "as a proof", "of a mutant"}[p]
}

// figuresShown reports whether a person reads ratios, and not verdicts alone.
func (p Purpose) figuresShown() bool { return p == ForStudent }

// shared reports whether gradings may be timed side by side.
func (p Purpose) shared() bool { return p == ForProof || p == ForMutant }

// stopEarly reports whether the first failed test ends the grading.
func (p Purpose) stopEarly() bool { return p == ForMutant }

// Plan says what a grading is going to run, in this order, before anything has run.
type Plan struct {
	Exercise *course.Exercise
	Purpose  Purpose
	Tests    []course.Check // each in a process of its own, in both boxes
	Runs     int            // of each test
	// Untimed are the measured checks that no clock is read for. They are taken on a
	// CPU that nothing is timed on, and wait for no other grading.
	Untimed []course.Check
	// Timed are taken on a CPU that is reserved for the grading.
	Timed []course.Check
}

// PlanOf plans a grading. Of Options it follows Purpose, Only, Checks and Repeat.
//
// Peaks of memory do not mind what runs on the other CPUs: they are taken before the
// wait for a CPU. Where gradings are timed side by side there is little to wait for,
// and one pinning serves both.
func PlanOf(e *course.Exercise, o Options) Plan {
	p := Plan{Exercise: e, Purpose: o.Purpose, Runs: max(1, o.Repeat)}
	for _, c := range e.Checks {
		switch {
		case !asked(o.Only, c.Kind), !asked(o.Checks, c.Name):
		case c.Kind == verdict.Correctness:
			p.Tests = append(p.Tests, c)
		case c.Kind == verdict.Memory && !o.Purpose.shared():
			p.Untimed = append(p.Untimed, c)
		default:
			p.Timed = append(p.Timed, c)
		}
	}
	return p
}

// asked reports whether a list, which is empty where all are meant, names one.
func asked[T comparable](list []T, one T) bool {
	return len(list) == 0 || slices.Contains(list, one)
}

// Checks are all that are run, in the exercise's order.
func (p Plan) Checks() (list []course.Check) {
	planned := slices.Concat(p.Tests, p.Untimed, p.Timed)
	for _, c := range p.Exercise.Checks {
		if slices.ContainsFunc(planned, func(q course.Check) bool { return q.Name == c.Name }) {
			list = append(list, c)
		}
	}
	return list
}

// String is the plan as text: a line for each step, in order.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "grade %s %s\n", p.Exercise.Name, p.Purpose)
	b.WriteString("vet by parsing\nbuild submission and reference, vet with types; open a box for each\nrun both without a test\n")
	p.writeTests(&b)
	p.writeMeasured(&b, "on a CPU that nothing is timed on", p.Untimed)
	where := "alone on a reserved CPU"
	if p.Purpose.shared() {
		where = "on a reserved CPU, beside other gradings on theirs"
	}
	p.writeMeasured(&b, where, p.Timed)
	return b.String()
}

func (p Plan) writeTests(b *strings.Builder) {
	if len(p.Tests) == 0 {
		return
	}
	fmt.Fprintf(b, "test in both boxes, within %v and %d times the reference's time", timeBudget, budgetFactor)
	if p.Purpose.stopEarly() {
		b.WriteString(", up to the first failure")
	}
	b.WriteString("\n")
	for _, c := range p.Tests {
		fmt.Fprintf(b, "  %s: %d of each\n", c.Name, p.Runs)
	}
}

func (p Plan) writeMeasured(b *strings.Builder, where string, checks []course.Check) {
	if len(checks) == 0 {
		return
	}
	fmt.Fprintf(b, "measure %s\n", where)
	for _, c := range checks {
		runs := fmt.Sprintf("the least peak of %d of each", measure.MemoryRuns)
		if c.Kind == verdict.Speed {
			until := "the verdict is sure"
			if p.Purpose.figuresShown() {
				until = "the ratio is precise"
			}
			runs = "pairs until " + until + ", " + measure.Looks()
		}
		fmt.Fprintf(b, "  %s: %s; at most %g times the reference's\n", c.Name, runs, c.Limit)
	}
}
