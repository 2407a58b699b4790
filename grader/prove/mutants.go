// Package prove shows that an exercise grades correctly: that its hidden tests tell
// wrong solutions from right ones. It grades through package grader, and gives no
// verdict of its own.
//
// [Check] grades the reference and the shipped submissions and compares the results
// with what they declare, [Mutate] grades small mistakes in the reference, and [Diff]
// grades stored submissions under two versions of an exercise.
package prove

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/mutate"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Mutation is the result of grading the mutants of a reference.
type Mutation struct {
	Exercise   string     `json:"exercise"`
	Total      int        `json:"total"`      // mutants that compile
	Killed     int        `json:"killed"`     // lost points
	TimedOut   int        `json:"timed_out"`  // killed by a time limit alone, which is shorter for mutants
	Equivalent int        `json:"equivalent"` // survived, and are marked in equivalent.yaml
	Score      float64    `json:"score"`      // killed / (total - equivalent)
	Survivors  []Survivor `json:"survivors"`  // without a mark, the most telling first
	LeftOut    int        `json:"left_out"`   // were not graded: not chosen, or the run was interrupted
	Seconds    float64    `json:"seconds"`

	// Faults are marks in equivalent.yaml on mutants that are killed or do not exist. A
	// mark of the latter kind stops the run before anything is graded.
	Faults []Finding `json:"faults"`
}

// Survivor is a mutant that kept all points.
type Survivor struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Diff     string `json:"diff"`
}

// MutationOptions configure the grading of mutants.
type MutationOptions struct {
	Equivalent []course.Equivalent
	Workers    int      // gradings at a time
	Progress   Progress // of gradings; survivors are graded twice and count twice
}

// The time budget of a mutant's test, by the longest test of the reference. It keeps a
// mutant that loops for ever from taking all the time that slow solutions have.
const (
	mutantFactor = 10
	mutantSlack  = time.Second
)

// Mutants makes the mutants of e's reference, and finds marks that name none of them.
// It takes a moment, and runs before minutes of grading.
func Mutants(ctx context.Context, e *course.Exercise, marks []course.Equivalent) ([]mutate.Mutant, []Finding, error) {
	mutants, err := mutate.Of(ctx, sources(e))
	if err != nil {
		return nil, nil, fmt.Errorf("exercise %s: %w", e.Name, err)
	}
	faults := []Finding{}
	for _, x := range withoutMutant(marks, mutants) {
		faults = append(faults, markFault(e, x, "is no mutant of the reference: it has changed"+successor(x, mutants, marks)))
	}
	return mutants, faults, nil
}

// Choose returns the mutants whose id fits one of the patterns of [path.Match]; all, if
// there is no pattern. It is an error if none fits.
func Choose(mutants []mutate.Mutant, patterns []string) (chosen []mutate.Mutant, err error) {
	if len(patterns) == 0 || len(mutants) == 0 {
		return mutants, nil
	}
	if chosen, _, err = fitting(mutants, func(m mutate.Mutant) string { return m.ID }, patterns); err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, errors.New("no mutant's id fits")
	}
	return chosen, nil
}

// Spread returns n of the mutants, at equal distances; all, if n is 0 or too large.
func Spread(mutants []mutate.Mutant, n int) []mutate.Mutant {
	if n <= 0 || n >= len(mutants) {
		return mutants
	}
	chosen := make([]mutate.Mutant, n)
	for i := range chosen {
		chosen[i] = mutants[i*len(mutants)/n]
	}
	return chosen
}

