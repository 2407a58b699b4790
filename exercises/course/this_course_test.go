package course_test

import (
	"os"
	"testing"

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
	}
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
