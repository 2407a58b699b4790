package prove

import (
	"context"
	"errors"
	"fmt"
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

// SeedReport says which shipped submissions come to other verdicts with other inputs.
type SeedReport struct {
	Exercise    string     `json:"exercise"`
	Seeds       int        `json:"seeds"`
	Submissions int        `json:"submissions"` // that were graded
	Unsteady    []Unsteady `json:"unsteady"`
}

// Unsteady is a submission whose failed checks are not the same on all seeds.
type Unsteady struct {
	Submission string    `json:"submission"`
	Reason     string    `json:"reason"` // why that cannot be otherwise, from its expect.yaml
	Checks     []Varying `json:"checks"`
}

// Varying is a check that fails on some seeds and passes on others.
type Varying struct {
	Check  string `json:"check"`
	Failed int    `json:"failed"`
	Of     int    `json:"of"`
	// Fails and Passes are the first seeds on which it does so.
	Fails  string `json:"fails"`
	Passes string `json:"passes"`
}

// SeedOptions configure a comparison of seeds.
type SeedOptions struct {
	Seeds       int
	Submissions []string // patterns of their names; empty: all
	Measure     bool     // the benchmarks as well, which takes long
	Workers     int      // gradings at a time
	Progress    Progress // of submissions
}

// Seeds grades the shipped submissions of an exercise on the inputs of several seeds, and
// returns those whose failed checks differ between them. A [fault.Error] says that the
// exercise has no such submission; any other error, that one could not be graded.
func Seeds(ctx context.Context, g *grader.Grader, c *course.Course, name string, o SeedOptions) (*SeedReport, error) {
	e, err := c.Load(name)
	if err != nil {
		return nil, err
	}
	list, err := fixture.Load(c, name)
	if err != nil {
		return nil, err
	}
	if list, err = chosen(list, o.Submissions, name); err != nil {
		return nil, err
	}
	s := &seeding{fixtures: NewFixtures(g, e, list), options: o, first: grader.NewSeed(), report: &SeedReport{Exercise: name, Seeds: o.Seeds, Unsteady: []Unsteady{}}}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for _, one := range list {
		group.Go(func() error { return s.submission(ctx, one) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.report.Unsteady, func(a, b Unsteady) int { return strings.Compare(a.Submission, b.Submission) })
	return s.report, nil
}

// chosen returns the submissions that are graded at all, and whose names fit one of the
// patterns of [path.Match], if there are any; each has to fit one.
func chosen(list []fixture.Submission, patterns []string, exercise string) (graded []fixture.Submission, err error) {
	for _, pattern := range patterns {
		fit, err := fitting(list, fixtureName, []string{pattern})
		if err != nil || len(fit) == 0 {
			return nil, &fault.Error{Message: fmt.Sprintf("exercise %s has no submission %q", exercise, pattern), Err: err}
		}
	}
	if len(patterns) > 0 {
		list, _ = fitting(list, fixtureName, patterns) // they are well formed
	}
	for _, s := range list {
		if s.Expect.Verdict == verdict.Graded {
			graded = append(graded, s)
		}
	}
	if len(graded) == 0 {
		return nil, &fault.Error{Message: fmt.Sprintf("exercise %s: none of these submissions is tested", exercise)}
	}
	return graded, nil
}

type seeding struct {
	fixtures *Fixtures
	options  SeedOptions
	first    string // the seed that the others follow from: all submissions have the same

	mu     sync.Mutex
	report *SeedReport
}

// submission grades one submission on all seeds.
func (s *seeding) submission(ctx context.Context, one fixture.Submission) error {
	t := &tally{}
	err := s.test(ctx, one, t)
	if err == nil && s.options.Measure {
		err = s.measure(ctx, one, t)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Submissions++
	if v := t.varying(); len(v) > 0 {
		s.report.Unsteady = append(s.report.Unsteady, Unsteady{one.Name, one.Expect.Varies, v})
	}
	if s.options.Progress != nil {
		s.options.Progress("trying seeds on "+s.report.Exercise, int64(s.report.Submissions), int64(len(s.fixtures.List)))
	}
	return nil
}

// test runs all hidden tests in a round for each seed, of one build.
func (s *seeding) test(ctx context.Context, one fixture.Submission, t *tally) error {
	r, err := s.fixtures.files(ctx, one.Dir, one.Files, grader.Options{
		Purpose: grader.ForBatch, Seed: s.first, Only: []verdict.Kind{verdict.Correctness}, Repeat: s.options.Seeds,
		Judged: func(run grader.Run) { t.add(run.Check.Name, run.Seed, run.Verdict) },
	})
	if err == nil && r.Verdict != verdict.Graded {
		return fault.Exercise(errors.New(one.Dir + ": it is not graded: " + string(r.Verdict)))
	}
	return err
}

// measure runs all benchmarks in a grading of its own for each seed.
func (s *seeding) measure(ctx context.Context, one fixture.Submission, t *tally) error {
	for range s.options.Seeds {
		r, err := s.fixtures.files(ctx, one.Dir, one.Files, grader.Options{Purpose: grader.ForBatch, Only: []verdict.Kind{verdict.Speed, verdict.Memory}})
		if err != nil {
			return err
		}
		for _, c := range r.Checks {
			t.add(c.Name, r.Seed, c.Verdict)
		}
	}
	return nil
}

// tally counts, in the order in which checks are first decided, how each comes out.
type tally struct{ checks []Varying }

func (t *tally) add(check, seed string, v verdict.Verdict) {
	if v == verdict.NotRun || v == "" {
		return
	}
	i := slices.IndexFunc(t.checks, func(c Varying) bool { return c.Check == check })
	if i < 0 {
		i = len(t.checks)
		t.checks = append(t.checks, Varying{Check: check})
	}
	c := &t.checks[i]
	c.Of++
	switch {
	case !v.Earns():
		c.Failed++
		if c.Fails == "" {
			c.Fails = seed
		}
	case c.Passes == "":
		c.Passes = seed
	}
}

// varying returns the checks that failed on some seeds and not on others.
func (t *tally) varying() []Varying {
	return slices.DeleteFunc(slices.Clone(t.checks), func(c Varying) bool { return c.Failed == 0 || c.Failed == c.Of })
}
