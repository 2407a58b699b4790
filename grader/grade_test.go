package grader

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

var allPassed = []string{"graded 100/100", "TestRatio passed", "TestAllocs passed", "BenchmarkTrain/speed passed", "BenchmarkTrain/memory passed"}

// A submission as good as the reference has all points, and a result that says how.
func TestGradeAllPoints(t *testing.T) {
	w := newWorld(t)
	w.options.Seed = strings.Repeat("ab", 32)
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, allPassed, lines(r))
	assert.Equal(t, verdict.Submission{Dir: "/home/ada/gears", Hash: w.snapshot.Hash, Files: []string{"gears.go"}, Ignored: []string{}}, r.Submission)
	assert.Equal(t, verdict.SandboxInfo{Kind: "docker", Official: true}, r.Sandbox)
	assert.Equal(t, []string{verdict.Schema, "gears", w.exercise.Hash, "v1", "go1", w.options.Seed},
		[]string{r.Schema, r.Exercise, r.ExerciseHash, r.GraderVersion, r.Toolchain, r.Seed})
	assert.Empty(t, r.Warnings)
	assert.NotNil(t, r.Warnings, "JSON has a list")
	assert.NotNil(t, r.Problems, "JSON has a list")
	speed, memory := r.Checks[2], r.Checks[3]
	assert.InDelta(t, 1, *speed.Ratio, 1e-9)
	assert.InDelta(t, 50, speed.Submission.CPUMs, 1e-9, "the median window, and not the process")
	assert.Equal(t, 2, speed.Submission.Runs)
	assert.InDelta(t, 1, *memory.Ratio, 1e-9)
	assert.Equal(t, 2, memory.Reference.Runs, "of the same runs")
	for i, c := range r.Checks {
		assert.Equal(t, w.exercise.Checks[i].Points, c.Points)
		assert.Equal(t, i >= 2, c.Limit != nil, "only what is measured has a limit")
	}
}

// A grade from a sandbox that contains nothing hostile says so.
func TestGradeUnofficial(t *testing.T) {
	w := newWorld(t)
	w.SandboxInfo.Official = false
	r, err := w.grade(t)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	assert.Contains(t, r.Warnings[0], "unofficial")
}

