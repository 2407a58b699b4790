package intake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/submission"
	"grade/grader/tree"
)

// What leads to a submission says whose it is and of which exercise.
func TestFind(t *testing.T) {
	root := tree.New(t, map[string]string{
		"alice/autograd/a.go": "", "alice/cosine.zip": "", "bob/mine.go": "", "carol/autograd/": "", "dave/notes.txt": "",
		"erin/autograd/a_test.go": "", "frank/work/v2/b.go": "", ".git/hooks/x.go": "", "_old/x.go": "", "gil.tar.gz": "", "bob/autograd/a.go": "",
	})
	require.NoError(t, os.Symlink("alice", filepath.Join(root, "mallory")))
	list, err := Find(root, []string{"autograd", "cosine"})
	require.NoError(t, err)
	var got []string
	for _, s := range list {
		rel, err := filepath.Rel(root, s.Path)
		require.NoError(t, err)
		got = append(got, s.Student+" | "+s.Exercise+" | "+filepath.ToSlash(rel))
	}
	assert.Equal(t, []string{
		"alice | autograd | alice/autograd", "alice | cosine | alice/cosine.zip", "bob |  | bob", "carol | autograd | carol/autograd",
		"frank/work/v2 |  | frank/work/v2", "gil |  | gil.tar.gz",
	}, got)

	list, err = Find(filepath.Join(root, "bob"), nil)
	require.NoError(t, err)
	assert.Equal(t, []Submission{{Student: "bob", Path: filepath.Join(root, "bob")}}, list)
	list, err = Find(filepath.Join(root, "gil.tar.gz"), nil)
	require.NoError(t, err)
	assert.Equal(t, []Submission{{Student: "gil", Path: filepath.Join(root, "gil.tar.gz")}}, list)
	for _, bad := range []string{"nowhere", "dave/notes.txt"} {
		_, err = Find(filepath.Join(root, filepath.FromSlash(bad)), nil)
		var usage *fault.Error
		require.ErrorAs(t, err, &usage, bad)
	}
}

// Only what matches is a submission, whatever lies deeper.
func TestFindAt(t *testing.T) {
	root := tree.New(t, map[string]string{
		"students/alice/autograd/a.go": "", "students/alice/notes/a.go": "", "students/alice/Autograd/a.go": "", "students/bob/cosine.zip": "",
		"students/mallory/autograd/students/alice/autograd/a.go": "", "students/carol/autograd/": "", "elsewhere/dan/autograd/a.go": "",
		"students/.git/autograd/a.go": "",
	})
	require.NoError(t, os.Symlink("alice", filepath.Join(root, "students", "eve")))
	p, err := course.ParsePattern("students/{student}/{exercise}")
	require.NoError(t, err)
	find := func(within string) (got []string) {
		list, left, err := FindAt(root, within, p, []string{"autograd", "cosine"})
		require.NoError(t, err)
		if within == "." {
			assert.Equal(t, []string{"students/alice/Autograd", "students/alice/notes"}, left)
		}
		for _, s := range list {
			assert.Equal(t, s.Folder, submission.TrimArchive(strings.TrimPrefix(filepath.ToSlash(s.Path), filepath.ToSlash(root)+"/")))
			got = append(got, s.Student+" "+s.Exercise)
		}
		return got
	}
	assert.Equal(t, []string{"alice autograd", "bob cosine", "carol autograd", "mallory autograd"}, find("."))
	assert.Equal(t, []string{"alice autograd"}, find("students/alice"))
	assert.Equal(t, []string{"alice autograd"}, find("students/alice/autograd"))
	assert.Equal(t, []string{"mallory autograd"}, find("students/mallory/autograd/students/alice"), "it is mallory's")
	assert.Equal(t, []string{"bob cosine"}, find("students/bob/cosine.zip"))
	assert.Empty(t, find("students/ali"))
}

// Paths may overlap; a pattern holds as seen from here, or from a path elsewhere.
func TestFindAll(t *testing.T) {
	root := tree.New(t, map[string]string{"students/alice/autograd/a.go": "", "students/bob/autograd/a.go": "", "notes/x.go": ""})
	t.Chdir(root)
	p, err := course.ParsePattern("students/{student}/{exercise}")
	require.NoError(t, err)
	elsewhere := tree.New(t, map[string]string{"students/carol/autograd/a.go": "", "students/carol/tanh/a.go": ""})
	for name, c := range map[string]struct {
		paths      []string
		pattern    course.Pattern
		want, left []string
	}{
		"overlapping":              {paths: []string{"students", "students/alice"}, want: []string{"alice", "bob"}},
		"a pattern, from here":     {paths: []string{"students/bob", "notes"}, pattern: p, want: []string{"bob"}},
		"a pattern, from its path": {paths: []string{elsewhere}, pattern: p, want: []string{"carol"}, left: []string{"students/carol/tanh"}},
	} {
		t.Run(name, func(t *testing.T) {
			list, left, err := FindAll(c.paths, c.pattern, []string{"autograd"})
			require.NoError(t, err)
			var got []string
			for _, s := range list {
				got = append(got, s.Student)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.left, left)
		})
	}
	_, _, err = FindAll([]string{"nowhere"}, p, nil)
	require.ErrorContains(t, err, "look for submissions: stat nowhere")
}
