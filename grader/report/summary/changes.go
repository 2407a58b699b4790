package summary

import (
	"fmt"
	"strings"

	"grade/grader/batch"
	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/results"
	"grade/grader/verdict"
)

// changeTable says whose result changes, by how much and by which check.
func changeTable(changes []*prove.Change) string {
	if len(changes) == 0 {
		return ""
	}
	width := len("submission")
	for _, c := range changes {
		width = max(width, terminal.Width(terminal.Start(c.Submission)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %7s  %7s  why\n", terminal.Pad("submission", width), "old", "new")
	for _, c := range changes {
		for i, why := range reasons(c) {
			who, was, is := "", "", ""
			if i == 0 {
				who, was, is = terminal.Start(c.Submission), points(c.Old), points(c.New)
			}
			fmt.Fprintf(&b, "%s  %7s  %7s  %s\n", terminal.Pad(who, width), was, is, terminal.Escape(why))
		}
	}
	return b.String()
}

// compareRecords compares two records of an attempt. It returns nil if they are the same.
func compareRecords(before, after results.Record) *prove.Change {
	name := before.Student + "/" + before.Exercise
	if before.Attempt > 1 {
		name += fmt.Sprintf(" (attempt %d)", before.Attempt)
	}
	return prove.Compare(name, before.Result, after.Result)
}

// anew describes what changed for attempts that were graded anew.
func anew(items []batch.Item) string {
	var changes []*prove.Change
	for _, f := range items {
		if f.Record != nil && f.Before != nil {
			if c := compareRecords(*f.Before, *f.Record); c != nil {
				changes = append(changes, c)
			}
		}
	}
	if len(changes) == 0 {
		return ""
	}
	return "\nThe same files as before, and another result:\n" + changeTable(changes) + "\n"
}

func points(o prove.Outcome) string { return fmt.Sprintf("%d/%d", o.Score, o.MaxScore) }

// reasons explains why a submission's result changes, a line each.
func reasons(c *prove.Change) (lines []string) {
	if c.Old.Verdict != c.New.Verdict {
		lines = append(lines, fmt.Sprintf("%s → %s%s%s", wording.Verdict(c.Old.Verdict), wording.Verdict(c.New.Verdict), firstLine(c.Old.Problem), firstLine(c.New.Problem)))
	}
	for _, check := range c.Checks {
		was, is := checkVerdict(check.Old), checkVerdict(check.New)
		if was != is {
			is = was + " → " + is
		}
		why := firstLine(check.Why)
		if check.New == verdict.Passed && why != "" {
			why = "; before" + why
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %d → %d points%s", check.Name, is, check.OldPoints, check.NewPoints, why))
	}
	return lines
}

// checkVerdict returns the words of a check's verdict; an empty one says that there is no check.
func checkVerdict(v verdict.Verdict) string {
	if v == "" {
		return "no such check"
	}
	return wording.Verdict(v)
}

// firstLine returns the first line of a text, after a colon.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if s == "" {
		return ""
	}
	return ": " + s
}
