package grader

import (
	"context"
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/judge"
	"grade/grader/measure"
	"grade/grader/verdict"
	"grade/sandbox"
)

// measure decides the checks of speed and memory: submission and reference on
// one CPU, one after the other in alternating order, each run a process of its
// own with fresh inputs. Both figures of a workload are of the same runs.
func (r *grading) measure(ctx context.Context, l *boxes.Lease) (decided []verdict.CheckResult, err error) {
	if len(r.plan.Untimed)+len(r.plan.Timed) == 0 {
		return nil, nil
	}
	defer r.phase(Measure)()
	together := newBudget(l.Submission.Spent)
	if len(r.plan.Untimed) > 0 {
		cpu, err := l.Untimed()
		if err == nil {
			decided, _, err = r.measureOn(ctx, l, cpu, r.samplers(l, r.plan.Untimed, together), false)
		}
		if err != nil {
			return nil, err
		}
	}
	timed, near, err := r.measureReserved(ctx, l, r.samplers(l, r.plan.Timed, together), r.plan.Purpose.besideFirst())
	if err == nil && len(near) > 0 {
		err = r.afterRace(ctx)
	}
	if err != nil {
		return nil, err
	}
	again := newBudget(l.Submission.Spent)
	for _, s := range near {
		s.again, s.budget, s.attempt = true, again, 0
	}
	alone, _, err := r.measureReserved(ctx, l, near, false)
	return slices.Concat(decided, timed, alone), err
}

// measureReserved waits for a CPU, and decides workloads on it. Near are those that came near
// their limits beside other programs, and are not decided by that ([measure.Decision]).
func (r *grading) measureReserved(ctx context.Context, l *boxes.Lease, list []*sampler, beside bool) (decided []verdict.CheckResult, near []*sampler, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	cpu, release, err := l.Reserve(ctx, beside, func() {
		r.waiting(Measure, "waiting for another grading to finish measuring")
	})
	if err != nil {
		return nil, nil, err
	}
	defer release()
	return r.measureOn(ctx, l, cpu, list, beside)
}

// measureOn decides workloads with both boxes on a CPU. What is undecided after some pairs waits
// until the others have had theirs: a workload near its limit costs the others no time.
func (r *grading) measureOn(ctx context.Context, l *boxes.Lease, cpu int, list []*sampler, beside bool) (decided []verdict.CheckResult, near []*sampler, err error) {
	if err := l.Pin(ctx, cpu); err != nil {
		return nil, nil, err
	}
	turns := slices.Clone(list)
	for i := 0; i < len(turns); i++ {
		s := turns[i]
		s.beside, s.last = beside, i >= len(list)
		results, err := s.decided(ctx)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("exercise %s: measure %s: %w", r.exercise.Name, s.workload.Checks()[0].Func, err)
		case s.undecided:
			turns = append(turns, s)
		case results == nil:
			near = append(near, s)
		default:
			for i, c := range s.workload.Checks() {
				decided = append(decided, r.decide(Measure, c, results[i]))
			}
		}
	}
	return decided, near, nil
}

func (r *grading) samplers(l *boxes.Lease, list []Workload, together *budget) (s []*sampler) {
	for _, w := range list {
		s = append(s, &sampler{grading: r, lease: l, workload: w, budget: together})
	}
	return s
}

// sampler measures one workload.
type sampler struct {
	*grading
	lease      *boxes.Lease
	workload   Workload
	budget     *budget               // of all measuring
	beside     bool                  // other gradings are timed meanwhile
	last       bool                  // all others have had their first pairs
	undecided  bool                  // after some pairs, and others are decided first
	attempt    int                   // from 0; the second is for a noisy machine
	first      []verdict.CheckResult // of the first attempt
	unraced    bool                  // the submission's race program had ended before the series
	again      bool                  // what was taken so was near its limit
	hurried    bool                  // the budget shortened the last run
	stopped    bool                  // a limit of time has ended a run of the series
	before     int64                 // bytes that the submission's box had held before its last run
	greedy     *verdict.CheckResult  // the memory check that pairs before these have lost
	repetition int                   // of all attempts: each run has inputs of its own
	series     measure.Series
}

