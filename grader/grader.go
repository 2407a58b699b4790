// Package grader takes a student's folder to a verdict. It decides; what runs a
// program is behind the few methods of [Sandbox], and what a report looks like
// is in package report.
//
//	snapshot ─▶ vet ─▶ build ─▶ test ─▶ measure ─▶ score
//
// A submission runs with the hidden tests and with no expected value. What the
// tests observe leaves the sandbox as data, and is judged here against what the
// reference gave for the same seed in a box of its own. Every function returns
// either what the submission did or what went wrong with us: a fault of ours is
// an error and never a verdict, a fault of theirs a verdict and never an error.
package grader

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/lang/golang/vet"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

// Sandbox is what a grader needs of one.
type Sandbox interface {
	Info() sandbox.Info
	// Prepare makes what boxes of a purpose are made from, unless it is there.
	// Info names it afterwards.
	Prepare(ctx context.Context, p sandbox.Purpose) error
	Box(ctx context.Context, s sandbox.Spec) (sandbox.Box, error)
}

// Config is what a grader needs besides a sandbox.
type Config struct {
	// Kit is the tree that holds observe/, which hidden tests import.
	Kit fs.FS
	// VetTool returns the program of grader/vet/typed for an architecture.
	VetTool func(ctx context.Context, goarch string) ([]byte, error)
	// CacheDir keeps compiled references; empty: they are compiled each time.
	CacheDir string
	// LockFile, and files whose names begin with it, are held while measuring: one
	// grading a machine at a time, but for those that measure beside
	// others.
	LockFile string
	// ApartFrom is how many CPUs a machine needs for one of them to be kept for measuring,
	// while all else goes on on the others; 0: none is, however many there are.
	ApartFrom int
	// Version and Toolchain are for the result.
	Version, Toolchain string
}

// Grader grades. It may be used by several goroutines at a time.
type Grader struct {
	sandbox Sandbox
	config  Config
	spares  spares
	turn    atomic.Uint32
	cpus    atomic.Pointer[[]int] // that a box may use that is not confined; nil: none has been opened
}

// New returns a grader that runs programs in s. It has to be closed before s.
func New(s Sandbox, c Config) *Grader { return &Grader{sandbox: s, config: c} }

// Prepare makes what gradings are going to need of the sandbox, unless it is there, and
// says what it is.
func (g *Grader) Prepare(ctx context.Context) (sandbox.Info, error) {
	for _, p := range []sandbox.Purpose{sandbox.Build, sandbox.Run} {
		if err := g.sandbox.Prepare(ctx, p); err != nil {
			return sandbox.Info{}, err
		}
	}
	return g.sandbox.Info(), nil
}

// Options are of one grading.
type Options struct {
	Snapshot *submission.Snapshot // of the folder, if it was taken before; nil: Grade takes it
	Seed     string               // 64 hexadecimal digits; empty: a fresh one
	Only     []verdict.Kind       // empty: all
	Checks   []string             // names of those to run, of these kinds; empty: all
	Repeat   int                  // how often each test runs, on inputs of its own every time; 0: once
	Timeout  time.Duration        // of the whole grading; 0: none
	FailFast bool                 // stop at the first test that is not passed; the rest is not run
	Hasty    bool                 // measure until the verdict is sure, and not until the ratio is precise
	Beside   bool                 // measure beside other such gradings, on a CPU each
	OnEvent  func(Event)          // called from one goroutine at a time; may be nil
	// Observed hears what each run of a hidden test has recorded of the reference,
	// one at a time; may be nil.
	Observed func(course.Check, []wire.Record)
}

// Event is news of a grading.
type Event struct {
	Phase          string // snapshot, vet, build, start, test or measure
	Done           bool   // the phase is over
	Check          *verdict.CheckResult
	Text           string
	Current, Total int // checks decided, of how many
}

// grading is one grading on its way.
type grading struct {
	*Grader
	exercise *course.Exercise
	options  Options
	snapshot *submission.Snapshot
	seed     [32]byte
	result   *verdict.Result
	decided  int
	sub, ref *station
	building chan struct{} // closed once the submission's build has its box
	builder  sandbox.Box   // that box
	events   chan struct{} // holds one token: the right to call OnEvent
}

// Grade grades the folder dir.
func (g *Grader) Grade(ctx context.Context, dir string, e *course.Exercise, o Options) (*verdict.Result, error) {
	started := time.Now()
	seed, err := parseSeed(o.Seed)
	if err != nil {
		return nil, err
	}
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("gave up after %v, as --timeout asks", o.Timeout))
		defer cancel()
	}
	r := &grading{Grader: g, exercise: e, options: o, seed: seed, events: make(chan struct{}, 1), building: make(chan struct{})}
	r.result = &verdict.Result{
		Schema: verdict.Schema, Exercise: e.Name, ExerciseHash: e.Hash, Verdict: verdict.Graded,
		Seed: hex.EncodeToString(seed[:]), GraderVersion: g.config.Version, Toolchain: g.config.Toolchain,
		Started: started.UTC(), Problems: []verdict.Problem{}, Warnings: []string{},
	}
	if err := r.run(ctx, dir); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	if err := r.finish(started); err != nil {
		return nil, err
	}
	return r.result, nil
}

