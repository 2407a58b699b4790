package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/results/file"
	"grade/grader/turn"
)

// grades runs grade, and returns what it said.
func grades(t *testing.T, wantCode int, args ...string) (out, told string) {
	t.Helper()
	var o, e bytes.Buffer
	require.Equal(t, wantCode, run(t.Context(), args, nil, &o, &e), "%v\n%s%s", args, o.String(), e.String())
	return o.String(), e.String()
}

// edit replaces a text in a file.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), old)
	require.NoError(t, os.WriteFile(file, bytes.Replace(data, []byte(old), []byte(new), 1), 0o600))
}

// After a change of hidden tests: who changes, by how much and by which check, and what
// of it counts under the rules of the course; nothing holds before it is applied.
func TestRegrade(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	engineClient(t)
	course, results, students := t.TempDir(), filepath.Join(t.TempDir(), "results"), t.TempDir()
	grades(t, exitOK, "exercise", "new", "mean", "--course", course, "--module", "example.com/mine")
	shipped := filepath.Join(course, "exercises", "mean", "submissions")
	require.NoError(t, os.CopyFS(filepath.Join(students, "ada", "mean"), os.DirFS(filepath.Join(shipped, "accepted", "running-mean"))))
	require.NoError(t, os.CopyFS(filepath.Join(students, "bob", "mean"), os.DirFS(filepath.Join(shipped, "wrong_answer", "empty-is-nan"))))
	require.NoError(t, os.WriteFile(filepath.Join(course, "grade.yaml"), []byte("times: times.csv\nexercises:\n  mean: {due: 2026-12-01 12:00, late: {deduct: 10, per: 24h}}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(course, "times.csv"), []byte("student,exercise,submitted\nada,mean,2026-12-01 12:00\nbob,mean,2026-12-02 12:00:01\n"), 0o600))
	with := []string{"--course", course, "--results", results}
	inCourse := func(wantCode int, args ...string) string {
		out, _ := grades(t, wantCode, append(args, with...)...)
		return out
	}

	inCourse(exitUsage, "regrade")
	assert.Contains(t, inCourse(exitOK, "batch", students), "graded 2, cached 0, no verdict 0\n")
	assert.Equal(t, "regraded 0, changed 0, not graded 0\n", inCourse(exitOK, "regrade"))
	assert.Regexp(t, `(?m)^bob +0 +0$`, inCourse(exitOK, "gradebook"))

	edit(t, filepath.Join(course, "exercises", "mean", "hidden", "mean_test.go"), "{1, 0, 2, 3, 4, 5, 100}", "{1, 2, 3, 4, 5, 100}")
	held, err := os.ReadFile(filepath.Join(results, file.ResultsFile))
	require.NoError(t, err)
	holds := func() {
		now, err := os.ReadFile(filepath.Join(results, file.ResultsFile))
		require.NoError(t, err)
		assert.Equal(t, string(held), string(now))
	}
	assert.Equal(t, "submission      old      new  why\n"+
		"bob/mean      0/100  100/100  TestMean: wrong answer → passed, 0 → 100 points; before: one value differs from what is expected: \"mean\"\n\n"+
		"What counts:\nbob  mean  0 → 80\nbob  total, %  0 → 80\n\n"+
		"regraded 2, changed 1, not graded 0; the old results still count: --apply lets the new ones count\n", inCourse(exitMissing, "regrade"))
	holds()
	assert.Contains(t, inCourse(exitMissing, "regrade", "--diff", "--json"), `"applied": false`)
	holds()
	inCourse(exitUsage, "regrade", "--diff", "--apply")

	assert.Contains(t, inCourse(exitOK, "regrade", "--apply"), "the new results count now")
	assert.Equal(t, "regraded 0, changed 0, not graded 0\n", inCourse(exitOK, "regrade"))
	assert.Contains(t, inCourse(exitOK, "batch", students), "graded 0, cached 2, no verdict 0\n")
	book := inCourse(exitOK, "gradebook")
	assert.Regexp(t, `(?m)^ada +100 +100$`, book)
	assert.Regexp(t, `(?m)^bob +80 +80$`, book)
	assert.Contains(t, book, "bob  mean  Attempt 1 was handed in at 2026-12-02 12:00:01 UTC (by times.csv), 1 d 0 h 1 min late: 20 % are taken off, so 80 of its 100 points count.")

	// Batch graded anew tells what is not as it was.
	edit(t, filepath.Join(course, "exercises", "mean", "hidden", "mean_test.go"), "{1, 2, 3, 4, 5, 100}", "{1, 0, 2, 3, 4, 5, 100}")
	assert.Regexp(t, `(?s)The same files as before, and another result:.*bob/mean +100/100 +0/100 .*graded 0, cached 2, no verdict 0\n$`, inCourse(exitOK, "batch", students))
	assert.Len(t, kept(t, results), 6)
}