// Endings of the submission's making: a verdict, whatever it does.
func TestGradeVerdicts(t *testing.T) {
	crash := sandbox.Outcome{ExitCode: 2, Stderr: []byte("panic: runtime error: integer divide by zero\n")}
	all := func(verdict, detail string) (list []string) {
		list = append(list, "graded 0/100")
		for _, c := range []string{"TestRatio", "TestAllocs", "BenchmarkTrain/speed", "BenchmarkTrain/memory"} {
			list = append(list, c+" "+verdict+": "+detail)
		}
		return list
	}
	refused := func(verdict string) []string {
		return []string{verdict + " 0/100", "TestRatio not_run", "TestAllocs not_run", "BenchmarkTrain/speed not_run", "BenchmarkTrain/memory not_run"}
	}
	replaced := func(i int, line, total string) []string {
		list := slices.Clone(allPassed)
		list[0], list[i] = "graded "+total+"/100", line
		return list
	}
	for name, c := range map[string]struct {
		source  string
		change  map[string][]sandboxtest.Answer
		want    []string
		problem string
	}{
		"it is refused by reading": {source: "package gears\n\nimport \"unsafe\"\n", want: refused("invalid"), problem: "gears.go:3 import"},
		"it does not parse":        {source: "package gears\n\nfunc {\n", want: refused("compile_error"), problem: "gears.go:3 syntax"},
		"it is refused in the build": {want: refused("invalid"), problem: "gears.go:7 unsafe", change: map[string][]sandboxtest.Answer{
			"submission build": answers(sandbox.Outcome{ExitCode: 1, Files: []sandbox.File{{Name: "vet.report", Data: []byte("gears.go:7\tunsafe\tno\n")}}}),
		}},
		"it does not compile": {want: refused("compile_error"), problem: "gears.go:3 compile", change: map[string][]sandboxtest.Answer{
			"submission build": answers(unbuilt("reference/gears/gears.go:3:2: undefined: x\n")),
		}},
		"its build takes too much memory": {want: refused("compile_error"), problem: "gears.go:0 build-limit", change: map[string][]sandboxtest.Answer{
			"submission build": answers(sandbox.Outcome{ExitCode: 1, OOMKills: 1}),
		}},
		"its build takes too much CPU time": {want: refused("compile_error"), problem: "gears.go:0 build-limit", change: map[string][]sandboxtest.Answer{
			"submission build": answers(sandbox.Outcome{Signal: 9, Cause: sandbox.CauseCPU}), // a second build would find no answer
		}},
		"its build takes too long": {want: refused("compile_error"), problem: "gears.go:0 build-limit", change: map[string][]sandboxtest.Answer{
			"submission build": answers(sandbox.Outcome{Signal: 9, Cause: sandbox.CauseWall, BoxCPU: 50 * time.Second}),
		}},
		"its build prints too much": {want: refused("compile_error"), problem: "gears.go:0 build-limit", change: map[string][]sandboxtest.Answer{
			"submission build": answers(sandbox.Outcome{Signal: 9, Cause: sandbox.CauseStderr}),
		}},
		"its program is too large": {want: refused("compile_error"), problem: "gears.go:0 build-limit", change: map[string][]sandboxtest.Answer{
			"submission build": answers(sandbox.Outcome{Files: []sandbox.File{{Name: "vet.report"}}}),
		}},
		"it crashes at its start": {
			want:   all("runtime_error", "before any test began, in the package's own initialisation: panic: integer division by zero"),
			change: map[string][]sandboxtest.Answer{"submission start": answers(crash)},
		},
		"it hangs at its start": {
			want:   all("time_limit", "before any test began, in the package's own initialisation: exceeded its limit on wall time"),
			change: map[string][]sandboxtest.Answer{"submission start": answers(sandbox.Outcome{Cause: sandbox.CauseWall, CPU: time.Second, Wall: time.Second})},
		},
		"it gives a wrong answer": {
			want:   replaced(1, `TestRatio wrong_answer: the value differs from what is expected: "x" (value differs)`, "40"),
			change: map[string][]sandboxtest.Answer{"submission TestRatio": answers(observed(2))},
		},
		"it leaves early": {
			want:   replaced(2, "TestAllocs missing: the program ended before the test did, before the test observed anything", "97"),
			change: map[string][]sandboxtest.Answer{"submission TestAllocs": answers(sandbox.Outcome{Observations: []byte(wire.Magic)})},
		},
		"it crashes in a benchmark": {
			want: append(replaced(3, "BenchmarkTrain/speed runtime_error: panic: integer division by zero, before the test observed anything", "63")[:4],
				"BenchmarkTrain/memory runtime_error: panic: integer division by zero, before the test observed anything"),
			change: map[string][]sandboxtest.Answer{"submission bench": answers(crash)},
		},
		"it forges the marks of a window": {
			want: replaced(3, "BenchmarkTrain/speed missing: the measured window is not marked by exactly two marks in order", "73"),
			change: map[string][]sandboxtest.Answer{"submission bench": answers(func() sandbox.Outcome {
				o := timed(time.Millisecond)
				o.Marks = o.Marks[:1]
				return o
			}())},
		},
		"it is too slow": {
			want:   replaced(3, "BenchmarkTrain/speed too_slow: took 10 times the reference's CPU time for the same work, where 4 times is allowed; look for work that is done again and again and need not be: a search, a copy, an allocation inside a loop", "73"),
			change: map[string][]sandboxtest.Answer{"submission bench": answers(timed(500 * time.Millisecond))},
		},
		"it is too greedy": {
			want:   replaced(4, "BenchmarkTrain/memory too_much_memory: held up to 3.22 times as much memory as the reference for the same work, where 1.5 times is allowed; look for what is copied, or kept longer than it is needed", "90"),
			change: map[string][]sandboxtest.Answer{"submission bench": answers(peaked(300 << 20))},
		},
		"it is killed for its memory": {
			want: append(replaced(3, "BenchmarkTrain/speed memory_limit: exceeded its memory limit", "63")[:4],
				"BenchmarkTrain/memory memory_limit: exceeded its memory limit"),
			change: map[string][]sandboxtest.Answer{"submission bench": answers(sandbox.Outcome{OOMKills: 1})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.source != "" {
				w.snapshot = submission.Of("dir", []submission.File{{Name: "gears.go", Data: []byte(c.source)}})
			}
			maps.Copy(w.Script, c.change)
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, lines(r))
			if c.problem != "" {
				require.NotEmpty(t, r.Problems)
				p := r.Problems[0]
				assert.Equal(t, c.problem, p.File+":"+string(rune('0'+p.Line))+" "+p.Rule)
			}
		})
	}
}

