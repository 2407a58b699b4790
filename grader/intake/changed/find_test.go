package changed

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/intake/forge"
	"grade/grader/intake/gittest"
	"grade/grader/intake/repository"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Each submission is found once; other files, and other students' work, are listed.
func TestFindChanged(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"students/gone/autograd/a.go": "x", "students/part/autograd/a.go": "x", "students/part/autograd/b.go": "x", "students/same/autograd/a.go": "x"})
	h.Commit("head", map[string]string{
		"students/gone/autograd/a.go": "", "students/part/autograd/b.go": "",
		"students/ada/autograd/a.go": "x", "students/ada/autograd/sub/b.go": "x", "students/ada/cosine/.git~1/config": "x",
		"students/ada/notes/a.go": "x", "students/ada/a.go": "x", "students/ada/Cosine/a.go": "x", "students/ada/.vscode/x": "x", "students/ada/cosine.zip": "x", "README.md": "x", ".gitattributes": "* -diff export-ignore\n",
		"students/::error::x/autograd/a\nb.go": "x",
		"students/link/autograd":               "-> ../ada/autograd", "students/mallory": "-> ../../course", "students/blob/autograd": "a file",
	})
	c := about(t, h.Dir, forge.Run{Name: "x"})
	s := Span{Head: h.Commits["head"], Base: h.Commits["start"]}
	found, err := c.Find(t.Context(), s, rules)
	require.NoError(t, err)
	var got []string
	for _, one := range found.Submissions {
		got = append(got, one.Student+"|"+one.Exercise+"|"+one.Folder)
	}
	assert.Equal(t, []string{
		"::error::x|autograd|students/::error::x/autograd", "ada|autograd|students/ada/autograd", "ada|cosine|students/ada/cosine",
		"blob|autograd|students/blob/autograd", "link|autograd|students/link/autograd", "part|autograd|students/part/autograd",
	}, got)
	assert.Equal(t, []string{"students/gone/autograd"}, found.Deleted)
	assert.Equal(t, []string{"students/mallory"}, found.Links)
	assert.Equal(t, []string{"students/ada/Cosine", "students/ada/a.go", "students/ada/notes"}, found.Unknown)
	assert.Equal(t, []string{"students/ada/cosine.zip"}, found.Archives)
	assert.Equal(t, []string{".gitattributes", "README.md", "students/ada/.vscode"}, found.Outside)
	assert.False(t, found.Passed(), "a link in place of a student's folder")

	for _, one := range found.Submissions[3:5] {
		snapshot, err := one.Read(t.Context())
		require.NoError(t, err)
		require.Len(t, snapshot.Problems, 1)
		assert.Equal(t, "no-folder", snapshot.Problems[0].Rule)
		assert.Empty(t, snapshot.Files)
	}

	c.Student = "ADA"
	found, err = c.Find(t.Context(), s, rules)
	require.NoError(t, err)
	assert.Len(t, found.Submissions, 2)
	assert.Equal(t, []string{"students/::error::x", "students/blob", "students/gone", "students/link", "students/mallory", "students/part"}, found.Foreign, "a deleted one too")
	s.Base, c.All = "", true
	found, err = c.Find(t.Context(), s, rules)
	require.NoError(t, err)
	assert.Len(t, found.Submissions, 2)
	assert.Empty(t, found.Foreign, "nothing is a change of another student's when everything is looked at")
}

// Where the place does not say the exercise, a file is no submission, and an archive is told.
func TestFindByPackage(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"students/README.md": "x"})
	h.Commit("head", map[string]string{"students/README.md": "y", "students/ada/a.go": "x", "students/bo.zip": "x"})
	c := about(t, h.Dir, forge.Run{Name: "x"})
	policy := gradebook.NewPolicy([]string{"autograd"})
	var err error
	policy.Submissions, err = course.ParsePattern("students/{student}")
	require.NoError(t, err)
	found, err := c.Find(t.Context(), Span{Head: h.Commits["head"], Base: h.Commits["start"]}, policy)
	require.NoError(t, err)
	require.Len(t, found.Submissions, 1)
	assert.Equal(t, "ada", found.Submissions[0].Student)
	assert.Equal(t, []string{"students/README.md"}, found.Outside)
	assert.Equal(t, []string{"students/bo.zip"}, found.Archives)
	assert.False(t, found.Passed(), "an archive looks handed in, and is not graded")
}

