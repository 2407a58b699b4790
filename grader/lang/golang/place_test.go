package golang

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/tree"
	"grade/grader/verdict"
	"grade/sandbox"
)

// crashing is a package whose functions crash in the lines that say so.
const crashing = `package p

import "sort"

func Index(list []int) int {
	return list[len(list)] // index
}

func Sorted(list []int) {
	sort.Slice(list, func(i, j int) bool {
		return list[i+9] < list[j] // sorted
	})
}

func Custom() {
	panic("the input was 42") // custom
}

type T struct{ next *T }

func (t *T) Next() *T { return t.next } // nil

func Deep(n int) int {
	return Deep(n+1) + 1 // deep
}

func Background(c chan int) {
	go func() {
		close(c)
		close(c) // background
	}()
	select {}
}

func Wait(c chan int) int {
	return <-c // wait
}

func Many(c chan int) {
	for range 20_000 {
		go func() { c <- 1 }() // many
	}
	select {}
}

func Both(a, b chan int) {
	for range 2 {
		go func() { <-a }() // first
	}
	go func() {
		b <- 1 // second
	}()
	select {} // third
}

func Deferred(c chan int) {
	defer func() { <-c }()
	_ = []int{1}[len(c)+1] // deferred
}

func Twice(list []int) {
	defer func() { list[0]++ }()
	list = list[:0]
	close((chan int)(nil)) // twice
}

func Spin(quit func()) {
	go func() { select {} }()
	for {
		quit() // spin
	}
}

func Short() []int { return nil }

func Return() {
	if v := recover(); v != nil {
		panic(v) // again
	}
}
`

// crashingTest stands for a hidden test.
const crashingTest = `package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"m/reference/p"
)

func quit() {
	syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGQUIT)
}

func main() {
	debug.SetMaxStack(16 << 20)
	c := make(chan int)
	switch os.Args[1] {
	case "index":
		p.Index([]int{1})
	case "sorted":
		p.Sorted([]int{3, 2, 1})
	case "custom":
		p.Custom()
	case "nil":
		(*p.T)(nil).Next()
	case "deep":
		p.Deep(1)
	case "background":
		p.Background(c)
	case "wait":
		p.Wait(c)
	case "many":
		p.Many(c)
	case "both":
		p.Both(c, make(chan int))
	case "deferred":
		p.Deferred(c)
	case "twice":
		p.Twice([]int{1})
	case "again":
		defer p.Return()
		panic("test")
	case "spin":
		p.Spin(quit)
	case "asleep":
		go func() {
			for stacks := make([]byte, 1<<16); !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "[chan receive"); {
			}
			quit()
		}()
		p.Wait(c)
	case "test":
		println(p.Short()[1])
	case "callback":
		func() { panic("test") }()
	}
}
`

// program builds the two, as a build of hidden tests does.
func program(t *testing.T) string {
	dir := t.TempDir()
	tree.Add(t, dir, map[string]string{"go.mod": "module m\n\ngo " + goVersion + "\n", "reference/p/p.go": crashing, "main.go": crashingTest})
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "crash", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "crash")
}

func crashingPackage() (*course.Exercise, *submission.Snapshot) {
	e := &course.Exercise{Name: "p", Module: "m", ImportPath: "m/reference/p"}
	return e, &submission.Snapshot{Files: []submission.File{{Name: "other.go", Data: []byte("package p\n")}, {Name: "p.go", Data: []byte(crashing)}}}
}

func lineOf(mark string) int {
	before, _, _ := strings.Cut(crashing, "// "+mark+"\n")
	return strings.Count(before, "\n") + 1
}

// The traces come from the runtime of this test, so that a new Go release that writes
// them in another way fails here.
func TestCrashPlacesOfRealCrashes(t *testing.T) {
	name := program(t)
	e, s := crashingPackage()
	for mark, words := range map[string]string{
		"index":      "panic: index out of range: the index was the length or more",
		"sorted":     "panic: index out of range: the index was the length or more",
		"custom":     ownPanic,
		"nil":        "panic: nil pointer dereference",
		"deep":       "stack overflow: a recursion without end, or one that is far too deep",
		"background": "panic: close of a channel that is nil or closed already",
		"wait":       deadlocked,
		"deferred":   deadlocked + afterPanic,
		"twice":      "panic: close of a channel that is nil or closed already",
		"again":      ownPanic,
	} {
		t.Run(mark, func(t *testing.T) {
			stderr := crashOf(t, name, mark)
			assert.Equal(t, words, CrashWords(stderr))
			places, foreign := CrashPlaces(crashed(stderr), e, s)
			assert.False(t, foreign)
			assert.Equal(t, []verdict.Place{{File: "p.go", Line: lineOf(mark)}}, places, "%s", stderr)
		})
	}
	for _, mark := range []string{"test", "callback"} {
		places, foreign := CrashPlaces(crashed(crashOf(t, name, mark)), e, s)
		assert.Empty(t, places)
		assert.True(t, foreign, "only the test is on the stack")
	}
}

// Which of the goroutines that wait is at fault the runtime cannot tell.
func TestCrashPlacesOfDeadlocks(t *testing.T) {
	name := program(t)
	e, s := crashingPackage()
	both := crashOf(t, name, "both")
	assert.Equal(t, deadlocked, CrashWords(both))
	places, _ := CrashPlaces(crashed(both), e, s)
	var want []verdict.Place
	for _, mark := range []string{"first", "second", "third"} {
		want = append(want, verdict.Place{File: "p.go", Line: lineOf(mark)})
	}
	assert.Equal(t, want, places, "%s", both)
	places, _ = CrashPlaces(crashed(crashOf(t, name, "many")), e, s)
	assert.Len(t, places, 2, "where they wait, and where the one waits that has started them")
}

