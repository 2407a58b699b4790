package prove

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"grade/exercises"
	"grade/grader"
)

// Finding is a fault of an exercise: the author's, never a student's.
type Finding struct {
	File    string `json:"file"` // below the course's root
	Line    int    `json:"line"` // 0: the file as a whole
	Message string `json:"message"`
}

func (f Finding) String() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return f.File + ": " + f.Message
}

// Report is what is known of one exercise.
type Report struct {
	Exercise    string    `json:"exercise"`
	Submissions int       `json:"submissions"` // that were graded
	Findings    []Finding `json:"findings"`
	Margins     []Margin  `json:"margins"`
}

// Progress hears how much of some work is done. Calls do not overlap; nil: nobody
// wants to know.
type Progress func(what string, current, total int64)

// CheckOptions say how thoroughly an exercise is checked.
type CheckOptions struct {
	Root     string   // the course's folder
	Seeds    int      // how often the reference has to keep its points
	Workers  int      // gradings at a time
	Progress Progress // of gradings
}

// StarterFloor is what a starter may score: what `grade start` hands out shall
// compile, and be no solution.
const StarterFloor = 10

// Check reads an exercise, grades all that is shipped with it, and says what is
// wrong. An error is a fault of the sandbox or of grade.
func Check(ctx context.Context, g *grader.Grader, course *exercises.Course, name string, o CheckOptions) (*Report, error) {
	c := &checking{grader: g, options: o, report: &Report{Exercise: name, Findings: []Finding{}, Margins: []Margin{}}}
	e, err := course.Load(name)
	if err != nil {
		c.problems(err)
		return c.report, nil
	}
	c.exercise = e
	c.problems(course.Lint(name))
	c.marks(ctx, course)
	shipped, err := course.Submissions(name)
	c.problems(err)
	if err == nil {
		c.classes(shipped)
	}
	if err := c.gradeAll(ctx, shipped); err != nil {
		return nil, err
	}
	c.margins()
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int { return strings.Compare(a.File, b.File) })
	return c.report, nil
}

type checking struct {
	grader   *grader.Grader
	exercise *exercises.Exercise
	options  CheckOptions
	shipped  *Shipped

	mu       sync.Mutex
	report   *Report
	readings []reading
	done     int
}

func (c *checking) find(file string, line int, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Findings = append(c.report.Findings, Finding{file, line, fmt.Sprintf(format, args...)})
}

// once takes down what every grading would say again.
func (c *checking) once(file, format string, args ...any) {
	c.mu.Lock()
	told := slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.File == file && strings.HasPrefix(f.Message, "it cannot be graded") })
	c.mu.Unlock()
	if !told {
		c.find(file, 0, format, args...)
	}
}

// problems takes down what package exercises has found.
func (c *checking) problems(err error) {
	if err == nil {
		return
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	dir := path.Join("exercises", c.report.Exercise)
	for _, err := range list {
		var p *exercises.Problem
		if !errors.As(err, &p) {
			c.find(dir, 0, "%v", err)
			continue
		}
		file := p.File
		if !strings.HasPrefix(file, "reference/") {
			file = path.Join(dir, file)
		}
		c.find(file, p.Line, "%v", p.Err)
	}
}

// marks looks for marks in equivalent.yaml that the reference has left behind.
func (c *checking) marks(ctx context.Context, course *exercises.Course) {
	marks, err := course.Equivalents(c.exercise.Name)
	c.problems(err)
	if len(marks) == 0 {
		return
	}
	_, faults, err := Mutants(ctx, c.exercise, marks)
	if err != nil {
		c.find(path.Join("reference", c.exercise.Name), 0, "no mutants can be made: %v", err)
	}
	c.report.Findings = append(c.report.Findings, faults...)
}

// classes wants something that is right beside the reference, and something wrong.
func (c *checking) classes(shipped []exercises.Submission) {
	has := func(right bool) bool {
		return slices.ContainsFunc(shipped, func(s exercises.Submission) bool { return right == (s.Class == exercises.Accepted) })
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
func (c *checking) gradeAll(ctx context.Context, shipped []exercises.Submission) error {
	c.shipped = NewShipped(c.grader, c.options.Root, c.exercise, shipped)
	// What is measured comes last, one after the other: beside other work of ours
	// its ratios would be those of a busy machine.
	together, alone := []job{c.seeds, c.starter}, []job{c.reference}
	for _, s := range shipped {
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

// run runs jobs, some at a time. A fault of the exercise's that keeps one from being
// graded is a finding, and the others are graded all the same.
func (c *checking) run(ctx context.Context, jobs []job, workers, total int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, one := range jobs {
		group.Go(func() error {
			defer c.tell(total)
			err := one(ctx)
			if errors.Is(err, grader.ErrExercise) {
				c.once(path.Join("exercises", c.exercise.Name, "hidden"), "it cannot be graded: %v", err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// measured reports whether a submission's expectations are about speed or memory.
func (c *checking) measured(x exercises.Expect) bool {
	names := needed(x)
	return x.Verdict == string(grader.Graded) && slices.ContainsFunc(c.exercise.Checks, func(check exercises.Check) bool {
		return check.Kind != exercises.Correctness && (names == nil || slices.Contains(names, check.Name))
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
	r, err := c.shipped.grade(ctx, dir, grader.Options{})
	if err != nil {
		return err
	}
	full := exercises.MaxScore
	for _, d := range grader.Unmet(exercises.Expect{Verdict: string(grader.Graded), Score: &full}, r, nil) {
		c.find(dir, 0, "the reference: %s", d)
	}
	c.read("reference", true, r)
	return nil
}

// seeds has the reference keep its points on many inputs.
func (c *checking) seeds(ctx context.Context) error {
	if c.options.Seeds < 1 {
		return nil
	}
	dir := path.Join("reference", c.exercise.Name)
	r, err := c.shipped.grade(ctx, dir, grader.Options{Only: []exercises.Kind{exercises.Correctness}, Repeat: c.options.Seeds})
	if err != nil {
		return err
	}
	for _, got := range r.Checks {
		if got.Kind == string(exercises.Correctness) && got.Verdict != grader.Passed {
			c.find(dir, 0, "%s: the reference does not agree with itself on the inputs of seed %s: %s %s", got.Name, r.Seed, got.Verdict, got.Detail)
		}
	}
	return nil
}

func (c *checking) starter(ctx context.Context) error {
	dir := path.Join("exercises", c.exercise.Name, "starter")
	r, err := c.shipped.grade(ctx, dir, grader.Options{Only: []exercises.Kind{exercises.Correctness}})
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		c.find(path.Join(dir, p.File), p.Line, "the starter is refused or does not compile: %s", p.Message)
	}
	if r.Score > StarterFloor {
		var passed []string
		for _, got := range r.Checks {
			if got.Verdict == grader.Passed {
				passed = append(passed, got.Name)
			}
		}
		c.find(dir, 0, "the starter scores %d, more than %d: it is a solution already, or %s would pass on zeros", r.Score, StarterFloor, strings.Join(passed, ", "))
	}
	return nil
}

// submission grades what is shipped.
func (c *checking) submission(ctx context.Context, s exercises.Submission) error {
	h, err := c.shipped.Hold(ctx, s, grader.Options{})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.report.Submissions++
	c.mu.Unlock()
	for _, d := range h.Unmet {
		c.find(path.Join(s.Dir, "expect.yaml"), 0, "not as declared: %s", d)
	}
	c.read(s.Name, s.Class == exercises.Accepted, h.Result)
	return nil
}