// decided returns a result for each check of the workload; none if other pairs have to decide
// ([measure.Decision]).
func (s *sampler) decided(ctx context.Context) (results []verdict.CheckResult, err error) {
	w := s.workload
	if s.budget.exceeded() && !s.undecided {
		for _, c := range w.Checks() {
			results = append(results, late(c))
		}
		return results, nil
	}
	if w.Speed == nil {
		r, err := s.memory(ctx)
		return []verdict.CheckResult{r}, err
	}
	results, err = s.speed(ctx)
	if err != nil || len(results) != 1 || w.Memory == nil {
		return results, err
	}
	if s.greedy != nil {
		return append(results, *s.greedy), nil
	}
	// A run has ended the pairs by what the submission did. Its memory is another question,
	// as long as there is time to ask it.
	alone := &sampler{grading: s.grading, lease: s.lease, workload: Workload{Memory: w.Memory}, budget: s.budget, repetition: s.repetition}
	memory, err := alone.decided(ctx)
	return append(results, memory...), err
}

// allUsed ends a measurement.
const allUsed = "all measurements together had used up the time that they may take"

func late(c course.Check) verdict.CheckResult {
	r := notRun(c)
	r.Detail = "not run: the measurements before it used up the time that all together may take. Mend those that took longest"
	return r
}

// asked is what the checks ask of the series.
func (s *sampler) asked() (w measure.Workload) {
	w.Beside, w.Again = s.beside, s.again
	if c := s.workload.Speed; c != nil {
		w.Speed, w.SpeedPoints = c.Limit, c.Points
	}
	if c := s.workload.Memory; c != nil {
		w.Memory, w.MemoryPoints = c.Limit, c.Points
	}
	return w
}

// speed takes pairs until the sequential test decides. On a machine that is too
// noisy by the reference's own account, a failure has to happen twice. There is one result
// if a run of the submission has ended the pairs, and else one for each check.
func (s *sampler) speed(ctx context.Context) (results []verdict.CheckResult, err error) {
	for {
		decision, ended, err := s.sample(ctx)
		if err != nil || s.undecided {
			return nil, err
		}
		if ended != nil {
			return []verdict.CheckResult{*ended}, nil
		}
		if decision.Near {
			s.keepLost(decision)
			return nil, nil
		}
		if decision.Forced && s.attempt > 0 {
			return s.first, nil // which has more pairs
		}
		results, control := s.results(decision), s.series.Control()
		if !control.Noisy {
			return results, nil
		}
		if decision.Speed.Verdict == verdict.Passed || s.attempt > 0 || s.budget.exceeded() {
			s.warn("%s: %s", s.workload.Speed.Name, control.Words())
			return results, nil
		}
		s.attempt, s.first = 1, results
	}
}

// keepLost keeps the loss of the memory check where other pairs have to decide on speed: memory
// does not mind what runs beside it, and the box's account shows what is hidden only once.
func (s *sampler) keepLost(d measure.Decision) {
	if d.Memory != nil && d.Memory.Verdict == verdict.TooMuchMemory {
		r := s.memoryResult(d)
		s.greedy = &r
	}
}

func (s *sampler) results(d measure.Decision) (list []verdict.CheckResult) {
	if c := s.workload.Speed; c != nil {
		r := notRun(*c)
		r.Verdict, r.Detail = d.Speed.Verdict, d.Speed.Detail(c.Limit)
		r.Ratio, r.Interval = &d.Speed.Ratio, &d.Speed.Interval
		r.Reference, r.Submission = s.series.SpeedFigures()
		list = append(list, r)
	}
	if s.workload.Memory != nil {
		list = append(list, s.memoryResult(d))
	}
	return list
}

func (s *sampler) memoryResult(d measure.Decision) verdict.CheckResult {
	if s.greedy != nil {
		return *s.greedy
	}
	c := s.workload.Memory
	r := notRun(*c)
	r.Verdict, r.Detail = d.Memory.Verdict, d.Memory.Detail(c.Limit)
	r.Ratio, r.Interval = &d.Memory.Ratio, &d.Memory.Interval
	r.Reference, r.Submission = s.series.MemoryFigures()
	return r
}

