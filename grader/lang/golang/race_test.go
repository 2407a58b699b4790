package golang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/heap"
	"grade/grader/lang"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// readAndWrite is what the detector writes of a read in the submission, below a function of
// the standard library, and a write in the hidden test, below another of the submission.
const readAndWrite = `==================
WARNING: DATA RACE
Read at 0x00c00007e028 by goroutine 8:
  sort.insertionSort()
      sort/zsortinterface.go:12 +0x2f
  grade/reference/loader.(*Records).Get()
      grade/reference/loader/records.go:3 +0x1d4
  grade/exercises/loader/hidden.TestConcurrentRecords.func1()
      grade/exercises/loader/hidden/records_test.go:150 +0x90

Previous write at 0x00c00007e028 by goroutine 7:
  grade/exercises/loader/hidden.(*dataset).Get()
      grade/exercises/loader/hidden/fakes_test.go:20 +0x1ec
  grade/reference/loader.(*Loader[go.shape.int,go.shape.[]uint8]).get()
      grade/reference/loader/loader.go:2 +0x90
  grade/reference/loader.(*Loader[go.shape.int,go.shape.[]uint8]).fill()
      grade/reference/loader/loader.go:1 +0x90

Goroutine 8 (running) created at:
  grade/reference/loader.New()
      grade/reference/loader/loader.go:1 +0x16c
==================
`

func TestRace(t *testing.T) {
	e := &course.Exercise{Name: "loader", Module: "grade", ImportPath: "grade/reference/loader"}
	s := submission.Of("loader", []submission.File{{Name: "loader.go", Data: []byte("package loader\n//\n")}, {Name: "records.go", Data: []byte("package loader\n\n//\n")}})
	place := func(file string, line int) verdict.Place { return verdict.Place{File: file, Line: line} }
	both := []lang.Access{{Place: place("records.go", 3)}, {Write: true, Place: place("loader.go", 2)}}
	ofTest := "grade/exercises/loader/hidden/records_test.go:150"
	for name, c := range map[string]struct {
		stderr string
		want   []lang.Access
	}{
		"the innermost line of the submission's": {readAndWrite, both},
		"words before it":                        {"hello\nRead at noon by the sea\n" + readAndWrite, both},
		"the test's own write": {strings.ReplaceAll(readAndWrite, "grade/reference/loader/loader.go:", ofTest+"9:"),
			[]lang.Access{{Place: place("records.go", 3)}, {Write: true, Test: true}}},
		"a lost stack": {readAndWrite[:strings.Index(readAndWrite, "  grade/exercises/loader/hidden.(*dataset)")] + "  [failed to restore the stack]\n\n==================\n",
			[]lang.Access{{Place: place("records.go", 3)}, {Write: true}}},
		"a line that the file has not": {strings.ReplaceAll(readAndWrite, "records.go:3 ", "records.go:40 "), []lang.Access{{Write: true, Place: place("loader.go", 2)}, {Test: true}}},
		"a file that is not handed in": {strings.ReplaceAll(readAndWrite, "/records.go", "/secret.go"), []lang.Access{{Write: true, Place: place("loader.go", 2)}, {Test: true}}},
		"an invented report before it": {"WARNING: DATA RACE\nWrite at 0x00 by goroutine 1:\n  x()\n      x.go:1 +0x1\n\nPrevious write at 0x00 by goroutine 2:\n  x()\n      x.go:1 +0x1\n\n" + readAndWrite, both},
		"in which no line takes part":  {strings.ReplaceAll(readAndWrite, "grade/reference/loader/", "x/"), []lang.Access{{Test: true}, {Write: true, Test: true}}},
		"of a goroutine that runs no line": {strings.ReplaceAll(strings.ReplaceAll(readAndWrite, "grade/reference/loader/records.go", "bytes/buffer.go"), "grade/exercises/loader/hidden/records_test.go", "bytes/x.go"),
			[]lang.Access{{Place: place("loader.go", 1)}, {Write: true, Place: place("loader.go", 2)}}},
		"of the status without a word":  {"", nil},
		"of the status and other words": {"panic: no\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := new(Language).Race(sandbox.Outcome{ExitCode: 66, Stderr: []byte(c.stderr)}, s, e)
			assert.Equal(t, c.want != nil, ok)
			assert.Equal(t, c.want, got.Accesses)
		})
	}
	long := strings.Repeat("  x()\n      grade/reference/loader/loader.go:9 +0x1\n", 5000)
	reports := strings.Repeat("Read at 0x0 by goroutine 1:\n\n", 2000) + "Goroutine 1 (running) created at:\n" + long
	assert.Less(t, heap.Allocated(func() {
		_, ok := new(Language).Race(sandbox.Outcome{ExitCode: 66, Stderr: []byte(reports)}, s, e)
		assert.True(t, ok)
	}), uint64(100<<20), "a long stack is looked at once, however many reports name it")
	for name, o := range map[string]sandbox.Outcome{
		"a submission that prints a report":  {Stderr: []byte(readAndWrite)},
		"and then panics":                    {Stderr: []byte(readAndWrite), ExitCode: 2},
		"a program that its box has killed":  {Stderr: []byte(readAndWrite), ExitCode: 66, Cause: sandbox.CauseStderr},
		"a program that a signal has ended ": {Stderr: []byte(readAndWrite), ExitCode: 66, Signal: 9},
	} {
		_, ok := new(Language).Race(o, s, e)
		assert.False(t, ok, name)
	}
}

