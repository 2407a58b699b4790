package changed

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/intake/forge"
	"grade/grader/intake/gittest"
	"grade/grader/intake/repository"
)

// about is a repository of a test, and a run about it.
func about(t *testing.T, dir string, run forge.Run) Clone {
	t.Helper()
	repo, err := repository.Open(t.Context(), dir)
	require.NoError(t, err)
	return Clone{Repo: repo, Dir: dir, Run: run}
}

// rules are those of a course that says nothing but which exercises it has.
var rules = gradebook.NewPolicy([]string{"autograd", "cosine"})

// A log says what is not graded.
func TestNotes(t *testing.T) {
	c := Clone{Run: forge.Run{Name: "x", Fork: true}, Student: "ada"}
	assert.Equal(t, []string{
		"x, from a fork: what changed from commit 1 to commit 2, 2 submissions",
		"students/ada/cosine was deleted: not graded",
		"students/gus is not ada's: not graded, and it should not be changed here",
		"students/bo is a link or a submodule: not followed, and there should be a folder",
		"students/ada/mean.zip is an archive, which is not graded here: commit the folder that it holds",
		"students/ada/tanh is not graded: the course has no exercise of that name; name the folder after an exercise",
		"1 file outside of submissions changed too, such as README.md",
	}, c.Notes(Span{Head: "2", Base: "1"}, Found{
		Submissions: make([]intake.Submission, 2), Deleted: []string{"students/ada/cosine"}, Foreign: []string{"students/gus"},
		Links: []string{"students/bo"}, Archives: []string{"students/ada/mean.zip"}, Unknown: []string{"students/ada/tanh"}, Outside: []string{"README.md"},
	}))
	notes := Clone{}.Notes(Span{Head: "2"}, Found{Unknown: make([]string, maxNoted+3), Outside: []string{"README.md"}})
	assert.Equal(t, "here: all of commit 2, 0 submissions", notes[0])
	assert.Equal(t, "… and so are 3 more", notes[len(notes)-1], "of all that there is nothing is outside")
	assert.Len(t, notes, 1+maxNoted+1)
}

// What may have been written by the author of what is graded is not taken for the course's.
func TestApart(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"course/exercises/x": "x"})
	linked := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(filepath.Join(h.Dir, "course"), linked))
	request := forge.Run{Name: "x", Request: true}
	for name, c := range map[string]struct {
		run     forge.Run
		path    string
		refused bool
	}{
		"in the checkout":                 {request, filepath.Join(h.Dir, "course"), true},
		"in the checkout, through a link": {request, filepath.Join(linked, "not yet there"), true},
		"elsewhere":                       {request, t.TempDir(), false},
		"none":                            {request, "", false},
		"of the default branch":           {forge.Run{Name: "x", Trusted: true}, filepath.Join(h.Dir, "course"), false},
		"on one's own machine":            {forge.Run{}, filepath.Join(h.Dir, "course"), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := about(t, h.Dir, c.run).Apart(Own{"the course", c.path})
			if !c.refused {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "the course "+c.path+" lies in the checkout that is graded, as course")
		})
	}
}
