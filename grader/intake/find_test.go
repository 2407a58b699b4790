package intake

import (
	"context"
	"fmt"
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
	assert.Equal(t, []Submission{{Student: "bob", Path: filepath.Join(root, "bob"), From: filepath.Join(root, "bob")}}, list)
	list, err = Find(filepath.Join(root, "gil.tar.gz"), nil)
	require.NoError(t, err)
	assert.Equal(t, []Submission{{Student: "gil", Path: filepath.Join(root, "gil.tar.gz"), Archive: true, From: filepath.Join(root, "gil.tar.gz")}}, list)
	for _, bad := range []string{"nowhere", "dave/notes.txt"} {
		_, err = Find(filepath.Join(root, filepath.FromSlash(bad)), nil)
		var usage *fault.Error
		require.ErrorAs(t, err, &usage, bad)
	}
}

// A stray Go file makes a submission of a folder that holds others: each of them is told.
func TestFindHidden(t *testing.T) {
	root := tree.New(t, map[string]string{
		"ada/old.go": "", "ada/autograd/a.go": "", "ada/mean.zip": "", "ada/mean/": "", "ada/helpers/a.go": "", "ada/cosine/a_test.go": "",
		"bo/autograd/a.go": "", "bo/autograd/mean/a.go": "", "bo/mean/a.go": "", "class/x.go": "", "class/cem/mean/a.go": "",
		"dan/a.go": "", "dan/b.go": "", "dan/c.go": "", "dan/d.go": "", "dan/a_test.go": "", "dan/mean/a.go": "",
	})
	s := Search{Exercises: []string{"autograd", "cosine", "mean"}}
	got, notes, err := found(t, root, s, ".")
	require.NoError(t, err)
	assert.Equal(t, []string{"ada ", "bo autograd", "bo mean", "class ", "dan "}, got)
	assert.Equal(t, []string{
		"ada/autograd is left out, because ada has Go files of its own: move old.go away",
		"ada/mean.zip is left out, because ada has Go files of its own: move old.go away",
		"bo/autograd/mean is left out: it lies in the submission bo/autograd: put it beside that",
		"dan/mean is left out, because dan has Go files of its own: move a.go, b.go, c.go, 1 more away",
	}, notes)
	got, notes, err = found(t, root, s, "class")
	require.NoError(t, err)
	assert.Equal(t, []string{"class "}, got)
	assert.Equal(t, []string{"class/cem/mean is left out, because class has Go files of its own: move x.go away"}, notes)
}

// found looks below some paths of root, and says whose each submission is.
func found(t *testing.T, root string, s Search, paths ...string) (got, notes []string, err error) {
	t.Helper()
	var below []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = root + "/" + p
		}
		below = append(below, p)
	}
	list, notes, err := FindAll(t.Context(), below, s)
	for _, one := range list {
		got = append(got, one.Student+" "+one.Exercise)
	}
	for i := range notes {
		notes[i] = strings.ReplaceAll(notes[i], root+"/", "")
	}
	return got, notes, err
}

func pattern(t *testing.T, text string) course.Pattern {
	t.Helper()
	p, err := course.ParsePattern(text)
	require.NoError(t, err)
	return p
}

// Only what matches is a submission, whatever lies deeper.
func TestFindByPattern(t *testing.T) {
	root := tree.New(t, map[string]string{
		"students/alice/autograd/a.go": "", "students/alice/notes/a.go": "", "students/alice/Autograd/a.go": "", "students/bob/cosine.zip": "",
		"students/mallory/autograd/students/alice/autograd/a.go": "", "students/carol/autograd/": "", "elsewhere/dan/autograd/a.go": "",
		"students/.git/autograd/a.go": "", "students/gus/cosine": "a file", "students/gus/autograd.rar": "",
	})
	require.NoError(t, os.Symlink("alice", filepath.Join(root, "students", "eve")))
	require.NoError(t, os.Symlink("../alice/autograd", filepath.Join(root, "students", "hal")+"-cosine"))
	s := Search{Pattern: pattern(t, "students/{student}/{exercise}"), Exercises: []string{"autograd", "cosine"}}
	t.Chdir(root)
	for within, c := range map[string]struct{ want, notes []string }{
		".": {[]string{"alice autograd", "bob cosine", "carol autograd", "gus cosine", "mallory autograd"}, []string{
			"students/eve is left out: it is a symbolic link",
			"students/gus/autograd.rar is left out: it is neither a folder nor a .zip, .tar or .tar.gz",
			"students/hal-cosine is left out: it is a symbolic link",
			"students/alice/Autograd is left out: the course has no exercise of that name",
			"students/alice/notes is left out: the course has no exercise of that name",
		}},
		"students/alice/autograd":                  {want: []string{"alice autograd"}},
		"students/mallory/autograd/students/alice": {want: []string{"mallory autograd"}},
		"students/bob/cosine.zip":                  {want: []string{"bob cosine"}},
		"elsewhere":                                {},
	} {
		got, notes, err := found(t, root, s, within)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, within)
		assert.Equal(t, c.notes, notes, within)
	}
	list, _, err := FindAll(t.Context(), []string{"students"}, s)
	require.NoError(t, err)
	for _, one := range list {
		assert.Equal(t, one.Folder, submission.TrimArchive(strings.TrimPrefix(filepath.ToSlash(one.Path), filepath.ToSlash(root)+"/")))
		if one.Student == "gus" {
			snapshot, err := one.Read(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "no-folder", snapshot.Problems[0].Rule)
		}
	}
}

