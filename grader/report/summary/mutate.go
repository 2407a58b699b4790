package summary

import (
	"fmt"
	"path/filepath"
	"strings"

	"grade/grader/prove"
	"grade/grader/report/terminal"
)

// Mutation lists the survivors, and then the figures. Root is the course's folder, below
// which files are named.
func Mutation(m *prove.Mutation, root string, p terminal.Palette) string {
	var b strings.Builder
	for _, f := range m.Faults {
		f.File = filepath.Join(root, filepath.FromSlash(f.File))
		fmt.Fprintf(&b, "%s\n", terminal.Escape(f.String()))
	}
	for _, s := range m.Survivors {
		fmt.Fprintf(&b, "%s  %s:%d\n", p.Bold(terminal.Escape(s.ID)), filepath.Join(root, "reference", m.Exercise, s.File), s.Line)
		for l := range strings.Lines(s.Diff) {
			fmt.Fprintf(&b, "    %s\n", terminal.Escape(strings.ReplaceAll(strings.TrimRight(l, "\n"), "\t", "    ")))
		}
	}
	if m.Total > 0 || len(m.Faults) == 0 { // or nothing was graded
		fmt.Fprintf(&b, "%s: %d mutants, %d killed%s, %d survived, %d equivalent: %s, in %.0f s%s\n",
			m.Exercise, m.Total, m.Killed, byTime(m.TimedOut), len(m.Survivors), m.Equivalent, score(m), m.Seconds, leftOut(m.LeftOut))
	}
	return b.String()
}

// score says which share of the mutants was killed. Equivalent ones are none of them.
func score(m *prove.Mutation) string {
	if m.Total == m.Equivalent {
		return "nothing to score"
	}
	return fmt.Sprintf("%.1f %% of %d", 100*m.Score, m.Total-m.Equivalent)
}

// byTime counts the mutants that a time limit alone killed: they may still be equivalent.
func byTime(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d by time alone)", n)
}

// leftOut counts the mutants that were not graded: the score is that of the others.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more were not graded", n)
}
