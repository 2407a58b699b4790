package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// put commits names that a checkout might not have beside each other, or at all.
func (h *history) put(mode, id string, names ...string) {
	h.t.Helper()
	for _, name := range names {
		h.git("update-index", "--add", "--cacheinfo", mode+","+id+","+name)
	}
	h.git("commit", "-qm", "put")
}

// Each submission is found once; what is none, or somebody else's, is told.
func TestFindChanged(t *testing.T) {
	h := newHistory(t)
	h.commit("start", map[string]string{"students/gone/autograd/a.go": "x", "students/part/autograd/a.go": "x", "students/part/autograd/b.go": "x", "students/same/autograd/a.go": "x"})
	h.commit("head", map[string]string{
		"students/gone/autograd/a.go": "", "students/part/autograd/b.go": "",
		"students/ada/autograd/a.go": "x", "students/ada/autograd/sub/b.go": "x", "students/ada/cosine/.git~1/config": "x",
		"students/ada/notes/a.go": "x", "students/ada/a.go": "x", "students/ada/Cosine/a.go": "x", "students/ada/.vscode/x": "x", "students/ada/cosine.zip": "x", "README.md": "x", ".gitattributes": "* -diff export-ignore\n",
		"students/::error::x/autograd/a\nb.go": "x",
		"students/link/autograd":               "-> ../ada/autograd", "students/mallory": "-> ../../course", "students/blob/autograd": "a file",
	})
	o, log := h.about(h.dir, forge.Run{Name: "x"})
	o.rules = &rules{Policy: course.NewPolicy(), names: []string{"autograd", "cosine"}}
	s := span{head: h.commits["head"], base: h.commits["start"]}
	found, err := o.find(t.Context(), s)
	require.NoError(t, err)
	var got []string
	for _, one := range found.list {
		got = append(got, one.Student+"|"+one.Exercise+"|"+one.Folder)
	}
	assert.Equal(t, []string{
		"::error::x|autograd|students/::error::x/autograd", "ada|autograd|students/ada/autograd", "ada|cosine|students/ada/cosine",
		"blob|autograd|students/blob/autograd", "link|autograd|students/link/autograd", "part|autograd|students/part/autograd",
	}, got)
	assert.Equal(t, []string{"students/gone/autograd"}, found.deleted)
	assert.Equal(t, []string{"students/mallory"}, found.links)
	assert.Equal(t, []string{"students/ada/Cosine", "students/ada/a.go", "students/ada/cosine.zip", "students/ada/notes"}, found.unknown)
	assert.Equal(t, []string{".gitattributes", "README.md", "students/ada/.vscode"}, found.outside)
	assert.False(t, found.passed(), "a link in place of a student's folder")
	o.announce(s, found)
	for l := range strings.Lines(log.String()) {
		assert.True(t, strings.HasPrefix(l, "grade: "), l)
	}

	for _, one := range found.list[3:5] {
		snapshot, err := one.Read(t.Context())
		require.NoError(t, err)
		require.Len(t, snapshot.Problems, 1)
		assert.Equal(t, "no-folder", snapshot.Problems[0].Rule)
		assert.Empty(t, snapshot.Files)
	}

	o.student = "ADA"
	found, err = o.find(t.Context(), s)
	require.NoError(t, err)
	assert.Len(t, found.list, 2)
	assert.Equal(t, []string{"students/::error::x", "students/blob", "students/gone", "students/link", "students/mallory", "students/part"}, found.foreign, "a deleted one too")
	s.base, o.all = "", true
	found, err = o.find(t.Context(), s)
	require.NoError(t, err)
	assert.Len(t, found.list, 2)
	assert.Empty(t, found.foreign, "of all that there is nothing is a change of anybody's")
}

// Whatever is changed in another's folder, or put in its place, is a change of another's;
// one's own is one's own in whatever case.
func TestFindForeign(t *testing.T) {
	h := newHistory(t)
	h.commit("start", map[string]string{"students/bo/autograd/a.go": "x", "students/dora/cosine/a.go": "x", "students/emil/a": "x", "students/ada/autograd/a.go": "x"})
	h.git("rm", "-rqf", "students/bo", "students/dora", "students/emil") // of dora nothing remains
	h.commit("head", map[string]string{
		"students/bo": "-> ada", "students/cem/notes.txt": "x", "students/dora/mena/a.go": "x", "students/emil/deep/er/x": "x",
		"students/fay": "a file", "students/ada/notes.txt": "x",
	})
	h.put("160000", lostCommit, "students/gus", "students/hal/cosine")
	h.put("100644", h.git("hash-object", "-w", "students/ada/autograd/a.go"), "students/ADA/autograd/a.go")
	o, log := h.about(h.dir, forge.Run{Name: "x"})
	o.rules, o.student = &rules{Policy: course.NewPolicy(), names: []string{"autograd", "cosine"}}, "ada"
	s := span{head: h.git("rev-parse", "HEAD"), base: h.commits["start"]}
	found, err := o.find(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, []string{"students/bo", "students/cem", "students/dora", "students/emil", "students/fay", "students/gus", "students/hal"}, found.foreign)
	assert.Empty(t, found.deleted)
	assert.Equal(t, []string{"students/ada/notes.txt"}, found.outside)
	require.Len(t, found.list, 1)
	assert.Equal(t, "ada", found.list[0].Student, "as the server writes it")
	assert.Equal(t, "students/ADA/autograd", found.list[0].Folder)
	o.announce(s, found)
	assert.Contains(t, log.String(), "students/gus is not ada's: not graded, and it should not be changed here\n")

	o.student = ""
	found, err = o.find(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, []string{"students/bo", "students/gus"}, found.links, "without --student too")
	assert.False(t, found.passed())

	// A link in place of a folder is no way to have nothing graded.
	run := newCIRun(t)
	err = run.tell(span{head: "x"}, run.ledger, nil, findings{links: []string{"students/bo"}})
	require.ErrorIs(t, err, errPointsMissing)
	assert.Contains(t, content(t, run.forge.Outputs), "passed=false")
	assert.Contains(t, content(t, run.forge.Summary), "A link or a submodule stands in place of a folder")
}