// Mutate grades mutants of e's reference with the hidden tests, up to the first that
// fails, and the survivors with the benchmarks as well. Where ctx ends it, the result of
// what was graded until then comes with the error.
func Mutate(ctx context.Context, g *grader.Grader, e *course.Exercise, mutants []mutate.Mutant, o MutationOptions) (*Mutation, error) {
	started := time.Now()
	r := &mutation{grader: g, exercise: e, options: o, mutants: mutants, seed: grader.NewSeed(), verdicts: make([]mutantOutcome, len(mutants))}
	if err := r.calibrate(ctx); err != nil {
		return nil, err
	}
	err := r.test(ctx)
	if err == nil {
		err = r.measure(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	m := r.sum()
	m.Seconds = time.Since(started).Seconds()
	return m, err
}

// sources returns the files of the reference. It keeps the provided ones out of
// mutation, because the build replaces them by the exercise's own.
func sources(e *course.Exercise) (files []mutate.File) {
	for _, f := range e.Reference {
		files = append(files, mutate.File{Name: f.Name, Data: f.Data, Keep: slices.Contains(e.Provided, f.Name)})
	}
	return files
}

// mutantOutcome is the outcome of a mutant.
type mutantOutcome int

// The outcomes.
const (
	notGraded mutantOutcome = iota // the run was interrupted
	killed
	timedOut // killed by a limit on time and by nothing else
	survived
	refused // does not build, and counts for nothing
)

type mutation struct {
	grader     *grader.Grader
	exercise   *course.Exercise
	calibrated *course.Exercise // with shorter limits
	options    MutationOptions
	mutants    []mutate.Mutant
	seed       string // of all tests, so that the reference runs them once
	verdicts   []mutantOutcome

	mu   sync.Mutex
	done int
}

// calibrate calibrates the limits of mutants' tests by the time that the reference's tests
// take. The reference must keep all points.
func (r *mutation) calibrate(ctx context.Context) error {
	result, err := r.grade(ctx, r.exercise, nil, grader.Options{Purpose: grader.ForBatch, Only: []verdict.Kind{verdict.Correctness}})
	if err != nil {
		return err
	}
	if result.Score != result.MaxScore {
		return fmt.Errorf("exercise %s: the reference itself loses points: check the exercise before its mutants", r.exercise.Name)
	}
	var cpu, wall float64
	for _, c := range result.Checks {
		cpu, wall = max(cpu, c.Reference.CPUMs, c.Submission.CPUMs), max(wall, c.Reference.WallMs, c.Submission.WallMs)
	}
	calibrated := *r.exercise
	calibrated.Limits.CPU = min(calibrated.Limits.CPU, timeBudget(cpu))
	calibrated.Limits.Wall = min(calibrated.Limits.Wall, 2*timeBudget(max(cpu, wall)))
	r.calibrated = &calibrated
	return nil
}

// timeBudget returns the time budget of a mutant's test, from the milliseconds that the
// reference's longest test takes.
func timeBudget(ms float64) time.Duration {
	return mutantSlack + time.Duration(mutantFactor*ms*float64(time.Millisecond))
}

// grade grades a mutant, or the reference as it is.
func (r *mutation) grade(ctx context.Context, e *course.Exercise, m *mutate.Mutant, o grader.Options) (*verdict.Result, error) {
	name := path.Join("reference", e.Name)
	files := goFiles(e.Reference)
	for i := range files {
		if m != nil && files[i].Name == m.File {
			files[i].Data = m.Data
		}
	}
	return r.grader.Grade(ctx, submission.Of(name, files), e, o)
}

// goFiles returns the files that a snapshot of a folder takes.
func goFiles(files []course.File) (list []submission.File) {
	for _, f := range files {
		if submission.IsSource(f.Name) {
			list = append(list, submission.File{Name: f.Name, Data: f.Data})
		}
	}
	return list
}

// test grades each mutant with the hidden tests, several at a time.
func (r *mutation) test(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.options.Workers))
	for i := range r.mutants {
		group.Go(func() error {
			result, err := r.grade(ctx, r.calibrated, &r.mutants[i], grader.Options{Purpose: grader.ForMutant, Seed: r.seed, Only: []verdict.Kind{verdict.Correctness, verdict.Race}})
			if err != nil {
				return fmt.Errorf("mutant %s: %w", r.mutants[i].ID, err)
			}
			r.verdicts[i] = outcomeOf(result)
			r.tell("testing mutants", len(r.mutants))
			return nil
		})
	}
	return group.Wait()
}

