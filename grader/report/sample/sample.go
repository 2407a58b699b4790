// Package sample makes up gradings and courses for tests of reports. A few are fixed
// ([Mixed], [SmallCourse]), for golden files. [Course] makes any number of students, who
// hand in early, late and never; their solutions fail here and there, their times and peaks
// scatter. The same numbers give the same course. It grades nothing.
package sample

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/verdict"
)

// first and last are what students are called, in any combination; one of them is long.
var (
	first = []string{"ada", "grace", "alan", "barbara", "edsger", "margaret", "donald", "radia", "tony", "frances", "ken", "sophie", "leslie", "shafi", "dennis"}
	last  = []string{"okafor", "lindqvist", "nakamura", "de-la-fontaine-montgomery-featherstonehaugh", "petrov", "silva", "nguyen", "haddad", "kowalska", "yilmaz", "iyer", "moreau", "brandt", "castillo"}
)

// topics are what exercises are about.
var topics = []string{"matmul", "softmax", "tokenizer", "kmeans", "attention", "checkpointed-dataset-iterator", "beamsearch", "optimizer"}

// rules are what hidden tests look at.
var rules = []struct{ name, hint string }{
	{"Shapes", "Every shape that the README allows, with one row, one column and none."},
	{"SharedInput", "An argument that is used twice counts twice."},
	{"Empty", "Nothing in, nothing out: an empty input is no error."},
	{"NaN", "A NaN stays where it is and infects nothing beside it."},
	{"LargeValues", "Numbers of 1e300 do not overflow on the way to a result that does not."},
	{"ArgumentsUnchanged", "What the caller passed is as it was before the call."},
	{"Errors", "What cannot be done is an error that says where, and never a panic."},
	{"Cancel", "A context that ends ends the call, and leaves no goroutine behind."},
	{"Deterministic", "The same seed gives the same result, in whatever order goroutines run."},
	{"TiesByIndex", "Of equals the one with the lower index comes first."},
}

// start is when the course began.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// Course returns a course with the given numbers of students and exercises.
func Course(students, exerciseCount int) *gradebook.Book {
	p := course.NewPolicy()
	p.Title = "Machine Learning Systems, spring 2026"
	for i := range exerciseCount {
		p.Exercises = append(p.Exercises, course.Rules{
			Exercise: exercise(i), Weight: 1, Due: start.AddDate(0, 0, 7*(i+1)), Count: course.CountBest, Attempts: 3,
			Late: &course.Late{Grace: 10 * time.Minute, Deduct: 10, Per: 24 * time.Hour, Most: 50, Until: 96 * time.Hour},
		})
	}
	var attempts []gradebook.Attempt
	var missing []gradebook.Missing
	for i := range students {
		for j, rule := range p.Exercises {
			a, m := handedIn(student(i), rule, rand.New(rand.NewPCG(uint64(i), uint64(j))))
			attempts, missing = append(attempts, a...), append(missing, m...)
		}
	}
	return gradebook.New(p, nil, attempts, missing)
}

func student(i int) string {
	s := first[i%len(first)] + "-" + last[i%len(last)]
	if round := i / (len(first) * len(last)); round > 0 {
		s += fmt.Sprint(round)
	}
	return s
}

func exercise(i int) string {
	if i < len(topics) {
		return topics[i]
	}
	return fmt.Sprintf("%s%d", topics[i%len(topics)], i/len(topics))
}

// handedIn is what one student has of one exercise.
func handedIn(student string, rule course.Rules, r *rand.Rand) (attempts []gradebook.Attempt, missing []gradebook.Missing) {
	if r.Float64() < 0.06 {
		return nil, nil
	}
	folder := "submissions/" + student + "/" + rule.Exercise
	submitted, skill := rule.Due.Add(-time.Duration(r.ExpFloat64()*40)*time.Hour).Add(time.Duration(r.IntN(20))*time.Hour), r.Float64()
	for n := 1; n <= 1+r.IntN(3); n++ {
		attempts = append(attempts, gradebook.Attempt{
			Student: student, Exercise: rule.Exercise, Number: n, Submitted: submitted, Source: "the commit", Folder: folder,
			Result: grading(rule.Exercise, skill, r),
		})
		submitted, skill = submitted.Add(time.Duration(1+r.IntN(12))*time.Hour), min(1, skill+0.3)
	}
	if r.Float64() < 0.03 {
		missing = append(missing, gradebook.Missing{Student: student, Exercise: rule.Exercise, Folder: folder, Why: "the engine does not answer"})
		if r.Float64() < 0.5 {
			attempts = nil
		}
	}
	return attempts, missing
}

