package grader

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang"
	"grade/grader/verdict"
	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

// The requests about the race detector.
const (
	raceBuilds = ofSubmission + " race build"
	raceRatio  = "raced race TestRatio"
	raceAllocs = "raced race TestAllocs"

	raceReference = "referenced race TestRatio"
)

// racing is a world whose exercise has a check of kind race, and a submission without one.
func racing(t *testing.T) *world {
	w := newWorld(t)
	w.exercise.Checks[0].Points -= 2
	w.exercise.Checks = append(w.exercise.Checks, course.Check{
		Name: course.RaceName, Kind: verdict.Race, Race: []string{"TestRatio", "TestAllocs"}, Points: 2, Hint: "Share nothing.", Feedback: course.FeedbackClass,
	})
	w.Script[raceBuilds] = answers(built("raced"))
	w.Script[raceRatio] = answers(observed(1))
	w.Script[raceAllocs] = answers(selfReported(0))
	w.Script[ofReference+" race build"] = answers(built("referenced"))
	w.Script[raceReference] = answers(observed(1))
	return w
}

// sawRace is a run that the detector has ended: the submission's first line writes what the
// given place reads.
func sawRace(other string) sandbox.Outcome {
	const access = "%s at 0x00c0 by goroutine 8:\n  f()\n      %s +0x1\n\n"
	return sandbox.Outcome{ExitCode: 66, Stderr: fmt.Appendf(nil, access+access, "Write", "example.com/course/reference/gears/gears.go:1", "Previous read", other)}
}

// The reference is built for the race detector once, for the recipe that builds of submissions
// follow. One that does not build is the exercise's fault.
func TestRaceRecipe(t *testing.T) {
	const reference = ofReference + " race build"
	w := racing(t)
	w.config.CacheDir = t.TempDir()
	recipe := built("reference")
	recipe.Files = append(recipe.Files, sandbox.File{Name: "recipe.json", Data: []byte("calls")})
	w.Script[reference] = answers(recipe)
	for range 2 {
		r, err := w.grade(t)
		require.NoError(t, err)
		assert.Equal(t, "race passed", raceLine(r))
	}
	assert.Equal(t, 1, w.count(reference))
	var followed sandbox.Request
	for _, b := range w.Boxes() {
		for _, q := range b.Requests() {
			if slices.Contains(q.Args, "-race") && q.Args[0] == "replay" {
				followed = q
			}
		}
	}
	assert.Equal(t, []sandbox.File{{Name: "race.json", Data: []byte("calls")}}, followed.Files)
	assert.Contains(t, followed.Env, "GRADE_VET_PKG=example.com/course/reference/gears")
	assert.NotContains(t, strings.Join(followed.Env, " "), "GRADE_VET_OUT", "nothing is checked again")

	w = racing(t)
	w.config.CacheDir = t.TempDir()
	w.Script[reference] = answers(sandbox.Outcome{ExitCode: 1, Stderr: []byte("cannot link")})
	_, err := w.grade(t)
	assert.Equal(t, fault.Author, fault.KindOf(err))
	assert.ErrorContains(t, err, "exercise gears: the reference does not build for the race detector (status 1, none): cannot link")
}

// line is the one about the race check.
func raceLine(r *verdict.Result) string {
	all := lines(r)
	return all[len(all)-1]
}