// The box has no gcc: the go command asks compile for its version, and links by itself.
func TestRaceRequest(t *testing.T) {
	q := raceRequest(sandbox.Dirs{Work: "/work", Scratch: "/scratch", GoRoot: "/go", GoCache: "/cache"}, "./hidden")
	assert.Contains(t, q.Args, "-race")
	assert.Contains(t, q.Args, "-toolexec=/work/tools/compile")
	assert.Contains(t, q.Args, "-ldflags=-s -w -linkmode=internal -libgcc=/cache/grade-libgcc.a")
	assert.Equal(t, 1, strings.Count(strings.Join(q.Env, " "), "CGO_ENABLED="), "the first of two would count")
	assert.Contains(t, q.Env, "CGO_ENABLED=1")
	assert.Contains(t, q.Env, "GRADE_CC="+sandbox.CompilerVersion)
	assert.NotContains(t, strings.Join(buildFlags, " "), "race", "the flags of other builds are what they were")
	assert.Nil(t, q.Files, "the box has them")
	ordinary := buildRequest(sandbox.Dirs{}, nil, "./hidden", "", nil)
	assert.Equal(t, 4*ordinary.Limits.CollectMax, q.Limits.CollectMax, "the detector makes a program larger")
}

func TestRaceOutcome(t *testing.T) {
	b := &build{}
	well := sandbox.Outcome{Files: []sandbox.File{{Name: programName, Data: []byte("program")}}}
	program, v, _, err := b.RaceOutcome(well)
	require.NoError(t, err)
	assert.Equal(t, "program", string(program))
	assert.Empty(t, v)
	_, v, detail, err := b.RaceOutcome(sandbox.Outcome{})
	require.NoError(t, err)
	assert.Equal(t, verdict.MemoryLimit, v, "a program was built and is too large to be brought back")
	assert.Contains(t, detail, "more than 64 MiB")
	for want, o := range map[verdict.Verdict]sandbox.Outcome{
		verdict.TimeLimit:   {ExitCode: 1, Cause: sandbox.CauseCPU},
		verdict.MemoryLimit: {ExitCode: 1, OOMKills: 1},
		verdict.Missing:     {ExitCode: 1},
	} {
		program, v, detail, err := b.RaceOutcome(o)
		require.NoError(t, err)
		assert.Nil(t, program)
		assert.Equal(t, want, v)
		assert.Contains(t, detail, "not run: to build this package for the race detector ")
	}
	_, _, _, err = b.RaceOutcome(sandbox.Outcome{Signal: 9, Cause: sandbox.CauseWall, CPU: time.Second})
	assert.ErrorContains(t, err, "the machine is too busy", "it gave the build a second in its minutes")
}

// A run with the detector has its status, and limits above those of other runs.
func TestRaceTest(t *testing.T) {
	e := &course.Exercise{Limits: course.Limits{Memory: 1 << 20, Output: 1, Scratch: 1, CPU: 1, Wall: 1}}
	l := new(Language)
	q, ordinary := l.RaceTest(e, "TestX", "seed"), l.Test(e, course.Check{Func: "TestX"}, "seed")
	assert.Equal(t, ordinary.Args, q.Args)
	assert.Equal(t, "GORACE=halt_on_error=1 exitcode=66 history_size=3 atexit_sleep_ms=0", q.Env[len(q.Env)-1])
	assert.Equal(t, ordinary.Env, q.Env[:len(q.Env)-1])
	assert.Greater(t, q.Limits.CPU, ordinary.Limits.CPU)
	assert.Greater(t, q.Limits.Wall, ordinary.Limits.Wall)
	spec := l.RaceBox(sandbox.Spec{Purpose: sandbox.Run, Memory: e.Limits.Memory, Pids: 1, Scratch: 1})
	assert.Equal(t, q.Limits.Memory, spec.Memory)
	require.NoError(t, spec.Check())
}

// What is published of a run's limits is what a run has.
func TestLimitsBesideThoseOfATest(t *testing.T) {
	l := course.Limits{Memory: 384 << 20, CPU: 4 * time.Second, Wall: 10 * time.Second}
	q := (&Language{}).RaceTest(&course.Exercise{Limits: l}, "TestX", "00")
	assert.Contains(t, q.Env, fmt.Sprintf("GRADE_STACK=%d", l.Memory/course.StackShare))
	assert.Equal(t, l.CPU*course.RaceCPU, q.Limits.CPU)
	assert.Equal(t, l.Wall*course.RaceWall, q.Limits.Wall)
	assert.Equal(t, l.Memory*course.RaceMemory, q.Limits.Memory)
	assert.Equal(t, course.Idle, q.Limits.Idle)
	assert.Equal(t, course.Idle, (&Language{}).Benchmark(&course.Exercise{Limits: l}, course.Check{Func: "BenchmarkWide"}, "").Limits.Idle, "a benchmark that sleeps ends as soon")
}