func outcomeOf(r *verdict.Result) mutantOutcome {
	switch {
	case r.Verdict != verdict.Graded:
		return refused
	case r.Score == r.MaxScore:
		return survived
	case slices.ContainsFunc(r.Checks, func(c verdict.CheckResult) bool {
		return !slices.Contains([]verdict.Verdict{verdict.Passed, verdict.Waived, verdict.NotRun, verdict.TimeLimit}, c.Verdict)
	}):
		return killed
	}
	return timedOut
}

// measure grades the survivors with the benchmarks, one after the other.
func (r *mutation) measure(ctx context.Context) error {
	if !slices.ContainsFunc(r.exercise.Checks, func(c course.Check) bool { return c.Kind.Measured() }) {
		return nil
	}
	var left []int
	for i, m := range r.mutants {
		if r.verdicts[i] == survived && !r.marked(m) {
			left = append(left, i)
		}
	}
	r.done = 0
	for _, i := range left {
		result, err := r.grade(ctx, r.exercise, &r.mutants[i], grader.Options{Purpose: grader.ForBatch, Only: []verdict.Kind{verdict.Speed, verdict.Memory}})
		if err != nil {
			return fmt.Errorf("mutant %s: %w", r.mutants[i].ID, err)
		}
		r.verdicts[i] = outcomeOf(result)
		r.tell("measuring survivors", len(left))
	}
	return nil
}

func (r *mutation) marked(m mutate.Mutant) bool { return marked(r.options.Equivalent, m.ID) }

func (r *mutation) tell(what string, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.options.Progress != nil {
		r.options.Progress(what, int64(r.done), int64(total))
	}
}

// sum counts the outcomes and lists the survivors.
func (r *mutation) sum() *Mutation {
	m := &Mutation{Exercise: r.exercise.Name, Survivors: []Survivor{}, Faults: []Finding{}}
	for i, one := range r.mutants {
		switch {
		case r.verdicts[i] == refused:
			continue
		case r.verdicts[i] == notGraded:
			m.LeftOut++
			continue
		case r.verdicts[i] == killed:
			m.Killed++
		case r.verdicts[i] == survived && r.marked(one), r.verdicts[i] == timedOut && r.marked(one):
			m.Equivalent++
		case r.verdicts[i] == timedOut:
			m.Killed++
			m.TimedOut++
		default:
			m.Survivors = append(m.Survivors, Survivor{one.ID, one.File, one.Line, string(one.Operator), one.Diff})
		}
		m.Total++
	}
	slices.SortStableFunc(m.Survivors, func(a, b Survivor) int { return rank(a) - rank(b) })
	m.Score = 1 // without a mutant, none survives
	if tested := m.Total - m.Equivalent; tested > 0 {
		m.Score = float64(m.Killed) / float64(tested)
	}
	for _, x := range r.options.Equivalent {
		m.Faults = append(m.Faults, r.faultsOf(x)...)
	}
	return m
}

// faultsOf is what is wrong with a mark. A mutant that timed out may be equivalent, and of
// those that fit a pattern some may not build.
func (r *mutation) faultsOf(x course.Equivalent) (faults []Finding) {
	for i, one := range r.mutants {
		switch fits := x.Marks(one.ID); {
		case fits && r.verdicts[i] == killed && one.ID != x.Mutant:
			faults = append(faults, markFault(r.exercise, x, "fits "+one.ID+", which is killed, and so not equivalent"))
		case fits && r.verdicts[i] == killed:
			faults = append(faults, markFault(r.exercise, x, "is killed, and so not equivalent"))
		case one.ID == x.Mutant && r.verdicts[i] == refused:
			faults = append(faults, markFault(r.exercise, x, "does not build, and so counts for nothing"))
		}
	}
	return faults
}

func rank(s Survivor) int { return slices.Index(mutate.Operators, mutate.Operator(s.Operator)) }