func TestRaceCheck(t *testing.T) {
	const between, ordered = "data race in TestRatio: line 1 of gears.go writes ", ", with no lock or channel that puts one before the other"
	ours := sawRace("example.com/course/exercises/gears/hidden/gears_test.go:9")
	alien := sandbox.Outcome{ExitCode: 66, Stderr: []byte(strings.ReplaceAll(string(ours.Stderr), "reference/gears", "exercises/gears/hidden"))}
	library := sandbox.Outcome{ExitCode: 66, Stderr: []byte(strings.ReplaceAll(string(alien.Stderr), "example.com/course/exercises/gears/hidden/", "bytes/"))}
	begun := sandbox.Outcome{ExitCode: 66, Stderr: append(library.Stderr, "Goroutine 8 (running) created at:\n  f()\n      example.com/course/reference/gears/gears.go:2 +0x1\n\n"...)}
	for name, c := range map[string]struct {
		change map[string][]sandboxtest.Answer
		want   string
		points int
	}{
		"no race": {nil, "race passed", 2},
		"two lines": {map[string][]sandboxtest.Answer{raceRatio: answers(sawRace("example.com/course/reference/gears/gears.go:3"))},
			"race data_race: " + between + "what line 3 of gears.go reads at the same time" + ordered, 0},
		"one line": {map[string][]sandboxtest.Answer{raceRatio: answers(sawRace("example.com/course/reference/gears/gears.go:1"))},
			"race data_race: " + between + "memory that another goroutine reads in the same line at the same time" + ordered, 0},
		"with the test": {map[string][]sandboxtest.Answer{raceRatio: answers(ours)},
			"race data_race: " + between + "memory that the hidden test reads at the same time" + ordered, 0},
		"the test's own": {map[string][]sandboxtest.Answer{raceRatio: answers(alien)},
			"race data_race: data race in TestRatio: this submission runs functions of the hidden test at the same time, and they use the same memory", 0},
		"in the standard library": {map[string][]sandboxtest.Answer{raceRatio: answers(library)},
			"race data_race: data race in TestRatio: two goroutines use the same memory at the same time" + ordered + "; the detector names no line of this submission", 0},
		"in a goroutine of the standard library's functions": {map[string][]sandboxtest.Answer{raceRatio: answers(begun)},
			"race data_race: data race in TestRatio: line 2 of gears.go writes memory that another goroutine reads in the same line at the same time" + ordered, 0},
		"a race after a wrong answer": {map[string][]sandboxtest.Answer{raceRatio: answers(observed(2)), raceAllocs: answers(sawRace("example.com/course/reference/gears/gears.go:3"))},
			"race data_race: " + strings.Replace(between, "TestRatio", "TestAllocs", 1) + "what line 3 of gears.go reads at the same time" + ordered, 0},
		"a wrong answer with the detector": {map[string][]sandboxtest.Answer{raceRatio: answers(observed(2))},
			"race wrong_answer: no data race was seen, but TestRatio failed, run with the race detector: ", 0},
		"an early exit": {map[string][]sandboxtest.Answer{raceRatio: answers(sandbox.Outcome{})},
			"race missing: no data race was seen, but TestRatio failed, run with the race detector: the program ended before the test did", 0},
		"the status alone": {map[string][]sandboxtest.Answer{raceRatio: answers(sandbox.Outcome{ExitCode: 66})},
			"race runtime_error: no data race was seen, but TestRatio failed, run with the race detector: the program ended with an error status", 0},
		"no program": {map[string][]sandboxtest.Answer{raceBuilds: answers(sandbox.Outcome{Cause: sandbox.CauseCPU})},
			"race time_limit: not run: to build this package for the race detector takes too long", 0},
		"a builder that has gone": {map[string][]sandboxtest.Answer{raceBuilds: {gone(), answers(built("raced"))[0]}}, "race passed", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := racing(t)
			maps.Copy(w.Script, c.change)
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Contains(t, raceLine(r), c.want)
			assert.Equal(t, 98+c.points, r.Score)
			assert.Equal(t, c.points == 2, r.AllPoints(nil))
		})
	}
}

// The line of both accesses is in the result, for those who show it.
func TestRacePlaces(t *testing.T) {
	w := racing(t)
	w.Script[raceRatio] = answers(sawRace("example.com/course/reference/gears/gears.go:3"))
	r, err := w.grade(t)
	require.NoError(t, err)
	var at []string
	for _, p := range r.Checks[4].Places {
		at = append(at, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	assert.Equal(t, []string{"gears.go:1", "gears.go:3"}, at)
	assert.Zero(t, w.count(raceAllocs), "the first race ends the check")
}

// In a long submission a line would be many bits of a hidden input.
func TestNoPlacesInALongSubmission(t *testing.T) {
	w := racing(t)
	w.snapshot.Files[0].Data = append(w.snapshot.Files[0].Data, bytes.Repeat([]byte("\n"), maxTold)...)
	w.Script[raceRatio] = answers(sawRace("example.com/course/reference/gears/gears.go:3"))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.DataRace, r.Checks[4].Verdict)
	assert.NotContains(t, r.Checks[4].Detail, "gears.go")
	assert.Empty(t, r.Checks[4].Places)
}

// A test that is failed without the detector explains why the check is lost; it costs no
// time where it would take ten times too much.
func TestRaceNeedsItsTests(t *testing.T) {
	w := racing(t)
	w.Script[ofSubmission+" TestRatio"] = answers(observed(2))
	w.Script[raceRatio] = answers(observed(2))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.WrongAnswer, r.Checks[4].Verdict)
	assert.Equal(t, "TestRatio", r.Checks[4].Cause)
	assert.Equal(t, w.exercise.Checks[0].Hint, r.Checks[4].Hint, "there is no race to look for")

	w = racing(t)
	w.Script[ofSubmission+" TestRatio"] = answers(sandbox.Outcome{Cause: sandbox.CauseCPU})
	r, err = w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.TimeLimit, r.Checks[4].Verdict)
	assert.Equal(t, "TestRatio", r.Checks[4].Cause)
	assert.Zero(t, w.count(raceRatio))
	assert.Equal(t, 1, w.count(raceAllocs), "the other may still show a race")
}

