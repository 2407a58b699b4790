//go:build unix

package intake

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe that stands where a folder was keeps no one waiting.
func TestListOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "mean")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, _, err := list(pipe)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.False(t, holdsWork(pipe))
}