// A stack may have ten thousands of frames, and a file hundreds of thousands of lines: to look
// for each line from the beginning of its file would take minutes.
func TestCrashPlacesOfLongStacks(t *testing.T) {
	e, s := crashingPackage()
	const lines = 260_000
	s.Files = append(s.Files, submission.File{Name: "long.go", Data: bytes.Repeat([]byte("\n"), lines)})
	var stack strings.Builder
	stack.WriteString("panic: x\n\ngoroutine 7 [running]:\n")
	for stack.Len() < 1<<20 {
		fmt.Fprintf(&stack, "m/reference/p.F()\n\tm/reference/p/long.go:%d\n", lines)
	}
	places, foreign := CrashPlaces(crashed([]byte(stack.String())), e, s)
	assert.Empty(t, places, "no line of it is code")
	assert.True(t, foreign)
	cut := crashed([]byte(stack.String()))
	cut.StderrCut = true
	_, foreign = CrashPlaces(cut, e, s)
	assert.False(t, foreign, "what was cut off is not known")
}

// A program whose time is over is asked to quit, and says where it is.
func TestCrashPlacesOfTimeLimits(t *testing.T) {
	name := program(t)
	e, s := crashingPackage()
	for mark, c := range map[string]struct {
		cause sandbox.Cause
		at    string
	}{
		"spin":   {sandbox.CauseCPU, "spin"},
		"asleep": {sandbox.CauseIdle, "wait"},
	} {
		stderr := crashOf(t, name, mark)
		want := []verdict.Place{{File: "p.go", Line: lineOf(c.at)}}
		for _, before := range []string{"", "what it wrote before", "panic: assignment to entry in nil map\n\ngoroutine 9 [running]:\nF()\n\tm/reference/p/p.go:6\n\n"} {
			places, foreign := CrashPlaces(sandbox.Outcome{Cause: c.cause, Stderr: append([]byte(before), stderr...)}, e, s)
			assert.Equal(t, want, places, "%s", stderr)
			assert.False(t, foreign)
		}
	}
	places, foreign := CrashPlaces(sandbox.Outcome{Cause: sandbox.CauseWall, Stderr: crashOf(t, name, "asleep")}, e, s)
	assert.Empty(t, places, "a goroutine that waits is not what keeps a busy program")
	assert.False(t, foreign)
	places, _ = CrashPlaces(sandbox.Outcome{Cause: sandbox.CauseIdle}, e, s)
	assert.Empty(t, places)
}

func crashOf(t *testing.T, name, mark string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, mark)
	cmd.Env, cmd.Stderr = []string{"GOTRACEBACK=single"}, &stderr
	require.Error(t, cmd.Run())
	return stderr.Bytes()
}

func crashed(stderr []byte) sandbox.Outcome { return sandbox.Outcome{ExitCode: 2, Stderr: stderr} }

// A submission can print a traceback; only lines of code of its own count.
func TestCrashPlacesOfForgedTraces(t *testing.T) {
	e, s := crashingPackage()
	trace := func(frames string) []byte {
		return []byte("panic: runtime error: index out of range [5] with length 3\n\ngoroutine 7 [running]:\n" + frames)
	}
	for frames, want := range map[string][]verdict.Place{
		"m/reference/p.F()\n\tm/reference/p/p.go:6 +0x1\n":                  {{File: "p.go", Line: 6}},
		"m/reference/p.F(...)\n\tm/reference/p/p.go:6\n":                    {{File: "p.go", Line: 6}},
		"x.G()\n\tx/p.go:6 +0x1\nF()\n\tm/reference/p/p.go:11\n":            {{File: "p.go", Line: 11}},
		"created by m/reference/p.F in goroutine 6\n\tm/reference/p/p.go:6": nil,
		"F()\n\tm/reference/p/p.go:2\n":                                     nil, // empty
		"F()\n\tm/reference/p/p.go:7\n":                                     nil, // a bracket
		"F()\n\tm/reference/p/p.go:9999999\n":                               nil,
		"F()\n\tm/reference/p/p.go:99999999999999999999\n":                  nil,
		"F()\n\tm/reference/p/p.go:0\n":                                     nil,
		"F()\n\tm/reference/p/../p/p.go:6\n":                                nil,
		"F()\n\tm/reference/p/hidden_test.go:6\n":                           nil,
		"F()\n\tm/exercises/p/hidden/p.go:6\n":                              nil,
		"F()\n m/reference/p/p.go:6\n":                                      nil,
		"F()\n\tm/reference/p/p.go:6 42 secret words\x1b\n":                 {{File: "p.go", Line: 6}},
	} {
		places, _ := CrashPlaces(crashed(trace(frames)), e, s)
		assert.Equal(t, want, places, "%q", frames)
	}
	for _, stderr := range []string{"", "panic: x\n", "goroutine ", "\ngoroutine 1 [running]:\n", "m/reference/p/p.go:6\n\tm/reference/p/p.go:6\n"} {
		places, foreign := CrashPlaces(crashed([]byte(stderr)), e, s)
		assert.Empty(t, places)
		assert.False(t, foreign, "%q has no stack", stderr)
	}
	e.Provided = []string{"p.go"}
	places, _ := CrashPlaces(crashed(trace("F()\n\tm/reference/p/p.go:6\n")), e, s)
	assert.Empty(t, places, "a file of the exercise's is not where a student looks")
}
