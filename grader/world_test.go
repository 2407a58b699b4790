package grader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/coursetest"
	"grade/grader/boxes"
	"grade/grader/lang/golang"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

// world is a grader in a scripted sandbox, with an exercise of four checks (TestRatio,
// TestAllocs, BenchmarkTrain/speed and /memory) and a submission. Everything goes well
// unless a test changes the script.
type world struct {
	*sandboxtest.Sandbox
	exercise *course.Exercise
	snapshot *submission.Snapshot
	config   Config
	options  Options
	dir      string // empty

	mu     sync.Mutex
	events []Event
}

// The programs that builds give, and the source of the submission.
const (
	ofReference  = "reference"
	ofSubmission = "submission"
	source       = "package gears\n\nfunc Ratio() float64 { return 1 } // submitted\n"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	e, err := course.Open(coursetest.FS(coursetest.Files())).Load("gears")
	require.NoError(t, err)
	w := &world{dir: t.TempDir(), exercise: e, snapshot: submission.Of("/home/ada/gears", []submission.File{{Name: "gears.go", Data: []byte(source)}})}
	w.Sandbox = &sandboxtest.Sandbox{
		SandboxInfo: sandbox.Info{Kind: "docker", Official: true, Build: "image", GoArch: "amd64"},
		CPUs:        []int{0, 1}, Name: nameOf, Script: wellDone(),
	}
	tool := func(context.Context, string) ([]byte, error) { return []byte("tool"), nil }
	w.config = Config{Language: golang.New(os.DirFS(".."), tool), Version: "v1", Toolchain: "go1"}
	w.options.OnEvent = func(e Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}
	return w
}

// nameOf names a request by whose program it is about and what it runs.
func nameOf(b *sandboxtest.Box, q sandbox.Request) string {
	if b.Spec.Purpose.Builds() {
		of, kind := ofReference, " build"
		if strings.Contains(string(b.File("reference/gears/gears.go")), "submitted") {
			of = ofSubmission
		}
		if slices.Contains(q.Args, "-race") {
			kind = " race build"
		}
		return of + kind
	}
	program, args := string(b.File("hidden.test")), strings.Join(q.Args, " ")
	if b.Spec.Purpose == sandbox.RaceRun {
		program += " race"
	}
	switch {
	case strings.Contains(args, "-test.bench=^BenchmarkTrain$"):
		return program + " bench"
	case strings.Contains(args, "-test.bench=^BenchmarkWeigh$"):
		return program + " weigh"
	case strings.Contains(args, "-test.run=^$"):
		return program + " start"
	}
	_, test, _ := strings.Cut(args, "-test.run=^")
	return program + " " + test[:strings.Index(test, "$")]
}

// wellDone is the script of a submission that is as good as the reference.
func wellDone() map[string][]sandboxtest.Answer {
	script := map[string][]sandboxtest.Answer{}
	for _, of := range []string{ofReference, ofSubmission} {
		script[of+" build"] = answers(built(of))
		script[of+" start"] = answers(sandbox.Outcome{})
		script[of+" TestRatio"] = answers(observed(1))
		script[of+" TestAllocs"] = answers(selfReported(0))
		script[of+" bench"] = answers(timed(50 * time.Millisecond))
		script[of+" weigh"] = answers(timed(50 * time.Millisecond))
	}
	return script
}

func answers(outcomes ...sandbox.Outcome) (list []sandboxtest.Answer) {
	for _, o := range outcomes {
		list = append(list, sandboxtest.Answer{Outcome: o})
	}
	return list
}

// built is the outcome of a build that gives a program.
func built(program string) sandbox.Outcome {
	return sandbox.Outcome{Files: []sandbox.File{{Name: "hidden.test", Data: []byte(program)}, {Name: "vet.report"}}}
}

// unbuilt is one of a build that fails, with what the compiler says.
func unbuilt(words string) sandbox.Outcome {
	return sandbox.Outcome{ExitCode: 1, Stdout: []byte(words), Files: []sandbox.File{{Name: "vet.report"}}}
}

func record(o sandbox.Outcome, records ...wire.Record) sandbox.Outcome {
	b := []byte(wire.Magic)
	for _, r := range records {
		b = wire.Append(b, r)
	}
	o.Observations = wire.AppendEnd(b, wire.Passed)
	return o
}

func integer(x int64) wire.Record {
	return wire.Record{Name: "x", Comparison: wire.Comparison{Op: wire.Exact}, Value: wire.Value{Kind: wire.Int, Int: x}}
}

// observed is a run of a test that observes a number.
func observed(x int64) sandbox.Outcome {
	return record(sandbox.Outcome{CPU: time.Millisecond}, integer(x))
}

func selfReported(x int64) sandbox.Outcome {
	r := integer(x)
	r.SelfReported = true
	return record(sandbox.Outcome{CPU: time.Millisecond}, r)
}

// timed is a run of a benchmark whose window takes so much CPU time.
func timed(window time.Duration) sandbox.Outcome {
	const before = time.Millisecond
	return record(sandbox.Outcome{
		CPU: before + window, Wall: before + window, Peak: 100 << 20, PeakSource: sandbox.SourceRusage,
		Marks: []sandbox.Mark{{CPU: before, Wall: before, Memory: 10 << 20}, {CPU: before + window, Wall: before + window}},
	}, integer(1))
}

// peaked is such a run with a peak, above the 10 MiB that its window opened with.
func peaked(bytes int64) sandbox.Outcome {
	o := timed(50 * time.Millisecond)
	o.Peak = bytes
	return o
}

// gone is a box that ends over a request.
func gone() sandboxtest.Answer {
	return sandboxtest.Answer{Err: fmt.Errorf("run: %w", sandbox.ErrGone)}
}

var errEngine = errors.New("the engine does not answer")

// apart makes the memory check one of another benchmark, which no speed is asked of.
func (w *world) apart() {
	w.exercise.Checks[3].Func, w.exercise.Checks[3].Name = "BenchmarkWeigh", "BenchmarkWeigh/memory"
}

// grade grades in a bubble, in which time takes none, and closes the grader.
func (w *world) grade(t *testing.T) (result *verdict.Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := New(w.Sandbox, w.config)
		defer g.Close()
		result, err = g.Grade(t.Context(), w.snapshot, w.exercise, w.options)
	})
	require.Zero(t, w.Open(), "every box is closed in the end")
	require.Equal(t, err == nil, result != nil, "a verdict or an error, and not both")
	return result, err
}

// lines is a result in short: its verdict and points, and a line for each check.
func lines(r *verdict.Result) (list []string) {
	list = append(list, fmt.Sprintf("%s %d/%d", r.Verdict, r.Score, r.MaxScore))
	for _, c := range r.Checks {
		list = append(list, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", c.Name, c.Verdict, c.Detail), ": "))
	}
	return list
}

// count is how many requests of a name were answered.
func (w *world) count(name string) (n int) {
	for _, answered := range w.Log() {
		if answered == name {
			n++
		}
	}
	return n
}

func lockFile(t *testing.T) boxes.Config {
	return boxes.Config{LockFile: filepath.Join(t.TempDir(), "lock")}
}
