package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhole(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	say := func(s string) func(*os.File) error {
		return func(f *os.File) error { _, err := f.WriteString(s); return err }
	}
	require.NoError(t, Whole(name, say("one")))
	require.NoError(t, os.Chmod(name, 0o640))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, Whole(link, say("two")))
	assert.Equal(t, "two", content(t, name), "what a link points to is replaced, not the link")
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	assert.ErrorContains(t, Whole(name, func(f *os.File) error { _, _ = f.WriteString("half"); return errors.New("disk full") }), "disk full")
	assert.Equal(t, "two", content(t, name))

	require.NoError(t, Whole(os.DevNull, say("gone")))
	info, err = os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.False(t, info.Mode().IsRegular(), "a device is written to, not replaced")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2)
}
