package course_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
)

// Load finds no fault in the exercises of this repository.
func TestThisCourse(t *testing.T) {
	c := course.Open(os.DirFS("../.."))
	assert.Equal(t, "grade", c.Module())
	names, err := c.Names()
	require.NoError(t, err)
	assert.NotEmpty(t, names)
	for _, name := range names {
		e, err := c.Load(name)
		require.NoError(t, err)
		assert.Equal(t, "grade/reference/"+name, e.ImportPath)
		assert.True(t, e.Limits.StatedIn(e.Readme), "%s: the README has to state what can end a run: %s", name, e.Limits)
	}
}

// The sentence follows exercise.yaml, and may be wrapped.
func TestLimitsAreStated(t *testing.T) {
	l := course.Limits{Memory: 512 << 20, Output: 100 << 10, Scratch: 64 << 20, CPU: 5 * time.Second, Wall: 1500 * time.Millisecond}
	assert.Equal(t, "A run of a test may take 512 MiB of memory, 5 s of CPU time, 1.5 s in all, 100 KiB each of standard output and standard error, and 64 MiB of files; "+
		"one that is measured, 4 times as long.", l.String())
	readme := []byte("# Title\n\n" + strings.ReplaceAll(l.String(), " s ", "\ns "))
	assert.True(t, l.StatedIn(readme))
	l.CPU = 6 * time.Second
	assert.False(t, l.StatedIn(readme))
}

// A link below a course is not followed: its target would pass for a file of the course.
func TestReadTreeRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/secret", []byte("x"), 0o600))
	require.NoError(t, os.Mkdir(dir+"/tree", 0o700))
	require.NoError(t, os.Symlink(dir+"/secret", dir+"/tree/leak.go"))
	_, err := course.ReadTree(os.DirFS(dir), "tree")
	assert.ErrorContains(t, err, "leak.go: want a regular file, not a link or a device")
}
