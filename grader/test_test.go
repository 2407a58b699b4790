package grader

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

// A box that ends over a request is replaced; a program that ends three in a row has a
// verdict, and the next test finds a box again.
func TestBoxGone(t *testing.T) {
	for name, c := range map[string]struct {
		gone    int
		verdict verdict.Verdict
		boxes   int // of the submission
	}{
		"once":        {1, verdict.Passed, 2},
		"twice":       {2, verdict.Passed, 3},
		"three times": {3, verdict.RuntimeError, 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var script []sandboxtest.Answer
			for range c.gone {
				script = append(script, gone())
			}
			w.Script["submission TestRatio"] = append(script, answers(observed(1))...)
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.verdict, r.Checks[0].Verdict)
			assert.Equal(t, verdict.Passed, r.Checks[1].Verdict)
			assert.Len(t, w.running(ofSubmission), c.boxes)
		})
	}
	w := newWorld(t)
	w.Script["submission TestRatio"] = []sandboxtest.Answer{gone()}
	w.Opening = onRun(func(n int) error { return map[int]error{3: errEngine}[n] })
	_, err := w.grade(t)
	assert.ErrorContains(t, err, "open a box in place of one that ended: the engine does not answer", "no new one can be had: it is not the program")
}

// running lists the boxes that a program ran in, or was about to.
func (w *world) running(program string) (list []*sandboxtest.Box) {
	for _, b := range w.Boxes() {
		if string(b.File("hidden.test")) == program {
			list = append(list, b)
		}
	}
	return list
}

// A new box gets the program once, and stays where the one before it was pinned.
func TestNewBox(t *testing.T) {
	w := newWorld(t)
	w.Script["submission bench"] = append([]sandboxtest.Answer{gone()}, answers(timed(50*time.Millisecond))...)
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, 100, r.Score)
	first, second := w.running(ofSubmission)[0], w.running(ofSubmission)[1]
	assert.Equal(t, first.Pinned()[len(first.Pinned())-1:], second.Pinned())
	assert.Equal(t, 1, first.Closed())
	sent := 0
	for i, q := range second.Requests() {
		sent += len(q.Files)
		assert.Equal(t, i == 0, len(q.Files) == 1)
		assert.Contains(t, q.Env, "TMPDIR=/scratch")
	}
	assert.Equal(t, 1, sent)
}

// Tests that take longer together than a minute and twenty times the reference's time
// are not run any more; what was decided stands.
func TestTimeBudget(t *testing.T) {
	slow := func(takes time.Duration) []sandboxtest.Answer {
		o := observed(1)
		o.Wall = takes
		return []sandboxtest.Answer{{Outcome: o, Takes: takes}}
	}
	for name, c := range map[string]struct {
		submission, reference time.Duration
		want                  verdict.Verdict // of the second test
	}{
		"within":                     {60 * time.Second, 0, verdict.Passed},
		"exceeded":                   {61 * time.Second, 0, verdict.NotRun},
		"within, as the reference":   {80 * time.Second, time.Second, verdict.Passed},
		"exceeded, to the reference": {81 * time.Second, time.Second, verdict.NotRun},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Script["submission TestRatio"], w.Script["reference TestRatio"] = slow(c.submission), slow(c.reference)
			w.options.Only = []verdict.Kind{verdict.Correctness}
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, verdict.Passed, r.Checks[0].Verdict)
			assert.Equal(t, c.want, r.Checks[1].Verdict)
			if c.want == verdict.NotRun {
				assert.Equal(t, "not run: the tests before it used up the time that all tests together may take. Mend those that took longest", r.Checks[1].Detail)
				assert.Equal(t, 60, r.Score)
				assert.Equal(t, 63, r.MaxScore, "it was asked for")
			}
		})
	}
}