// Who has misspelled the only exercise is found, once; who has handed in nothing is told.
func TestFindStrays(t *testing.T) {
	root := tree.New(t, map[string]string{
		"students/ines/autogrd/a.go": "", "students/ines/autograt/a.go": "", "students/jo/notes/x.txt": "", "students/hans/": "", "students/kim/.git/x": "",
	})
	t.Chdir(root)
	s := Search{Pattern: pattern(t, "students/{student}/{exercise}"), Exercises: []string{"autograd"}}
	list, notes, err := FindAll(t.Context(), []string{"."}, s)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"students/hans is empty: nothing was handed in there", "students/kim is empty: nothing was handed in there",
		"students/ines/autogrd is left out: the course has no exercise of that name", "students/jo/notes is left out: the course has no exercise of that name",
	}, notes)
	require.Len(t, list, 1)
	assert.Equal(t, []string{"ines", "", "students/ines/autograt"}, []string{list[0].Student, list[0].Exercise, list[0].Folder})
	_, err = list[0].Read(t.Context())
	assert.Equal(t, `the course has no exercise "autograt": name the folder after one`, fault.Told(err))
	assert.Equal(t, fault.Student, fault.KindOf(err))

	_, notes, err = found(t, root, Search{Exercises: []string{"autograd"}}, "students")
	require.NoError(t, err)
	assert.Contains(t, notes, "hans is empty: nothing was handed in there")
}

// What lies below one student is that student's, however the paths are given.
func TestWhose(t *testing.T) {
	root := tree.New(t, map[string]string{
		"students/ada/mean/a.go": "", "students/mallory/ada/mean/a.go": "", "students/mallory/ada.zip": "", "students/mallory/students/ada/mean/a.go": "",
		"class1/ada/mean/a.go": "", "class2/ada/mean/a.go": "", "hand.zip": "", "own/mean/a.go": "", "own/ada/mean/a.go": "",
	})
	mallorys := []string{"mallory/ada mean", "mallory/ada ", "mallory/students/ada mean"}
	all := append([]string{"ada mean"}, mallorys...)
	by := pattern(t, "students/{student}/{exercise}")
	short := pattern(t, "{student}/{exercise}")
	for name, c := range map[string]struct {
		paths   []string
		pattern course.Pattern
		roots   []string
		want    []string
	}{
		"the folder of all":              {paths: []string{"students"}, want: all},
		"each by itself":                 {paths: []string{"students/ada", "students/mallory"}, want: all},
		"slashes and dots":               {paths: []string{"students//ada/.", "students/../students/mallory/"}, want: all},
		"each submission by itself":      {paths: []string{"students/ada/mean", "students/mallory/ada.zip", "students/mallory/ada"}, want: []string{"ada mean", "mallory/ada ", "mallory/ada mean"}},
		"a folder twice":                 {paths: []string{"students", "students/"}, want: all},
		"a folder, and a part before it": {paths: []string{"students/mallory", "students"}, want: all},
		"one of them, after all were":    {paths: []string{"students/mallory"}, roots: []string{root + "/students"}, want: mallorys},
		"a folder in it, after all were": {paths: []string{"students/mallory/ada"}, roots: []string{root + "/students"}, want: []string{"mallory/ada mean"}},
		"one with work of its own":       {paths: []string{"own"}, want: []string{"own/ada mean", "own mean"}},
		"one submission":                 {paths: []string{"students/ada/mean"}, want: []string{"ada mean"}},
		"two classes":                    {paths: []string{"class1", "class2"}, want: []string{"class1/ada mean", "class2/ada mean"}},
		"a class that was, and another":  {paths: []string{"class1", "hand.zip"}, roots: []string{root + "/class1"}, want: []string{"ada mean", "hand "}},
		"a pattern from elsewhere":       {paths: []string{"students/mallory"}, pattern: by, want: []string{"mallory "}},
		"a pattern, each by itself":      {paths: []string{"students/ada", "students/mallory"}, pattern: by, want: []string{"ada mean", "mallory "}},
		"a short pattern":                {paths: []string{"students"}, pattern: short, want: []string{"ada mean", "mallory "}},
		"a short one, each by itself":    {paths: []string{"students/ada", "students/mallory"}, pattern: short, want: []string{"ada mean", "mallory "}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := found(t, root, Search{Pattern: c.pattern, Exercises: []string{"mean"}, Roots: c.roots}, c.paths...)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

// Two folders that were names' own in earlier runs, together, may both have a student's work:
// the caller has to say which counts. A dot at the beginning of a path is part of its name.
func TestFindTwice(t *testing.T) {
	root := tree.New(t, map[string]string{"week1/ada/mean/a.go": "", "week2/ada/mean/a.go": "", "week2/bo/mean/a.go": "", ".old/cem/mean/a.go": "", "old/dan/mean/a.go": "", "new/eva/mean/a.go": ""})
	s := Search{Exercises: []string{"mean"}, Roots: []string{root + "/week1", root + "/week2"}}
	_, _, err := found(t, root, s, "week1", "week2")
	var usage *fault.Error
	require.ErrorAs(t, err, &usage)
	assert.Equal(t, fmt.Sprintf("both %s/week1 and %[1]s/week2 hold ada's mean", root), usage.Message)
	got, _, err := found(t, root, s, "week2")
	require.NoError(t, err)
	assert.Equal(t, []string{"ada mean", "bo mean"}, got)
	got, _, err = found(t, root, Search{Exercises: []string{"mean"}}, ".old", "new")
	require.NoError(t, err)
	assert.Equal(t, []string{".old/cem mean", "new/eva mean"}, got)
}

// A folder with more names than are looked at is an error where it is all that was given, and
// its student's fault where others are.
func TestFindFlooded(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"students", "class/ada/mean"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "class/ada/mean/a.go"), nil, 0o666))
	for i := range maxListing + 1 {
		require.NoError(t, os.WriteFile(filepath.Join(root, "students", fmt.Sprint("s", i, ".zip")), nil, 0o666))
	}
	s := Search{Exercises: []string{"mean"}}
	_, _, err := found(t, root, s, "students")
	require.ErrorContains(t, err, "holds more than 10000 names")
	assert.Equal(t, fault.Caller, fault.KindOf(err))
	s.Pattern = pattern(t, "students/{student}")
	_, _, err = found(t, root, s, "students")
	assert.Equal(t, fault.Caller, fault.KindOf(err))
	one, _, err := found(t, root, Search{Exercises: []string{"students"}}, "students")
	require.NoError(t, err, "it has the name of an exercise: one student's")
	assert.Len(t, one, 1)
	got, _, err := found(t, root, Search{Exercises: []string{"mean"}}, "students", "class/ada")
	require.NoError(t, err)
	assert.Equal(t, []string{"students ", "class/ada mean"}, got)
}

