package wording

import (
	"fmt"
	"math"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

func Points(c verdict.CheckResult) string { return fmt.Sprintf("%d/%d", c.Points, c.MaxPoints) }

// Side says what was measured of one side, and for a peak from which source.
func Side(kind string, f verdict.Figures) string {
	switch {
	case f.Runs == 0:
		return ""
	case kind == "memory":
		return size(f.PeakBytes) + " peak (" + terminal.Excerpt(f.PeakSource, MaxName) + ")"
	}
	return milliseconds(f.CPUMs) + " CPU"
}

// Ratio says how many times the reference it is, how surely, and what it may be.
func Ratio(c verdict.CheckResult) string {
	s := fmt.Sprintf("%.2f×", *c.Ratio)
	if c.Interval != nil {
		s += fmt.Sprintf(" (%.2f to %.2f)", c.Interval[0], c.Interval[1])
	}
	if c.Limit != nil {
		s += fmt.Sprintf(", limit %.4g×", *c.Limit)
	}
	return s
}

// milliseconds says ms in a unit and a precision that a person reads at a glance.
func milliseconds(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	s := int(math.Round(ms / 1000))
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

// size says n bytes in binary units.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Figures says what was measured, in a line; nothing where nothing was.
func Figures(c verdict.CheckResult) string {
	if c.Ratio == nil {
		return ""
	}
	s := Ratio(c)
	if c.Submission.Runs > 0 && c.Reference.Runs > 0 {
		s += "; submission " + Side(c.Kind, c.Submission) + ", reference " + Side(c.Kind, c.Reference)
	}
	return s
}
