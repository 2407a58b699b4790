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
// own with fresh inputs.
func (r *grading) measure(ctx context.Context, l *boxes.Lease) (decided []verdict.CheckResult, err error) {
	if len(r.plan.Untimed)+len(r.plan.Timed) == 0 {
		return nil, nil
	}
	defer r.phase(Measure)()
	exceeded := budget(l)
	if len(r.plan.Untimed) > 0 {
		cpu, err := l.Untimed()
		if err == nil {
			decided, err = r.measureOn(ctx, l, cpu, r.plan.Untimed, exceeded)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(r.plan.Timed) == 0 {
		return decided, nil
	}
	cpu, release, err := l.Reserve(ctx, r.plan.Purpose.shared(), func() {
		r.waiting(Measure, "waiting for another grading to finish measuring")
	})
	if err != nil {
		return nil, err
	}
	defer release()
	timed, err := r.measureOn(ctx, l, cpu, r.plan.Timed, exceeded)
	return append(decided, timed...), err
}

// measureOn decides checks with both boxes on a CPU.
func (r *grading) measureOn(ctx context.Context, l *boxes.Lease, cpu int, checks []course.Check, exceeded func() bool) (decided []verdict.CheckResult, err error) {
	if err := l.Pin(ctx, cpu); err != nil {
		return nil, err
	}
	for _, c := range checks {
		result := notRun(c)
		if exceeded() {
			result.Detail = "not run: the measurements before it took longer than all together may"
		} else {
			s := &sampler{grading: r, lease: l, check: c, exceeded: exceeded}
			if result, err = s.decided(ctx); err != nil {
				return nil, fmt.Errorf("exercise %s: measure %s: %w", r.exercise.Name, c.Name, err)
			}
		}
		decided = append(decided, r.decide(Measure, c, result))
	}
	return decided, nil
}

// sampler measures one check.
type sampler struct {
	*grading
	lease      *boxes.Lease
	check      course.Check
	exceeded   func() bool
	repetition int // of all attempts: each run has inputs of its own

	pairs    []measure.Pair
	windows  []time.Duration // of the reference, in the order they ran
	ref, sub []sandbox.Outcome
}

func (s *sampler) decided(ctx context.Context) (verdict.CheckResult, error) {
	if s.check.Kind == verdict.Speed {
		return s.speed(ctx)
	}
	return s.memory(ctx)
}

// speed takes pairs until the sequential test decides. On a machine that is too
// noisy by the reference's own account, a failure has to happen twice.
func (s *sampler) speed(ctx context.Context) (result verdict.CheckResult, err error) {
	for attempt := range 2 {
		s.pairs, s.windows, s.ref, s.sub = nil, nil, nil, nil
		decision, ended, err := s.sample(ctx)
		if err != nil {
			return result, err
		}
		if ended != nil {
			return *ended, nil
		}
		result = s.result(decision)
		control := measure.ControlOf(s.windows)
		if !control.Noisy {
			return result, nil
		}
		if decision.Verdict == verdict.Passed || attempt > 0 {
			s.warn("%s: this machine is noisy: the reference against itself is off by %.0f %% with a spread of %.0f %%; close other programs for a steadier figure",
				s.check.Name, 100*(control.Ratio-1), 100*(control.Spread-1))
			return result, nil
		}
	}
	return result, nil
}

func (s *sampler) result(d measure.Speed) verdict.CheckResult {
	r := notRun(s.check)
	r.Verdict, r.Detail = d.Verdict, d.Detail(s.check.Limit)
	r.Ratio, r.Interval = &d.Ratio, &d.Interval
	r.Reference, r.Submission = measure.SpeedFigures(s.pairs, s.ref, s.sub)
	return r
}

// sample takes pairs until they decide, or until a run of the submission ends it by
// what it did.
func (s *sampler) sample(ctx context.Context) (d measure.Speed, ended *verdict.CheckResult, err error) {
	for {
		if ended, err = s.pair(ctx); ended != nil || err != nil {
			return d, ended, err
		}
		if !measure.IsLook(len(s.pairs)) {
			continue
		}
		if d, err = measure.JudgeSpeed(s.pairs, s.check.Limit); err != nil {
			return d, nil, err
		}
		last := measure.IsLast(len(s.pairs)) || s.exceeded()
		if last {
			d = d.Decide()
		}
		if d.Verdict != "" && (last || d.Enough(s.check.Limit, s.spent(), s.plan.Purpose.figuresShown())) {
			return d, nil, nil
		}
	}
}

// spent is the CPU time of all runs of the attempt so far.
func (s *sampler) spent() (sum time.Duration) {
	for _, o := range slices.Concat(s.ref, s.sub) {
		sum += o.CPU
	}
	return sum
}

// pair runs both sides once, in the order A B, B A, A B, ...
func (s *sampler) pair(ctx context.Context) (ended *verdict.CheckResult, err error) {
	q := s.next()
	var ref, sub sandbox.Outcome
	first := len(s.pairs)%2 == 0
	if first {
		if ref, err = s.runReference(ctx, q); err != nil {
			return nil, err
		}
	}
	cappedBy := s.ref[len(s.ref)-1]
	capped := q
	capped.Limits = measure.Capped(q.Limits, cappedBy, s.check.Limit)
	if sub, err = s.lease.Submission.Run(ctx, capped); err != nil {
		return nil, err
	}
	if !first {
		if ref, err = s.runReference(ctx, q); err != nil {
			return nil, err
		}
	}
	if ended, err = s.judged(ref, sub, cappedBy); ended != nil || err != nil {
		return ended, err
	}
	s.sub = append(s.sub, sub)
	return s.addPair(ref, sub)
}

// addPair takes the times of two runs that were judged. A window of the submission's
// that is not marked as the kit marks it is missing evidence.
func (s *sampler) addPair(ref, sub sandbox.Outcome) (ended *verdict.CheckResult, err error) {
	p, detail, err := measure.NewPair(ref, sub)
	if err != nil {
		return nil, err
	}
	if detail != "" {
		r := notRun(s.check)
		r.Verdict, r.Detail = verdict.Missing, detail
		return &r, nil
	}
	s.pairs, s.windows = append(s.pairs, p), append(s.windows, p.Reference)
	return nil, nil
}

// next is the request of the next repetition, with a seed of its own.
func (s *sampler) next() sandbox.Request {
	q := s.lang.Benchmark(s.exercise, s.check, s.seedFor(s.check, s.repetition))
	s.repetition++
	return q
}

func (s *sampler) runReference(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	o, err := s.lease.Reference.Run(ctx, q)
	s.ref = append(s.ref, o)
	return o, err
}

// judged decides what the two runs' records say, before their clocks do. CappedBy is
// the reference's run that the submission's time was capped by.
func (s *sampler) judged(ref, sub, cappedBy sandbox.Outcome) (ended *verdict.CheckResult, err error) {
	v, detail, err := judge.Test(s.check, ref, sub, s.lang.CrashWords)
	if err != nil || v == verdict.Passed {
		return nil, err
	}
	r := notRun(s.check)
	r.Verdict, r.Detail = v, detail
	if s.check.Kind == verdict.Speed && v == verdict.TimeLimit {
		if v, ratio, detail, ok := measure.Stopped(cappedBy, ref, sub, s.check.Limit); ok {
			r.Verdict, r.Ratio, r.Detail = v, &ratio, detail
		}
	}
	r.Reference, r.Submission = measure.Figures(ref), measure.Figures(sub)
	return &r, nil
}

// memory compares the peaks of some runs each. Only the peaks matter, so the two
// sides may run in any order; no clock is read.
func (s *sampler) memory(ctx context.Context) (result verdict.CheckResult, err error) {
	for len(s.sub) < measure.MemoryRuns {
		q := s.next()
		ref, err := s.runReference(ctx, q)
		if err != nil {
			return result, err
		}
		sub, err := s.lease.Submission.Run(ctx, q)
		if err != nil {
			return result, err
		}
		s.sub = append(s.sub, sub)
		ended, err := s.judged(ref, sub, ref)
		if err != nil {
			return result, err
		}
		if ended != nil {
			return *ended, nil
		}
	}
	got, err := measure.JudgeMemory(s.ref, s.sub, s.check.Limit)
	if err != nil {
		return result, err
	}
	result = notRun(s.check)
	result.Verdict, result.Detail = got.Verdict, got.Detail(s.check.Limit)
	result.Ratio, result.Interval = &got.Ratio, &got.Interval
	result.Reference, result.Submission = measure.MemoryFigures(s.ref, s.sub)
	return result, nil
}
