package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/measure"
	"grade/grader/verdict"
	"grade/sandbox"
)

// measure decides the checks of speed and memory: submission and reference on
// one CPU, one after the other in alternating order, each run a process of its
// own with fresh inputs. Peaks of memory do not mind who runs on the other CPUs: where
// gradings measure one at a time, those are taken before the wait.
func (r *grading) measure(ctx context.Context) error {
	checks := r.checks(verdict.Speed, verdict.Memory)
	if len(checks) == 0 {
		return nil
	}
	defer r.phase("measure", &r.result.Phases.MeasureMs)()
	overdrawn := r.budget()
	if !r.options.Beside {
		cpu, err := r.besides()
		if err == nil {
			err = r.measureOn(ctx, cpu, r.checks(verdict.Memory), overdrawn)
		}
		if err != nil {
			return err
		}
		checks = r.checks(verdict.Speed)
	}
	if len(checks) == 0 {
		return nil
	}
	cpu, release, err := r.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	return r.measureOn(ctx, cpu, checks, overdrawn)
}

// measureOn decides checks with both boxes on a CPU.
func (r *grading) measureOn(ctx context.Context, cpu int, checks []course.Check, overdrawn func() bool) error {
	if len(checks) == 0 {
		return nil
	}
	if err := errors.Join(r.ref.pin(ctx, cpu), r.sub.pin(ctx, cpu)); err != nil {
		return err
	}
	for _, c := range checks {
		m := measuring{grading: r, check: c, result: newCheckResult(c), overdrawn: overdrawn}
		if overdrawn() {
			m.result.Detail = "not run: the measurements before it took longer than all together may"
			r.decide(m.result)
			continue
		}
		take := m.memory
		if c.Kind == verdict.Speed {
			take = m.speed
		}
		if err := take(ctx); err != nil {
			return fmt.Errorf("exercise %s: measure %s: %w", r.exercise.Name, c.Name, err)
		}
		r.decide(m.result)
	}
	return nil
}

// measuring is one check on its way.
type measuring struct {
	*grading
	check      course.Check
	result     verdict.CheckResult
	pairs      []measure.Pair
	windows    []time.Duration // of the reference, in the order they ran
	ref, sub   []sandbox.Outcome
	repetition int
	overdrawn  func() bool
}

// speed takes pairs until the sequential test decides. On a machine that is too
// noisy by the reference's own account, a failure has to happen twice.
func (m *measuring) speed(ctx context.Context) error {
	for attempt := range 2 {
		m.pairs, m.windows, m.ref, m.sub = nil, nil, nil, nil
		m.result = newCheckResult(m.check)
		s, err := m.pursue(ctx)
		if err != nil || s.Verdict == "" {
			return err
		}
		m.result.Verdict, m.result.Detail = s.Verdict, s.Detail(m.check.Limit)
		m.result.Ratio, m.result.Interval = &s.Ratio, &s.Interval
		m.result.Reference, m.result.Submission = m.speedFigures()
		control := measure.ControlOf(m.windows)
		if !control.Noisy {
			return nil
		}
		if s.Verdict == verdict.Passed || attempt > 0 {
			m.warn("%s: this machine is noisy: the reference against itself is off by %.0f %% with a spread of %.0f %%; close other programs for a steadier figure",
				m.check.Name, 100*(control.Ratio-1), 100*(control.Spread-1))
			return nil
		}
	}
	return nil
}

// pursue returns the decision on the pairs, or an empty one when a run of the
// submission already decided the check.
func (m *measuring) pursue(ctx context.Context) (measure.Speed, error) {
	for {
		over, err := m.pair(ctx)
		if over || err != nil {
			return measure.Speed{}, err
		}
		if _, ok := measure.LastLook(len(m.pairs)); !ok || measure.NextLook(len(m.pairs)-1) != len(m.pairs) {
			continue
		}
		s, err := measure.JudgeSpeed(m.pairs, m.check.Limit)
		if err != nil {
			return measure.Speed{}, err
		}
		last := measure.NextLook(len(m.pairs)) == 0 || m.overdrawn()
		if last {
			s = s.Settle()
		}
		if s.Verdict != "" && (last || m.settled(s)) {
			return s, nil
		}
	}
}

// settled reports whether more pairs would tell more: not where the ratio is
// precise, nor where it would only become so, because the verdict is sure, and
// has taken its time.
func (m *measuring) settled(s measure.Speed) bool {
	return m.options.Hasty || s.Precise() || s.Verdict == verdict.TooSlow || m.spent() > measure.Patience && s.Interval[1] < m.check.Limit
}

// spent is the CPU time of all runs so far.
func (m *measuring) spent() (sum time.Duration) {
	for _, o := range slices.Concat(m.ref, m.sub) {
		sum += o.CPU
	}
	return sum
}

// pair runs both sides once, in the order A B, B A, A B, ...; over says that the
// submission's run decided the check.
func (m *measuring) pair(ctx context.Context) (over bool, err error) {
	q := m.next()
	var ref, sub sandbox.Outcome
	first := len(m.pairs)%2 == 0
	if first {
		if ref, err = m.runReference(ctx, q); err != nil {
			return false, err
		}
	}
	capped, sureAt := m.capped(q)
	if sub, err = m.grading.sub.run(ctx, capped); err != nil {
		return false, err
	}
	if !first {
		if ref, err = m.runReference(ctx, q); err != nil {
			return false, err
		}
	}
	if over, err = m.judged(ref, sub, sureAt); over || err != nil {
		return over, err
	}
	m.sub = append(m.sub, sub)
	p, detail, err := measure.PairOf(ref, sub)
	if err != nil {
		return false, err
	}
	if detail != "" {
		m.result.Verdict, m.result.Detail = verdict.Missing, detail
		return true, nil
	}
	m.pairs, m.windows = append(m.pairs, p), append(m.windows, p.Reference)
	return false, nil
}