// Whatever is changed in another's folder, or put in its place, is a change of another's;
// one's own is one's own in whatever case.
func TestFindForeign(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"students/bo/autograd/a.go": "x", "students/dora/cosine/a.go": "x", "students/emil/a": "x", "students/ada/autograd/a.go": "x"})
	h.Git("rm", "-rqf", "students/bo", "students/dora", "students/emil") // of dora nothing remains
	h.Commit("head", map[string]string{
		"students/bo": "-> ada", "students/cem/notes.txt": "x", "students/dora/mena/a.go": "x", "students/emil/deep/er/x": "x",
		"students/fay": "a file", "students/ada/notes.txt": "x",
	})
	h.Put("160000", gittest.LostCommit, "students/gus", "students/hal/cosine")
	h.Put("100644", h.Git("hash-object", "-w", "students/ada/autograd/a.go"), "students/ADA/autograd/a.go")
	c := about(t, h.Dir, forge.Run{Name: "x"})
	c.Student = "ada"
	s := Span{Head: h.Git("rev-parse", "HEAD"), Base: h.Commits["start"]}
	found, err := c.Find(t.Context(), s, rules)
	require.NoError(t, err)
	assert.Equal(t, []string{"students/bo", "students/cem", "students/dora", "students/emil", "students/fay", "students/gus", "students/hal"}, found.Foreign)
	assert.Empty(t, found.Deleted)
	assert.Equal(t, []string{"students/ada/notes.txt"}, found.Outside)
	require.Len(t, found.Submissions, 1)
	assert.Equal(t, "ada", found.Submissions[0].Student, "as the server writes it")
	assert.Equal(t, "students/ADA/autograd", found.Submissions[0].Folder)

	c.Student = ""
	found, err = c.Find(t.Context(), s, rules)
	require.NoError(t, err)
	assert.Equal(t, []string{"students/bo", "students/gus"}, found.Links, "without --student too")
	assert.False(t, found.Passed())
}

