package wording

import (
	"fmt"
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// OneLine joins the lines of a text with blanks.
func OneLine(s string) string {
	lines, _ := terminal.Lines(s, MaxLines, MaxLine)
	return strings.Join(lines, " ")
}

// Files lists names of files. Too many or too long ones are cut.
func Files(files []string) string {
	shown := make([]string, 0, maxNames)
	for _, n := range files[:min(len(files), maxNames)] {
		shown = append(shown, terminal.Excerpt(n, MaxName))
	}
	s := strings.Join(shown, ", ")
	if more := len(files) - maxNames; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Phases returns where the time of a grading went. A phase without time did not take place.
func Phases(p verdict.Phases) string {
	var parts []string
	for _, x := range []struct {
		name string
		ms   float64
	}{
		{"snapshot", p.SnapshotMs}, {"vet", p.VetMs}, {"build", p.BuildMs},
		{"start", p.StartMs}, {"test", p.TestMs}, {"race", p.RaceMs}, {"measure", p.MeasureMs},
	} {
		if x.ms > 0 {
			parts = append(parts, x.name+" "+milliseconds(x.ms))
		}
	}
	s := milliseconds(p.TotalMs)
	if len(parts) > 0 {
		s += ", of which " + strings.Join(parts, ", ") + " (phases overlap)"
	}
	return s
}

// GradedBy names sandbox, toolchain and grader, which explain a verdict later.
func GradedBy(r *verdict.Result) string {
	parts := []string{r.Sandbox.Kind + " sandbox", r.Sandbox.Runtime, r.Toolchain, "grade " + r.GraderVersion}
	if r.Sandbox.Cgroup != "" {
		parts = append(parts, "cgroup "+r.Sandbox.Cgroup)
	}
	parts = append(parts, r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, ", ")
}
