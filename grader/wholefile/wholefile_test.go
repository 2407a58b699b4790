package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// writers are all ways to write a file, as functions of its name and content.
var writers = map[string]func(name, content string) error{
	"Write": func(name, content string) error { return Write(name, text(content)) },
	"WriteIn": func(name, content string) error {
		root, err := os.OpenRoot(filepath.Dir(name))
		if err != nil {
			return err
		}
		defer root.Close()
		return WriteIn(root, filepath.Base(name), text(content))
	},
	"Keep": func(name, content string) error { return Keep(name, []byte(content)) },
}

// names lists a folder: nothing but what was asked for may be in it.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func content(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

func TestWriters(t *testing.T) {
	for way, write := range writers {
		t.Run(way, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "file")
			require.NoError(t, write(name, "one"))
			assert.Equal(t, "one", content(t, name))

			require.NoError(t, os.Chmod(name, 0o664))
			reader, err := os.Open(name)
			require.NoError(t, err)
			defer reader.Close()
			require.NoError(t, write(name, "two"))
			assert.Equal(t, "two", content(t, name))
			old, err := io.ReadAll(reader)
			require.NoError(t, err)
			assert.Equal(t, "one", string(old), "a reader keeps the whole of what it has opened")
			info, err := os.Stat(name)
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o664), info.Mode().Perm(), "an old file keeps its rights")
			assert.Equal(t, []string{"file"}, names(t, filepath.Dir(name)), "nothing is left beside it")

			require.ErrorIs(t, write(filepath.Join(filepath.Dir(name), "no", "file"), ""), fs.ErrNotExist)
		})
	}
}

// A folder in the place of the file cannot be replaced; it stays, and nothing is left.
func TestWritersFail(t *testing.T) {
	for way, write := range writers {
		t.Run(way, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "folder")
			require.NoError(t, os.Mkdir(name, 0o755))
			require.ErrorContains(t, write(name, "x"), filepath.Base(name))
			assert.Equal(t, []string{"folder"}, names(t, filepath.Dir(name)))
		})
	}
}

func TestWriteFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, Write(name, text("one")))
	full := errors.New("disk full")
	half := func(w io.Writer) error { return errors.Join(text("half")(w), full) }
	require.ErrorIs(t, Write(name, half), full)
	assert.Equal(t, "one", content(t, name), "the old content stays")
	assert.Equal(t, []string{"file"}, names(t, filepath.Dir(name)))
}

func TestWriteThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, Write(link, text("through")))
	assert.Equal(t, "through", content(t, file))

	require.NoError(t, Keep(link, []byte("instead")))
	assert.Equal(t, "through", content(t, file))
	assert.Equal(t, "instead", content(t, link))
}

func TestWriteDevice(t *testing.T) {
	require.NoError(t, Write(os.DevNull, text("gone")))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.False(t, info.Mode().IsRegular(), "a device stays one")
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, SyncDir(dir))
	require.ErrorIs(t, SyncDir(filepath.Join(dir, "none")), fs.ErrNotExist)
}
