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
	Checks      int       `json:"checks"`       // that it has; 0: it cannot be loaded
	Submissions int       `json:"submissions"`  // that were graded
	LeftOut     int       `json:"left_out"`     // that were not, because their expected result needs a benchmark and nothing is measured
	Missing     int       `json:"missing"`      // gradings that were not done, because the check was interrupted
	PublicTests bool      `json:"public_tests"` // the starter's tests were run with the reference
	Findings    []Finding `json:"findings"`
	Margins     []Margin  `json:"margins"`
	// Cascades has a line for each submission with one mistake, the dearest first.
	Cascades     []Cascade     `json:"cascades"`
	MedianBeyond int           `json:"median_beyond"`          // of those without a reason
	Explanations []Explanation `json:"explanations,omitempty"` // only if asked for
}

// Progress receives how much of some work is done. Calls do not overlap. It may be nil.
type Progress func(what string, current, total int64)

// CheckOptions configure the check of an exercise.
type CheckOptions struct {
	Quick    bool     // nothing is measured, and what a benchmark has to stop is left out
	Seeds    int      // how often the reference has to keep its points
	Workers  int      // gradings at a time
	Explain  bool     // explain the failed checks of submissions that are not as declared
	Progress Progress // of gradings
}

// Check reads an exercise, grades all that is shipped with it, and reports its faults. An
// error is a fault of the sandbox or of grade.
func Check(ctx context.Context, g *grader.Grader, course *course.Course, name string, o CheckOptions) (*Report, error) {
	return Read(ctx, course, name).Grade(ctx, g, o)
}

// Read is the part of a check that grades nothing, and takes a moment. It is all of the
// check if the exercise cannot be loaded.
func Read(ctx context.Context, course *course.Course, name string) *Checking {
	c := &Checking{report: &Report{Exercise: name, Findings: []Finding{}, Margins: []Margin{}, Cascades: []Cascade{}}}
	defer c.sort()
	e, err := course.Load(name)
	if err != nil {
		c.problems(err)
		return c
	}
	c.exercise, c.report.Checks = e, len(e.Checks)
	c.sources = referenceFiles(course, e)
	c.problems(course.Lint(name))
	c.marks(ctx, course)
	c.stored, err = fixture.Load(course, name)
	c.submissions = c.stored
	c.problems(err)
	if err == nil {
		c.classes(c.submissions)
	}
	c.report.Missing = len(c.submissions) + besides
	return c
}

// besides is how many gradings a check has besides the submissions: the reference, the
// same on other seeds, the starter and its public tests.
const besides = 4

// Report returns what is known so far.
func (c *Checking) Report() *Report { return c.report }

// Choose leaves out all submissions but those whose name fits one of the patterns of
// [path.Match], and returns the patterns that fit one. Then limits are not looked at: what
// they separate may be left out.
func (c *Checking) Choose(patterns []string) (fit []string, err error) {
	chosen, fit, err := fitting(c.submissions, fixtureName, patterns)
	if err != nil {
		return nil, err
	}
	c.submissions, c.chosen = chosen, true
	if c.Gradable() {
		c.report.Missing = len(chosen) + besides
	}
	return fit, nil
}

func fixtureName(s fixture.Submission) string { return s.Name }

// Gradable reports whether the exercise could be loaded.
func (c *Checking) Gradable() bool { return c.exercise != nil }

// fixtures are all submissions: one that is chosen may have a twin that is not.
func (c *Checking) fixtures(g *grader.Grader) *Fixtures { return NewFixtures(g, c.exercise, c.stored) }

// Grade is the rest of a check. An error is a fault of the sandbox or of grade, or ctx has
// ended. Then the report has what was found until then, and how much is missing.
func (c *Checking) Grade(ctx context.Context, g *grader.Grader, o CheckOptions) (*Report, error) {
	if !c.Gradable() {
		return c.report, nil
	}
	c.options = o
	c.shipped, c.seed = c.fixtures(g), grader.NewSeed()
	err := c.gradeAll(ctx)
	c.conclude(err == nil)
	return c.report, err
}

