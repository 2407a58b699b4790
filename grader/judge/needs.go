package judge

import (
	"errors"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/verdict"
	"grade/observe/wire"
)

// excuse holds what does not count in a check, because it rests on checks that have failed.
// Nothing else of a check is excused: if a failed check gave the points of another, a cheap
// one could be failed on purpose to be paid for a dear one.
type excuse struct {
	needs []course.Need // those that have failed, and that excuse observations
}

// excuseOf returns what a check is excused of where some checks have failed.
func excuseOf(check course.Check, failed []string) (e excuse) {
	for _, n := range check.Needs {
		if len(n.Observations) > 0 && slices.Contains(failed, n.Check) {
			e.needs = append(e.needs, n)
		}
	}
	return e
}

// covers reports whether an observation of that name does not count.
func (e excuse) covers(name string) bool {
	return slices.ContainsFunc(e.needs, func(n course.Need) bool { return n.Excuses(name) })
}

// left returns the records that count, in their order.
func (e excuse) left(records []wire.Record) []wire.Record {
	if len(e.needs) == 0 {
		return records
	}
	return slices.DeleteFunc(slices.Clone(records), func(r wire.Record) bool { return e.covers(r.Name) })
}

// told says what does not count, in the words of a detail. It is empty if all of the
// submission's records agree with the reference's anyway.
func (e excuse) told(want, got []wire.Record) string {
	if len(e.needs) == 0 || compareStreams(want, got).agrees() {
		return ""
	}
	var names []string
	for _, n := range e.needs {
		names = append(names, n.Check)
	}
	return "observations that rest on " + strings.Join(names, " and ") + ", which failed, do not count here"
}

// Allowance is how many points failed checks may still excuse in others: each as many as it
// costs itself. A check that could excuse more would be failed on purpose.
type Allowance struct {
	checks []course.Check
	spent  map[string]int
}

// NewAllowance is of the checks of an exercise.
func NewAllowance(checks []course.Check) *Allowance { return &Allowance{checks, map[string]int{}} }

// Excusing returns those of the failed checks that may excuse so many points more.
func (a *Allowance) Excusing(failed []string, points int) (names []string) {
	for _, c := range a.checks {
		if slices.Contains(failed, c.Name) && c.Points-a.spent[c.Name] >= points {
			names = append(names, c.Name)
		}
	}
	return names
}

// Spend takes the points of a check, which one of the failed checks has excused, from the
// first of them that it needs.
func (a *Allowance) Spend(check course.Check, failed []string, points int) {
	if e := excuseOf(check, failed); len(e.needs) > 0 {
		a.spent[e.needs[0].Check] += points
	}
}

// checkExcuses refuses a record all of whose observations can be excused: the check would
// be passed by failing another.
func checkExcuses(check course.Check, records []wire.Record) error {
	excusable := excuse{check.Needs}
	if !slices.ContainsFunc(records, func(r wire.Record) bool {
		return !excusable.covers(r.Name) && (check.SelfReported || !r.SelfReported)
	}) {
		return errors.New("every observation is excused where a check that this one needs has failed, so that the points would be given away: leave one that counts in every case")
	}
	return nil
}

// Causes names, in each check that has failed, the failed check that explains it: the first
// of those that it needs, or what that one needs in turn. It returns the results in their
// order.
func Causes(checks []course.Check, results []verdict.CheckResult) []verdict.CheckResult {
	results = slices.Clone(results)
	for i, r := range results {
		if root := rootOf(checks, results, r.Name, map[string]bool{}); root != "" && root != r.Name {
			results[i].Cause = root
		}
	}
	return results
}

// rootOf follows the needs of a failed check to a failed check that needs no other failed
// one. It returns "" for a check that has not failed.
func rootOf(checks []course.Check, results []verdict.CheckResult, name string, seen map[string]bool) string {
	if seen[name] || !slices.Contains(Failed(results), name) {
		return ""
	}
	seen[name] = true
	i := slices.IndexFunc(checks, func(c course.Check) bool { return c.Name == name })
	for _, n := range checks[i].Needs {
		if root := rootOf(checks, results, n.Check, seen); root != "" {
			return root
		}
	}
	return name
}

// Failed returns the names of the checks that were run and are not passed.
func Failed(results []verdict.CheckResult) (names []string) {
	for _, r := range results {
		if !r.Verdict.Earns() && r.Verdict != verdict.NotRun {
			names = append(names, r.Name)
		}
	}
	return names
}
