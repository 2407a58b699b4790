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
	// ForStudent measures until the verdict is sure, alone on the machine: a person reads
	// the ratios.
	ForStudent Purpose = iota
	// ForBatch measures until the verdict is sure, beside other gradings on a CPU each, and
	// then alone on the machine what has failed near its limit.
	ForBatch
	// ForMutant does the same, and ends at the first test that is not passed.
	ForMutant
)

func (p Purpose) String() string {
	return [...]string{"for a student", "for a batch", "of a mutant"}[p]
}

// besideFirst reports whether what can be is timed beside other gradings.
func (p Purpose) besideFirst() bool { return p != ForStudent }

// stopEarly reports whether the first failed test ends the grading.
func (p Purpose) stopEarly() bool { return p == ForMutant }

// Plan says what a grading is going to run, in this order, before anything has run.
type Plan struct {
	Exercise *course.Exercise
	Purpose  Purpose
	Tests    []course.Check // each in a process of its own, in both boxes
	Runs     int            // of each test
	Race     []course.Check // one at most: tests under the race detector, in a box of their own
	// Untimed are the workloads that no clock is read for. They are taken on a CPU that
	// nothing is timed on, and wait for no other grading.
	Untimed []Workload
	// Timed are taken on a CPU that is reserved for the grading.
	Timed []Workload
}

// Workload is what is measured by the same runs: the checks of one benchmark.
type Workload struct{ Speed, Memory *course.Check }

// Checks are those that there are, speed first.
func (w Workload) Checks() (list []course.Check) {
	for _, c := range []*course.Check{w.Speed, w.Memory} {
		if c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// add gives a check to the workload of its benchmark.
func add(list []Workload, c course.Check) []Workload {
	i := slices.IndexFunc(list, func(w Workload) bool { return w.Checks()[0].Func == c.Func })
	if i < 0 {
		i, list = len(list), append(list, Workload{})
	}
	if c.Kind == verdict.Speed {
		list[i].Speed = &c
	} else {
		list[i].Memory = &c
	}
	return list
}

// PlanOf plans a grading. Of Options it follows Purpose, Only, Checks and Repeat.
//
// A benchmark whose speed is asked for gives its peaks in the same runs. Other peaks do not
// mind what runs on the other CPUs: they are taken before the wait for a CPU. Where gradings
// are timed side by side there is little to wait for, and one pinning serves both.
func PlanOf(e *course.Exercise, o Options) Plan {
	p := Plan{Exercise: e, Purpose: o.Purpose, Runs: max(1, o.Repeat)}
	o.Checks = withExcusing(e.Checks, o.Checks)
	var measured []Workload
	for _, c := range e.Checks {
		switch {
		case !asked(o.Only, c.Kind), !asked(o.Checks, c.Name):
		case c.Kind == verdict.Correctness:
			p.Tests = append(p.Tests, c)
		case c.Kind == verdict.Race:
			p.Race = append(p.Race, c)
		default:
			measured = add(measured, c)
		}
	}
	for _, w := range measured {
		if w.Speed == nil && !o.Purpose.besideFirst() {
			p.Untimed = append(p.Untimed, w)
		} else {
			p.Timed = append(p.Timed, w)
		}
	}
	p.Tests = neededFirst(p.Tests)
	return p
}

// withExcusing adds to the names of checks those whose failure excuses observations in
// them, so that a check comes to the same verdict alone as among all.
func withExcusing(checks []course.Check, names []string) []string {
	names = slices.Clone(names)
	for i := 0; i < len(names); i++ {
		at := slices.IndexFunc(checks, func(c course.Check) bool { return c.Name == names[i] })
		if at < 0 {
			continue
		}
		for _, n := range checks[at].Needs {
			if len(n.Observations) > 0 && !slices.Contains(names, n.Check) {
				names = append(names, n.Check)
			}
		}
	}
	return names
}

// neededFirst moves tests before the first one that needs them, and keeps the exercise's
// order apart from that.
func neededFirst(tests []course.Check) (list []course.Check) {
	placed := map[string]bool{}
	var place func(course.Check)
	place = func(c course.Check) {
		if placed[c.Name] {
			return
		}
		placed[c.Name] = true
		for _, n := range c.Needs {
			if i := slices.IndexFunc(tests, func(t course.Check) bool { return t.Name == n.Check }); i >= 0 {
				place(tests[i])
			}
		}
		list = append(list, c)
	}
	for _, c := range tests {
		place(c)
	}
	return list
}

// asked reports whether a list, which is empty where all are meant, names one.
func asked[T comparable](list []T, one T) bool {
	return len(list) == 0 || slices.Contains(list, one)
}

// Checks are all that are run, in the exercise's order.
func (p Plan) Checks() (list []course.Check) {
	planned := slices.Concat(p.Tests, p.Race)
	for _, w := range slices.Concat(p.Untimed, p.Timed) {
		planned = append(planned, w.Checks()...)
	}
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
	p.writeRace(&b)
	p.writeMeasured(&b, "on a CPU that nothing is timed on", p.Untimed)
	where := "alone on a reserved CPU"
	if p.Purpose.besideFirst() {
		where = fmt.Sprintf("on a reserved CPU, beside other gradings on theirs, and again alone what fails within %g times its limit", measure.SureBeside)
	}
	if len(p.Race) > 0 && !p.Purpose.besideFirst() {
		where += fmt.Sprintf(", and again after the race check what passes beside it above 1/%d of its limit", measure.SureBesideOwn)
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

func (p Plan) writeRace(b *strings.Builder) {
	for _, c := range p.Race {
		when, beside := "", ""
		if p.Purpose.stopEarly() {
			when = ", if all tests are passed"
		}
		if !p.Purpose.besideFirst() {
			beside = ", beside what follows"
		}
		fmt.Fprintf(b, "build with the race detector%s, and test in a box for it, up to the first race%s\n", when, beside)
		for _, test := range c.Race {
			fmt.Fprintf(b, "  %s: %d of each\n", test, p.Runs)
		}
	}
}

func (p Plan) writeMeasured(b *strings.Builder, where string, list []Workload) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "measure %s\n", where)
	for _, w := range list {
		for _, c := range w.Checks() {
			fmt.Fprintf(b, "  %s: %s; at most %g times the reference's\n", c.Name, p.runsOf(w, c), c.Limit)
		}
	}
}

// runsOf says by which runs a check is decided.
func (p Plan) runsOf(w Workload, c course.Check) string {
	switch {
	case c.Kind == verdict.Speed:
		return "pairs until the verdict is sure, " + measure.Looks()
	case w.Speed != nil:
		return "the peaks of the same pairs"
	}
	return "the peaks of " + measure.Peaks()
}
