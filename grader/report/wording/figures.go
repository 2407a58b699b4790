package wording

import (
	"fmt"
	"math"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// Points returns the points of a check, out of its maximum.
func Points(c verdict.CheckResult) string { return fmt.Sprintf("%d/%d", c.Points, c.MaxPoints) }

// Side returns what was measured of one side, the submission or the reference: CPU time, or
// a peak with its source.
func Side(kind string, f verdict.Figures) string {
	switch {
	case f.Runs == 0:
		return ""
	case kind == "memory":
		return size(f.PeakBytes) + " peak (" + terminal.Excerpt(f.PeakSource, MaxName) + ")"
	}
	return milliseconds(f.CPUMs) + " CPU"
}

// Ratio returns the multiple of the reference, its interval and its limit.
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

// milliseconds formats ms in the unit and precision that are read at a glance.
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

// size formats n bytes in binary units.
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

// Figures returns ratio and both sides in a line. It is empty if nothing was measured.
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

// Rounded rounds to a number of digits that count. A report has no more of what was measured:
// a submission can choose the others.
func Rounded(x float64, digits int) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
