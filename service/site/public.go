package site

import (
	"slices"

	"grade/grader"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// public returns a result as its student may have it: with as much of times and memory as a
// report shows. Exact figures of hidden tests are a clock, on which a submission could read
// what it is given.
func public(r *verdict.Result) *verdict.Result {
	out := *r
	out.Checks = slices.Clone(r.Checks)
	for i := range out.Checks {
		out.Checks[i] = publicCheck(out.Checks[i])
	}
	p := &out.Phases
	for _, ms := range []*float64{&p.SnapshotMs, &p.VetMs, &p.BuildMs, &p.StartMs, &p.TestMs, &p.RaceMs, &p.MeasureMs, &p.TotalMs} {
		*ms = wording.Rounded(*ms, 2)
	}
	return &out
}

func publicCheck(c verdict.CheckResult) verdict.CheckResult {
	if c.Ratio == nil {
		c.Reference, c.Submission = verdict.Figures{}, verdict.Figures{}
		return c
	}
	c.Ratio = new(wording.Rounded(*c.Ratio, 3))
	if c.Interval != nil {
		c.Interval = &[2]float64{wording.Rounded(c.Interval[0], 3), wording.Rounded(c.Interval[1], 3)}
	}
	for _, f := range []*verdict.Figures{&c.Reference, &c.Submission} {
		f.CPUMs, f.WallMs, f.PeakBytes = wording.Rounded(f.CPUMs, 3), wording.Rounded(f.WallMs, 3), int64(wording.Rounded(float64(f.PeakBytes), 3))
	}
	return c
}

// publicEvent returns an event as the student may have it.
func publicEvent(e *grader.Event) *grader.Event {
	if e == nil || e.Check == nil {
		return e
	}
	out := *e
	check := publicCheck(*e.Check)
	out.Check = &check
	return &out
}
