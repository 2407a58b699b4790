package sample

import (
	"time"

	"grade/grader/verdict"
)

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

// Checks returns four checks that passed: two tests, a peak and a time.
func Checks() []verdict.CheckResult {
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

// AllPoints returns a result with every point.
func AllPoints() *verdict.Result {
	r := base()
	r.Checks, r.Score = Checks(), 20
	r.Submission.Ignored = nil
	return r
}

// Mixed returns a result with passed and failed checks, from a sandbox that is not
// official.
func Mixed() *verdict.Result {
	r := base()
	r.Checks, r.Score = Checks(), 6
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

// OnlyCorrectness returns a result without measured checks.
func OnlyCorrectness() *verdict.Result {
	r := base()
	r.Checks, r.Score, r.MaxScore = Checks(), 6, 6 // a grading adds up what was asked for
	for i := 2; i < 4; i++ {
		c := &r.Checks[i]
		*c = verdict.CheckResult{Name: c.Name, Kind: c.Kind, Hint: c.Hint, MaxPoints: c.MaxPoints, Verdict: verdict.NotRun}
	}
	r.Phases.MeasureMs = 0
	return r
}

// Refused returns the result of a submission that did not run, because of problems.
func Refused(v verdict.Verdict, problems ...verdict.Problem) *verdict.Result {
	r := base()
	r.Verdict, r.Problems, r.Checks = v, problems, Checks()
	for i := range r.Checks {
		c := &r.Checks[i]
		*c = verdict.CheckResult{Name: c.Name, Kind: c.Kind, Hint: c.Hint, MaxPoints: c.MaxPoints, Verdict: verdict.NotRun}
	}
	r.Phases = verdict.Phases{SnapshotMs: 0.84, VetMs: 2.31, TotalMs: 3.4}
	return r
}

// Invalid returns the result of a submission that breaks two rules.
func Invalid() *verdict.Result {
	return Refused(verdict.Invalid, verdict.Problem{File: "graph.go", Line: 3, Rule: "import", Message: "package unsafe is closed: store the nodes in a slice and use their indexes",
		Excerpt: verdict.Excerpt{Before: "package autograd\n\n", Source: `import "unsafe"`, After: "\ntype node struct {\n"}}, verdict.Problem{File: "x_linux.go", Rule: "file-name", Message: "a file for one platform only: call it x.go"})
}

// CompileError returns the result of a submission with another method signature than the
// README says.
func CompileError() *verdict.Result {
	return Refused(verdict.CompileError, verdict.Problem{File: "value.go", Line: 41, Rule: "api", Message: "(*Value).Add has another signature\n\thave func (v *Value) Add(o Value) *Value\n\twant func (v *Value) Add(o *Value) *Value"})
}

// Grouped returns a result in which most failed checks have one of a few causes: a check
// that others need, a line of the source at which others crash as well.
func Grouped() *verdict.Result {
	r := base()
	r.Checks, r.Score = nil, 0
	add := func(c verdict.CheckResult) {
		c.Kind = string(verdict.Correctness)
		r.Checks = append(r.Checks, c)
	}
	crash := []verdict.Place{{File: "graph.go", Line: 41, Excerpt: verdict.Excerpt{
		Source: "\tn.inputs[i].grad += g", Before: "func (n *node) send(i int, g float64) {\n\tn.seen++\n", After: "}\n",
	}}}
	race := []verdict.Place{
		{File: "value.go", Line: 12, Excerpt: verdict.Excerpt{Source: "\tv.uses++"}}, {File: "value.go", Line: 30, Excerpt: verdict.Excerpt{Source: "\treturn v.uses"}},
	}
	add(verdict.CheckResult{Name: "TestNew", Verdict: verdict.Passed, Points: 2, MaxPoints: 2, Hint: "A leaf has its value and no gradient."})
	add(verdict.CheckResult{Name: "TestAdd", Verdict: verdict.WrongAnswer, MaxPoints: 3, Hint: "Add adds (rule 1).", Detail: `1 of 3 observations differ; the first is "sum"`})
	add(verdict.CheckResult{Name: "TestConstants", Verdict: verdict.TimeLimit, MaxPoints: 1, Hint: "A constant is no node (rule 3).", Detail: "exceeded its limit on CPU time"})
	for i, name := range []string{"Chain", "Tree", "空图", "Diamond", "Fan", "Deep", "Random", "Shared"} {
		add(verdict.CheckResult{Name: "Test" + name, Verdict: verdict.WrongAnswer, MaxPoints: 1 + i%2, Hint: "Sums of sums (rule 1).", Detail: "differs", Cause: "TestAdd"})
	}
	for _, name := range []string{"Backward", "BackwardTwice"} {
		add(verdict.CheckResult{Name: "Test" + name, Verdict: verdict.RuntimeError, MaxPoints: 5, Hint: "Each use sends a gradient (rule 2).", Detail: "panic: runtime error: index out of range", Places: crash})
	}
	add(verdict.CheckResult{Name: "TestTogether", Verdict: verdict.RuntimeError, MaxPoints: 2, Hint: "Values may be read at the same time (rule 4).", Places: race})
	r.Checks = append(r.Checks, Checks()[2:]...)
	for _, c := range r.Checks {
		r.Score += c.Points
	}
	r.MaxScore = 0
	for _, c := range r.Checks {
		r.MaxScore += c.MaxPoints
	}
	return r
}
