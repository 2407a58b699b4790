package prove

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader/verdict"
)

// doubt is a test in which an accepted solution answers other values than the reference.
type doubt struct {
	check   string
	differs string // the first differences, and a seed
	at      Finding
}

// explain says why a submission is not as declared, where more is known than its verdict:
// of an accepted solution, the limits that stop it and the tests in which it and the
// reference disagree. It reports whether these are all that the solution loses. With
// [CheckOptions.Explain], it also explains what any submission has failed.
func (c *Checking) explain(s fixture.Submission, h *FixtureResult, heard *Explanations) (all bool) {
	if len(h.Mismatches) == 0 {
		return false
	}
	explanations := heard.Of(s.Name, h.Result)
	if c.options.Explain {
		c.mu.Lock()
		c.report.Explanations = append(c.report.Explanations, explanations...)
		c.mu.Unlock()
	}
	lost := failed(h.Result)
	all = s.Class == fixture.Accepted && h.Result.Verdict == verdict.Graded && len(lost) > 0
	for _, got := range lost {
		if s.Class == fixture.Accepted {
			all = c.cause(s, got, explanations) && all
		}
	}
	return all
}

// failed returns the checks that were run and lost.
func failed(r *verdict.Result) (lost []verdict.CheckResult) {
	for _, got := range r.Checks {
		if ran(got) && !got.Verdict.Earns() {
			lost = append(lost, got)
		}
	}
	return lost
}

// cause tells why an accepted solution loses a check, and reports whether that is known.
func (c *Checking) cause(s fixture.Submission, got verdict.CheckResult, explanations []Explanation) bool {
	if stopped(got) {
		c.find(c.configFile(), c.lineOf(got.Name), "%s", stops(c.check(got.Name), s.Name, *got.Ratio))
		return true
	}
	i := slices.IndexFunc(explanations, func(x Explanation) bool { return x.Check == got.Name })
	if got.Verdict != verdict.WrongAnswer || i < 0 || len(explanations[i].Differs) == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubts = append(c.doubts, doubt{
		got.Name, fmt.Sprintf("%s (want: the reference's); seed %s", told(explanations[i].Differs), explanations[i].Seed),
		Finding{File: path.Join(s.Dir, course.ExpectFile), Line: s.Expect.Line("score")},
	})
	return true
}

// check returns the check of that name.
func (c *Checking) check(name string) course.Check {
	i := slices.IndexFunc(c.exercise.Checks, func(one course.Check) bool { return one.Name == name })
	return c.exercise.Checks[i]
}

// stopped reports whether a limit has stopped a submission, by a ratio.
func stopped(got verdict.CheckResult) bool {
	return got.Ratio != nil && (got.Verdict == verdict.TooSlow || got.Verdict == verdict.TooMuchMemory)
}

// stops says that a limit stops a right solution. The student's words for it, which a result
// has, ask for a better solution; what has to be mended is the limit.
func stops(check course.Check, submission string, ratio float64) string {
	what := "CPU time"
	if check.Kind == verdict.Memory {
		what = "memory"
	}
	return fmt.Sprintf("the limit %.4g of %s stops %s, which takes %.2f times the reference's %s: want at least %.4g (%.2g times as much)",
		check.Limit, check.Name, submission, ratio, what, twoDigits(ratio*separation, math.Ceil), separation)
}

// acceptedOfAll is the number of the exercise's accepted solutions, of which not all may have
// been graded.
func (c *Checking) acceptedOfAll() (n int) {
	for _, s := range c.stored {
		if s.Class == fixture.Accepted {
			n++
		}
	}
	return n
}

// suspects finds, once all is graded, the tests in which accepted solutions and the
// reference disagree. Where several do and none takes the reference's side, the reference is
// the suspect, and one finding says so; else each has its own.
func (c *Checking) suspects() {
	slices.SortStableFunc(c.doubts, func(a, b doubt) int {
		return cmp.Or(strings.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Line, b.at.Line))
	})
	by := map[string][]doubt{}
	for _, d := range c.doubts {
		by[d.check] = append(by[d.check], d)
	}
	for check, list := range by {
		if n := len(list); n > 1 && n == c.accepted && n == c.acceptedOfAll() {
			c.find(path.Join("reference", c.exercise.Name), 0, "%s: all %d accepted solutions differ from the reference, so that the reference is the suspect: %s", check, n, list[0].differs)
			continue
		}
		for _, d := range list {
			c.find(d.at.File, d.at.Line, "%s: this solution and the reference disagree, so that one of them is wrong, or the test asks for more than the README: %s", check, d.differs)
		}
	}
}