// run takes every step up to the verdicts.
func (r *grading) run(ctx context.Context, dir string) error {
	if err := r.take(dir); err != nil {
		return err
	}
	if r.result.Verdict != verdict.Graded {
		return nil
	}
	return r.execute(ctx)
}

// take is the snapshot and the part of the vet that reads no more than source.
func (r *grading) take(dir string) error {
	stop := r.phase("snapshot", &r.result.Phases.SnapshotMs)
	snap, err := r.options.Snapshot, error(nil)
	if snap == nil {
		snap, err = submission.Take(dir)
	}
	stop()
	if err != nil {
		return err
	}
	r.snapshot = snap
	r.result.Submission = submissionOf(snap)
	defer r.phase("vet", &r.result.Phases.VetMs)()
	refused, syntax := vet.Source(snap.Files, vet.Policy{Package: r.exercise.Package, Imports: r.exercise.Imports})
	if refused = append(slices.Clone(snap.Problems), refused...); len(refused) > 0 {
		r.refuse(verdict.Invalid, refused)
	} else if len(syntax) > 0 {
		r.refuse(verdict.CompileError, syntax)
	}
	return nil
}

func submissionOf(s *submission.Snapshot) verdict.Submission {
	files := []string{}
	for _, f := range s.Files {
		files = append(files, f.Name)
	}
	return verdict.Submission{Dir: s.Dir, Hash: s.Hash, Files: files, Ignored: append([]string{}, s.Ignored...)}
}

// refuse ends the grading with a verdict on the submission as a whole.
func (r *grading) refuse(v verdict.Verdict, problems []verdict.Problem) {
	r.result.Verdict, r.result.Problems = v, problems
}

// finish fills in what is known once everything is decided.
func (r *grading) finish(started time.Time) error {
	info := r.sandbox.Info()
	r.result.Sandbox = verdict.SandboxInfo{Kind: info.Kind, Official: info.Official, Runtime: info.Runtime, Image: info.Image, Cgroup: info.Cgroup}
	if !info.Official {
		r.warn("unofficial: graded in the process sandbox, which does not contain hostile programs; a grade that counts needs a Docker engine")
	}
	for _, c := range r.exercise.Checks {
		if !slices.ContainsFunc(r.result.Checks, func(got verdict.CheckResult) bool { return got.Name == c.Name }) {
			r.result.Checks = append(r.result.Checks, newCheckResult(c))
		}
	}
	slices.SortFunc(r.result.Checks, func(a, b verdict.CheckResult) int { return r.place(a.Name) - r.place(b.Name) })
	var err error
	r.result.Score, r.result.MaxScore, err = judge.Score(r.checks(verdict.Correctness, verdict.Memory, verdict.Speed), r.result.Checks)
	r.result.Phases.TotalMs = milliseconds(time.Since(started))
	return err
}

// place is where a check stands in the exercise.
func (r *grading) place(name string) int {
	return slices.IndexFunc(r.exercise.Checks, func(c course.Check) bool { return c.Name == name })
}

// checks are those asked for, of some kinds.
func (r *grading) checks(kinds ...verdict.Kind) (list []course.Check) {
	only, names := r.options.Only, r.options.Checks
	for _, c := range r.exercise.Checks {
		if slices.Contains(kinds, c.Kind) && (len(only) == 0 || slices.Contains(only, c.Kind)) && (len(names) == 0 || slices.Contains(names, c.Name)) {
			list = append(list, c)
		}
	}
	return list
}

// decide records the verdict on a check and tells about it.
func (r *grading) decide(c verdict.CheckResult) {
	c.Points = judge.Points(r.exercise.Checks[r.place(c.Name)], c.Verdict)
	r.result.Checks = append(r.result.Checks, c)
	r.decided++
	total := len(r.checks(verdict.Correctness, verdict.Memory, verdict.Speed))
	r.tell(Event{Phase: "check", Check: &c, Current: r.decided, Total: total})
}

func (r *grading) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}

func (r *grading) tell(e Event) {
	if r.options.OnEvent == nil {
		return
	}
	r.events <- struct{}{}
	defer func() { <-r.events }()
	r.options.OnEvent(e)
}

// phase tells that a phase begins; the function returned tells that it is over
// and records how long it took.
func (r *grading) phase(name string, ms *float64) func() {
	r.tell(Event{Phase: name})
	started := time.Now()
	return func() {
		*ms = milliseconds(time.Since(started))
		r.tell(Event{Phase: name, Done: true})
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// newCheckResult is a check before anything ran.
func newCheckResult(c course.Check) verdict.CheckResult {
	r := verdict.CheckResult{
		Name: c.Name, Kind: string(c.Kind), Verdict: verdict.NotRun, MaxPoints: c.Points, Hint: c.Hint, SelfReported: c.SelfReported,
	}
	if c.Kind != verdict.Correctness {
		r.Limit = &c.Limit
	}
	return r
}

// parseSeed reads a seed, or makes one that nobody can guess.
func parseSeed(s string) (seed [32]byte, err error) {
	if s == "" {
		_, err = rand.Read(seed[:])
		return seed, err
	}
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(seed) {
		return seed, &fault.UsageError{
			Message: fmt.Sprintf("seed %q is not 64 hexadecimal digits", s),
			Hint:    "take the seed of a report, to repeat its grading",
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
