package scaffold

import (
	"os"
	"path/filepath"
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
	for name, files := range map[string][]course.File{
		"a name twice":                 {{Name: "x/a.go"}, {Name: "x/a.go"}},
		"a folder's name for a file":   {{Name: "x/a.go"}, {Name: "x"}},
		"a file's name for a folder":   {{Name: "x"}, {Name: "x/a.go"}},
		"a name that leads elsewhere":  {{Name: "a.go"}, {Name: "../b.go"}},
		"a name that starts elsewhere": {{Name: "a.go"}, {Name: "/b.go"}},
		"no name":                      {{Name: "a.go"}, {Name: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			assert.Error(t, WriteAll(filepath.Join(dir, "new", "deep"), files))
			assert.Empty(t, names(t, dir))
		})
	}
}

func TestWriteAllKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "x"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y"), nil, 0o666))
	assert.Error(t, WriteAll(dir, []course.File{{Name: "x/a.go"}, {Name: "x/a.go"}}))
	assert.Equal(t, []string{"x", "y"}, names(t, dir))

	var u *fault.UsageError
	assert.ErrorAs(t, WriteAll(dir, []course.File{{Name: "a.go"}, {Name: "y/b.go"}}), &u, "a file where a folder should be")
	assert.ErrorAs(t, WriteAll(filepath.Join(dir, "y"), []course.File{{Name: "a.go"}}), &u)
	assert.Equal(t, []string{"x", "y"}, names(t, dir))
}