// Two folders that are one login's are two submissions of one student's, and neither counts.
func TestOneStudentInTwoCases(t *testing.T) {
	h := newHistory(t)
	h.commit("start", map[string]string{"grade.go": "package autograd"})
	blob := h.git("hash-object", "-w", "grade.go")
	h.put("100644", blob, "students/ada/autograd/a.go", "students/ADA/autograd/a.go")
	o, _ := h.about(h.dir, forge.Run{Name: "x"})
	o.rules, o.student = &rules{Policy: course.NewPolicy(), names: []string{"autograd"}}, "Ada"
	found, err := o.find(t.Context(), span{head: h.git("rev-parse", "HEAD"), base: h.commits["start"]})
	require.NoError(t, err)
	ledger, err := batch.OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer ledger.Close()
	var read []*submission.Snapshot
	with := batch.Options{Now: time.Now, Exercises: []*course.Exercise{{Name: "autograd", Package: "autograd"}}}
	with.Grade = func(_ context.Context, s *submission.Snapshot, _ *course.Exercise, _ string) (*verdict.Result, error) {
		read = append(read, s)
		return &verdict.Result{Verdict: verdict.Invalid}, nil
	}
	fates, err := batch.Run(t.Context(), ledger, found.list, with)
	require.NoError(t, err)
	require.Len(t, fates, 1)
	require.Len(t, read, 1)
	require.Len(t, read[0].Problems, 1)
	assert.Equal(t, "several", read[0].Problems[0].Rule)
	assert.Equal(t, "Ada", fates[0].Student)
}

// What is merged is the same student's as the request was, whose login came from the server.
func TestStudentsAreCalledAsKept(t *testing.T) {
	list := []batch.Submission{{Student: "mallory"}, {Student: "BO"}, {Student: "bo"}, {Student: "new"}}
	ledger, err := batch.OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, ledger.Close()) }()
	require.NoError(t, ledger.Append(batch.Record{Student: "bo", Exercise: "gears", Attempt: 1, Result: &verdict.Result{}}))
	require.NoError(t, ledger.Await([]batch.Fate{{Submission: batch.Submission{Student: "Mallory", Exercise: "gears"}, Err: errNothingGraded}}, time.Now()))
	require.NoError(t, ledger.Append(batch.Record{Student: "Bo", Exercise: "gears", Attempt: 1, Result: &verdict.Result{}}))
	list = append(list, batch.Submission{Student: "Bo"}) // two folders of two names stay two
	callAsKept(list, namesOf(ledger))
	assert.Equal(t, []batch.Submission{{Student: "Mallory"}, {Student: "bo"}, {Student: "bo"}, {Student: "new"}, {Student: "Bo"}}, list)
}

// However much a commit unfolds to, grade looks no deeper than submissions lie, and gives
// up where even that is too much.
func TestFindInTreeBombs(t *testing.T) {
	h := newHistory(t)
	tree := func(id string, names int) string {
		kind := "040000 tree"
		if id == lostCommit {
			kind = "100644 blob"
		}
		var list strings.Builder
		for i := range names {
			fmt.Fprintf(&list, "%s %s\tn%d\n", kind, id, i)
		}
		cmd := exec.Command("git", "mktree", "--missing")
		cmd.Dir, cmd.Stdin = h.dir, strings.NewReader(list.String())
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	bomb := lostCommit
	for range 9 {
		bomb = tree(bomb, 10)
	}
	o, _ := h.about(h.dir, forge.Run{Name: "x"})
	var err error
	o.rules = &rules{Policy: course.NewPolicy(), names: []string{"n1"}}
	o.rules.Submissions, err = course.ParsePattern("n0/{student}/{exercise}")
	require.NoError(t, err)
	start := time.Now()
	found, err := o.find(t.Context(), span{head: h.git("commit-tree", "-m", "x", bomb)})
	require.NoError(t, err)
	require.Len(t, found.list, 10)
	_, err = found.list[0].Read(t.Context())
	require.Error(t, err, "a submission of folders alone has no Go file")
	_, err = o.find(t.Context(), span{head: h.git("commit-tree", "-m", "x", tree(tree(tree(bomb, 3000), 3000), 1))})
	require.ErrorIs(t, err, repository.ErrTooMany)
	assert.Equal(t, exitUsage, o.app.code(t.Context(), err))
	assert.Less(t, time.Since(start), 10*time.Second)
}
