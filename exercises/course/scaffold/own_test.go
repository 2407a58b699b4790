package scaffold

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
)

// at writes a file below dir, and the folders that it needs.
func at(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
}

// What an author has to mend is told before anything is written.
func TestOwnRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string // in the folder above the new course's
		want  string
	}{
		"another module":          {map[string]string{"c/go.mod": "module example.com/other\n"}, "go.mod is of the module example.com/other"},
		"a go.mod that is none":   {map[string]string{"c/go.mod": "module example.com/mine\nfoo\n"}, "go.mod"},
		"a folder kit of its own": {map[string]string{"c/kit/go.mod": "module example.com/kit\n"}, "is there and is not the kit"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				at(t, dir, file, text)
			}
			_, _, err := Own(fstest.MapFS{}, filepath.Join(dir, "c"), "example.com/mine")
			var usage *fault.Error
			require.ErrorAs(t, err, &usage)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// A course in a course would be a module of its own, by mistake.
func TestOwnInACourse(t *testing.T) {
	dir := t.TempDir()
	at(t, dir, "go.mod", "module example.com/mine\n")
	at(t, dir, "exercises/gears/README.md", "")
	_, _, err := Own(fstest.MapFS{}, filepath.Join(dir, "exercises", "gears"), "")
	var nested *NestedError
	require.ErrorAs(t, err, &nested)
	assert.Equal(t, dir, nested.Course)
	assert.Equal(t, filepath.Join(dir, "exercises", "gears"), nested.Dir)
}

func TestIsModule(t *testing.T) {
	for path, want := range map[string]bool{"example.com/course": true, "course": true, course.KitModule: false, "a b": false, "": false, "/x": false} {
		assert.Equal(t, want, IsModule(path), path)
	}
}

func TestModuleName(t *testing.T) {
	for folder, want := range map[string]string{"My Course": "my-course", "grade": "course", "...": "course", "go_2": "go_2"} {
		assert.Equal(t, want, moduleName(folder), folder)
	}
}

// A file that is as it should be is not written again.
func TestRefresh(t *testing.T) {
	dir := t.TempDir()
	files := []course.File{{Name: "kit/a.go", Data: []byte("package kit\n")}, {Name: "go.mod", Data: []byte("module m\n")}}
	at(t, dir, "go.mod", "module m\n")
	require.NoError(t, os.Chmod(filepath.Join(dir, "go.mod"), 0o444))
	require.NoError(t, Refresh(dir, files))
	data, err := os.ReadFile(filepath.Join(dir, "kit", "a.go"))
	require.NoError(t, err)
	assert.Equal(t, "package kit\n", string(data))
	info, err := os.Stat(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o444), info.Mode().Perm())
}
