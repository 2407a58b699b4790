package course

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
)

// What looks like an exercise and is none is told; other files and folders are nobody's.
func TestStrays(t *testing.T) {
	files := coursetest.Files()
	files["exercises/load.go"] = "package exercises"
	files["exercises/schema/exercise.json"] = "{}"
	files["exercises/chapters.yaml"] = "chapters: []\n"
	require.NoError(t, open(files).Strays())

	for name, want := range map[string]string{
		"hidden/a_test.go": "list exercises: exercises/axles: it has no exercise.yaml, so that it is no exercise: write one, or remove the folder",
		"starter/a.go":     "list exercises: exercises/axles: it has no exercise.yaml, so that it is no exercise: write one, or remove the folder",
		"exercise.yml":     "list exercises: exercises/axles: it has exercise.yml, so that it is no exercise: call that file exercise.yaml",
	} {
		assert.EqualError(t, open(coursetest.Change(files, "exercises/axles/"+name, "", "x")).Strays(), want, name)
	}
	_, err := Open(fstest.MapFS{}).Names()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, Open(fstest.MapFS{}).Strays(), fs.ErrNotExist)
}

// A link to an exercise is told, and one to anything else is not.
func TestStrayLinks(t *testing.T) {
	fsys := coursetest.FS(coursetest.Files()).(fstest.MapFS)
	fsys["exercises/cogs"] = &fstest.MapFile{Data: []byte("gears"), Mode: fs.ModeSymlink}
	fsys["exercises/notes"] = &fstest.MapFile{Data: []byte("gears/README.md"), Mode: fs.ModeSymlink}
	names, err := Open(fsys).Names()
	require.NoError(t, err)
	assert.Equal(t, []string{"gears"}, names)
	assert.EqualError(t, Open(fsys).Strays(), "list exercises: exercises/cogs: it is a link, and no exercise is read through one: put the folder itself in its place")
}
