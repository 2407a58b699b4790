package summary

import (
	"fmt"
	"path/filepath"
	"strings"

	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
)

// Check configures the text about a check of exercises.
type Check struct {
	Root      string // the course's folder, below which files are named
	Calibrate bool   // show proposed limits as well
	Palette   terminal.Palette
	Told      map[prove.Finding]bool // findings to leave out, because they have been told
}

// Text shows what was found, how far limits are from what they separate, and a
// line for each exercise.
func (c Check) Text(reports []*prove.Report) string {
	var b strings.Builder
	b.WriteString(c.Findings(reports))
	for _, r := range reports {
		b.WriteString(Explanations(r.Explanations))
		b.WriteString(c.margins(r))
		b.WriteString(cascades(r))
	}
	return b.String() + c.table(reports)
}

// Findings shows what was found, but for what has been told before.
func (c Check) Findings(reports []*prove.Report) string {
	var b strings.Builder
	for _, r := range reports {
		b.WriteString(c.Beside(r.Findings))
	}
	return b.String()
}

// Beside shows findings that are in no report, but for what has been told before.
func (c Check) Beside(list []prove.Finding) string {
	var b strings.Builder
	for _, f := range list {
		if c.Told[f] {
			continue
		}
		f.File = filepath.Join(c.Root, filepath.FromSlash(f.File))
		fmt.Fprintf(&b, "%s\n", indented(f.String()))
	}
	return b.String()
}

// table returns the table of all exercises, with the verdict on each.
func (c Check) table(reports []*prove.Report) string {
	if len(reports) == 0 {
		return "nothing to check\n"
	}
	p, width := c.Palette, len("exercise")
	for _, r := range reports {
		width = max(width, len(r.Exercise))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  checks  submissions  findings\n", terminal.Pad("exercise", width))
	for _, r := range reports {
		mark := p.Green("✓")
		switch {
		case len(r.Findings) > 0:
			mark = p.Red("✗")
		case r.Missing > 0:
			mark = p.Yellow("?")
		}
		fmt.Fprintf(&b, "%s %s  %6d  %11d  %8d\n", mark, terminal.Pad(r.Exercise, width), r.Checks, r.Submissions, len(r.Findings))
	}
	for _, r := range reports {
		if r.Missing > 0 {
			fmt.Fprintf(&b, "%s: ended early, %d of its gradings are missing: nothing is known of those\n", r.Exercise, r.Missing)
		}
		if r.LeftOut > 0 {
			fmt.Fprintf(&b, "%s: nothing was measured, and %s left out, whose expected result needs a benchmark\n", r.Exercise, wording.Plural(r.LeftOut, "submission"))
		}
	}
	return b.String()
}

// indented keeps the lines of a text, such as a compiler's, below the first.
func indented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = terminal.Escape(strings.ReplaceAll(l, "\t", strings.Repeat(" ", terminal.TabWidth)))
	}
	return strings.Join(lines, "\n    ")
}

// margins is the table of one exercise's limits.
func (c Check) margins(r *prove.Report) string {
	if len(r.Margins) == 0 {
		return ""
	}
	width := len("check")
	for _, m := range r.Margins {
		width = max(width, len(m.Check))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %8s  %8s  %8s", r.Exercise, terminal.Pad("check", width), "passes", "limit", "fails")
	if c.Calibrate {
		fmt.Fprintf(&b, "  %8s", "proposed")
	}
	for _, m := range r.Margins {
		fmt.Fprintf(&b, "\n%s  %s  %8s  %8.4g  %8s", terminal.Pad("", len(r.Exercise)), terminal.Pad(m.Check, width), ratio(m.Highest), m.Limit, ratio(m.Lowest))
		if c.Calibrate {
			fmt.Fprintf(&b, "  %8.4g", m.Proposed)
		}
		for _, at := range []*prove.Reading{m.Highest, m.Lowest} {
			if at != nil {
				fmt.Fprintf(&b, "  %s", at.Submission)
			}
		}
	}
	return b.String() + "\n"
}

func ratio(r *prove.Reading) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", r.Ratio)
}