// grading is that of a submission whose author can so much, from 0 to 1.
func grading(exercise string, skill float64, r *rand.Rand) *verdict.Result {
	out := &verdict.Result{
		Schema: verdict.Schema, Exercise: exercise, ExerciseHash: hash(exercise), Verdict: verdict.Graded, MaxScore: course.MaxScore,
		Submission: verdict.Submission{Hash: hash(fmt.Sprint(r.Uint64())), Files: []string{"doc.go", exercise + ".go"}},
		Seed:       hash("seed"), Toolchain: "go1.26.0", GraderVersion: "v0.1.0", Started: start,
		Sandbox: verdict.SandboxInfo{Kind: "docker", Official: true, Runtime: "runc", Cgroup: "v2"},
		Phases:  verdict.Phases{BuildMs: 840, TestMs: 370, MeasureMs: 2840, TotalMs: 4126},
	}
	for i, rule := range rules {
		out.Checks = append(out.Checks, correctness(rule.name, rule.hint, skill, i, r))
	}
	for _, name := range []string{"Large", "ManySmall"} {
		out.Checks = append(out.Checks, measured("Benchmark"+name+"/memory", "memory", skill, r), measured("Benchmark"+name+"/speed", "speed", skill, r))
	}
	if roll := r.Float64(); roll < 0.04 {
		refuse(out, verdict.CompileError, verdict.Problem{File: exercise + ".go", Line: 41, Rule: "api", Message: "undefined: Backward"})
	} else if roll < 0.07 {
		refuse(out, verdict.Invalid, verdict.Problem{File: exercise + ".go", Line: 3, Rule: "import", Message: "package unsafe is closed: store the nodes in a slice and use their indexes"})
	}
	for _, c := range out.Checks {
		out.Score += c.Points
	}
	return out
}

func correctness(name, hint string, skill float64, i int, r *rand.Rand) verdict.CheckResult {
	c := verdict.CheckResult{Name: "Test" + name, Kind: "correctness", Verdict: verdict.Passed, MaxPoints: 6, Points: 6, Hint: hint}
	if r.Float64() > skill+0.5-0.05*float64(i) {
		c.Verdict, c.Points, c.Detail = verdict.WrongAnswer, 0, "3 of 12 observations differ; the first is \"row 4\""
	}
	return c
}

// measured makes figures that scatter around the reference; little skill is slow.
func measured(name, kind string, skill float64, r *rand.Rand) verdict.CheckResult {
	limit, ratio := 4.0, math.Exp(0.25*r.NormFloat64()+1.4*(1-skill)*r.Float64()*1.6)
	c := verdict.CheckResult{
		Name: name, Kind: kind, Verdict: verdict.Passed, MaxPoints: 10, Points: 10, Hint: "A million rows: time and memory grow with what comes out.",
		Ratio: &ratio, Limit: &limit, Interval: &[2]float64{ratio * 0.95, ratio * 1.06},
		Reference:  verdict.Figures{CPUMs: 60, PeakBytes: 36 << 20, PeakSource: "rusage", Runs: 5},
		Submission: verdict.Figures{CPUMs: 60 * ratio, PeakBytes: int64(ratio * (36 << 20)), PeakSource: "rusage", Runs: 5},
	}
	if ratio > limit {
		c.Verdict, c.Points = verdict.TooSlow, 0
		if kind == "memory" {
			c.Verdict = verdict.TooMuchMemory
		}
	}
	return c
}

func refuse(r *verdict.Result, v verdict.Verdict, p verdict.Problem) {
	r.Verdict, r.Problems = v, []verdict.Problem{p}
	for i := range r.Checks {
		c := &r.Checks[i]
		*c = verdict.CheckResult{Name: c.Name, Kind: c.Kind, Hint: c.Hint, MaxPoints: c.MaxPoints, Verdict: verdict.NotRun}
	}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