// On a machine so slow that the reference comes near the exercise's limits, which are 10 s
// of CPU time and a minute here, a submission has ten times the reference's time.
func TestLimitsOnASlowMachine(t *testing.T) {
	for name, c := range map[string]struct {
		reference, ended sandbox.Outcome
		runs             int
		cpu, wall        time.Duration // of the last run
	}{
		"slow":               {observedIn(2*time.Second, time.Second), sandbox.Outcome{Cause: sandbox.CauseCPU}, 2, 20 * time.Second, time.Minute},
		"slow, waits":        {observedIn(ms, 7*time.Second), sandbox.Outcome{Cause: sandbox.CauseWall}, 2, 10 * time.Second, 70 * time.Second},
		"slow, idle":         {observedIn(ms, 7*time.Second), sandbox.Outcome{Cause: sandbox.CauseIdle}, 2, 10 * time.Second, 70 * time.Second},
		"quick":              {observedIn(time.Second, 6*time.Second), sandbox.Outcome{Cause: sandbox.CauseCPU}, 1, 10 * time.Second, time.Minute},
		"slow, other limits": {observedIn(2*time.Second, time.Second), sandbox.Outcome{Cause: sandbox.CauseMemory}, 1, 10 * time.Second, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Script["reference TestRatio"], w.Script["submission TestRatio"] = answers(c.reference), answers(c.ended, observed(1))
			w.options.Only, w.options.Checks = []verdict.Kind{verdict.Correctness}, []string{"TestRatio"}
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.runs, w.count("submission TestRatio"))
			assert.Equal(t, c.runs == 2, r.Checks[0].Verdict == verdict.Passed, r.Checks[0].Detail)
			got := last(w.running(ofSubmission)).Limits
			assert.Equal(t, []time.Duration{c.cpu, c.wall}, []time.Duration{got.CPU, got.Wall})
			if c.ended.Cause == sandbox.CauseIdle {
				assert.Equal(t, c.wall, got.Idle)
			}
		})
	}
}

// observedIn is observed(1), after so much CPU and wall time.
func observedIn(cpu, wall time.Duration) sandbox.Outcome {
	o := observed(1)
	o.CPU, o.Wall = cpu, wall
	return o
}

// Measuring has a budget of its own, which tests do not use up.
func TestTimeBudgetOfMeasuring(t *testing.T) {
	w := newWorld(t)
	w.Script["submission TestRatio"] = []sandboxtest.Answer{{Outcome: observed(1), Takes: 59 * time.Second}}
	w.Script["submission bench"] = []sandboxtest.Answer{{Outcome: stopped(4 * time.Second), Takes: 63 * time.Second}} // once more, which is free
	w.options.Purpose = ForBatch
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.TooSlow, r.Checks[2].Verdict)
	assert.Equal(t, verdict.NotRun, r.Checks[3].Verdict)
	assert.Equal(t, "not run: the measurements before it used up the time that all together may take. Mend those that took longest", r.Checks[3].Detail)
}

// A mutant's grading ends at the first test that is not passed.
func TestStopEarly(t *testing.T) {
	for purpose, tests := range map[Purpose]int{ForStudent: 1, ForBatch: 1, ForMutant: 0} {
		w := newWorld(t)
		w.Script["submission TestRatio"] = answers(observed(2))
		w.options.Purpose, w.options.Only = purpose, []verdict.Kind{verdict.Correctness}
		r, err := w.grade(t)
		require.NoError(t, err)
		assert.Equal(t, tests, w.count("submission TestAllocs"), purpose)
		assert.Equal(t, tests == 0, r.Checks[1].Verdict == verdict.NotRun, purpose)
	}
}

// The reference's side does not run what the submission's no longer waits for.
func TestEnoughReferences(t *testing.T) {
	w := newWorld(t)
	w.Script["submission TestRatio"] = answers(observed(2))
	w.Script["reference TestAllocs"] = []sandboxtest.Answer{{Outcome: selfReported(0), Takes: time.Second}}
	w.options.Purpose, w.options.Only, w.options.Repeat = ForMutant, []verdict.Kind{verdict.Correctness}, 5
	_, err := w.grade(t)
	require.NoError(t, err)
	assert.Less(t, w.count("reference TestAllocs"), 5)
}

