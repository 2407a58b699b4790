package grader

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// grading is one grading on its way. Its steps return what came of them; of what they
// share, only warnings are added to.
type grading struct {
	*Grader
	*announcer
	plan     Plan
	exercise *course.Exercise // the plan's
	options  Options
	snapshot *submission.Snapshot
	seed     [32]byte
	started  time.Time
	warnings []string
}

func (g *Grader) begin(s *submission.Snapshot, p Plan, o Options) (*grading, error) {
	seed, err := parseSeed(o.Seed)
	if err != nil {
		return nil, err
	}
	return &grading{
		Grader: g, plan: p, exercise: p.Exercise, options: o, snapshot: s, seed: seed, started: time.Now(),
		announcer: &announcer{onEvent: o.OnEvent, total: len(p.Checks()), took: map[Phase]time.Duration{}},
	}, nil
}

// refused is the result of a submission that is refused as a whole.
func (r *grading) refused(refusal verdict.Refusal) (*verdict.Result, error) {
	return r.result(refusal.Verdict, refusal.Problems, nil)
}

// judged is the result of a submission whose checks came to this.
func (r *grading) judged(checks []verdict.CheckResult) (*verdict.Result, error) {
	return r.result(verdict.Graded, []verdict.Problem{}, checks)
}

// result has a line for every check of the exercise: those that are not among checks
// were not run.
func (r *grading) result(v verdict.Verdict, problems []verdict.Problem, checks []verdict.CheckResult) (*verdict.Result, error) {
	info := r.sandbox.Info()
	if !info.Official {
		r.warn("unofficial: graded in the process sandbox, which does not contain hostile programs; a grade that counts needs a Docker engine")
	}
	checks = r.complete(checks)
	points, most, err := judge.Score(r.plan.Checks(), checks)
	if err != nil {
		return nil, err
	}
	return &verdict.Result{
		Schema: verdict.Schema, Exercise: r.exercise.Name, ExerciseHash: r.exercise.Hash, Submission: submissionOf(r.snapshot),
		Verdict: v, Problems: problems, Checks: checks, Score: points, MaxScore: most,
		Seed: hex.EncodeToString(r.seed[:]), GraderVersion: r.config.Version, Toolchain: r.config.Toolchain,
		Sandbox: verdict.SandboxInfo{Kind: info.Kind, Official: info.Official, Runtime: info.Runtime, Image: info.Image, Cgroup: info.Cgroup},
		Started: r.started.UTC(), Phases: r.phases(r.snapshot.Took, time.Since(r.started)), Warnings: append([]string{}, r.warnings...),
	}, nil
}

// complete adds checks that were not run, and puts all into the exercise's order.
func (r *grading) complete(checks []verdict.CheckResult) (all []verdict.CheckResult) {
	for _, c := range r.exercise.Checks {
		i := slices.IndexFunc(checks, func(got verdict.CheckResult) bool { return got.Name == c.Name })
		if i < 0 {
			all = append(all, notRun(c))
			continue
		}
		all = append(all, checks[i])
	}
	return all
}

func submissionOf(s *submission.Snapshot) verdict.Submission {
	files := []string{}
	for _, f := range s.Files {
		files = append(files, f.Name)
	}
	return verdict.Submission{Dir: s.Dir, Hash: s.Hash, Files: files, Ignored: append([]string{}, s.Ignored...)}
}

func (r *grading) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// decide gives a check its points and tells about it.
func (r *grading) decide(p Phase, check course.Check, c verdict.CheckResult) verdict.CheckResult {
	c.Points = judge.Points(check, c.Verdict)
	r.check(p, c)
	return c
}

// notRun is a check before anything ran.
func notRun(c course.Check) verdict.CheckResult {
	r := verdict.CheckResult{
		Name: c.Name, Kind: string(c.Kind), Verdict: verdict.NotRun, MaxPoints: c.Points, Hint: c.Hint, SelfReported: c.SelfReported,
	}
	if c.Kind != verdict.Correctness {
		r.Limit = &c.Limit
	}
	return r
}

// parseSeed reads a seed, or makes one that cannot be guessed.
func parseSeed(s string) (seed [32]byte, err error) {
	if s == "" {
		_, err = rand.Read(seed[:])
		return seed, err
	}
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(seed) {
		return seed, &fault.Error{
			Message: fmt.Sprintf("seed %q is not 64 hexadecimal digits", s),
			Advice:  "take the seed of a report, to repeat its grading",
		}
	}
	return [32]byte(b), nil
}

// seedFor derives the seed of one run, so that a program that sees one learns
// nothing of another.
func (r *grading) seedFor(c course.Check, repetition int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %q %q %d", r.seed, c.Func, c.Kind, repetition))
	return hex.EncodeToString(sum[:])
}
