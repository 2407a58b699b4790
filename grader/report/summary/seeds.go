package summary

import (
	"fmt"
	"strings"

	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
)

// Seeds shows which submissions fail other checks with one seed than with another.
func Seeds(reports []*prove.SeedReport) string {
	var b strings.Builder
	for _, r := range reports {
		fmt.Fprintf(&b, "%s: %s on %s, %d unsteady\n", r.Exercise, wording.Plural(r.Submissions, "submission"), wording.Plural(r.Seeds, "seed"), len(r.Unsteady))
		for _, u := range r.Unsteady {
			b.WriteString(unsteady(u))
		}
	}
	return b.String()
}

func unsteady(u prove.Unsteady) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s\n", u.Submission)
	if u.Reason != "" {
		fmt.Fprintf(&b, "    it says why: %s\n", terminal.Escape(u.Reason))
	}
	for _, c := range u.Checks {
		fmt.Fprintf(&b, "    %s fails on %d of %d; on --seed %s\n", c.Check, c.Failed, c.Of, c.Fails)
	}
	return b.String()
}
