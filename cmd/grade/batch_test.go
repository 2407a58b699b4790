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
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader"
	"grade/grader/batch"
)

// class is a folder of students who handed in what is shipped with an exercise, and
// what each must get.
func class(t *testing.T) (root string, want map[string]grader.Verdict) {
	t.Helper()
	root, want = t.TempDir(), map[string]grader.Verdict{}
	for student, hand := range map[string]struct {
		from    string
		verdict grader.Verdict
	}{
		"ada":  {"wrong_answer/best-of-nothing", grader.Graded},
		"bo":   {"wrong_answer/count-not-reset", grader.Graded},
		"cem":  {"compile_error/*", grader.CompileError},
		"dora": {"invalid/*", grader.Invalid},
		"ed":   {"runtime_error/*", grader.Graded},
	} {
		found, err := filepath.Glob(filepath.Join(courseRoot, "exercises", "earlystop", "submissions", filepath.FromSlash(hand.from)))
		require.NoError(t, err)
		require.NotEmpty(t, found, hand.from)
		require.NoError(t, os.CopyFS(filepath.Join(root, student, "earlystop"), os.DirFS(found[0])))
		want[student] = hand.verdict
	}
	return root, want
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
func kept(t *testing.T, results string) (records []batch.Record) {
	t.Helper()
	f, err := os.Open(filepath.Join(results, batch.ResultsFile))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return records
		}
		var r batch.Record
		require.NoError(t, json.Unmarshal(line, &r))
		records = append(records, r)
	}
}

// A batch that was killed goes on where it was; one that is through grades nothing
// but what changes.
func TestBatchKilled(t *testing.T) {
	c := engineClient(t)
	root, want := class(t)
	results := filepath.Join(t.TempDir(), "results")
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.Cmd{Path: self, Args: []string{"grade", "batch", root, "--results", results, "--workers", "2"}, Env: append(os.Environ(), "COLUMNS=80")}
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool {
		info, err := os.Stat(filepath.Join(results, batch.ResultsFile))
		return err == nil && info.Size() > 0
	}, 2*time.Minute, 5*time.Millisecond, "a first result")
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()

	before := len(kept(t, results))
	last, _ := inBatch(t, exitOK, root, "--results", results)
	assert.Equal(t, fmt.Sprintf("graded %d, cached %d, no verdict 0", len(want)-before, before), last)
	records := kept(t, results)
	got := map[string]grader.Verdict{}
	for _, r := range records {
		got[r.Student] = r.Result.Verdict
		assert.Equal(t, "earlystop", r.Exercise)
		assert.NotEmpty(t, r.Result.Seed)
		assert.NotEmpty(t, r.Result.Sandbox.Image)
	}
	assert.Equal(t, want, got)
	assert.Len(t, records, len(want), "no result twice")
	assert.Eventually(t, func() bool { return len(containersOf(t, c, child.Process.Pid)) == 0 }, time.Minute, 100*time.Millisecond, "nothing of the killed one is left")

	last, _ = inBatch(t, exitOK, root, "--results", results)
	assert.Equal(t, fmt.Sprintf("graded 0, cached %d, no verdict 0", len(want)), last)
	file := filepath.Join(root, "ada", "earlystop", "more.go")
	require.NoError(t, os.WriteFile(file, []byte("package earlystop\n"), 0o600))
	last, _ = inBatch(t, exitOK, root, "--results", results)
	assert.Equal(t, fmt.Sprintf("graded 1, cached %d, no verdict 0", len(want)-1), last)
}

// Where the engine goes away, those in flight have no verdict, and are graded at the
// next start.
func TestBatchWithoutEngine(t *testing.T) {
	real := engineClient(t)
	root, want := class(t)
	results := filepath.Join(t.TempDir(), "results")
	var started atomic.Int32
	newProxy(t, real.DaemonHost(), func(request string) (answer string, cut bool) {
		if strings.Contains(request, "/start") {
			started.Add(1)
		}
		return "", started.Load() >= 4
	})
	last, told := inBatch(t, exitNoVerdict, root, "--results", results, "--workers", "2")
	m := regexp.MustCompile(`^graded (\d+), cached 0, no verdict (\d+)$`).FindStringSubmatch(last)
	require.NotNil(t, m, last)
	graded, _ := strconv.Atoi(m[1])
	assert.Positive(t, graded)
	assert.Len(t, kept(t, results), graded)
	assert.Contains(t, told, "the next start grades them")
	t.Setenv("DOCKER_HOST", real.DaemonHost()) // it is back
	last, _ = inBatch(t, exitOK, root, "--results", results)
	assert.Equal(t, fmt.Sprintf("graded %d, cached %d, no verdict 0", len(want)-graded, graded), last)
	nothingLeft(t, real)
}
