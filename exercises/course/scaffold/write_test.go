package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
)

// names lists what is below dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	}))
	return list
}

func TestWriteAll(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteAll(filepath.Join(dir, "a", "b"), []course.File{{Name: "x/y/z.go", Data: []byte("z")}, {Name: "x/w.go"}}))
	assert.Equal(t, []string{"a", "a/b", "a/b/x", "a/b/x/w.go", "a/b/x/y", "a/b/x/y/z.go"}, names(t, dir))
}

// Whatever goes wrong, and however late, nothing is left half-written.
func TestWriteAllTakesBackWhatItMade(t *testing.T) {
	for name, c := range map[string]struct {
		files []course.File
		want  string
	}{
		"a name twice":                 {[]course.File{{Name: "x/a.go"}, {Name: "x/a.go"}}, "x/a.go: file exists"},
		"a folder's name for a file":   {[]course.File{{Name: "x/a.go"}, {Name: "x"}}, "x: file exists"},
		"a file's name for a folder":   {[]course.File{{Name: "x"}, {Name: "x/a.go"}}, "x/a.go: not a directory"},
		"a name that leads elsewhere":  {[]course.File{{Name: "a.go"}, {Name: "../b.go"}}, "path escapes from parent"},
		"a name that starts elsewhere": {[]course.File{{Name: "a.go"}, {Name: "/b.go"}}, "path escapes from parent"},
		"no name":                      {[]course.File{{Name: "a.go"}, {Name: ""}}, "deep: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			assert.ErrorContains(t, WriteAll(filepath.Join(dir, "new", "deep"), c.files), c.want)
			assert.Empty(t, names(t, dir))
		})
	}
}

func TestWriteAllKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "x"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y"), nil, 0o666))
	assert.ErrorContains(t, WriteAll(dir, []course.File{{Name: "x/a.go"}, {Name: "x/a.go"}}), "x/a.go: file exists")
	assert.Equal(t, []string{"x", "y"}, names(t, dir))

	var u *fault.Error
	assert.ErrorAs(t, WriteAll(dir, []course.File{{Name: "a.go"}, {Name: "y/b.go"}}), &u, "a file where a folder should be")
	assert.ErrorAs(t, WriteAll(filepath.Join(dir, "y"), []course.File{{Name: "a.go"}}), &u)
	assert.Equal(t, []string{"x", "y"}, names(t, dir))
}

// A folder that cannot be there is the caller's to mend.
func TestWriteAllSaysWhoseFaultItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	for _, dir := range []string{filepath.Join(file, "deep"), filepath.Join(t.TempDir(), strings.Repeat("x", 300))} {
		err := WriteAll(dir, []course.File{{Name: "a.go"}})
		assert.Equal(t, fault.Caller, fault.KindOf(err), "%v", err)
		var u *fault.Error
		require.ErrorAs(t, err, &u)
		assert.Equal(t, "give a folder that you may write in", u.Advice)
	}
}
