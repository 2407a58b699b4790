package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
)

// A course of which an exercise cannot be loaded takes the place of no course that was set:
// what can be handed in stays.
func TestBrokenCourse(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: t.TempDir(), Grader: "g"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	files := coursetest.Files()
	files["exercises/levers/exercise.yaml"] = "titel: Levers\n"
	list, broken, err := e.SetCourse(t.Context(), coursetest.FS(files))
	require.NoError(t, err)
	assert.NotEmpty(t, broken)
	require.Len(t, list, 1, "the first course does without")

	files["exercises/gears/exercise.yaml"] = "titel: Gears\n"
	list, broken, err = e.SetCourse(t.Context(), coursetest.FS(files))
	require.NoError(t, err)
	assert.NotEmpty(t, broken)
	assert.Empty(t, list)
	_, _, err = e.exercise("gears")
	require.NoError(t, err)
}