// A test that was not run, because those before it used up the time, has not failed.
func TestRaceOfATestThatWasNotRun(t *testing.T) {
	w := racing(t)
	w.exercise.Checks[4].Race = []string{"TestAllocs"}
	w.Script[ofSubmission+" TestRatio"] = []sandboxtest.Answer{{Outcome: observed(1), Takes: timeBudget + time.Second}}
	r, err := w.grade(t)
	require.NoError(t, err)
	require.Equal(t, verdict.NotRun, r.Checks[1].Verdict)
	assert.Equal(t, "race not_run: not run with the race detector: TestAllocs was not run without it either, because the tests before it had used up the time", raceLine(r))
	assert.Empty(t, r.Checks[4].Cause)
	assert.Zero(t, w.count(raceAllocs))
}

// A race that is seen in a test that crashes is still told.
func TestRaceOfATestThatCrashes(t *testing.T) {
	w := racing(t)
	w.Script[ofSubmission+" TestRatio"] = answers(sandbox.Outcome{ExitCode: 2, Stderr: []byte("fatal error: all goroutines are asleep - deadlock!\n")})
	w.Script[raceRatio] = answers(sawRace("example.com/course/reference/gears/gears.go:3"))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.DataRace, r.Checks[4].Verdict)
	assert.Equal(t, "Share nothing.", r.Checks[4].Hint)
	assert.Equal(t, course.Idle, w.raced(t).Limits.Idle, "with the detector the runtime finds no deadlock")
}

// raced is the first request of a test with the race detector.
func (w *world) raced(t *testing.T) sandbox.Request {
	for _, b := range w.Boxes() {
		for _, q := range b.Requests() {
			if slices.ContainsFunc(q.Env, func(v string) bool { return strings.HasPrefix(v, "GORACE=") }) {
				return q
			}
		}
	}
	require.Fail(t, "no test was run with the race detector")
	return sandbox.Request{}
}

// Where the race detector cannot be had, the check costs no points, and the report says why.
func TestNoRaceDetector(t *testing.T) {
	w := racing(t)
	w.Preparing = func(p sandbox.Purpose) error {
		if p == sandbox.RaceBuild {
			return fmt.Errorf("make an image: %w: no gcc", sandbox.ErrNoRace)
		}
		return nil
	}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, "race waived: cannot be decided on the machine that graded: its points are given", raceLine(r))
	assert.Equal(t, 100, r.Score)
	assert.True(t, r.AllPoints(nil))
	require.Len(t, r.Warnings, 1)
	assert.Contains(t, r.Warnings[0], "no gcc")
	assert.Zero(t, w.count(raceBuilds))
	for _, b := range w.Boxes() {
		assert.NotEqual(t, sandbox.RaceBuild, b.Spec.Purpose)
	}
}

