package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"grade/grader/verdict"
)

// Trouble is one thing to mend: a failed check, and those that failed with it.
type Trouble struct {
	Check verdict.CheckResult
	Needs []verdict.CheckResult // the exercise says that they need Check
	Same  []verdict.CheckResult // they ended at the same line, or for the same reason
}

// Lost returns the points that hang on it.
func (t Trouble) Lost() int {
	return lost(t.Needs) + lost(t.Same) + lost([]verdict.CheckResult{t.Check})
}

func lost(checks []verdict.CheckResult) (n int) {
	for _, c := range checks {
		n += c.MaxPoints - c.Points
	}
	return n
}

// explains reports whether the trouble stands for more than one check.
func (t Trouble) explains() bool { return len(t.Needs)+len(t.Same) > 0 }

// Troubles groups the failed checks of r by what is to be mended, in the order in which to
// mend: answers before time and memory, which say little of a wrong program; what explains
// several checks before single ones, by points; else in the exercise's order. What was not
// reached comes last: it needs no mending.
func Troubles(r *verdict.Result) []Trouble {
	if r.Verdict != verdict.Graded {
		return nil
	}
	var failed []verdict.CheckResult
	for _, s := range Sections(r.Checks) {
		for _, c := range s.Checks {
			if !c.Verdict.Earns() && !NotAsked(c) {
				failed = append(failed, c)
			}
		}
	}
	list := grouped(failed)
	for i := range list {
		list[i].unhinted()
	}
	slices.SortStableFunc(list, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(measuredRank(a), measuredRank(b)), cmp.Compare(explained(b), explained(a)))
	})
	return list
}

// unhinted leaves out what the check is about where others crashed at the same line: that line
// is what they have in common, and a test that happens to be the first of them leads astray.
func (t *Trouble) unhinted() {
	if len(t.Same) > 0 && len(t.Check.Places) > 0 {
		t.Check.Hint = ""
	}
}

func measuredRank(t Trouble) int {
	if t.Check.Verdict == verdict.NotRun {
		return 2
	}
	if verdict.Kind(t.Check.Kind).Measured() {
		return 1
	}
	return 0
}

// explained returns the points of a trouble that explains several checks, or 0.
func explained(t Trouble) int {
	if !t.explains() {
		return 0
	}
	return t.Lost()
}

// grouped puts each failed check into the trouble that explains it.
func grouped(failed []verdict.CheckResult) (list []Trouble) {
	of := map[string]int{} // which trouble a check is in
	var rest []verdict.CheckResult
	for _, c := range failed {
		if rootOf(c, failed) != c.Name {
			rest = append(rest, c)
			continue
		}
		i := slices.IndexFunc(list, func(t Trouble) bool { return alike(t.Check, c) })
		if i < 0 {
			i, list = len(list), append(list, Trouble{Check: c})
		} else {
			list[i].Same = append(list[i].Same, c)
		}
		of[c.Name] = i
	}
	for _, c := range rest {
		t := &list[of[rootOf(c, failed)]]
		t.Needs = append(t.Needs, c)
	}
	return list
}

// rootOf follows causes to the check that none of the failed ones explains. A ring of
// causes, which no exercise can declare, has no such check: then c stands for itself.
func rootOf(c verdict.CheckResult, failed []verdict.CheckResult) string {
	at := c
	for range failed {
		i := slices.IndexFunc(failed, func(x verdict.CheckResult) bool { return at.Cause != "" && x.Name == at.Cause })
		if i < 0 {
			return at.Name
		}
		at = failed[i]
	}
	return c.Name
}

// alike reports whether two checks failed in the same way: at the same line, or, where no
// line is known, with the same words. Two wrong answers with the same words still differ,
// unless they are about the same rule.
func alike(a, b verdict.CheckResult) bool {
	switch {
	case a.Verdict != b.Verdict:
		return false
	case len(a.Places) > 0 && len(b.Places) > 0:
		return a.Places[0].File == b.Places[0].File && a.Places[0].Line == b.Places[0].Line
	case len(a.Places)+len(b.Places) > 0 || a.Detail == "" || a.Detail != b.Detail:
		return false
	}
	return a.Hint != "" && a.Hint == b.Hint || a.Verdict != verdict.WrongAnswer && a.Ratio == nil && b.Ratio == nil
}

// Followers says in a sentence each which other checks failed with it, and names at most
// that many of either kind; 0: all.
func (t Trouble) Followers(names int) (list []string) {
	verb, failed := "need", "failed"
	if len(t.Needs) == 1 {
		verb = "needs"
	}
	if len(t.Needs) > 0 {
		list = append(list, followers(t.Needs, "failed and "+verb+" it", names))
	}
	switch {
	case t.Check.Verdict == verdict.NotRun:
		failed = "not run for the same reason"
	case len(t.Check.Places) > 0:
		failed = "failed at the same line"
	default:
		failed += " in the same way"
	}
	if len(t.Same) > 0 {
		list = append(list, followers(t.Same, failed, names))
	}
	return list
}

func followers(checks []verdict.CheckResult, what string, names int) string {
	var named []string
	for _, c := range checks {
		if names > 0 && len(named) == names && len(checks) > names {
			named = append(named, "and "+Plural(len(checks)-names, "other"))
			break
		}
		named = append(named, Name(c.Name))
	}
	return fmt.Sprintf("%s (%s) %s: %s", Plural(len(checks), "more check"), Plural(lost(checks), "point"), what, strings.Join(named, ", "))
}

// MaxPlaces is how many lines of the source are shown of one check: the two accesses of a
// race, and a few.
const MaxPlaces = 4

// Places returns where in the submission's files a check went wrong, a line each, with the
// source if it is known.
func Places(c verdict.CheckResult) (list []string) {
	for _, p := range c.Places[:min(len(c.Places), MaxPlaces)] {
		s := "at " + Place(p.File, p.Line, "")
		if code := Squeezed(p.Source); code != "" {
			s += ": " + code
		}
		list = append(list, s)
	}
	return list
}

// Cause says which failed check explains that this one failed. It is empty if none does.
func Cause(c verdict.CheckResult) string {
	if c.Cause == "" {
		return ""
	}
	return "needs " + Name(c.Cause) + ", which failed: mend that first"
}
