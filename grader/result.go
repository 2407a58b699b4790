package grader

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/lang"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
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

	builder  sandbox.Spec // of the box that the submission is built in
	built    lang.Build   // of the submission; nil before that
	noRace   string       // why the race detector cannot be had; empty: it can, or is not needed
	detects  bool         // the race detector starts here: it has run the reference
	race     *raceSpan    // nil before the tests have ended
	overhead int64        // bytes that the reference's box has held beside its program in any measured run
	// excuses names the failed checks that excuse a test.
	excuses map[string][]string
}

func (g *Grader) begin(s *submission.Snapshot, p Plan, o Options) (*grading, error) {
	seed, err := parseSeed(o.Seed)
	if err != nil {
		return nil, err
	}
	return &grading{
		builder: g.lang.BuildBox(), excuses: map[string][]string{}, Grader: g, plan: p, exercise: p.Exercise, options: o, snapshot: s, seed: seed, started: time.Now(),
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
	r.warnReplaced()
	checks = capPlaces(r.complete(checks))
	points, most, err := judge.Score(r.plan.Checks(), checks)
	if err != nil {
		return nil, err
	}
	return &verdict.Result{
		Schema: verdict.Schema, Exercise: r.exercise.Name, ExerciseHash: r.exercise.Hash, Submission: submissionOf(r.snapshot),
		Verdict: v, Problems: quoteProblems(r.snapshot, problems), Checks: checks, Score: points, MaxScore: most,
		Seed: hex.EncodeToString(r.seed[:]), GraderVersion: r.config.Version, Toolchain: r.config.Toolchain,
		Sandbox: verdict.SandboxInfo{Kind: info.Kind, Official: info.Official, Runtime: info.Runtime, Image: info.Image, Cgroup: info.Cgroup},
		Started: r.started.UTC(), Phases: r.phases(r.snapshot.Took, time.Since(r.started)), Warnings: append([]string{}, r.warnings...),
	}, nil
}

// warnReplaced tells of files that were handed in and changed, though the course provides
// them.
func (r *grading) warnReplaced() {
	for _, f := range r.snapshot.Files {
		i := slices.IndexFunc(r.exercise.Starter, func(own course.File) bool { return own.Name == f.Name })
		if i >= 0 && slices.Contains(r.exercise.Provided, f.Name) && !bytes.Equal(r.exercise.Starter[i].Data, f.Data) {
			r.warn("%s is the course's own, and was graded as the course has it: what was changed in it belongs into another file", f.Name)
		}
	}
}

// complete adds checks that were not run, and puts all into the exercise's order.
func (r *grading) complete(checks []verdict.CheckResult) (all []verdict.CheckResult) {
	for _, c := range r.exercise.Checks {
		i := slices.IndexFunc(checks, func(got verdict.CheckResult) bool { return got.Name == c.Name })
		if i < 0 {
			all = append(all, notRun(c))
			continue
		}
		got := checks[i]
		got.Places = quotePlaces(r.snapshot, got.Places)
		all = append(all, got)
	}
	return all
}

// endsAtPlaces reports whether a check with this verdict has the places where the program ended.
func endsAtPlaces(v verdict.Verdict) bool {
	return v == verdict.RuntimeError || v == verdict.TimeLimit
}

// maxPlaces caps the different places in one result, because a submission chooses
// where it crashes. A race adds two.
const maxPlaces = 3

// capPlaces takes away the places beyond the cap, but those of a race.
func capPlaces(checks []verdict.CheckResult) []verdict.CheckResult {
	var seen []verdict.Place
	for i, c := range checks {
		if c.Verdict == verdict.DataRace {
			continue
		}
		checks[i].Places = nil
		for _, at := range c.Places {
			if !slices.Contains(seen, at) && len(seen) < maxPlaces {
				seen = append(seen, at)
			}
			if slices.Contains(seen, at) {
				checks[i].Places = append(checks[i].Places, at)
			}
		}
	}
	return checks
}

// maxTold is the most lines that a submission may have, all files together, for places in it
// to be told: among so many each is twelve bits.
const maxTold = 4096

// tellsPlaces reports whether the submission is short enough.
func (r *grading) tellsPlaces() bool {
	lines := 0
	for _, f := range r.snapshot.Files {
		lines += bytes.Count(f.Data, []byte("\n")) + 1
	}
	return lines <= maxTold
}

func submissionOf(s *submission.Snapshot) verdict.Submission {
	files := []string{}
	for _, f := range s.Files {
		files = append(files, f.Name)
	}
	return verdict.Submission{Dir: s.Dir, Hash: s.Hash, Files: files, Ignored: append([]string{}, s.Ignored...)}
}

func (r *grading) warn(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	if c.Kind.Measured() {
		r.Limit = &c.Limit
	}
	return r
}

// NewSeed makes a seed that cannot be guessed. A grading without a seed makes its own; one
// for several gradings asks all of them the same, and the reference once.
func NewSeed() string {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // which never fails
	return hex.EncodeToString(seed[:])
}

// parseSeed reads a seed, or makes one that cannot be guessed.
func parseSeed(s string) (seed [32]byte, err error) {
	if s == "" {
		s = NewSeed()
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

// roundSeed is the seed of one round of all tests: that of the grading for the first, so
// that a grading with the seed of any round repeats it.
func (r *grading) roundSeed(round int) string {
	seed := r.seed
	if round > 0 {
		seed = sha256.Sum256(fmt.Appendf(nil, "%x round %d", r.seed, round))
	}
	return hex.EncodeToString(seed[:])
}

// testSeed derives the seed of a test in one round.
func (r *grading) testSeed(c course.Check, round int) string {
	return runSeed(r.roundSeed(round), c, 0)
}

// seedFor derives the seed of one measured run.
func (r *grading) seedFor(c course.Check, repetition int) string {
	return runSeed(r.roundSeed(0), c, repetition)
}

// runSeed derives the seed of one run, so that a program that sees one learns
// nothing of another.
func runSeed(seed string, c course.Check, repetition int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q %d", seed, c.Func, c.Kind, repetition))
	return hex.EncodeToString(sum[:])
}