// A link is followed nowhere below what was given, and is told wherever it is.
func TestFindLinks(t *testing.T) {
	root := tree.New(t, map[string]string{"ada/mean/a.go": "", "eve/notes.txt": "", "mallory/x/y.txt": ""})
	for link, to := range map[string]string{"eve/mean": "../ada/mean", "mallory/x/mean.zip": "/dev/zero", "mallory/ada": "../ada", "gone": "nowhere"} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))))
	}
	s := Search{Exercises: []string{"mean"}}
	got, notes, err := found(t, filepath.Dir(root), s, filepath.Base(root))
	require.NoError(t, err)
	assert.Equal(t, []string{"ada mean", "eve mean", "mallory/x mean"}, got)
	assert.Equal(t, []string{"gone is left out: it is a symbolic link", "mallory/ada is left out: it is a symbolic link"}, notes)
	got, notes, err = found(t, root, s, "ada/mean", "mallory/ada")
	require.NoError(t, err)
	assert.Equal(t, []string{"ada mean"}, got)
	assert.Equal(t, []string{"mallory/ada is left out: mallory/ada is a symbolic link"}, notes, "and takes nothing of ada's with it")
	got, notes, err = found(t, root, s, "eve", "mallory/ada/mean")
	require.NoError(t, err)
	assert.Equal(t, []string{"eve mean"}, got)
	assert.Equal(t, []string{"mallory/ada/mean is left out: mallory/ada is a symbolic link"}, notes)
	_, _, err = found(t, root, s, "nowhere")
	require.ErrorContains(t, err, "look for submissions: stat ")
}

// A search ends with its context.
func TestFindInterrupted(t *testing.T) {
	root := tree.New(t, map[string]string{"students/ada/mean/a.go": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, p := range []course.Pattern{{}, pattern(t, "students/{student}/{exercise}")} {
		_, _, err := FindAll(ctx, []string{root}, Search{Pattern: p, Exercises: []string{"mean"}})
		require.ErrorIs(t, err, context.Canceled)
	}
}

// From where a name was seen is known from what is kept.
func TestRootOf(t *testing.T) {
	for _, c := range [][5]string{
		{"/s/ada/mean", "ada", "mean", "", "/s"}, {"/s/ada/mean.zip", "ada", "mean", "", "/s"}, {"/s/g/ada", "g/ada", "mean", "", "/s"},
		{"/s/students/ada/mean.tar.gz", "ada", "mean", "students/ada/mean", "/s"}, {"students/ada/mean", "ada", "mean", "", ""}, {"/s/bo/mean", "ada", "mean", "", ""},
	} {
		assert.Equal(t, c[4], RootOf(c[0], c[1], c[2], c[3]), c[0])
	}
}
