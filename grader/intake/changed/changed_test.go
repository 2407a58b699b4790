package changed

import (
	"grade/exercises/course"
	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"testing"

	"github.com/stretchr/testify/require"
)

// about is a repository of a test, and a run about it.
func about(t *testing.T, dir string, run forge.Run) Clone {
	t.Helper()
	repo, err := repository.Open(t.Context(), dir)
	require.NoError(t, err)
	return Clone{Repo: repo, Dir: dir, Run: run}
}

// standard is where submissions are without rules.
func standard(t *testing.T) course.Pattern {
	t.Helper()
	p, err := course.ParsePattern(StandardPattern)
	require.NoError(t, err)
	return p
}
