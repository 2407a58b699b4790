//go:build unix

package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The umask decides who may read a new file, and no umask changes who may read an old one.
func TestUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for way, write := range writers {
		name := filepath.Join(t.TempDir(), "file")
		mode := func(umask int) fs.FileMode {
			syscall.Umask(umask)
			require.NoError(t, write(name, "x"), way)
			info, err := os.Stat(name)
			require.NoError(t, err)
			return info.Mode().Perm()
		}
		assert.Equal(t, fs.FileMode(0o600), mode(0o077), way)
		require.NoError(t, os.Chmod(name, 0o664))
		assert.Equal(t, fs.FileMode(0o664), mode(0o077), way)
		require.NoError(t, os.Remove(name))
		assert.Equal(t, fs.FileMode(0o640), mode(0o027), way)
	}
}
