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
	Seeds    int
	Measure  bool     // the benchmarks as well, which takes long
	Workers  int      // gradings at a time
	Progress Progress // of submissions
}

// Seeded is an exercise with those of its submissions that are graded on several seeds.
type Seeded struct {
	exercise *course.Exercise
	list     []fixture.Submission
}

// ChooseSeeded reads exercises, and chooses their submissions that are graded at all and whose
// names fit one of the patterns of [path.Match], if there are any. Each pattern has to fit in
// some exercise; one in which none fits is left out. It takes a moment, and the gradings
// minutes: a [fault.Error] tells of a typo before they begin.
func ChooseSeeded(c *course.Course, names, patterns []string) (chosen []Seeded, err error) {
	fit := map[string]bool{}
	for _, name := range names {
		s := Seeded{}
		if s.exercise, err = c.Load(name); err != nil {
			return nil, err
		}
		if s.list, err = fixture.Load(c, name); err != nil {
			return nil, err
		}
		if err := s.choose(patterns, fit); err != nil {
			return nil, err
		}
		if len(s.list) > 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen, unfit(names, patterns, fit, len(chosen) > 0)
}

// choose leaves out the submissions that are not asked for, and notes the patterns that fit
// one.
func (s *Seeded) choose(patterns []string, fit map[string]bool) error {
	asked, used, err := fitting(s.list, fixtureName, patterns)
	if err != nil {
		return &fault.Error{Message: "a pattern of submissions is malformed: " + strings.Join(patterns, ","), Err: err}
	}
	for _, pattern := range used {
		fit[pattern] = true
	}
	if len(patterns) > 0 {
		s.list = asked
	}
	s.list = slices.DeleteFunc(s.list, func(one fixture.Submission) bool { return one.Expect.Verdict != verdict.Graded })
	return nil
}

// unfit returns an error for a pattern that fits nothing, or if what fits is never tested.
func unfit(names, patterns []string, fit map[string]bool, some bool) error {
	lacks := func(what string) error {
		if len(names) == 1 {
			return &fault.Error{Message: fmt.Sprintf("exercise %s has no %s", names[0], what)}
		}
		return &fault.Error{Message: fmt.Sprintf("none of the exercises %s has a %s", strings.Join(names, ", "), what)}
	}
	for _, pattern := range patterns {
		if !fit[pattern] {
			return lacks(fmt.Sprintf("submission %q", pattern))
		}
	}
	if !some {
		return lacks("submission that is tested, of those that were asked for")
	}
	return nil
}

// Seeds grades the chosen submissions of an exercise on the inputs of several seeds, and
// returns those whose failed checks differ between them. An error says that one could not be
// graded.
func Seeds(ctx context.Context, g *grader.Grader, x Seeded, o SeedOptions) (*SeedReport, error) {
	s := &seeding{fixtures: NewFixtures(g, x.exercise, x.list), options: o, first: grader.NewSeed(), report: &SeedReport{Exercise: x.exercise.Name, Seeds: o.Seeds, Unsteady: []Unsteady{}}}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for _, one := range x.list {
		group.Go(func() error { return s.submission(ctx, one) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.report.Unsteady, func(a, b Unsteady) int { return strings.Compare(a.Submission, b.Submission) })
	return s.report, nil
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