// A detector that ends a program without a race says nothing of the submission where it ends the
// reference's as well.
func TestDetectorCannotStart(t *testing.T) {
	dead := sandbox.Outcome{ExitCode: 66, Stderr: []byte("FATAL: ThreadSanitizer: unsupported VMA range\n")}
	w := racing(t)
	w.Script[raceRatio] = answers(dead)
	w.Script[raceReference] = answers(dead)
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, "race waived: cannot be decided on the machine that graded: its points are given", raceLine(r))
	require.Len(t, r.Warnings, 1)
	assert.Contains(t, r.Warnings[0], "it ends the reference as well")

	w.Script[raceReference] = answers(observed(1))
	r, err = w.grade(t)
	require.NoError(t, err)
	assert.Contains(t, raceLine(r), "race runtime_error: no data race was seen, but TestRatio failed")

	for _, request := range []string{ofReference + " race build", raceReference} {
		was := w.Script[request]
		w.Script[request] = []sandboxtest.Answer{{Err: errEngine}}
		_, err = w.grade(t)
		assert.ErrorIs(t, err, errEngine, request)
		w.Script[request] = was
	}
}

// A fault of ours is an error.
func TestRaceFaults(t *testing.T) {
	broken := []sandboxtest.Answer{{Err: errEngine}}
	for _, request := range []string{raceBuilds, raceRatio} {
		w := racing(t)
		w.Script[request] = broken
		_, err := w.grade(t)
		assert.ErrorIs(t, err, errEngine, request)
	}
	w := racing(t)
	w.Preparing = func(p sandbox.Purpose) error {
		if p == sandbox.RaceRun {
			return errEngine
		}
		return nil
	}
	_, err := w.grade(t)
	assert.ErrorIs(t, err, errEngine)
	w = racing(t)
	w.Opening = func(_ int, s sandbox.Spec) error {
		if s.Purpose == sandbox.RaceRun {
			return errEngine
		}
		return nil
	}
	_, err = w.grade(t)
	assert.ErrorIs(t, err, errEngine)
	w = racing(t)
	w.Script[ofReference+" TestRatio"] = []sandboxtest.Answer{answers(observed(1))[0], broken[0]}
	_, err = w.grade(t)
	assert.True(t, errors.Is(err, errEngine), "the reference's run in the race check")
}

// What is raced is raced beside the measurements, and a mutant's program is built only if it
// has survived the tests.
func TestRaceBesideMeasuring(t *testing.T) {
	w := racing(t)
	w.Script[raceBuilds] = []sandboxtest.Answer{{Outcome: built("raced"), Takes: 500 * time.Millisecond}}
	w.Script[raceRatio] = []sandboxtest.Answer{{Outcome: observed(1), Takes: 500 * time.Millisecond}}
	slow := slices.Clone(w.Script[ofReference+" bench"])
	for i := range slow {
		slow[i].Takes = time.Second
	}
	w.Script[ofReference+" bench"] = slow
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, 1000.0, r.Phases.RaceMs)
	assert.GreaterOrEqual(t, r.Phases.MeasureMs, 2000.0)
	assert.Equal(t, r.Phases.MeasureMs, r.Phases.TotalMs, "nothing waits for the race")

	batch := racing(t)
	batch.Script, batch.options.Purpose = w.Script, ForBatch
	r, err = batch.grade(t)
	require.NoError(t, err)
	assert.Equal(t, 1000.0, r.Phases.RaceMs)
	assert.Equal(t, r.Phases.RaceMs+r.Phases.MeasureMs, r.Phases.TotalMs, "others use the CPUs meanwhile")

	w = racing(t)
	w.options = Options{Purpose: ForMutant}
	w.Script[ofSubmission+" TestRatio"] = answers(observed(2))
	r, err = w.grade(t)
	require.NoError(t, err)
	assert.Zero(t, w.count(raceBuilds), "a mutant that a test has killed")
	assert.Equal(t, verdict.NotRun, r.Checks[4].Verdict)
}

