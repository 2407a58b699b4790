package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A temporary folder without room is no fault of the submission's.
func TestFullTemporaryFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can mount a small disk")
	}
	openEngine(t)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("NOT TESTED: cannot mount a small disk: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	require.Error(t, os.WriteFile(filepath.Join(disk, "full"), make([]byte, 1<<20), 0o600))
	t.Setenv("TMPDIR", disk)
	t.Setenv("XDG_CACHE_HOME", disk)
	assert.Contains(t, noVerdictFor(t, referenceDir), "no space left on device")
	entries, err := os.ReadDir(disk)
	require.NoError(t, err)
	for _, e := range entries {
		assert.Contains(t, []string{"full", "grade", "grade-measure.lock"}, e.Name(), "nothing is left")
	}
}
