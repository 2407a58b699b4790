package file

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/results"
	"grade/grader/results/storetest"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// opened is a store in a folder, which is closed when the test ends.
func opened(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func recordOf(student, content string, attempt int) results.Record {
	return storetest.Record(student, content, attempt)
}

func TestStore(t *testing.T) {
	storetest.Test(t, func(t *testing.T) func() storetest.Opened {
		dir := t.TempDir()
		return func() storetest.Opened {
			s, err := Open(dir)
			require.NoError(t, err)
			return s
		}
	})
}

// A process that was killed while it wrote leaves half a line, which goes; a whole line that
// is no record was written by hand, and stays.
func TestHalfALine(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ResultsFile)
	s := opened(t, dir)
	require.NoError(t, s.Append(recordOf("alice", "a", 1)))
	_, err := Open(dir)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, name, busy.Name)
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, append(slices.Clone(whole), whole[:len(whole)/2]...), 0o600))

	s = opened(t, dir)
	r, ok := s.ByKey("key of a")
	require.True(t, ok)
	_, ok = s.Last("alice", "autograd")
	assert.True(t, ok)
	require.NoError(t, s.Append(r))
	require.NoError(t, s.Close())
	mended, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(whole)+string(whole), string(mended))

	require.NoError(t, os.WriteFile(name, []byte(string(whole)+"{}\n"), 0o600))
	_, err = Open(dir)
	require.ErrorContains(t, err, ResultsFile+":2: no record")
}

// The lines are a format: scripts read it, and so do older and newer programs.
func TestRecordLine(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	require.NoError(t, s.Append(results.Record{
		Key: "k", Student: "alice", Exercise: "autograd", Attempt: 2, Submitted: at, Source: "git", Content: "c",
		Path: "students/alice/autograd", Folder: "alice/autograd", Recorded: at.Add(time.Hour),
		Limits: results.LimitsOf(course.Limits{Memory: 1, Output: 2, Scratch: 3, CPU: 4 * time.Second, Wall: 5 * time.Second}), Result: &verdict.Result{},
	}))
	data, err := os.ReadFile(filepath.Join(dir, ResultsFile))
	require.NoError(t, err)
	before, _, ok := strings.Cut(string(data), `"result":{`)
	require.True(t, ok)
	assert.Equal(t, `{"schema":"grade/record/v1","key":"k","student":"alice","exercise":"autograd","attempt":2,`+
		`"submitted":"2026-12-01T09:00:00Z","submitted_source":"git","content":"c","path":"students/alice/autograd","folder":"alice/autograd",`+
		`"recorded":"2026-12-01T10:00:00Z","limits":{"memory_bytes":1,"output_bytes":2,"scratch_bytes":3,"cpu_ms":4000,"wall_ms":5000},`, before)
	assert.True(t, strings.HasSuffix(string(data), "}}\n"))
}

// An editor may leave the last line open: it is as good as any, and the next one does not run
// into it.
func TestLineNotEnded(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	r := recordOf("alice", "a", 1)
	require.NoError(t, s.Append(r))
	require.NoError(t, s.Close())
	name := filepath.Join(dir, ResultsFile)
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, whole[:len(whole)-1], 0o600))
	s, err = Read(dir)
	require.NoError(t, err)
	assert.Len(t, s.Attempts(), 1)
	require.ErrorContains(t, s.Append(r), "opened to be read")
	s = opened(t, dir)
	require.NoError(t, s.Append(r))
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(whole)+string(whole), string(got))
}

// The second process waits for the first, or for as long as the context lasts.
func TestOpenWhenFree(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := OpenWhenFree(ctx, dir, cancel)
	require.ErrorIs(t, err, context.Canceled)
	second, err := OpenWhenFree(t.Context(), dir, func() { require.NoError(t, first.Close()) })
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

func TestReadNothing(t *testing.T) {
	_, err := Read(t.TempDir())
	var none *NoResultsError
	require.ErrorAs(t, err, &none)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Two runs may have counted the same attempt, each in a copy of the file: put together,
// neither is lost.
func TestTwoFiles(t *testing.T) {
	dir := t.TempDir()
	var file []byte
	for _, one := range []struct {
		attempt int
		content string
		hour    int // of submission
	}{{1, "a", 1}, {2, "b", 2}, {2, "c", 3}, {2, "c", 3}, {3, "c", 3}, {1, "a", 9}} { // c graded anew, in either file; a by the second run
		r := recordOf("alice", one.content, one.attempt)
		r.Submitted = time.Date(2026, 12, 1, one.hour, 0, 0, 0, time.UTC)
		line, err := json.Marshal(r)
		require.NoError(t, err)
		file = append(append(file, line...), '\n')
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ResultsFile), file, 0o600))
	s, err := Read(dir)
	require.NoError(t, err)
	var got []string
	for _, r := range s.Attempts() {
		got = append(got, fmt.Sprint(r.Attempt, r.Content, r.Submitted.Hour()))
	}
	assert.Equal(t, []string{"1a1", "2b2", "3c3"}, got)
}