const (
	// leastPairs is how many pairs, or runs for memory, are taken though there is no time left.
	leastPairs = 2
	// firstPairs is how many are taken before others have theirs. The time that the reference's
	// runs give ([creditedRuns]) is enough for so many of a submission at a limit of 10.
	firstPairs = 10
)

// sample takes pairs until they decide, until there is no time left, or until a run of the
// submission ends it by what it did. It is called again if it leaves the workload open.
func (s *sampler) sample(ctx context.Context) (d measure.Decision, ended *verdict.CheckResult, err error) {
	if !s.undecided {
		s.series, s.stopped, s.unraced = measure.Series{Workload: s.asked()}, false, s.race.over()
	}
	s.undecided = false
	for {
		if n := len(s.series.Subs); n > 0 {
			over := n >= leastPairs && s.budget.exceeded()
			s.series.BesideOwn = s.race.ran() && !s.unraced
			if d, err = s.series.Decide(over); err != nil || d.Done {
				return d, nil, err
			}
			if n >= firstPairs && !s.last {
				s.undecided = true
				return d, nil, nil
			}
		}
		if ended, err = s.pair(ctx); ended != nil || err != nil {
			return d, ended, err
		}
	}
}

// pair runs both sides once, in the order A B, B A, A B, ..., and again if that is forgiven.
func (s *sampler) pair(ctx context.Context) (ended *verdict.CheckResult, err error) {
	q := s.next()
	var ref, sub sandbox.Outcome
	first := len(s.series.Subs)%2 == 0
	if first {
		if ref, err = s.runReference(ctx, q); err != nil {
			return nil, err
		}
	}
	cappedBy := ref
	if !first {
		cappedBy = s.series.Refs[len(s.series.Refs)-1]
	}
	limit := s.workload.Speed.Limit
	theirs := q
	theirs.Limits = measure.Capped(patient(unhurried(q.Limits), cappedBy), cappedBy, limit)
	if sub, err = s.runSubmission(ctx, theirs, time.Duration(max(patience, 2*limit)*float64(cappedBy.Wall))); err != nil {
		return nil, err
	}
	if !first {
		if ref, err = s.runReference(ctx, q); err != nil {
			return nil, err
		}
	}
	sub = measure.Held(sub, s.before, s.overhead)
	s.took(ref)
	switch ended, err = s.judged(*s.workload.Speed, ref, sub, cappedBy); {
	case err == nil && ended == nil:
		return s.add(ref, sub)
	case ended != nil && s.forgives(ended.Verdict, sub):
		return s.pair(ctx)
	}
	return ended, err
}

// forgives reports whether a run that a limit of time has ended does not count: the first of a
// series, because a machine that stands still can do that to any program. One that hid memory
// counts, because the account of its box would not show that in a later run. The submission
// does not pay for the time.
func (s *sampler) forgives(v verdict.Verdict, sub sandbox.Outcome) bool {
	if s.stopped || sub.PeakSource.OfBox() || v != verdict.TooSlow && v != verdict.TimeLimit {
		return false
	}
	s.stopped = true
	s.budget.allow(sub.Wall)
	return true
}

// runReference runs the reference, and takes down what its box held beside the program.
func (s *sampler) runReference(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	o, err := s.lease.Reference.Run(ctx, q)
	s.overhead = max(s.overhead, measure.Beside(o, s.lease.Reference.BoxPeakBefore()))
	return o, err
}

// runSubmission runs the submission within what is left of the budget, and some more.
func (s *sampler) runSubmission(ctx context.Context, q sandbox.Request, more time.Duration) (sandbox.Outcome, error) {
	q.Limits, s.hurried = s.budget.bound(q.Limits, max(lastRun, more))
	o, err := s.lease.Submission.Run(ctx, q)
	s.before = s.lease.Submission.BoxPeakBefore()
	return o, err
}