// A test that runs several times counts by the first run that is not passed, and each
// run has inputs of its own, the same on both sides.
func TestRepeat(t *testing.T) {
	w := newWorld(t)
	w.Script["submission TestRatio"] = answers(observed(1), observed(2), observed(1))
	w.options.Repeat, w.options.Only = 3, []verdict.Kind{verdict.Correctness}
	heard := map[string]int{}
	runSeeds := map[string]verdict.Verdict{}
	w.options.Judged = func(run Run) {
		heard[run.Check.Name]++
		if run.Check.Name == "TestRatio" {
			runSeeds[run.Seed] = run.Verdict
		}
	}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, []verdict.Verdict{verdict.WrongAnswer, verdict.Passed}, []verdict.Verdict{r.Checks[0].Verdict, r.Checks[1].Verdict})
	assert.Equal(t, map[string]int{"TestRatio": 3, "TestAllocs": 3}, heard)
	seeds := w.seeds(ofSubmission)
	assert.Equal(t, seeds, w.seeds(ofReference))
	assert.Len(t, seeds, 6)
	seen := map[string]bool{}
	for _, s := range seeds {
		assert.False(t, seen[s], "two runs have the same inputs")
		assert.Len(t, s, 64)
		seen[s] = true
	}
	// The seed of a round repeats it: its test gets the same inputs again.
	assert.Len(t, runSeeds, 3)
	assert.Equal(t, verdict.Passed, runSeeds[r.Seed], "the first round has the grading's own seed")
	for seed, v := range runSeeds {
		if v != verdict.WrongAnswer {
			continue
		}
		w = newWorld(t)
		w.options.Seed, w.options.Only = seed, []verdict.Kind{verdict.Correctness}
		_, err = w.grade(t)
		require.NoError(t, err)
		assert.Equal(t, seeds[2:4], w.seeds(ofSubmission))
	}
}

// What one test's failure excuses in another is a matter of one seed: a failure in one
// round excuses nothing in the next.
func TestExcusedByRound(t *testing.T) {
	w := needing(t)
	w.Script["submission TestAllocs"] = answers(selfReported(9), selfReported(0))
	w.options.Repeat, w.options.Only = 2, []verdict.Kind{verdict.Correctness}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.WrongAnswer, r.Checks[0].Verdict, "in the second round, in which TestAllocs is passed")
	assert.Equal(t, verdict.WrongAnswer, r.Checks[1].Verdict)
}

