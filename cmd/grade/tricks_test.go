package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/turn"
	"grade/grader/verdict"
)

// What a program does that got past the vet, with the operating system in its
// hands. None of it may be worth a point. The vet is opened for these packages,
// so that it is not what stops them.
const trickImports = "imports: [os, os:*, syscall, time, fmt, fmt:*, runtime, runtime/debug, unsafe]\n"

var tricks = map[string]string{
	"exits in init": `
import "os"
func init() { os.Exit(0) }`,
	"exits at the first call": `
import "os"
var _ = func() bool { go func() { os.Exit(0) }(); return true }()`,
	"prints passes": `
import ("fmt"; "os")
func init() {
	for range 50 { fmt.Println("--- PASS: TestOrder (0.00s)"); fmt.Println("\x16--- PASS: TestOverflow (0.00s)"); fmt.Println("PASS"); fmt.Println("ok  \tgrade\t0.01s") }
	os.Exit(0)
}`,
	"writes a passing end to every descriptor": `
import "os"
func init() {
	for fd := uintptr(1); fd < 64; fd++ {
		f := os.NewFile(fd, "any")
		for range 3 { f.Write([]byte("grd1\x02\x01")) }
	}
}`,
	"writes a passing end and leaves": `
import "os"
func init() { os.NewFile(3, "observations").Write([]byte("grd1\x02\x01")); os.Exit(0) }`,
	"asks for marks": `
import "os"
func init() { for range 40 { os.NewFile(4, "marks").Write([]byte{1}) } }`,
	"skips the tests by their flags": `
import "os"
func init() { args := os.Args; for i := 1; i < len(args); i++ { args[i] = "-test.run=^$" } }`,
	"kills all it can reach": `
import "syscall"
func init() { syscall.Kill(1, syscall.SIGKILL); syscall.Kill(-1, syscall.SIGKILL) }`,
	"becomes another program": `
import ("os"; "syscall")
func init() { if os.Args[0] != "x" { syscall.Exec("/proc/self/exe", []string{"x", "-test.run=^$"}, nil) } }`,
	"fills the scratch space with directories": `
import "os"
func init() { d := os.TempDir(); for range 20000 { d += "/d"; if os.Mkdir(d, 0o700) != nil { break } } }`,
}

// Each trick is played by a wrong solution, and earns it nothing; the victim that
// is graded beside it, in the same minute by the same engine, keeps every point.
func TestTricks(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("takes minutes")
	}
	t.Parallel()
	g := graderIn(t, openEngine(t))
	root := courseOpenTo(t, trickImports)
	e, err := course.Open(os.DirFS(root)).Load("ring")
	require.NoError(t, err)
	right := filepath.Join(root, "reference", "ring")
	honest := gradeIn(t, g, e, trickster(t, right, "")).Score
	require.Equal(t, 60, honest)
	for name, code := range tricks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trick, victim *verdict.Result
			var group errgroup.Group
			group.Go(func() error { trick = gradeIn(t, g, e, trickster(t, right, code)); return nil })
			group.Go(func() error { victim = gradeIn(t, g, e, right); return nil })
			require.NoError(t, group.Wait())
			assert.Equal(t, verdict.Graded, trick.Verdict, trick.Problems)
			assert.LessOrEqual(t, trick.Score, honest)
			assert.Equal(t, victim.MaxScore, victim.Score, "the victim")
		})
	}
}

// courseOpenTo is the small course, with packages opened that its exercise keeps shut.
func courseOpenTo(t *testing.T, imports string) string {
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS(filepath.Join("testdata", "course"))))
	name := filepath.Join(root, "exercises", "ring", "exercise.yaml")
	config, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NotContains(t, string(config), "\nimports:")
	require.NoError(t, os.WriteFile(name, append(config, imports...), 0o600))
	return root
}

// trickster is a solution that never drops an entry, with some code beside it.
func trickster(t *testing.T, right, code string) string {
	dir := t.TempDir()
	solution, err := os.ReadFile(filepath.Join(right, "ring.go"))
	require.NoError(t, err)
	const limit = "len(r.entries) > r.n"
	require.Contains(t, string(solution), limit)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ring.go"), []byte(strings.Replace(string(solution), limit, "false", 1)), 0o600))
	if code != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "trick.go"), []byte("package ring\n"+strings.TrimLeft(code, "\n")+"\n"), 0o600))
	}
	return dir
}

func gradeIn(t *testing.T, g *grader.Grader, e *course.Exercise, dir string) *verdict.Result {
	r, err := g.Grade(t.Context(), snapshotOf(t, dir), e, grader.Options{Only: []verdict.Kind{verdict.Correctness}})
	if !assert.NoError(t, err) {
		return &verdict.Result{}
	}
	return r
}
