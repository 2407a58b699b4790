// Package tree writes the folders that tests work in. It is for tests only.
package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// New writes files, slash-separated names with their contents, below a new
// folder that goes when the test ends.
func New(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	Add(t, dir, files)
	return dir
}

// Add writes files below dir, and the folders that they need. A name that ends in
// a slash is an empty folder; what begins with #! can be executed.
func Add(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(data, "#!") {
			mode = 0o755
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(data), mode))
	}
}
