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
