//go:build unix

package files

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A new report is for whom the umask says, and an old one for whom it was.
func TestReportHonoursTheUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	name := filepath.Join(t.TempDir(), "report")
	mode := func(umask int) os.FileMode {
		syscall.Umask(umask)
		require.NoError(t, Whole(name, func(f *os.File) error { _, err := f.WriteString("x"); return err }))
		info, err := os.Stat(name)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	assert.Equal(t, os.FileMode(0o600), mode(0o077))
	require.NoError(t, os.Chmod(name, 0o664))
	assert.Equal(t, os.FileMode(0o664), mode(0o077))
	require.NoError(t, os.Remove(name))
	assert.Equal(t, os.FileMode(0o640), mode(0o027))
}