// next is the request of the next repetition, with a seed of its own.
func (m *measuring) next() sandbox.Request {
	with := forSpeed
	if m.check.Kind == verdict.Memory {
		with = forMemory
	}
	q := m.request("^$", m.seedFor(m.check, m.repetition), with)
	q.Args = append(q.Args, "-test.bench=^"+m.check.Func+"$", "-test.benchtime=1x")
	m.repetition++
	return q
}

func (m *measuring) runReference(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	o, err := m.grading.ref.run(ctx, q)
	m.ref = append(m.ref, o)
	return o, err
}

// capped limits a run of the submission by the reference's last one. sureAt is
// the CPU time at which a run that was stopped is too slow for sure, and not
// only for the exercise's limit on every run.
func (m *measuring) capped(q sandbox.Request) (capped sandbox.Request, sureAt time.Duration) {
	last := m.ref[len(m.ref)-1]
	allowed := time.Duration(m.check.Limit * float64(last.CPU))
	q.Limits.CPU = min(q.Limits.CPU, max(measure.Enough*allowed, measure.LeastCap))
	q.Limits.Wall = min(q.Limits.Wall, measure.WallCap(last.Wall, m.check.Limit))
	return q, measure.Sure * allowed
}

// judged decides what the two runs' records say, before their clocks do.
func (m *measuring) judged(ref, sub sandbox.Outcome, sureAt time.Duration) (over bool, err error) {
	v, detail, err := judge.Test(m.check, ref, sub)
	if err != nil || v == verdict.Passed {
		return false, err
	}
	m.result.Verdict, m.result.Detail = v, detail
	if m.check.Kind == verdict.Speed && v == verdict.TimeLimit && sub.CPU >= sureAt {
		ratio := float64(sub.CPU) / float64(max(ref.CPU, 1))
		m.result.Verdict, m.result.Ratio = verdict.TooSlow, &ratio
		m.result.Detail = fmt.Sprintf("stopped after %.0f times the reference's CPU time", ratio)
	}
	m.result.Reference, m.result.Submission = figures(ref), figures(sub)
	return true, nil
}

// memory compares the peaks of some runs each.
func (m *measuring) memory(ctx context.Context) error {
	for len(m.sub) < measure.MemoryRuns {
		if over, err := m.pairForMemory(ctx); over || err != nil {
			return err
		}
	}
	baseline, err := opening(m.ref)
	if err != nil {
		return err
	}
	got, err := measure.JudgeMemory(peaks(m.ref), peaks(m.sub), baseline, m.check.Limit)
	if err != nil {
		return err
	}
	m.result.Verdict, m.result.Detail = got.Verdict, got.Detail(m.check.Limit)
	m.result.Ratio, m.result.Interval = &got.Ratio, &got.Interval
	m.result.Reference, m.result.Submission = least(m.ref), least(m.sub)
	return nil
}

// pairForMemory runs both sides once. Only the peaks matter, so the two may run
// in any order; no clock is read.
func (m *measuring) pairForMemory(ctx context.Context) (over bool, err error) {
	q := m.next()
	ref, err := m.runReference(ctx, q)
	if err != nil {
		return false, err
	}
	sub, err := m.grading.sub.run(ctx, q)
	if err != nil {
		return false, err
	}
	m.sub = append(m.sub, sub)
	return m.judged(ref, sub, 0)
}

// opening is the least that runs held when their measured windows opened.
func opening(runs []sandbox.Outcome) (int64, error) {
	var least int64
	for i, o := range runs {
		if len(o.Marks) == 0 {
			return 0, fault.Exercise(fmt.Errorf("weigh the reference: %w", measure.ErrMarks))
		}
		if held := o.Marks[0].Memory; i == 0 || held < least {
			least = held
		}
	}
	return least, nil
}

func peaks(runs []sandbox.Outcome) (list []measure.Peak) {
	for _, o := range runs {
		list = append(list, measure.Peak{Bytes: o.Peak, Source: o.PeakSource})
	}
	return list
}

// least are the figures of the run with the least peak.
func least(runs []sandbox.Outcome) verdict.Figures {
	o := slices.MinFunc(runs, func(a, b sandbox.Outcome) int { return int(a.Peak - b.Peak) })
	f := figures(o)
	f.Runs = len(runs)
	return f
}

// speedFigures are the medians of the measured windows, and the least peaks.
func (m *measuring) speedFigures() (ref, sub verdict.Figures) {
	ref, sub = least(m.ref), least(m.sub)
	var r, s []time.Duration
	for _, p := range measure.Charged(m.pairs) {
		r, s = append(r, p.Reference), append(s, p.Submission)
	}
	ref.CPUMs, sub.CPUMs = milliseconds(middle(r)), milliseconds(middle(s))
	return ref, sub
}

// middle is the upper one of two middle figures, where package quantile has their mean. It
// is shown and decides nothing, and results keep the figure that they have always shown.
func middle(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
