package grader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/judge"
	"grade/grader/lang"
	"grade/grader/measure"
	"grade/grader/verdict"
	"grade/sandbox"
)

// prepareRace makes the images for the race detector, if the plan needs it. A machine that
// cannot have it grades without, and says so.
func (r *grading) prepareRace(ctx context.Context) error {
	if len(r.plan.Race) == 0 {
		return nil
	}
	for _, p := range []sandbox.Purpose{sandbox.RaceBuild, sandbox.RaceRun} {
		err := r.sandbox.Prepare(ctx, p)
		if errors.Is(err, sandbox.ErrNoRace) {
			r.noRace = err.Error()
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.builder.Purpose = sandbox.RaceBuild
	return nil
}

// raceProgram builds the program and opens its box. Without a program the verdict says why
// there is none.
func (r *grading) raceProgram(ctx context.Context, l *boxes.Lease) (runner *boxes.Runner, v verdict.Verdict, detail string, err error) {
	recipe, err := r.raceRecipe(ctx)
	if err != nil {
		return nil, "", "", err
	}
	o, err := r.compileRace(ctx, l.Builder(), r.built, recipe)
	if err != nil {
		return nil, "", "", fmt.Errorf("build for the race detector: %w", err)
	}
	program, v, detail, err := r.built.RaceOutcome(o)
	if err == nil && v == verdict.Missing { // a fault of this machine's would be the reference's too
		_, err = r.buildRace(ctx)
	}
	if err != nil || program == nil {
		return nil, v, detail, err
	}
	runner, err = l.Third(ctx, r.lang.RaceBox(boxSpec(r.exercise)), program)
	return runner, "", "", err
}

// raceRecipe is the recipe of the reference's build for the race detector, which is built now
// unless its recipe is kept; nil if nothing is kept.
func (r *grading) raceRecipe(ctx context.Context) ([]byte, error) {
	kept := r.kept(r.exercise)
	if kept == "" {
		return nil, nil
	}
	if recipe, err := os.ReadFile(kept + raceSuffix); err == nil {
		return recipe, nil
	}
	recipe, err := r.buildRace(ctx)
	if err != nil {
		return nil, err
	}
	r.keep(kept+raceSuffix, recipe)
	return recipe, nil
}

// buildRace builds the reference for the race detector, and returns the recipe.
func (r *grading) buildRace(ctx context.Context) ([]byte, error) {
	b, err := r.lang.Build(ctx, r.exercise, nil, nil, r.sandbox.Info().GoArch)
	if err != nil {
		return nil, err
	}
	o, err := r.compileRace(ctx, nil, b, nil)
	if err != nil {
		return nil, fmt.Errorf("build the reference for the race detector: %w", err)
	}
	return b.RaceRecipe(o)
}

// compileRace compiles in the box that has the files. If there is none, or it has gone or
// fails, it brings them to another one, and to one more.
func (r *grading) compileRace(ctx context.Context, box sandbox.Box, b lang.Build, recipe []byte) (o sandbox.Outcome, err error) {
	lost := func() bool {
		return ctx.Err() == nil && (errors.Is(err, sandbox.ErrGone) || errors.Is(err, sandbox.ErrFailed))
	}
	if box != nil {
		if o, err = box.Run(ctx, b.RaceRequest(box.Dirs(), recipe)); !lost() {
			return o, err
		}
	}
	for range 2 {
		if o, err = r.compileRaceAnew(ctx, b, recipe); !lost() {
			break
		}
	}
	return o, err
}

func (r *grading) compileRaceAnew(ctx context.Context, b lang.Build, recipe []byte) (o sandbox.Outcome, err error) {
	box, err := r.boxes.Builder(ctx, r.builder)
	if err != nil {
		return o, err
	}
	defer box.Close()
	if _, err := box.Run(ctx, b.Request(box.Dirs())); err != nil {
		return o, err
	}
	return box.Run(ctx, b.RaceRequest(box.Dirs(), recipe))
}

// raceRuns are the runs for the race check, in their order: each test of it in each round.
func (r *grading) raceRuns() (runs []testRun) {
	for _, c := range r.plan.Race {
		for round := range r.plan.Runs {
			for _, test := range c.Race {
				runs = append(runs, testRun{Check: r.checkOf(test), round: round})
			}
		}
	}
	return runs
}

func (r *grading) raceSeed(t testRun) string {
	return r.seedFor(course.Check{Func: t.Func, Kind: verdict.Race}, t.round)
}

// raceSpan is when the submission's program runs with the race detector, beside which others of
// it are measured.
type raceSpan struct{ begun, ended chan struct{} }

func newRaceSpan() *raceSpan { return &raceSpan{make(chan struct{}), make(chan struct{})} }

// ran reports whether the program has run, or is running.
func (r *raceSpan) ran() bool { return closed(r.begun) }

// over reports whether it will run no more.
func (r *raceSpan) over() bool { return closed(r.ended) }

// afterRace waits until the program will run no more.
func (r *grading) afterRace(ctx context.Context) error {
	if !r.race.over() {
		r.waiting(Measure, "waiting for the race check to end, to measure what is near a limit without it")
	}
	select {
	case <-r.race.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// decideRace decides the check of kind race, after the tests and beside the measurements.
func (r *grading) decideRace(ctx context.Context, l *boxes.Lease, a *ahead, tests []verdict.CheckResult) ([]verdict.CheckResult, error) {
	if len(r.plan.Race) == 0 || r.plan.Purpose.stopEarly() && slices.ContainsFunc(tests, lost) {
		return nil, nil
	}
	c := r.plan.Race[0]
	defer r.phase(Race)()
	got, err := notRun(c), error(nil)
	if r.noRace == "" {
		got, err = r.raced(ctx, c, l, a, tests)
	}
	if errors.Is(err, sandbox.ErrNoRace) {
		r.noRace, err = err.Error(), nil
	}
	if err != nil {
		return nil, err
	}
	if r.noRace != "" {
		r.warn("the check %s cannot be decided on this machine, and its points are given: %s", c.Name, r.noRace)
		got = notRun(c)
		got.Verdict, got.Detail = verdict.Waived, "cannot be decided on the machine that graded: its points are given"
	}
	return []verdict.CheckResult{r.decide(Race, c, got)}, nil
}

// raced builds the program and runs its tests.
func (r *grading) raced(ctx context.Context, c course.Check, l *boxes.Lease, a *ahead, tests []verdict.CheckResult) (verdict.CheckResult, error) {
	runner, v, detail, err := r.raceProgram(ctx, l)
	if err != nil || runner == nil {
		got := notRun(c)
		got.Verdict, got.Detail = v, detail
		return got, err
	}
	close(r.race.begun)
	return r.raceAll(ctx, c, runner, a, tests)
}

// tryDetector runs a test in the reference's program. If the detector ends that one as well, this
// machine cannot have it.
func (r *grading) tryDetector(ctx context.Context, q sandbox.Request) error {
	b, err := r.lang.Build(ctx, r.exercise, nil, nil, r.sandbox.Info().GoArch)
	if err != nil {
		return err
	}
	o, err := r.compileRace(ctx, nil, b, nil)
	if err != nil {
		return fmt.Errorf("build the reference for the race detector: %w", err)
	}
	if _, err := b.RaceRecipe(o); err != nil { // it has none that can be run
		return err
	}
	program, _, _, err := b.RaceOutcome(o)
	if err != nil {
		return err
	}
	runner, release, err := r.boxes.Runner(ctx, r.lang.RaceBox(boxSpec(r.exercise)), program)
	if err != nil {
		return err
	}
	defer release()
	if o, err = runner.Run(ctx, q); err != nil {
		return fmt.Errorf("run the reference with the race detector: %w", err)
	}
	if r.lang.Unraced(o) {
		return fmt.Errorf("%w: it ends the reference as well, without a race (status %d)", sandbox.ErrNoRace, o.ExitCode)
	}
	return nil
}

func lost(c verdict.CheckResult) bool { return !c.Verdict.Earns() }

// raceAll runs the tests one after the other, until the detector sees a race. Without a race
// the first of them that is not passed decides, whose own check is lost as well.
func (r *grading) raceAll(ctx context.Context, c course.Check, runner *boxes.Runner, a *ahead, tests []verdict.CheckResult) (decided verdict.CheckResult, err error) {
	decided = notRun(c)
	decided.Verdict = verdict.Passed
	together := newBudget(runner.Spent)
	together.allow(time.Duration(r.plan.Runs-1) * timeBudget)
	for i, t := range r.raceRuns() {
		got, err := r.raceOne(ctx, c, t, runner, a.races[i], tests, together)
		if err != nil || got.Verdict == verdict.DataRace {
			return got, err
		}
		if decided.Verdict.Earns() && got.Verdict != verdict.Passed {
			decided = got
		}
	}
	return decided, nil
}

// find returns the result of a test, or the zero value if it was not run.
func find(tests []verdict.CheckResult, name string) verdict.CheckResult {
	if i := slices.IndexFunc(tests, func(c verdict.CheckResult) bool { return c.Name == name }); i >= 0 {
		return tests[i]
	}
	return verdict.CheckResult{}
}

// exhausted are the verdicts of a test that would take ten times as long again.
var exhausted = []verdict.Verdict{verdict.TimeLimit, verdict.MemoryLimit, verdict.OutputLimit, verdict.NotRun}

// raceOne runs one test with the detector, beside the reference's run without. No failed
// check excuses anything here: it has paid for the test itself.
func (r *grading) raceOne(ctx context.Context, c course.Check, t testRun, runner *boxes.Runner, ref sandbox.Outcome, tests []verdict.CheckResult, together *budget) (verdict.CheckResult, error) {
	got, before := notRun(c), find(tests, t.Func)
	got.Hint = t.Hint // of what the test is about, unless it shows a race
	if slices.Contains(exhausted, before.Verdict) || together.exceeded() {
		got.Verdict, got.Cause, got.Detail = notRaced(t.Func, before)
		return got, nil
	}
	q := r.lang.RaceTest(r.exercise, t.Func, r.raceSeed(t))
	together.allow(patience * course.RaceCPU * ref.Wall)
	var hurried bool
	q.Limits, hurried = together.bound(q.Limits, lastRun)
	sub, err := runner.Run(ctx, q)
	if err == nil {
		slowed := ref
		if sub.Cause != sandbox.CauseIdle { // the detector slows what computes
			slowed.CPU, slowed.Wall = course.RaceCPU*ref.CPU, course.RaceCPU*ref.Wall
		}
		sub, err = again(ctx, runner, q, sub, slowed)
	}
	if err != nil {
		return got, fmt.Errorf("run %s with the race detector: %w", t.Func, err)
	}
	got.Reference, got.Submission = measure.Figures(ref), measure.Figures(sub)
	if race, saw := r.lang.Race(sub, r.snapshot, r.exercise); saw {
		for i := range race.Accesses {
			if !r.tellsPlaces() {
				race.Accesses[i].Place = verdict.Place{}
			}
		}
		got.Hint = c.Hint
		got.Verdict, got.Detail, got.Places = tell(race, t.Func)
		return got, nil
	}
	if r.lang.Unraced(sub) && !r.detects {
		if err := r.tryDetector(ctx, q); err != nil {
			return got, err
		}
		r.detects = true
	}
	if got.Verdict, got.Detail, err = judge.Test(t.Check, ref, sub, r.lang.CrashWords); err != nil {
		return got, fmt.Errorf("exercise %s: %w", r.exercise.Name, err)
	}
	if hurried && sub.Cause == sandbox.CauseWall {
		got.Detail += "; the tests before it had used up the time that all may take with the race detector"
	}
	if got.Verdict != verdict.Passed {
		got.Detail = "no data race was seen, but " + t.Func + " failed, run with the race detector: " + got.Detail
		got.Cause = r.causeIn(before)
	}
	return got, nil
}

// notRaced is what a test comes to that is not run with the detector, and the failed check that
// explains it. One that was not run before either has not failed, so that it explains nothing.
func notRaced(test string, before verdict.CheckResult) (v verdict.Verdict, cause, detail string) {
	const why = "not run with the race detector: "
	switch {
	case before.Verdict == verdict.NotRun:
		return verdict.NotRun, "", why + test + " was not run without it either, because the tests before it had used up the time"
	case lost(before) && before.Name != "":
		v, cause = before.Verdict, before.Name
	default:
		v = verdict.TimeLimit
	}
	return v, cause, why + test + " exceeded its limits in the run without it, or the tests before it used up the time"
}

// causeIn names the failed check that explains why a test fails with the detector: the test's
// own, or the one that excuses it there.
func (r *grading) causeIn(before verdict.CheckResult) string {
	switch by := r.excuses[before.Name]; {
	case lost(before):
		return before.Name
	case len(by) > 0:
		return by[0]
	}
	return ""
}

// checkOf returns the check of a test, which every test in hidden has.
func (r *grading) checkOf(test string) course.Check {
	i := slices.IndexFunc(r.exercise.Checks, func(c course.Check) bool { return c.Func == test })
	return r.exercise.Checks[i]
}