// seeds are those of the tests that a program ran.
func (w *world) seeds(program string) (list []string) {
	for _, b := range w.running(program) {
		for _, q := range b.Requests() {
			for _, e := range q.Env {
				if s, ok := strings.CutPrefix(e, "GRADE_SEED="); ok && s != "" {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

// One seed gives the same inputs again; without one they are fresh.
func TestSeed(t *testing.T) {
	seeds := func(seed string) ([]string, string) {
		w := newWorld(t)
		w.options.Seed = seed
		r, err := w.grade(t)
		require.NoError(t, err)
		return w.seeds(ofSubmission), r.Seed
	}
	first, seed := seeds("")
	again, _ := seeds(seed)
	other, _ := seeds("")
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, other)
}

// Submissions that are given one seed are compared with the same runs of the reference; each
// with a fresh one has its own.
func TestReferenceAnswersOnce(t *testing.T) {
	w := newWorld(t)
	w.options.Only = []verdict.Kind{verdict.Correctness}
	synctest.Test(t, func(t *testing.T) {
		g := New(w.Sandbox, w.config)
		defer g.Close()
		asked := func(seed string) int {
			before := len(w.seeds(ofReference))
			w.options.Seed = seed
			r, err := g.Grade(t.Context(), w.snapshot, w.exercise, w.options)
			require.NoError(t, err)
			require.Equal(t, r.MaxScore, r.Score)
			return len(w.seeds(ofReference)) - before
		}
		one := NewSeed()
		assert.Equal(t, 2, asked(one), "two tests")
		assert.Equal(t, 0, asked(one))
		assert.Equal(t, 2, asked(NewSeed()))
		assert.Equal(t, 2, asked(""))
		assert.Equal(t, 2, asked(""))
	})
}

// The boxes have the exercise's limits, and CPUs besides the reserved one once it is
// known how many there are. The reference's box serves the next grading of the exercise.
func TestBoxes(t *testing.T) {
	w := newWorld(t)
	w.options.Only = []verdict.Kind{verdict.Correctness}
	w.config.Boxes.ReserveFrom, w.CPUs = 3, []int{0, 1, 2}
	synctest.Test(t, func(t *testing.T) {
		g := New(w.Sandbox, w.config)
		for range 3 {
			_, err := g.Grade(t.Context(), w.snapshot, w.exercise, w.options)
			require.NoError(t, err)
		}
		assert.Equal(t, 1, w.Open(), "the reference's box waits")
		other := *w.exercise
		other.Hash = "another"
		_, err := g.Grade(t.Context(), w.snapshot, &other, w.options)
		require.NoError(t, err)
		assert.Equal(t, 2, w.Open())
		g.Close()
	})
	assert.Zero(t, w.Open())
	var cpus []string
	for _, b := range w.running(ofReference) {
		l := w.exercise.Limits
		assert.Equal(t, []int64{l.Memory, l.Scratch, 256}, []int64{b.Spec.Memory, b.Spec.Scratch, int64(b.Spec.Pids)})
		cpus = append(cpus, strconv.Itoa(len(b.Spec.CPUs)))
	}
	// The first box may use all CPUs, and is closed for a new one that leaves one alone.
	assert.Equal(t, []string{"0", "2", "2"}, cpus)
	assert.Equal(t, 4, w.count("submission build"))
	assert.Equal(t, 3, w.count("reference build"), "it is in the box that waited")
	var builders []int
	for _, b := range w.Boxes() {
		if b.Spec.Purpose == sandbox.Build {
			builders = append(builders, len(b.Spec.CPUs))
		}
	}
	require.Len(t, builders, 7)
	assert.Zero(t, builders[0], "how many CPUs there are is not known yet")
	assert.Equal(t, []int{2, 2, 2, 2, 2}, builders[2:], "a build leaves the reserved CPU alone")
	assert.Len(t, w.running(ofSubmission), 4, "a submission's box serves one grading")
	for _, b := range w.Boxes() {
		assert.Equal(t, 1, b.Closed())
	}
}

// A box of the reference that saw an error of ours does not serve another grading.
func TestNoBoxAfterAnError(t *testing.T) {
	w := newWorld(t)
	w.options.Only = []verdict.Kind{verdict.Correctness}
	w.Script["submission TestAllocs"] = []sandboxtest.Answer{{Err: errEngine}}
	synctest.Test(t, func(t *testing.T) {
		g := New(w.Sandbox, w.config)
		defer g.Close()
		_, err := g.Grade(t.Context(), w.snapshot, w.exercise, w.options)
		require.ErrorIs(t, err, errEngine)
		assert.Zero(t, w.Open())
	})
}

// Phases begin and end in order, a check is told in the phase that decided it, and a
// wait says what for. One event comes after another.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	w.Script["submission TestAllocs"] = answers(selfReported(1))
	_, err := w.grade(t)
	require.NoError(t, err)
	var got []string
	for _, e := range w.events {
		switch {
		case e.Check != nil:
			got = append(got, string(e.Phase)+": "+e.Check.Name+" "+string(e.Check.Verdict)+" "+strconv.Itoa(e.Check.Points)+", "+strconv.Itoa(e.Decided)+" of "+strconv.Itoa(e.Total))
		case e.Done:
			got = append(got, string(e.Phase)+" is over")
		default:
			got = append(got, string(e.Phase)+" begins")
		}
	}
	starts := []string{}
	got = slices.DeleteFunc(got, func(line string) bool { // building and starting overlap
		if strings.HasPrefix(line, "start") {
			starts = append(starts, line)
			return true
		}
		return false
	})
	assert.Equal(t, []string{"start begins", "start is over"}, starts)
	assert.Equal(t, []string{
		"vet begins", "vet is over", "build begins", "build is over",
		"test begins", "test: TestRatio passed 60, 1 of 4", "test: TestAllocs wrong_answer 0, 2 of 4", "test is over",
		"measure begins", "measure: BenchmarkTrain/speed passed 27, 3 of 4", "measure: BenchmarkTrain/memory passed 10, 4 of 4", "measure is over",
	}, got)
}

// The times of a result are those of its phases.
func TestPhaseTimes(t *testing.T) {
	w := newWorld(t)
	w.snapshot.Took = 3 * time.Millisecond
	for request, takes := range map[string]time.Duration{"submission build": 2 * time.Second, "submission TestRatio": 5 * time.Second, "reference bench": 7 * time.Second} {
		for i := range w.Script[request] {
			w.Script[request][i].Takes = takes
		}
	}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.Phases{SnapshotMs: 3, BuildMs: 2000, TestMs: 5000, MeasureMs: 14_000, TotalMs: 21_000}, r.Phases)
}

// A submission whose own box takes long to open is not blamed for it.
func TestOutcomeOfSlowStart(t *testing.T) {
	w := newWorld(t)
	w.Script["submission start"] = []sandboxtest.Answer{{Outcome: sandbox.Outcome{}, Takes: time.Hour}}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, 100, r.Score)
}
