package gradebook

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// ruling is the rules as they apply to one student.
type ruling struct {
	course.Rules
	due      time.Time // zero: never
	extended bool
	zone     *time.Location
}

// valued is what an attempt counts, and why.
type valued struct {
	counts bool
	late   bool
	points float64
	why    []string
}

// decide picks the attempt that counts, and records what each rule did. A teacher may make
// folders in advance: one without a Go file uses up no attempt and counts only if there is
// nothing else.
func (c *Cell) decide(r ruling) {
	var best valued
	late := false // any that does not count
	worked := slices.ContainsFunc(c.Attempts, func(a Attempt) bool { return !a.empty() })
	nth := 0
	for i := range c.Attempts {
		if worked && c.Attempts[i].empty() {
			continue
		}
		nth++
		v := r.value(nth, c.Attempts[i])
		if !v.counts {
			c.Rules = append(c.Rules, v.why...)
			late = late || v.late
			continue
		}
		if c.Counts == nil || r.Count == course.CountLast || v.points > best.points {
			c.Counts, best = &c.Attempts[i], v
		}
	}
	if c.Counts != nil {
		if n := c.Last(); len(c.Attempts) > 1 {
			which := map[course.Count]string{course.CountBest: "best", course.CountLast: "last"}[r.Count]
			c.Rules = append(c.Rules, fmt.Sprintf("Attempt %d of %d counts: the course counts the %s attempt that its rules allow.", c.Counts.Number, n, which))
		}
		c.Rules = append(c.Rules, best.why...)
		if why := ungraded[c.Counts.Result.Verdict]; c.Counts.empty() {
			c.Rules = append(c.Rules, fmt.Sprintf("Attempt %d has no points: nothing was handed in, there is no Go file.", c.Counts.Number))
		} else if why != "" {
			c.Rules = append(c.Rules, fmt.Sprintf("Attempt %d has no points: it %s.", c.Counts.Number, why))
		}
		c.Points, c.Late = &best.points, best.late
	} else if len(c.Attempts) > 0 {
		none := 0.0
		c.Points, c.Late = &none, late
	}
	if c.Missing != nil && len(c.Attempts) > 0 {
		c.Rules = append(c.Rules, "The newest submission has no verdict yet; what was graded before stands until then.")
	}
}

// ungraded says of the verdicts without points why they have none.
var ungraded = map[verdict.Verdict]string{
	verdict.Invalid: "was refused before anything of it ran", verdict.CompileError: "does not compile",
}

// RuleNoFiles is the rule of a problem that says that a folder has no Go file.
const RuleNoFiles = "no-files"

// empty reports whether an attempt is a folder without a Go file.
func (a Attempt) empty() bool {
	return slices.ContainsFunc(a.Result.Problems, func(p verdict.Problem) bool { return p.Rule == RuleNoFiles })
}

// value returns what an attempt counts, the nth that was graded: those that were replaced
// before use up none of the attempts that may count.
func (r ruling) value(nth int, a Attempt) valued {
	v := valued{counts: true, points: float64(a.Result.Score)}
	if r.Attempts > 0 && nth > r.Attempts {
		return valued{why: []string{fmt.Sprintf("Attempt %d does not count: the course counts only the %s.", a.Number, firstGraded(r.Attempts))}}
	}
	if r.due.IsZero() {
		return v
	}
	if r.extended {
		v.why = append(v.why, "The due time was extended to "+r.time(r.due)+".")
	}
	if a.Submitted.IsZero() {
		v.why = append(v.why, "The time of submission is not known: it counts as in time.")
		return v
	}
	if a.Unlisted {
		v.why = append(v.why, fmt.Sprintf("The table of times does not have attempt %d: by %s, it was handed in at %s.", a.Number, a.Source, r.time(a.Submitted)))
	}
	if !a.Later.IsZero() {
		v.why = append(v.why, fmt.Sprintf("%s now has %s for attempt %d. The earlier time counts, which it had when the attempt was graded; a row that names attempt %d would overrule it.", a.Source, r.time(a.Later), a.Number, a.Number))
	}
	late := a.Submitted.Sub(r.due)
	if late <= 0 {
		return v
	}
	if r.Late != nil && late <= r.Late.Grace {
		v.why = append(v.why, fmt.Sprintf("Attempt %d was handed in %s after it was due, within the grace period: it counts as in time.", a.Number, Span(late)))
		return v
	}
	return r.late(a, v, late)
}

// firstGraded names the attempts that may count, where not all do.
func firstGraded(limit int) string {
	if limit == 1 {
		return "first that is graded"
	}
	return fmt.Sprintf("first %d that are graded", limit)
}

// late applies the rules on late work.
func (r ruling) late(a Attempt, v valued, late time.Duration) valued {
	said := fmt.Sprintf("Attempt %d was handed in at %s (by %s), %s late", a.Number, r.time(a.Submitted), a.Source, Span(late))
	switch {
	case r.Late == nil:
		return valued{late: true, why: []string{said + ": it does not count."}}
	case r.Late.Until > 0 && late > r.Late.Until:
		return valued{late: true, why: []string{said + fmt.Sprintf(": it does not count, late work was accepted until %s.", r.time(r.due.Add(r.Late.Until)))}}
	}
	taken := Deduction(*r.Late, late)
	v.late, v.points = true, hundredths(v.points*(100-taken)/100)
	v.why = append(v.why, said+fmt.Sprintf(": %s %% are taken off, so %s of its %d points count.", Number(taken), Number(v.points), a.Result.Score))
	return v
}

// CountsAt returns the percentage of its points that counts of what a student hands in at a time.
func (p *Policy) CountsAt(student, exercise string, at time.Time) float64 {
	rules, _ := p.RulesOf(exercise)
	due, extended := p.DueFor(student, rules)
	whole := Attempt{Number: 1, Submitted: at, Result: &verdict.Result{Score: 100}}
	return ruling{rules, due, extended, p.Zone}.value(1, whole).points
}

// Deduction returns the percentage of the points that a submission loses for being late by
// the given time.
func Deduction(l course.Late, late time.Duration) float64 {
	times := 1.0
	if l.Per > 0 {
		times = math.Ceil(float64(late) / float64(l.Per))
	}
	return min(times*l.Deduct, l.Most)
}

func (r ruling) time(t time.Time) string { return t.In(r.zone).Format("2006-01-02 15:04:05 MST") }

// Span writes a duration in words, rounded up to minutes: 2 d 3 h 4 min. A duration below
// one minute is in seconds.
func Span(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int64(math.Ceil(d.Seconds())))
	}
	minutes := int64(math.Ceil(d.Minutes()))
	days, hours := minutes/(24*60), minutes/60%24
	switch minutes %= 60; {
	case days > 0:
		return fmt.Sprintf("%d d %d h %d min", days, hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
	return fmt.Sprintf("%d min", minutes)
}

// hundredths rounds half up.
func hundredths(x float64) float64 { return math.Round(x*100) / 100 }

// Number writes points or percent without needless digits.
func Number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