// A pass near the limit counts only in pairs beside which the submission's race program did not
// run. Those end before it begins, or are taken again when it has ended.
func TestNearBesideTheRace(t *testing.T) {
	const near, clear = 150 * time.Millisecond, 90 * time.Millisecond // 3 and 1.8 of the reference's, at a limit of 4
	for name, c := range map[string]struct {
		window        time.Duration
		builds, races time.Duration
		later         bool          // another benchmark comes first
		again         time.Duration // what the submission takes when it is measured again; 0: it is not
		speed         verdict.Verdict
	}{
		"a slow one":           {near, 0, time.Minute, false, 250 * time.Millisecond, verdict.TooSlow},
		"an honest one":        {near, 0, time.Minute, false, near, verdict.Passed},
		"one that is far away": {clear, 0, time.Minute, false, 0, verdict.Passed},
		"before the program":   {near, time.Minute, time.Second, false, 0, verdict.Passed},
		"after it":             {near, 0, 0, true, 0, verdict.Passed},
		"a program in between": {near, 1500 * time.Millisecond, time.Second, false, 250 * time.Millisecond, verdict.TooSlow},
	} {
		w := racing(t)
		if c.later {
			w.apart()
			w.Script[ofReference+" weigh"] = []sandboxtest.Answer{{Outcome: timed(50 * time.Millisecond), Takes: time.Second}}
		}
		w.Script[raceBuilds] = []sandboxtest.Answer{{Outcome: built("raced"), Takes: c.builds}}
		w.Script[raceRatio] = []sandboxtest.Answer{{Outcome: observed(1), Takes: c.races}}
		first := repeatedAnswers(10, []sandboxtest.Answer{{Outcome: timed(c.window), Takes: time.Second}})
		w.Script[ofSubmission+" bench"] = append(first, answers(timed(c.again))...)
		r, err := w.grade(t)
		require.NoError(t, err, name)
		assert.Equal(t, c.speed, r.Checks[2].Verdict, name)
		assert.Equal(t, c.again != 0, w.count(ofSubmission+" bench") > 10, name)
		told := slices.ContainsFunc(w.events, func(e Event) bool { return strings.Contains(e.Waiting, "race check") })
		assert.Equal(t, c.again != 0 && c.races == time.Minute, told, name)
	}
}

// Memory that was too much in pairs near the limit of speed stays so: it is not asked for again
// when the speed is.
func TestGreedyNearBesideTheRace(t *testing.T) {
	w := racing(t)
	w.Script[raceRatio] = []sandboxtest.Answer{{Outcome: observed(1), Takes: time.Minute}}
	fat := timed(150 * time.Millisecond)
	fat.Peak = 900 << 20
	first := repeatedAnswers(10, []sandboxtest.Answer{{Outcome: fat, Takes: time.Second}})
	w.Script[ofSubmission+" bench"] = append(first, answers(timed(150*time.Millisecond))...)
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Greater(t, w.count(ofSubmission+" bench"), 10)
	assert.Equal(t, verdict.Passed, r.Checks[2].Verdict)
	assert.Equal(t, verdict.TooMuchMemory, r.Checks[3].Verdict)

	slow := sandbox.Outcome{Cause: sandbox.CauseWall, Signal: 9, Wall: time.Hour, CPU: time.Hour}
	w = racing(t)
	w.Script[raceRatio] = []sandboxtest.Answer{{Outcome: observed(1), Takes: time.Minute}}
	w.Script[ofSubmission+" bench"] = append(first, answers(slow)...)
	r, err = w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.TooSlow, r.Checks[2].Verdict)
	assert.Equal(t, verdict.TooMuchMemory, r.Checks[3].Verdict)
}

// A submission that hangs in every test holds nobody up for long.
func TestRaceBudget(t *testing.T) {
	w := racing(t)
	w.Script[raceRatio] = []sandboxtest.Answer{{Outcome: observed(1), Takes: timeBudget + time.Second}}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.TimeLimit, r.Checks[4].Verdict)
	assert.Zero(t, w.count(raceAllocs))
}

// Half of a race is told too.
func TestRacedWords(t *testing.T) {
	one := lang.Access{Write: true, Place: verdict.Place{File: "a.go", Line: 7}}
	_, detail, places := tell(lang.Race{Accesses: []lang.Access{one}}, "TestX")
	assert.Contains(t, detail, "line 7 of a.go writes memory that another goroutine uses at the same time")
	assert.Equal(t, []verdict.Place{one.Place}, places)
}

// A build for the detector that fails without a reason is the submission's fault only where the
// reference's still succeeds.
func TestRaceBuildFails(t *testing.T) {
	w := racing(t)
	w.Script[raceBuilds] = answers(unbuilt("link: no space left on device\n"))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Contains(t, raceLine(r), "race missing: not run: to build this package for the race detector fails")

	w.Script[ofReference+" race build"] = answers(unbuilt("link: no space left on device\n"))
	_, err = w.grade(t)
	assert.ErrorContains(t, err, "the reference does not build for the race detector")
}