// Endings of our making: an error, and no verdict. Only the exercise's own are its
// author's to mend.
func TestGradeErrors(t *testing.T) {
	const author, ours = true, false
	for name, c := range map[string]struct {
		change  func(w *world)
		authors bool
		want    string
	}{
		"the reference does not build": {func(w *world) { w.Script["reference build"] = answers(unbuilt("oh")) }, author, "the reference does not build with the hidden tests"},
		"both do not build": {func(w *world) {
			w.Script["reference build"], w.Script["submission build"] = answers(unbuilt("oh")), answers(unbuilt("oh"))
		}, author, "the reference does not build"},
		"the reference does not start": {func(w *world) { w.Script["reference start"] = answers(sandbox.Outcome{Signal: 11}) }, author, "the reference does not start (status 0, signal 11)"},
		"both do not start": {func(w *world) {
			w.Script["reference start"], w.Script["submission start"] = answers(sandbox.Outcome{Signal: 11}), answers(sandbox.Outcome{Signal: 11})
		}, author, "the reference does not start"},
		"the reference fails a test": {func(w *world) { w.Script["reference TestRatio"] = answers(sandbox.Outcome{ExitCode: 1}) }, author, "exercise gears: judge TestRatio"},
		"the reference fails a benchmark": {func(w *world) { w.Script["reference bench"] = answers(sandbox.Outcome{OOMKills: 1}) }, author,
			"exercise gears: measure BenchmarkTrain: judge BenchmarkTrain/speed"},
		"the reference's window is too short": {func(w *world) { w.Script["reference bench"] = answers(timed(time.Millisecond)) }, author, "enlarge the workload"},
		"the reference's window is not marked": {func(w *world) {
			o := timed(50 * time.Millisecond)
			o.Marks = nil
			w.Script["reference bench"] = answers(o)
		}, author, "time the reference"},
		"the reference cannot be asked of a student": {func(w *world) {
			w.exercise.Reference = []course.File{{Name: "gears.go", Data: []byte("package gears\nfunc {")}}
		}, author, "exercise gears"},

		"the vet did not see the package": {func(w *world) { w.Script["submission build"] = answers(sandbox.Outcome{Files: built("p").Files[:1]}) }, ours, "the typed vet wrote no report"},
		"the vet's report cannot be read": {func(w *world) {
			w.Script["submission build"] = answers(sandbox.Outcome{Files: []sandbox.File{{Name: "vet.report", Data: []byte("?\n")}}})
		}, ours, "vet"},
		"nothing can be prepared":                   {func(w *world) { w.Preparing = func(sandbox.Purpose) error { return errEngine } }, ours, errEngine.Error()},
		"no builder can be had":                     {func(w *world) { w.Opening = func(int, sandbox.Spec) error { return errEngine } }, ours, errEngine.Error()},
		"no box can be had":                         {func(w *world) { w.Opening = onRun(func(int) error { return errEngine }) }, ours, errEngine.Error()},
		"the second box cannot be had":              {func(w *world) { w.Opening = onRun(func(n int) error { return map[int]error{2: errEngine}[n] }) }, ours, errEngine.Error()},
		"a builder is gone":                         {func(w *world) { w.Script["submission build"] = []sandboxtest.Answer{gone()} }, ours, "build: run: the box is gone"},
		"the engine goes at the submission's start": {func(w *world) { w.Script["submission start"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, errEngine.Error()},
		"the engine goes at the reference's start":  {func(w *world) { w.Script["reference start"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, errEngine.Error()},
		"the engine goes in a test":                 {func(w *world) { w.Script["submission TestRatio"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, "run TestRatio: the engine does not answer"},
		"the engine goes in a test of the reference's": {func(w *world) { w.Script["reference TestAllocs"] = []sandboxtest.Answer{{Err: errEngine}} }, ours,
			"run the reference in TestAllocs: the engine does not answer"},
		"the engine goes in a measurement": {func(w *world) { w.Script["submission bench"] = []sandboxtest.Answer{{Err: errEngine}} }, ours,
			"exercise gears: measure BenchmarkTrain: the engine does not answer"},
		"peaks come from two sources": {func(w *world) {
			o := peaked(1 << 20)
			o.PeakSource = sandbox.SourceWatchdog
			w.Script["submission bench"] = answers(o)
		}, ours, "peaks from two sources"},
		"a box cannot be pinned": {func(w *world) { w.Pinning = func(*sandboxtest.Box, int) error { return errEngine } }, ours, errEngine.Error()},
		"a box cannot be pinned to be timed": {func(w *world) {
			w.Pinning = func(_ *sandboxtest.Box, cpu int) error { return map[int]error{1: errEngine}[cpu] }
		}, ours, errEngine.Error()},
		"there is no CPU":                                 {func(w *world) { w.CPUs = nil }, ours, "share no CPU"},
		"there is no CPU to be timed on":                  {func(w *world) { w.CPUs, w.options.Only = nil, []verdict.Kind{verdict.Speed} }, ours, "share no CPU"},
		"the engine goes in the reference's peak":         {func(w *world) { w.Script["reference bench"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, errEngine.Error()},
		"the engine goes in the submission's peak":        {func(w *world) { w.Script["submission bench"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, errEngine.Error()},
		"the engine goes in the reference's first window": {func(w *world) { w.Script["reference bench"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, errEngine.Error()},
		"the engine goes in the reference's second window": {func(w *world) {
			w.Script["reference bench"] = append(answers(timed(50*time.Millisecond)), sandboxtest.Answer{Err: errEngine})
		}, ours, errEngine.Error()},
		"the engine goes in the reference's build": {func(w *world) { w.Script["reference build"] = []sandboxtest.Answer{{Err: errEngine}} }, ours, errEngine.Error()},
		"the engine goes in a build that is kept": {func(w *world) {
			w.config.CacheDir = w.dir
			w.Script["reference build"] = []sandboxtest.Answer{{Err: errEngine}}
		}, ours, errEngine.Error()},
		"a cause is unknown": {func(w *world) { w.Script["submission TestRatio"] = answers(sandbox.Outcome{Cause: 99}) }, ours, "unknown cause"},
		"a seed is none":     {func(w *world) { w.options.Seed = "abc" }, ours, "64 hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			_, err := w.grade(t)
			require.ErrorContains(t, err, c.want)
			if c.authors {
				assert.ErrorIs(t, err, fault.ErrExercise)
			} else {
				assert.NotErrorIs(t, err, fault.ErrExercise)
			}
		})
	}
}

// One check alone crashes at the start as all do.
func TestOneCheckCrashes(t *testing.T) {
	w := newWorld(t)
	w.options.Checks = []string{"TestRatio"}
	w.Script["submission start"] = answers(sandbox.Outcome{Signal: 9})
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.RuntimeError, r.Checks[0].Verdict)
	assert.Zero(t, w.count("submission TestRatio"))
}

// Both kinds of box are prepared, and a fault of the first is told.
func TestPrepare(t *testing.T) {
	w := newWorld(t)
	var prepared []sandbox.Purpose
	w.Preparing = func(p sandbox.Purpose) error {
		prepared = append(prepared, p)
		return nil
	}
	info, err := New(w.Sandbox, w.config).Prepare(t.Context())
	require.NoError(t, err)
	assert.Equal(t, w.SandboxInfo, info)
	assert.Equal(t, []sandbox.Purpose{sandbox.Build, sandbox.Run}, prepared)
	w.Preparing = func(sandbox.Purpose) error { return errEngine }
	_, err = New(w.Sandbox, w.config).Prepare(t.Context())
	assert.ErrorIs(t, err, errEngine)
}

// onRun asks for the nth box to run programs in.
func onRun(opening func(n int) error) func(int, sandbox.Spec) error {
	n := 0
	return func(_ int, s sandbox.Spec) error {
		if s.Purpose != sandbox.Run {
			return nil
		}
		n++
		return opening(n)
	}
}

// Why a grading was given up is what its error says, and nothing of it goes on.
func TestGradeGivenUp(t *testing.T) {
	w := newWorld(t)
	w.Script["submission TestRatio"] = []sandboxtest.Answer{{Takes: time.Hour}}
	w.Script["reference TestRatio"] = []sandboxtest.Answer{{Takes: time.Hour}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errEngine)
		defer cancel()
		g := New(w.Sandbox, w.config)
		defer g.Close()
		started := time.Now()
		_, err := g.Grade(ctx, w.snapshot, w.exercise, w.options)
		assert.Equal(t, errEngine, err)
		assert.Equal(t, time.Minute, time.Since(started))
	})
	assert.Zero(t, w.Open())
}

// A build that fails for no reason in the submission's files is looked at once more,
// beside a reference that is compiled anew.
func TestSecondLook(t *testing.T) {
	for name, c := range map[string]struct {
		submission []sandbox.Outcome
		reference  []sandbox.Outcome
		want       string
		err        string
	}{
		"it was a hiccup":                 {submission: []sandbox.Outcome{unbuilt("signal: killed\n"), built(ofSubmission)}, want: "graded"},
		"it fails again":                  {submission: []sandbox.Outcome{unbuilt("signal: killed\n")}, want: "compile_error"},
		"it fails again, with a reason":   {submission: []sandbox.Outcome{unbuilt("signal: killed\n"), unbuilt("reference/gears/gears.go:3:2: undefined: x\n")}, want: "compile_error"},
		"the reference fails as well now": {submission: []sandbox.Outcome{unbuilt("signal: killed\n")}, reference: []sandbox.Outcome{built(ofReference), unbuilt("signal: killed\n")}, err: "the reference does not build"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Script["submission build"] = answers(c.submission...)
			if c.reference != nil {
				w.Script["reference build"] = answers(c.reference...)
			}
			r, err := w.grade(t)
			assert.Equal(t, 2, w.count("reference build"))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.Equal(t, 1, w.count("submission build"))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, string(r.Verdict))
			assert.Equal(t, 2, w.count("submission build"))
			if c.want == "compile_error" {
				require.NotEmpty(t, r.Problems)
				assert.Equal(t, "compile", r.Problems[0].Rule)
			}
		})
	}
}

// A refusal in the build ends the grading though the boxes are still opening, and ends what
// the reference has begun; nothing of the submission's is run.
func TestRefusalEndsTheOpening(t *testing.T) {
	w := newWorld(t)
	w.Script["submission build"] = answers(unbuilt("reference/gears/gears.go:3:2: undefined: x\n"))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.CompileError, r.Verdict)
	for _, request := range w.Log() {
		if !strings.HasPrefix(request, "reference") {
			assert.Contains(t, request, "build")
		}
	}
}

// A compiled reference is kept, by everything that it is made of.
func TestReferenceIsKept(t *testing.T) {
	dir := t.TempDir()
	builds := func(change func(w *world)) int {
		w := newWorld(t)
		w.config.CacheDir = dir
		change(w)
		r, err := w.grade(t)
		require.NoError(t, err)
		assert.Equal(t, 100, r.Score)
		return w.count("reference build")
	}
	assert.Equal(t, 1, builds(func(*world) {}))
	assert.Equal(t, 0, builds(func(*world) {}))
	assert.Equal(t, 1, builds(func(w *world) { w.SandboxInfo.Build = "another image" }))
	assert.Equal(t, 1, builds(func(w *world) { w.exercise.Hash = "another" }))
	assert.Equal(t, 0, builds(func(w *world) { w.SandboxInfo.Image = "another one to run in" }))
}

// A reference that cannot be kept, as on a full disk, is told of and costs no verdict.
func TestReferenceThatCannotBeKept(t *testing.T) {
	w := racing(t)
	recipe := built("reference")
	recipe.Files = append(recipe.Files, sandbox.File{Name: "recipe.json", Data: []byte("calls")})
	w.Script["reference race build"] = answers(recipe)
	w.config.CacheDir = filepath.Join(w.dir, "none")
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, 100, r.Score)
	require.Len(t, r.Warnings, 2)
	assert.Contains(t, r.Warnings[0], programSuffix+", and every grading has to compile it anew")
	assert.Contains(t, r.Warnings[1], raceSuffix)
	assert.NotContains(t, r.Warnings[0], w.dir, "a student reads it")
}

// Where the recipe cannot be kept, the program is not kept either: with it, no grading would
// make the recipe again.
func TestNoProgramWithoutItsRecipe(t *testing.T) {
	w := newWorld(t)
	w.config.CacheDir = w.dir
	reference := built("reference")
	reference.Files = append(reference.Files, sandbox.File{Name: "recipe.json", Data: []byte("calls")})
	w.Script["reference build"] = answers(reference)
	kept := New(w.Sandbox, w.config).kept(w.exercise)
	require.NoError(t, os.Mkdir(kept+recipeSuffix, 0o700)) // where no file can be written then
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Len(t, r.Warnings, 1)
	assert.NoFileExists(t, kept+programSuffix)
}

// While the name of the image is unknown, nothing is kept under a key that lacks it.
func TestNothingIsKeptWithoutAnImage(t *testing.T) {
	w := newWorld(t)
	w.config.CacheDir, w.SandboxInfo.Build = w.dir, ""
	_, err := w.grade(t)
	require.NoError(t, err)
	left, err := os.ReadDir(w.dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A change of a file that the course provides is not graded, which is told.
func TestChangedProvidedFileIsTold(t *testing.T) {
	for own, warned := range map[string]bool{source: false, source + "// changed\n": true} {
		w := newWorld(t)
		w.exercise.Provided = []string{"gears.go"}
		w.exercise.Starter = []course.File{{Name: "gears.go", Data: []byte(own)}}
		r, err := w.grade(t)
		require.NoError(t, err)
		assert.Equal(t, warned, len(r.Warnings) == 1 && strings.Contains(r.Warnings[0], "gears.go is the course's own"), "%q", r.Warnings)
	}
}
