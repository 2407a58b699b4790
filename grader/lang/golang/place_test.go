package golang

import (
	"bytes"
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
	"runtime/debug"

	"m/reference/p"
)

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
	case "again":
		defer p.Return()
		panic("test")
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
func TestCrashPlaceOfRealCrashes(t *testing.T) {
	name := program(t)
	e, s := crashingPackage()
	for mark, words := range map[string]string{
		"index":      "panic: index out of range: the index was the length or more",
		"sorted":     "panic: index out of range: the index was the length or more",
		"custom":     "",
		"nil":        "panic: nil pointer dereference",
		"deep":       "stack overflow: a recursion without end, or one that is far too deep",
		"background": "panic: close of a channel that is nil or closed already",
		"wait":       "deadlock: all goroutines wait for each other",
		"many":       "deadlock: all goroutines wait for each other",
		"again":      "",
	} {
		t.Run(mark, func(t *testing.T) {
			stderr := crashOf(t, name, mark)
			assert.Equal(t, words, CrashWords(stderr))
			place, foreign := CrashPlace(stderr, e, s)
			assert.False(t, foreign)
			if mark == "many" { // the first goroutine is the one that started them all
				require.NotNil(t, place)
				return
			}
			assert.Equal(t, &verdict.Place{File: "p.go", Line: lineOf(mark)}, place, "%s", stderr)
		})
	}
	for _, mark := range []string{"test", "callback"} {
		place, foreign := CrashPlace(crashOf(t, name, mark), e, s)
		assert.Nil(t, place)
		assert.True(t, foreign, "only the test is on the stack")
	}
}

func crashOf(t *testing.T, name, mark string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, mark)
	cmd.Env, cmd.Stderr = []string{"GOTRACEBACK=single"}, &stderr
	require.Error(t, cmd.Run())
	return stderr.Bytes()
}

// A submission can print a traceback; only lines of code of its own count.
func TestCrashPlaceOfForgedTraces(t *testing.T) {
	e, s := crashingPackage()
	trace := func(frames string) []byte {
		return []byte("panic: runtime error: index out of range [5] with length 3\n\ngoroutine 7 [running]:\n" + frames)
	}
	for frames, want := range map[string]*verdict.Place{
		"m/reference/p.F()\n\tm/reference/p/p.go:6 +0x1\n":                  {File: "p.go", Line: 6},
		"m/reference/p.F(...)\n\tm/reference/p/p.go:6\n":                    {File: "p.go", Line: 6},
		"x.G()\n\tx/p.go:6 +0x1\nF()\n\tm/reference/p/p.go:11\n":            {File: "p.go", Line: 11},
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
		"F()\n\tm/reference/p/p.go:6 42 secret words\x1b\n":                 {File: "p.go", Line: 6},
	} {
		place, _ := CrashPlace(trace(frames), e, s)
		assert.Equal(t, want, place, "%q", frames)
	}
	for _, stderr := range []string{"", "panic: x\n", "goroutine ", "\ngoroutine 1 [running]:\n", "m/reference/p/p.go:6\n\tm/reference/p/p.go:6\n"} {
		place, foreign := CrashPlace([]byte(stderr), e, s)
		assert.Nil(t, place)
		assert.False(t, foreign, "%q has no stack", stderr)
	}
	e.Provided = []string{"p.go"}
	place, _ := CrashPlace(trace("F()\n\tm/reference/p/p.go:6\n"), e, s)
	assert.Nil(t, place, "a file of the exercise's is not where a student looks")
}