// creditedRuns is how many runs of the reference in one attempt give the submission time: as
// many as decide on what is not near a limit. How many more there are is the submission's doing.
const creditedRuns = 5

// took gives the submission time for a run of the reference.
func (s *sampler) took(ref sandbox.Outcome) {
	if len(s.series.Refs) < creditedRuns {
		s.budget.credit(ref)
	}
}

// add takes two runs that were judged. A window of the submission's that is not marked
// as the kit marks it is missing evidence.
func (s *sampler) add(ref, sub sandbox.Outcome) (ended *verdict.CheckResult, err error) {
	detail, err := s.series.Add(ref, sub)
	if err != nil || detail == "" {
		return nil, err
	}
	r := notRun(s.workload.Checks()[0])
	r.Verdict, r.Detail = verdict.Missing, detail
	return &r, nil
}

// next is the request of the next repetition, with a seed of its own.
func (s *sampler) next() sandbox.Request {
	c := s.workload.Checks()[0]
	q := s.lang.Benchmark(s.exercise, c, s.seedFor(c, s.repetition))
	s.repetition++
	return q
}

// judged decides what the two runs' records say, before their figures do. CappedBy is
// the reference's run that the submission's time was capped by.
func (s *sampler) judged(c course.Check, ref, sub, cappedBy sandbox.Outcome) (ended *verdict.CheckResult, err error) {
	v, detail, err := judge.Test(c, ref, sub, s.lang.CrashWords)
	s.heard(Run{Check: c, Seed: s.roundSeed(0), Verdict: v, Reference: ref, Submission: sub})
	if err != nil || v == verdict.Passed {
		return nil, err
	}
	r := notRun(c)
	r.Verdict, r.Detail = v, detail
	switch {
	case v != verdict.TimeLimit:
	case c.Kind == verdict.Memory:
		r.Detail = measure.Unfinished(detail, sub)
	default:
		if v, ratio, detail, ok := measure.Stopped(cappedBy, ref, sub, c.Limit); ok {
			r.Verdict, r.Ratio, r.Detail = v, &ratio, detail
		}
	}
	s.locate(&r, sub) // not of what is too slow, whose place a submission could choose bit by bit
	if r.Verdict == verdict.TimeLimit && sub.Cause == sandbox.CauseWall && s.hurried {
		r.Detail += "; " + allUsed
	}
	r.Reference, r.Submission = measure.Figures(ref), measure.Figures(sub)
	return &r, nil
}

// unhurried limits a run of the submission that is measured.
func unhurried(l sandbox.Limits) sandbox.Limits {
	l.CPU, l.Wall = course.Unhurried*l.CPU, course.Unhurried*l.Wall
	return l
}

// memory compares the peaks of some runs each. Only the peaks matter, so the two sides
// may run in any order; no clock is read. A submission that is slow has more time than
// the exercise gives to a test, and fewer runs.
func (s *sampler) memory(ctx context.Context) (result verdict.CheckResult, err error) {
	s.series = measure.Series{Workload: s.asked()}
	for {
		q := s.next()
		ref, err := s.runReference(ctx, q)
		if err != nil {
			return result, err
		}
		theirs := q
		theirs.Limits = patient(unhurried(q.Limits), ref)
		sub, err := s.runSubmission(ctx, theirs, patience*ref.Wall)
		if err != nil {
			return result, err
		}
		sub = measure.Held(sub, s.before, s.overhead)
		s.took(ref)
		ended, err := s.judged(*s.workload.Memory, ref, sub, ref)
		if ended == nil && err == nil {
			ended, err = s.add(ref, sub)
		}
		if err != nil {
			return result, err
		}
		if ended != nil {
			return *ended, nil
		}
		slow := sub.CPU > q.Limits.CPU || sub.Wall > q.Limits.Wall
		over := len(s.series.Subs) >= leastPairs && s.budget.exceeded()
		d, err := s.series.Decide(slow || over)
		if err != nil {
			return result, err
		}
		if d.Done {
			return s.results(d)[0], nil
		}
	}
}
