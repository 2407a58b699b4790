package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newIn begins an exercise in a course.
func newIn(dir, name string) error {
	a := newApp(nil, &bytes.Buffer{}, &bytes.Buffer{})
	a.courseDir = dir
	return (&newOptions{app: a, name: name, module: "example.com/mine"}).run()
}

// An exercise is there when all that it needs is: without the kit, there is none, and the same
// command works once the kit can be written.
func TestNewIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "kit"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kit/go.mod"), []byte("module grade\n"), 0o644))
	inTheWay := filepath.Join(dir, "kit/schema")
	require.NoError(t, os.WriteFile(inTheWay, nil, 0o644))
	require.ErrorContains(t, newIn(dir, "gradclip"), "write what grade maintains in "+dir)
	assert.NoDirExists(t, filepath.Join(dir, "exercises"))
	assert.NoDirExists(t, filepath.Join(dir, "reference"))

	require.NoError(t, os.Remove(inTheWay))
	require.NoError(t, newIn(dir, "gradclip"))
	assert.FileExists(t, filepath.Join(dir, "kit/schema/exercise.json"))
}

// Where the exercise is there already, neither go.mod nor the kit is written.
func TestNewOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "reference/gradclip"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "reference/gradclip/gradclip.go"), nil, 0o644))
	require.ErrorContains(t, newIn(dir, "gradclip"), "would be overwritten: reference/gradclip/gradclip.go")
	assert.NoFileExists(t, filepath.Join(dir, "go.mod"))
	assert.NoDirExists(t, filepath.Join(dir, "exercises"))
}

// With one of these names, the hidden test that an exercise begins with would not compile.
func TestNewRefusesNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"init", "internal", "float64", "int", "make", "string", "nil", "o", "t", "r", "n", "xs", "func", "hidden"} {
		require.ErrorContains(t, newIn(dir, name), "the name means something else to Go or to grade", name)
	}
	assert.NoDirExists(t, filepath.Join(dir, "exercises"))
}
