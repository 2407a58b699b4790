package prove

import (
	"fmt"
	"strings"

	"grade/exercises/course/fixture"
	"grade/grader/judge"
	"grade/grader/verdict"
)

// undeclared says how a result is not as its submission declares. Of a check that had to
// fail and did not, it says which ones failed instead: the mistake may have moved to
// another check, or be found by none.
func undeclared(x fixture.Expect, d judge.Mismatch, r *verdict.Result) string {
	name, about := strings.CutPrefix(d.Field, "checks/")
	got := find(r.Checks, name)
	if !about || !got.Verdict.Earns() || x.Checks[name] == verdict.Passed {
		return strings.ReplaceAll(d.String(), " ()", "") // a verdict without a detail
	}
	figures := ""
	if got.Detail != "" {
		figures = " (" + got.Detail + ")"
	}
	return fmt.Sprintf("%s: %s, want %s%s: it loses no points of this check, and %s", name, got.Verdict, x.Checks[name], figures, instead(r))
}

// instead lists the checks that failed.
func instead(r *verdict.Result) string {
	var names []string
	for _, got := range failed(r) {
		names = append(names, fmt.Sprintf("%s (%s)", got.Name, got.Verdict))
	}
	if len(names) == 0 {
		return "none of any other that was run"
	}
	return "fails " + strings.Join(names, ", ")
}
