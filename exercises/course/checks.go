package course

import (
	"cmp"
	"fmt"

	"grade/exercises/course/document"
	"grade/grader/verdict"
)

// addChecks turns the entries of exercise.yaml into checks, and compares them with
// each other and with the functions in hidden, unless that is nil.
func (cfg config) addChecks(hidden map[string]*hiddenFunc, p *document.Faults) {
	seen := map[string]bool{}
	total, selfReported, complete := 0, 0, len(cfg.checks) > 0
	for _, c := range cfg.checks {
		complete = complete && c.has["points"] > 0
		check, ok := c.check(cfg.Exercise.Feedback, p)
		if !ok {
			continue
		}
		if seen[check.Name] {
			p.Add(configFile, c.line, "%s: two checks have this name; remove one", check.Name)
		}
		seen[check.Name] = true
		total += check.Points
		if check.SelfReported && c.test != "" {
			selfReported += check.Points
		}
		if hidden != nil && check.Kind == verdict.Race {
			c.meetRace(hidden, p)
		} else if hidden != nil {
			check.Hint = c.meet(hidden[check.Func], p)
		}
		cfg.Exercise.Checks = append(cfg.Exercise.Checks, check)
	}
	if len(cfg.Exercise.Checks) == len(cfg.checks) {
		cfg.checkNeeds(p) // an unreadable check may be the one that is needed
	}
	// An unreadable check may hold the points that the sum lacks.
	if complete && len(cfg.Exercise.Checks) == len(cfg.checks) && total != MaxScore {
		p.Add(configFile, cfg.line["checks"], "checks: points sum to %d, not %d", total, MaxScore)
	}
	if selfReported > maxSelfReportedTotal {
		p.Add(configFile, cfg.line["checks"], "checks: the self-reported checks carry %d points in all, more than the %d that are allowed", selfReported, maxSelfReportedTotal)
	}
	for _, f := range hidden {
		if !f.checked && len(cfg.checks) > 0 {
			p.Add(f.file, f.line, "%s: no check in %s names this function", f.name, configFile)
		}
	}
}

// check returns the check of an entry; ok is false if the entry names none.
func (c checkConfig) check(byDefault Feedback, p *document.Faults) (check Check, ok bool) {
	if c.has == nil {
		return Check{}, false // unreadable, which is reported already
	}
	if given(c.has["test"])+given(c.has["benchmark"])+given(c.has["race"]) != 1 {
		p.Add(configFile, c.line, "a check has either a test, a benchmark or a list of tests to race")
		return Check{}, false
	}
	if c.has["race"] > 0 {
		return c.raceCheck(byDefault, p), true
	}
	if c.function() == "" {
		return Check{}, false // unreadable, which is reported already
	}
	check = Check{
		Name:         c.function(),
		Func:         c.function(),
		Kind:         cmp.Or(c.kind, verdict.Correctness),
		Points:       c.points,
		Limit:        c.limit,
		SelfReported: c.selfReported,
		Feedback:     cmp.Or(c.feedback, byDefault),
		Anchor:       c.anchor,
		Line:         c.line,
	}
	for _, n := range c.needs {
		check.Needs = append(check.Needs, n.Need)
	}
	if c.benchmark != "" {
		check.Name += "/" + string(check.Kind)
	}
	for _, fault := range c.faults() {
		p.Add(configFile, c.line, "%s: %s", check.Name, fault)
	}
	return check, true
}

// given counts a field that an entry has.
func given(line int) int {
	if line != 0 {
		return 1
	}
	return 0
}

func (c checkConfig) faults() (faults []string) {
	fault := func(is bool, what string) {
		if is {
			faults = append(faults, what)
		}
	}
	fault(c.has["points"] == 0, "points are missing")
	fault(c.has["points"] > 0 && c.points < 1, "a check carries at least one point")
	fault(c.has["hint"] != 0, "hint: only the check of kind race has one; the others' is the comment of their function")
	if c.benchmark != "" {
		fault(!isTestName(c.benchmark, "Benchmark"), "not the name of a benchmark")
		fault(!c.kind.Measured(), "the kind of a benchmark is speed or memory")
		fault(c.has["limit"] == 0, "limit is missing: how many times the reference's figure passes")
		fault(c.has["limit"] > 0 && c.limit <= 1, "limit: want a factor above 1")
		fault(c.selfReported, "a benchmark is measured from outside and cannot be self-reported")
		return faults
	}
	fault(!isTestName(c.test, "Test"), "not the name of a test")
	fault(c.kind.Measured(), "a test checks correctness; use a benchmark for speed or memory")
	fault(c.kind == verdict.Race, "race: want a list of tests in the field race")
	fault(c.has["limit"] != 0, "limit: only a benchmark has one")
	fault(c.selfReported && c.points > maxSelfReported, fmt.Sprintf("a self-reported check carries at most %d points", maxSelfReported))
	return faults
}

// meet compares the check with its function in hidden, and returns the hint in that
// function's comment.
func (c checkConfig) meet(f *hiddenFunc, p *document.Faults) (hint string) {
	if f == nil {
		p.Add(configFile, c.line, "%s: no such function in %s", c.function(), hiddenDir)
		return ""
	}
	f.checked = true
	if f.selfReports && !c.selfReported && c.test != "" && c.has["self_reported"] >= 0 {
		p.Add(configFile, c.line, "%s: it records self-reported values; want self_reported: true", c.test)
	}
	return f.hint
}