// conclude finds what only several gradings show. What depends on all of them is looked for
// where none was left out, and the check was not interrupted.
func (c *Checking) conclude(complete bool) {
	all := complete && !c.chosen
	if all && !c.options.Quick {
		c.separate()
	}
	c.suspects()
	c.cascades()
	if all {
		c.medianCascade()
	}
	c.sort()
}

// sort makes a report independent of which grading ended first.
func (c *Checking) sort() {
	slices.SortStableFunc(c.report.Explanations, func(a, b Explanation) int { return strings.Compare(a.Submission, b.Submission) })
	slices.SortFunc(c.report.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Message, b.Message))
	})
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

// Checking is the check of one exercise on its way: [Read], and then its Grade.
type Checking struct {
	exercise    *course.Exercise
	sources     []course.File // of the reference
	options     CheckOptions
	stored      []fixture.Submission // all
	submissions []fixture.Submission // those to be graded
	chosen      bool                 // some were left out
	shipped     *Fixtures            // of stored
	seed        string               // of the first grading of each

	mu       sync.Mutex
	report   *Report
	readings []reading
	doubts   []doubt
	exceeded []verdict.Verdict // limits of which it is told that the reference exceeds them
	accepted int               // solutions that were graded
	done     int
}

// classes requires a right submission besides the reference, and a wrong one.
func (c *Checking) classes(shipped []fixture.Submission) {
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
func (c *Checking) gradeAll(ctx context.Context) error {
	// What is measured comes last, one after the other: beside other work of ours
	// its ratios would be those of a busy machine.
	together, alone := []job{c.public, c.seeds}, []job{c.reference}
	if c.exercise.Begin == course.BeginRight {
		alone = append(alone, c.rightStarter)
	} else {
		together = append(together, c.starter)
	}
	for _, s := range c.submissions {
		grade := func(ctx context.Context, heard *Explanations) error { return c.submission(ctx, s, heard) }
		switch {
		case !c.measured(s.Expect):
			together = append(together, grade)
		case c.options.Quick && s.Class != fixture.Accepted && !testable(c.exercise, s.Expect):
			c.report.LeftOut++
		default:
			alone = append(alone, grade)
		}
	}
	if c.options.Quick {
		together, alone = append(together, alone...), nil
	}
	total := len(together) + len(alone)
	defer func() { c.report.Missing = total - c.done }()
	if err := c.run(ctx, together, max(1, c.options.Workers), total); err != nil {
		return err
	}
	return c.run(ctx, alone, 1, total)
}

// kinds are those of the checks that are run; nil: all.
func (c *Checking) kinds() []verdict.Kind {
	if c.options.Quick {
		return []verdict.Kind{verdict.Correctness, verdict.Race}
	}
	return nil
}

// job is a grading. Heard hears its runs.
type job func(ctx context.Context, heard *Explanations) error

// run runs jobs, several at a time. A fault of the exercise that prevents a grading becomes
// a finding, and the other jobs go on.
func (c *Checking) run(ctx context.Context, jobs []job, workers, total int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, one := range jobs {
		group.Go(func() error {
			heard := &Explanations{}
			err := one(ctx, heard)
			if errors.Is(err, fault.ErrExercise) {
				c.ungradable(err, heard)
				err = nil
			}
			if err == nil {
				c.tell(total)
			}
			return err
		})
	}
	return group.Wait()
}

// measured reports whether a submission's expectations are about speed or memory.
func (c *Checking) measured(x fixture.Expect) bool {
	names := needed(c.exercise, x)
	return x.Verdict == verdict.Graded && slices.ContainsFunc(c.exercise.Checks, func(check course.Check) bool {
		return check.Kind.Measured() && (names == nil || slices.Contains(names, check.Name))
	})
}

// testable reports whether checks that are not measured say what a submission must lose.
func testable(e *course.Exercise, x fixture.Expect) bool {
	lost := false
	for _, check := range e.Checks {
		want, declared := x.Checks[check.Name]
		if declared && check.Kind.Measured() {
			return false
		}
		lost = lost || declared && want != verdict.Passed
	}
	return lost
}

func (c *Checking) tell(total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.options.Progress != nil {
		c.options.Progress("checking "+c.exercise.Name, int64(c.done), int64(total))
	}
}
