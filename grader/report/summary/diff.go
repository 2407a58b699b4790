package summary

import (
	"fmt"
	"slices"
	"strings"

	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
)

// Difference returns a table of the submissions whose score changes, and why; then the
// figures.
func Difference(d *prove.Difference) string {
	changes := slices.DeleteFunc(slices.Clone(d.Changes), func(c *prove.Change) bool { return !c.Scores() })
	var b strings.Builder
	b.WriteString(changeTable(changes))
	for _, u := range d.Ungraded {
		fmt.Fprintf(&b, "%s: left out: %s\n", terminal.Start(u.Submission), terminal.Escape(u.Reason))
	}
	b.WriteString(figures(d))
	return b.String()
}

// figures counts the submissions with fewer, more and the same points.
func figures(d *prove.Difference) string {
	if d.OldHash == d.NewHash {
		return fmt.Sprintf("%s: the two differ in nothing that a grade depends on\n", d.Exercise)
	}
	lose, gain := 0, 0
	for _, c := range d.Changes {
		switch {
		case c.New.Score < c.Old.Score:
			lose++
		case c.New.Score > c.Old.Score:
			gain++
		}
	}
	s := fmt.Sprintf("%s: %s: %d with fewer points, %d with more, %d with the same", d.Exercise, wording.Plural(d.Submissions, "submission"), lose, gain, d.Submissions-lose-gain)
	if other := len(d.Changes) - lose - gain; other > 0 {
		s += fmt.Sprintf(" (%d for other reasons)", other)
	}
	if len(d.Failed) > 0 {
		s += fmt.Sprintf("; %d could not be graded", len(d.Failed))
	}
	return s + "\n"
}