// However much a commit unfolds to, grade looks no deeper than submissions lie, and gives
// up where even that is too much.
func TestFindInTreeBombs(t *testing.T) {
	h := gittest.New(t)
	tree := func(id string, names int) string {
		kind := "040000 tree"
		if id == gittest.LostCommit {
			kind = "100644 blob"
		}
		var list strings.Builder
		for i := range names {
			fmt.Fprintf(&list, "%s %s\tn%d\n", kind, id, i)
		}
		cmd := exec.Command("git", "mktree", "--missing")
		cmd.Dir, cmd.Stdin = h.Dir, strings.NewReader(list.String())
		out, err := cmd.Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	bomb := gittest.LostCommit
	for range 9 {
		bomb = tree(bomb, 10)
	}
	c := about(t, h.Dir, forge.Run{Name: "x"})
	elsewhere := gradebook.NewPolicy([]string{"n1"})
	var err error
	elsewhere.Submissions, err = course.ParsePattern("n0/{student}/{exercise}")
	require.NoError(t, err)
	start := time.Now()
	found, err := c.Find(t.Context(), Span{Head: h.Git("commit-tree", "-m", "x", bomb)}, elsewhere)
	require.NoError(t, err)
	require.Len(t, found.Submissions, 10)
	_, err = found.Submissions[0].Read(t.Context())
	require.ErrorContains(t, err, "no Go file", "a submission of folders alone has none")
	full := h.Git("commit-tree", "-m", "x", tree(tree(tree(tree(gittest.LostCommit, 400_000), 1), 1), 1))
	policy := gradebook.NewPolicy([]string{"n0"})
	policy.Submissions, err = course.ParsePattern("n0/{student}/{exercise}")
	require.NoError(t, err)
	found, err = c.Find(t.Context(), Span{Head: full}, policy)
	require.NoError(t, err)
	require.Len(t, found.Submissions, 1)
	s, err := found.Submissions[0].Read(t.Context())
	require.NoError(t, err, "what is too much in one submission is its student's fault")
	assert.Equal(t, "too-many", s.Problems[0].Rule)
	_, err = c.Find(t.Context(), Span{Head: h.Git("commit-tree", "-m", "x", tree(tree(tree(bomb, 3000), 3000), 1))}, elsewhere)
	require.ErrorIs(t, err, repository.ErrTooMany)
	var usage *fault.Error
	require.ErrorAs(t, err, &usage)
	assert.Less(t, time.Since(start), 5*time.Minute, "and not for as long as 10^9 take")
}

// What one student's commit holds that no git would have written costs that student alone.
func TestFindInBrokenTrees(t *testing.T) {
	h := gittest.New(t)
	blob := h.Blob("package autograd\n")
	good := h.Tree(gittest.Node("100644", "a.go", blob))
	lost := h.Tree(gittest.Node("100644", "a.go", gittest.LostCommit))
	head := h.Git("commit-tree", "-m", "x", h.Tree(gittest.Node("40000", "students", h.Tree(
		gittest.Node("40000", "ada", h.Tree(gittest.Node("40000", "autograd", good))),
		gittest.Node("40000", "bo/autograd", good),
		gittest.Node("40000", "cem", h.Tree(gittest.Node("40000", "autograd", lost))),
		gittest.Node("40000", "dora", h.Tree(gittest.Node("40000", "autograd", good), gittest.Node("40000", "autograd", lost))),
		gittest.Node("40000", "eve", h.Tree(gittest.Node("40000", "../ada", good), gittest.Node("40000", "cosine", h.Tree("garbage")))),
		gittest.Node("40000", "fay", gittest.LostCommit),
	))))
	c := about(t, h.Dir, forge.Run{Name: "x"})
	found, err := c.Find(t.Context(), Span{Head: head}, rules)
	require.NoError(t, err)
	assert.Equal(t, []string{"students", "students/eve", "students/fay"}, found.Malformed)
	assert.False(t, found.Passed())
	rulesOf := map[string]string{}
	for _, s := range found.Submissions {
		snapshot, err := s.Read(t.Context())
		require.NoError(t, err, s.Student)
		rulesOf[s.Folder] = ""
		for _, p := range snapshot.Problems {
			rulesOf[s.Folder] = p.Rule
		}
	}
	assert.Equal(t, map[string]string{
		"students/ada/autograd": "", "students/cem/autograd": "git-object", "students/dora/autograd": "no-folder", "students/eve/cosine": "git-object",
	}, rulesOf)
	c.Student = "ada"
	found, err = c.Find(t.Context(), Span{Head: head}, rules)
	require.NoError(t, err)
	assert.Len(t, found.Submissions, 1)
}

// A commit of very many folders is refused at once, and one of many is read at a speed at
// which that takes seconds; an interrupt ends either.
func TestFindInCrowds(t *testing.T) {
	h := gittest.New(t)
	tree := h.Tree(gittest.Node("40000", "autograd", h.Tree(gittest.Node("100644", "a.go", h.Blob("package autograd\n")))))
	crowd := func(n int) Span {
		var students []string
		for i := range n {
			students = append(students, gittest.Node("40000", fmt.Sprintf("s%d", i), tree))
		}
		return Span{Head: h.Git("commit-tree", "-m", "x", h.Tree(gittest.Node("40000", "students", h.Tree(students...))))}
	}
	c := about(t, h.Dir, forge.Run{Name: "x"})
	_, err := c.Find(t.Context(), crowd(60_000), rules)
	var usage *fault.Error
	require.ErrorAs(t, err, &usage)
	assert.ErrorContains(t, err, "60000 submissions")

	found, err := c.Find(t.Context(), crowd(300), rules)
	require.NoError(t, err)
	require.Len(t, found.Submissions, 300)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, s := range found.Submissions {
		if i == 100 {
			cancel()
		}
		_, err := s.Read(ctx)
		require.Equal(t, i >= 100, err != nil, i)
	}
	_, err = c.Find(ctx, crowd(10), rules)
	require.ErrorIs(t, err, context.Canceled)
}

// Two folders that are one login's are two submissions of one student's, and neither counts.
func TestOneStudentInTwoCases(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"grade.go": "package autograd"})
	blob := h.Git("hash-object", "-w", "grade.go")
	h.Put("100644", blob, "students/ada/autograd/a.go", "students/ADA/autograd/a.go")
	c := about(t, h.Dir, forge.Run{Name: "x"})
	c.Student = "Ada"
	found, err := c.Find(t.Context(), Span{Head: h.Git("rev-parse", "HEAD"), Base: h.Commits["start"]}, rules)
	require.NoError(t, err)
	store, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer store.Close()
	var read []*submission.Snapshot
	with := batch.Options{Now: time.Now, Exercises: []*course.Exercise{{Name: "autograd", Package: "autograd"}}}
	with.Grade = func(_ context.Context, s *submission.Snapshot, _ *course.Exercise, _ string) (*verdict.Result, error) {
		read = append(read, s)
		return &verdict.Result{Verdict: verdict.Invalid}, nil
	}
	items, err := batch.Run(t.Context(), store, found.Submissions, with)
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Len(t, read, 1)
	require.Len(t, read[0].Problems, 1)
	assert.Equal(t, "several", read[0].Problems[0].Rule)
	assert.Equal(t, "Ada", items[0].Student)
}
