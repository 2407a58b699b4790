package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/turn"
	"grade/grader/verdict"
)

// class is a small course and a folder of students who handed in, and what each must get.
func class(t *testing.T) (course, root string, want map[string]verdict.Verdict) {
	t.Helper()
	course, root, want = t.TempDir(), t.TempDir(), map[string]verdict.Verdict{}
	grades(t, exitOK, "exercise", "new", "mean", "--course", course, "--module", "example.com/mine")
	for student, hand := range map[string]struct {
		verdict verdict.Verdict
		code    string
	}{
		"ada":  {verdict.Graded, "func Mean(xs []float64) (m float64) {\n\tfor i, x := range xs {\n\t\tm += (x - m) / float64(i+1)\n\t}\n\treturn m\n}\n"},
		"bo":   {verdict.Graded, "func Mean(xs []float64) float64 { return 0 }\n"},
		"cem":  {verdict.CompileError, "func Mean(xs []float64) float64 { return xs }\n"},
		"dora": {verdict.Invalid, "import \"os\"\n\nfunc Mean(xs []float64) float64 { return float64(os.Getpid()) }\n"},
		"ed":   {verdict.Graded, "func Mean(xs []float64) float64 { panic(xs) }\n"},
	} {
		file := filepath.Join(root, student, "mean", "mean.go")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("package mean\n\n"+hand.code), 0o600))
		want[student] = hand.verdict
	}
	return course, root, want
}

// inBatch runs grade batch, and returns its last line.
func inBatch(t *testing.T, wantCode int, args ...string) (last, told string) {
	t.Helper()
	var out, err bytes.Buffer
	require.Equal(t, wantCode, run(t.Context(), append([]string{"batch"}, args...), nil, &out, &err), "%s%s", out.String(), err.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[len(lines)-1], err.String()
}

// kept are the records in a folder of results.
func kept(t *testing.T, dir string) (records []results.Record) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, file.ResultsFile))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return records
		}
		var r results.Record
		require.NoError(t, json.Unmarshal(line, &r))
		records = append(records, r)
	}
}

// firstResult waits until a batch has kept one.
func firstResult(t *testing.T, results string) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := filepath.Glob(filepath.Join(results, file.ResultsFile))
		require.NoError(t, err)
		return slices.ContainsFunc(found, func(name string) bool {
			info, err := os.Stat(name)
			return err == nil && info.Size() > 0
		})
	}, 2*time.Minute, 5*time.Millisecond, "a first result")
}

// A batch that was killed goes on where it was; one that is through grades nothing
// but what changes.
func TestBatchKilled(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	c := engineClient(t)
	course, root, want := class(t)
	results := filepath.Join(t.TempDir(), "results")
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.Cmd{Path: self, Args: []string{"grade", "batch", root, "--results", results, "--course", course, "--workers", "2"}, Env: append(os.Environ(), "COLUMNS=80")}
	require.NoError(t, child.Start())
	firstResult(t, results)
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()

	before := len(kept(t, results))
	last, _ := inBatch(t, exitOK, root, "--results", results, "--course", course)
	assert.Equal(t, fmt.Sprintf("graded %d, cached %d, no verdict 0", len(want)-before, before), last)
	records := kept(t, results)
	got := map[string]verdict.Verdict{}
	for _, r := range records {
		got[r.Student] = r.Result.Verdict
		assert.Equal(t, "mean", r.Exercise)
		assert.NotEmpty(t, r.Result.Seed)
		assert.NotEmpty(t, r.Result.Sandbox.Image)
	}
	assert.Equal(t, want, got)
	assert.Len(t, records, len(want), "no result twice")
	assert.Eventually(t, func() bool { return len(containersOf(t, c, child.Process.Pid)) == 0 }, time.Minute, 100*time.Millisecond, "nothing of the killed one is left")

	last, _ = inBatch(t, exitOK, root, "--results", results, "--course", course)
	assert.Equal(t, fmt.Sprintf("graded 0, cached %d, no verdict 0", len(want)), last)
	file := filepath.Join(root, "ada", "mean", "more.go")
	require.NoError(t, os.WriteFile(file, []byte("package mean\n"), 0o600))
	last, _ = inBatch(t, exitOK, root, "--results", results, "--course", course)
	assert.Equal(t, fmt.Sprintf("graded 1, cached %d, no verdict 0", len(want)-1), last)
}

// An interrupted batch ends soon and by itself, says what it has, leaves no container,
// and goes on where it was.
func TestBatchInterrupted(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	c := engineClient(t)
	course, root, want := class(t)
	results := filepath.Join(t.TempDir(), "results")
	self, err := os.Executable()
	require.NoError(t, err)
	var out, told bytes.Buffer
	child := exec.Cmd{Path: self, Args: []string{"grade", "batch", root, "--results", results, "--course", course, "--workers", "2"}, Stdout: &out, Stderr: &told}
	require.NoError(t, child.Start())
	firstResult(t, results)
	require.Eventually(t, func() bool { return len(containersOf(t, c, child.Process.Pid)) > 0 }, time.Minute, time.Millisecond, "others are being graded")
	require.NoError(t, child.Process.Signal(os.Interrupt))
	asked := time.Now()
	_ = child.Wait()
	assert.Less(t, time.Since(asked), time.Minute, "a second on an idle machine")
	assert.Empty(t, containersOf(t, c, child.Process.Pid), "nothing of it is left")
	assert.Equal(t, exitInterrupted, child.ProcessState.ExitCode(), told.String())
	assert.Equal(t, "grade: interrupted\n", told.String())
	graded := len(kept(t, results))
	assert.Positive(t, graded)
	assert.Less(t, graded, len(want))
	assert.Regexp(t, fmt.Sprintf(`\ngraded %d, cached 0, no verdict %d\n$`, graded, len(want)-graded), out.String())

	last, _ := inBatch(t, exitOK, root, "--results", results, "--course", course)
	assert.Equal(t, fmt.Sprintf("graded %d, cached %d, no verdict 0", len(want)-graded, graded), last)
}

// Where the engine goes away, those in flight have no verdict, and are graded when
// the command is run again.
func TestBatchWithoutEngine(t *testing.T) {
	turn.Take(t)
	real := engineClient(t)
	course, root, want := class(t)
	results := filepath.Join(t.TempDir(), "results")
	var started atomic.Int32
	newProxy(t, real.DaemonHost(), func(request string) (answer string, cut bool) {
		if strings.Contains(request, "/start") {
			started.Add(1)
		}
		return "", started.Load() >= 6
	})
	last, told := inBatch(t, exitNoVerdict, root, "--results", results, "--course", course, "--workers", "2")
	m := regexp.MustCompile(`^graded (\d+), cached 0, no verdict (\d+)$`).FindStringSubmatch(last)
	require.NotNil(t, m, last)
	graded, _ := strconv.Atoi(m[1])
	assert.Positive(t, graded)
	assert.Len(t, kept(t, results), graded)
	assert.Contains(t, told, "run the same command again to grade them")
	t.Setenv("DOCKER_HOST", real.DaemonHost()) // it is back
	last, _ = inBatch(t, exitOK, root, "--results", results, "--course", course)
	assert.Equal(t, fmt.Sprintf("graded %d, cached %d, no verdict 0", len(want)-graded, graded), last)
	nothingLeft(t, real)
}