// A disk that is full leaves the file as it was, and one that cannot even be mended gets
// nothing behind half a line.
func TestDiskFull(t *testing.T) {
	s := opened(t, t.TempDir())
	require.NoError(t, s.Append(recordOf("alice", "a", 1)))
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	file := s.log.file
	s.log.file = full
	require.ErrorIs(t, s.Append(recordOf("bob", "b", 1)), syscall.ENOSPC)
	require.NoError(t, full.Close())
	s.log.file = file
	require.ErrorIs(t, s.Append(recordOf("carol", "c", 1)), syscall.ENOSPC, "a device cannot be cut")
	_, ok := s.Last("bob", "autograd")
	assert.False(t, ok)
}

func TestPendingFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, pendingFile)
	s := opened(t, dir)
	require.NoError(t, s.UpdatePending(nil))
	require.NoFileExists(t, name, "nothing is new")
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	waits := func(student string) results.Outcome {
		return results.Outcome{Pending: results.Pending{Schema: results.PendingSchema, Student: student, Exercise: "autograd", Content: "a", Path: "x", Recorded: at, Why: "the engine is gone"}}
	}
	require.NoError(t, s.UpdatePending([]results.Outcome{waits("bob"), waits("alice")}))
	lines, err := os.ReadFile(name)
	require.NoError(t, err)
	line := `{"schema":"grade/waiting/v1","student":"%s","exercise":"autograd","content":"a","path":"x","recorded":"2026-12-01T09:00:00Z","why":"the engine is gone"}` + "\n"
	assert.Equal(t, fmt.Sprintf(line+line, "alice", "bob"), string(lines))

	// After two files were put together, the newer line holds, and a record ends the wait.
	require.NoError(t, s.Append(recordOf("bob", "a", 1)))
	newer := `{"schema":"grade/waiting/v1","student":"alice","exercise":"autograd","path":"y","recorded":"2026-12-01T10:00:00Z","why":"newer"}` + "\n"
	require.NoError(t, os.WriteFile(name, []byte(newer+"\n"+string(lines)), 0o600))
	read, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, read.Pending(), 1)
	assert.Equal(t, "newer", read.Pending()[0].Why)

	require.NoError(t, os.WriteFile(name, []byte("{}\n"), 0o600))
	_, err = Read(dir)
	require.ErrorContains(t, err, pendingFile+":1: not of the kind")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	snapshot := submission.Of("students/alice", []submission.File{{Name: "a.go", Data: []byte("package a\n")}})
	content := results.Content(snapshot)
	r := recordOf("alice", content, 1)
	_, err := s.Files(r)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, s.KeepFiles(content, snapshot))
	r.Result.Submission.Dir = "students/alice"
	kept, err := s.Files(r)
	require.NoError(t, err)
	assert.Equal(t, snapshot.Files, kept.Files)
	assert.Equal(t, "students/alice", kept.Dir)

	r.Content = "another"
	require.NoError(t, os.Rename(s.zipOf(content), s.zipOf("another")))
	_, err = s.Files(r)
	require.ErrorContains(t, err, "has been changed")

	snapshot.Problems = []verdict.Problem{{Rule: "no-files"}}
	require.NoError(t, s.KeepFiles("refused", snapshot))
	require.NoFileExists(t, s.zipOf("refused"), "it would be refused again")
}

// Students of whom only work of an unknown exercise is there stay known, until they have
// other work, or the folder is gone.
func TestStrays(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	stray := func(student string) results.Pending {
		name := filepath.Join(dir, student)
		require.NoError(t, os.MkdirAll(name, 0o755))
		return results.Pending{Schema: results.PendingSchema, Student: student, Path: name, Why: "no exercise"}
	}
	names := func() (list []string) {
		strays, err := s.Strays()
		require.NoError(t, err)
		for _, p := range strays {
			list = append(list, p.Student)
		}
		return list
	}
	nobody := func(string) bool { return false }
	require.NoError(t, s.KeepStrays([]results.Pending{stray("ines"), stray("jo"), stray("kim")}, nobody))
	assert.Equal(t, []string{"ines", "jo", "kim"}, names())
	require.NoError(t, s.Append(recordOf("ines", "a", 1)))
	assert.Equal(t, []string{"jo", "kim"}, names(), "she has other work")
	require.NoError(t, s.KeepStrays([]results.Pending{stray("lea")}, func(student string) bool { return student == "jo" }))
	assert.Equal(t, []string{"kim", "lea"}, names(), "a run about him has not found it")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "kim")))
	require.NoError(t, s.KeepStrays(nil, nobody))
	assert.Equal(t, []string{"lea"}, names())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "lea")))
	require.NoError(t, s.KeepStrays(nil, nobody))
	assert.NoFileExists(t, filepath.Join(dir, straysFile))
	require.NoError(t, os.WriteFile(filepath.Join(dir, straysFile), []byte("{}\n"), 0o600))
	_, err := s.Strays()
	assert.ErrorContains(t, err, straysFile+":1: not of the kind")
}
