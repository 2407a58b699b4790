package prove

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/verdict"
)

// Report is the outcome of checking one exercise.
type Report struct {
	Exercise    string    `json:"exercise"`
	Checks      int       `json:"checks"`      // that it has; 0: it cannot be loaded
	Submissions int       `json:"submissions"` // that were graded
	Findings    []Finding `json:"findings"`
	Margins     []Margin  `json:"margins"`
}

// Progress receives how much of some work is done. Calls do not overlap. It may be nil.
type Progress func(what string, current, total int64)

// CheckOptions configure the check of an exercise.
type CheckOptions struct {
	Seeds    int      // how often the reference has to keep its points
	Workers  int      // gradings at a time
	Progress Progress // of gradings
}

// starterFloor is what a starter may score: what `grade start` hands out shall
// compile, and be no solution.
const starterFloor = 10

// Check reads an exercise, grades all that is shipped with it, and reports its faults. An
// error is a fault of the sandbox or of grade.
func Check(ctx context.Context, g *grader.Grader, course *course.Course, name string, o CheckOptions) (*Report, error) {
	c := read(ctx, course, name)
	c.options = o
	if c.exercise == nil {
		return c.report, nil
	}
	c.shipped = NewFixtures(g, c.exercise, c.submissions)
	if err := c.gradeAll(ctx); err != nil {
		return nil, err
	}
	c.separate()
	slices.SortFunc(c.report.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Message, b.Message))
	})
	return c.report, nil
}

// read is the part of a check that grades nothing. It is all of the check if the exercise
// cannot be loaded.
func read(ctx context.Context, course *course.Course, name string) *checking {
	c := &checking{report: &Report{Exercise: name, Findings: []Finding{}, Margins: []Margin{}}}
	e, err := course.Load(name)
	if err != nil {
		c.problems(err)
		return c
	}
	c.exercise, c.report.Checks = e, len(e.Checks)
	c.sources = referenceFiles(course, e)
	c.problems(course.Lint(name))
	c.marks(ctx, course)
	c.submissions, err = fixture.Load(course, name)
	c.problems(err)
	if err == nil {
		c.classes(c.submissions)
	}
	return c
}

// referenceFiles returns all files in the reference's folder, so that a check also refuses
// files that no submission may have.
func referenceFiles(c *course.Course, e *course.Exercise) []course.File {
	files, err := course.ReadTree(c.FS(), path.Join("reference", e.Name))
	if err != nil {
		return e.Reference // the same folder was read a moment ago
	}
	return files
}

type checking struct {
	exercise    *course.Exercise
	sources     []course.File // of the reference
	options     CheckOptions
	submissions []fixture.Submission
	shipped     *Fixtures // the same, to be graded

	mu       sync.Mutex
	report   *Report
	readings []reading
	done     int
}

// classes requires a right submission besides the reference, and a wrong one.
func (c *checking) classes(shipped []fixture.Submission) {
	has := func(right bool) bool {
		return slices.ContainsFunc(shipped, func(s fixture.Submission) bool { return right == (s.Class == fixture.Accepted) })
	}
	dir := path.Join("exercises", c.report.Exercise, "submissions")
	if !has(true) {
		c.find(dir, 0, "no submission in accepted/: nothing shows that a right solution of another shape keeps its points")
	}
	if !has(false) {
		c.find(dir, 0, "no wrong submission: nothing shows that a mistake costs points")
	}
}

// gradeAll grades reference, starter and submissions.
func (c *checking) gradeAll(ctx context.Context) error {
	// What is measured comes last, one after the other: beside other work of ours
	// its ratios would be those of a busy machine.
	together, alone := []job{c.seeds, c.starter}, []job{c.reference}
	for _, s := range c.submissions {
		grade := func(ctx context.Context) error { return c.submission(ctx, s) }
		if c.measured(s.Expect) {
			alone = append(alone, grade)
		} else {
			together = append(together, grade)
		}
	}
	total := len(together) + len(alone)
	if err := c.run(ctx, together, max(1, c.options.Workers), total); err != nil {
		return err
	}
	return c.run(ctx, alone, 1, total)
}

