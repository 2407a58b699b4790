package prove

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/judge"
	"grade/grader/verdict"
)

// reference grades the reference, which has to keep all points.
func (c *Checking) reference(ctx context.Context, heard *Explanations) error {
	dir := path.Join("reference", c.exercise.Name)
	timed := windows{}
	r, err := c.shipped.files(ctx, dir, c.sources, grader.Options{Only: c.kinds(), Judged: func(run grader.Run) { timed.hear(run); heard.Hear(run) }})
	if err != nil {
		return err
	}
	for _, f := range timed.findings(c.exercise.Checks) {
		c.find(c.configFile(), f.Line, "%s", f.Message)
	}
	for _, p := range r.Problems {
		c.find(path.Join(dir, p.File), p.Line, "the reference is refused or does not compile: %s", p.Message)
	}
	for _, got := range r.Checks {
		asked := c.kinds() == nil || slices.Contains(c.kinds(), verdict.Kind(got.Kind))
		if r.Verdict == verdict.Graded && asked && !got.Verdict.Earns() && !c.exceeds(got.Name, got.Verdict, got.Detail) {
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the reference loses its points: %s %s", got.Name, got.Verdict, got.Detail)
		}
	}
	c.read("reference", true, nil, r)
	return nil
}

// seeds checks that the reference keeps its points on many inputs, and looks for answers in
// the hidden tests.
func (c *Checking) seeds(ctx context.Context, heard *Explanations) error {
	if c.options.Seeds < 1 {
		return nil
	}
	dir := path.Join("reference", c.exercise.Name)
	needs := newNeeds(c.exercise.Checks)
	leaks := newLeaks(path.Join("exercises", c.exercise.Name, "hidden"), c.exercise.Hidden)
	r, err := c.shipped.files(ctx, dir, c.sources, grader.Options{Only: []verdict.Kind{verdict.Correctness}, Repeat: c.options.Seeds, Judged: func(run grader.Run) { leaks.hear(run); needs.hear(run); heard.Hear(run) }})
	if err != nil {
		return err
	}
	if r.Verdict != verdict.Graded {
		return nil // reference says why, and no test has run
	}
	for _, f := range leaks.findings() {
		c.find(f.File, f.Line, "%s", f.Message)
	}
	for _, f := range needs.findings() {
		c.find(c.configFile(), f.Line, "%s", f.Message)
	}
	for _, got := range r.Checks {
		if got.Kind == string(verdict.Correctness) && got.Verdict != verdict.Passed && !c.exceeds(got.Name, got.Verdict, got.Detail) {
			run, _ := heard.run(got.Name, "")
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the reference does not agree with itself on the inputs of seed %s: %s %s; %s",
				got.Name, run.Seed, got.Verdict, got.Detail, told(judge.Explain(run.Check, run.Reference, run.Submission)))
		}
	}
	return nil
}

// starter grades what students begin with, which must earn nothing: a test that it passes has
// points for everyone. A starter that may score a little was rejected, for that little is one
// test that never calls the submission.
func (c *Checking) starter(ctx context.Context, heard *Explanations) error {
	dir := path.Join("exercises", c.exercise.Name, "starter")
	r, err := c.shipped.files(ctx, dir, c.exercise.Starter, grader.Options{Only: []verdict.Kind{verdict.Correctness}, Judged: heard.Hear})
	if err != nil {
		return err
	}
	c.refused(dir, r)
	for _, got := range r.Checks {
		if got.Verdict != verdict.Passed {
			continue
		}
		if got.Points == 0 {
			continue
		}
		why := "it is a solution already, or the test asks nothing of a submission, as one that passes on zeros: observe what no starter returns, or say starter: right"
		if failed := failedNeeds(c.exercise, got.Name, r); len(failed) > 0 {
			why = fmt.Sprintf("because what rests on %s does not count where that failed: observe something more, which no entry of its needs leaves out", strings.Join(failed, ", "))
		}
		c.find(c.configFile(), c.lineOf(got.Name), "%s: the starter passes it, and earns its %s: %s", got.Name, pointsOf(got.Points), why)
	}
	return nil
}

func pointsOf(n int) string {
	if n == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%d points", n)
}

// refused finds what keeps a starter from being graded.
func (c *Checking) refused(dir string, r *verdict.Result) {
	for _, p := range r.Problems {
		c.find(path.Join(dir, p.File), p.Line, "the starter is refused or does not compile: %s", p.Message)
	}
}

// rightStarter grades a starter that is right and slow. It has to pass each test, so that a
// student who breaks nothing loses nothing, and no benchmark and no self-reported test, which
// counts allocations here, so that one who improves nothing gains nothing.
func (c *Checking) rightStarter(ctx context.Context, heard *Explanations) error {
	dir := path.Join("exercises", c.exercise.Name, "starter")
	r, err := c.shipped.files(ctx, dir, c.exercise.Starter, grader.Options{Only: c.kinds(), Judged: heard.Hear})
	if err != nil {
		return err
	}
	c.refused(dir, r)
	for _, got := range r.Checks {
		kind := verdict.Kind(got.Kind)
		asked := c.kinds() == nil || slices.Contains(c.kinds(), kind)
		cost := kind.Measured() || got.SelfReported
		switch {
		case r.Verdict != verdict.Graded || !asked:
		case !cost && !got.Verdict.Earns():
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the starter fails it (%s %s), and exercise.yaml says that it is right", got.Name, got.Verdict, got.Detail)
		case cost && got.Verdict.Earns():
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the starter passes it, although it is there to be improved: lower the limit, or give it more of what is slow or greedy", got.Name)
		}
	}
	return nil
}

// failedNeeds returns the checks that the named one needs and that failed.
func failedNeeds(e *course.Exercise, name string, r *verdict.Result) (failed []string) {
	i := slices.IndexFunc(e.Checks, func(c course.Check) bool { return c.Name == name })
	for _, need := range e.Checks[i].Needs {
		if slices.ContainsFunc(r.Checks, func(got verdict.CheckResult) bool { return got.Name == need.Check && !got.Verdict.Earns() }) {
			failed = append(failed, need.Check)
		}
	}
	return failed
}

// submission grades a shipped submission.
func (c *Checking) submission(ctx context.Context, s fixture.Submission, heard *Explanations) error {
	h, cascade, err := c.shipped.HoldWhole(ctx, s, grader.Options{Seed: c.seed, Only: c.kinds(), Judged: heard.Hear})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.report.Submissions++
	if s.Class == fixture.Accepted {
		c.accepted++
	}
	if cascade != nil {
		c.report.Cascades = append(c.report.Cascades, *cascade)
	}
	c.mu.Unlock()
	explained := c.explain(s, h, heard)
	for _, d := range h.Mismatches {
		if symptom := d.Field == "score" || strings.HasPrefix(d.Field, "checks/"); !explained || !symptom {
			c.find(path.Join(s.Dir, course.ExpectFile), s.Expect.Line(d.Field), "not as declared: %s", undeclared(s.Expect, d, h.Result))
		}
	}
	c.read(s.Name, s.Class == fixture.Accepted, s.Expect.Checks, h.Result)
	return nil
}
