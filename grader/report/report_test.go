package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, got, 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update to write it")
	assert.Equal(t, string(want), string(got))
}

// samples are the gradings that the golden files show.
func samples() map[string]*verdict.Result {
	return map[string]*verdict.Result{
		"mixed":         mixed(),
		"all_points":    allPoints(),
		"only":          onlyCorrectness(),
		"invalid":       refused(verdict.Invalid, verdict.Problem{File: "graph.go", Line: 3, Rule: "import", Message: "package unsafe is closed: store the nodes in a slice and use their indexes"}, verdict.Problem{File: "x_linux.go", Rule: "file-name", Message: "a file for one platform only: call it x.go"}),
		"compile_error": refused(verdict.CompileError, verdict.Problem{File: "value.go", Line: 41, Rule: "api", Message: "(*Value).Add has another signature\n\thave func (v *Value) Add(o Value) *Value\n\twant func (v *Value) Add(o *Value) *Value"}),
		"hostile":       hostile(),
	}
}

func base() *verdict.Result {
	r := &verdict.Result{
		Schema:       verdict.Schema,
		Exercise:     "autograd",
		ExerciseHash: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
		Submission: verdict.Submission{
			Dir:     "solutions/tape",
			Hash:    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
			Files:   []string{"graph.go", "value.go"},
			Ignored: []string{"go.mod", "value_test.go"},
		},
		Verdict:       verdict.Graded,
		MaxScore:      20,
		Seed:          "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
		Toolchain:     "go1.26.0",
		GraderVersion: "v0.1.0",
		Started:       time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC),
		Phases:        verdict.Phases{SnapshotMs: 0.84, VetMs: 2.31, BuildMs: 842.4, StartMs: 214, TestMs: 371.2, MeasureMs: 2841, TotalMs: 4126},
	}
	r.Sandbox.Kind, r.Sandbox.Official = "docker", true
	r.Sandbox.Runtime, r.Sandbox.Image, r.Sandbox.Cgroup = "runc", "grade/run:5f2c", "v1"
	return r
}

func checks() []verdict.CheckResult {
	return []verdict.CheckResult{
		{Name: "TestSharedNode", Kind: "correctness", Verdict: verdict.Passed, Points: 4, MaxPoints: 4, Hint: "A node used twice collects both gradients."},
		{Name: "TestAllocs", Kind: "correctness", Verdict: verdict.Passed, Points: 2, MaxPoints: 2, Hint: "Backward allocates nothing that grows with the number of calls.", SelfReported: true},
		{Name: "BenchmarkChain/memory", Kind: "memory", Verdict: verdict.Passed, Points: 4, MaxPoints: 4, Hint: "A chain of a million nodes.",
			Ratio: new(1.31), Limit: new(2.0),
			Reference:  verdict.Figures{PeakBytes: 96 << 20, PeakSource: "cgroup v1", Runs: 3},
			Submission: verdict.Figures{PeakBytes: 124 << 20, PeakSource: "cgroup v1", Runs: 3}},
		{Name: "BenchmarkWide/speed", Kind: "speed", Verdict: verdict.Passed, Points: 10, MaxPoints: 10, Hint: "One leaf that is used 400,000 times.",
			Ratio: new(1.03), Limit: new(4.0), Interval: &[2]float64{0.99, 1.06},
			Reference:  verdict.Figures{CPUMs: 41.2, WallMs: 43, Runs: 10},
			Submission: verdict.Figures{CPUMs: 42.4, WallMs: 44.1, Runs: 10}},
	}
}

func allPoints() *verdict.Result {
	r := base()
	r.Checks, r.Score = checks(), 20
	r.Submission.Ignored = nil
	return r
}

func mixed() *verdict.Result {
	r := base()
	r.Checks, r.Score = checks(), 6
	shared, wide := &r.Checks[0], &r.Checks[3]
	shared.Verdict, shared.Points = verdict.WrongAnswer, 0
	shared.Detail = "dy/dx: got 2, want 3"
	wide.Verdict, wide.Points = verdict.TooSlow, 0
	wide.Ratio, wide.Interval = new(31.42), &[2]float64{30.9, 31.8}
	wide.Submission.CPUMs, wide.Submission.WallMs = 1294.5, 1300
	r.Sandbox.Kind, r.Sandbox.Official = "process", false
	r.Sandbox.Runtime, r.Sandbox.Image, r.Sandbox.Cgroup = "", "", ""
	r.Warnings = []string{"unofficial: graded in the process sandbox, which does not contain hostile programs; a grade that counts needs a Docker engine", "the machine is noisy: the reference differed from itself by 12 %. Close what else runs and grade again for surer figures"}
	return r
}

func onlyCorrectness() *verdict.Result {
	r := base()
	r.Checks, r.Score, r.MaxScore = checks(), 6, 6 // a grading adds up what was asked for
	for i := 2; i < 4; i++ {
		c := &r.Checks[i]
		*c = verdict.CheckResult{Name: c.Name, Kind: c.Kind, Hint: c.Hint, MaxPoints: c.MaxPoints, Verdict: verdict.NotRun}
	}
	r.Phases.MeasureMs = 0
	return r
}

func refused(v verdict.Verdict, problems ...verdict.Problem) *verdict.Result {
	r := base()
	r.Verdict, r.Problems, r.Checks = v, problems, checks()
	for i := range r.Checks {
		c := &r.Checks[i]
		*c = verdict.CheckResult{Name: c.Name, Kind: c.Kind, Hint: c.Hint, MaxPoints: c.MaxPoints, Verdict: verdict.NotRun}
	}
	r.Phases = verdict.Phases{SnapshotMs: 0.84, VetMs: 2.31, TotalMs: 3.4}
	return r
}

// evil is what a submission would like to print: colours, a new title for the
// window, commands for a runner, text that runs backwards, bytes that are no text.
const evil = "\x1b[2J\x1b]0;pwn\x07\r::error::forged\n::error::forged\n##[error]forged \u009b31m \u202egnorw\u2066 \u2028\xff\x00"

func hostile() *verdict.Result {
	r := mixed()
	r.Submission.Dir = evil
	r.Submission.Files = []string{evil}
	r.Submission.Ignored = []string{evil, "::error::forged"}
	r.Problems = []verdict.Problem{{File: evil, Line: 7, Rule: "file-name", Message: evil}, {File: "::error::forged", Message: "::error::forged"}}
	r.Warnings = []string{evil, "::error::forged"}
	r.Checks[0].Detail = evil
	return r
}

func TestGoldenText(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			var plain, colored bytes.Buffer
			require.NoError(t, Text(&plain, r, TextOptions{}))
			golden(t, name+".txt", plain.Bytes())
			require.NoError(t, Text(&colored, r, TextOptions{Color: true, Width: 80}))
			golden(t, name+".color.txt", colored.Bytes())
		})
	}
}

func TestGoldenJSON(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, JSON(&b, r))
			golden(t, name+".json", b.Bytes())
		})
	}
}