// job is a grading.
type job func(context.Context) error

// run runs jobs, several at a time. A fault of the exercise that prevents a grading becomes
// a finding, and the other jobs go on.
func (c *checking) run(ctx context.Context, jobs []job, workers, total int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, one := range jobs {
		group.Go(func() error {
			defer c.tell(total)
			err := one(ctx)
			if errors.Is(err, fault.ErrExercise) {
				c.ungradable(err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// measured reports whether a submission's expectations are about speed or memory.
func (c *checking) measured(x fixture.Expect) bool {
	names := needed(c.exercise, x)
	return x.Verdict == verdict.Graded && slices.ContainsFunc(c.exercise.Checks, func(check course.Check) bool {
		return check.Kind != verdict.Correctness && (names == nil || slices.Contains(names, check.Name))
	})
}

func (c *checking) tell(total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.options.Progress != nil {
		c.options.Progress("checking "+c.exercise.Name, int64(c.done), int64(total))
	}
}

func (c *checking) reference(ctx context.Context) error {
	dir := path.Join("reference", c.exercise.Name)
	r, err := c.shipped.files(ctx, dir, c.sources, grader.Options{})
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		c.find(path.Join(dir, p.File), p.Line, "the reference is refused or does not compile: %s", p.Message)
	}
	for _, got := range r.Checks {
		if r.Verdict == verdict.Graded && got.Verdict != verdict.Passed {
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the reference loses its points: %s %s", got.Name, got.Verdict, got.Detail)
		}
	}
	c.read("reference", true, r)
	return nil
}

func (c *checking) configFile() string {
	return path.Join("exercises", c.exercise.Name, "exercise.yaml")
}

// lineOf returns the line of a check in exercise.yaml.
func (c *checking) lineOf(check string) int {
	for _, known := range c.exercise.Checks {
		if known.Name == check {
			return known.Line
		}
	}
	return 0
}

// seeds checks that the reference keeps its points on many inputs, and looks for answers in
// the hidden tests.
func (c *checking) seeds(ctx context.Context) error {
	if c.options.Seeds < 1 {
		return nil
	}
	dir := path.Join("reference", c.exercise.Name)
	leaks := newLeaks(path.Join("exercises", c.exercise.Name, "hidden"), c.exercise.Hidden)
	r, err := c.shipped.files(ctx, dir, c.sources, grader.Options{Only: []verdict.Kind{verdict.Correctness}, Repeat: c.options.Seeds, Observed: leaks.observe})
	if err != nil {
		return err
	}
	for _, f := range leaks.findings() {
		c.find(f.File, f.Line, "%s", f.Message)
	}
	for _, got := range r.Checks {
		if got.Kind == string(verdict.Correctness) && got.Verdict != verdict.Passed {
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the reference does not agree with itself on the inputs of seed %s: %s %s", got.Name, r.Seed, got.Verdict, got.Detail)
		}
	}
	return nil
}

func (c *checking) starter(ctx context.Context) error {
	dir := path.Join("exercises", c.exercise.Name, "starter")
	r, err := c.shipped.files(ctx, dir, c.exercise.Starter, grader.Options{Only: []verdict.Kind{verdict.Correctness}})
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		c.find(path.Join(dir, p.File), p.Line, "the starter is refused or does not compile: %s", p.Message)
	}
	for _, got := range r.Checks {
		if r.Score > starterFloor && got.Verdict == verdict.Passed {
			c.find(c.configFile(), c.lineOf(got.Name), "%s: the starter passes it, and scores %d in all, more than %d: it is a solution already, or the test passes on zeros", got.Name, r.Score, starterFloor)
		}
	}
	return nil
}

// submission grades a shipped submission.
func (c *checking) submission(ctx context.Context, s fixture.Submission) error {
	h, err := c.shipped.Hold(ctx, s, grader.Options{})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.report.Submissions++
	c.mu.Unlock()
	for _, d := range h.Mismatches {
		c.find(path.Join(s.Dir, "expect.yaml"), s.Expect.Line(d.Field), "not as declared: %s", d)
	}
	c.read(s.Name, s.Class == fixture.Accepted, h.Result)
	return nil
}
