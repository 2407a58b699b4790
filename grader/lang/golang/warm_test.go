package golang

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWarmPackages: what a hidden test or a reference imports is in the image's cache. Each
// build of a submission compiles anew what is not.
func TestWarmPackages(t *testing.T) {
	warm := " " + strings.Join(strings.Fields(warmPackages), " ") + " "
	for _, pattern := range []string{"../../../exercises/*/hidden/*.go", "../../../reference/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			if strings.Contains(file, "/reference/") && strings.HasSuffix(file, "_test.go") {
				continue // run on the host
			}
			for _, p := range imports(t, file) {
				assert.True(t, strings.HasPrefix(p, "grade/") || strings.Contains(warm, " "+p+" "), "%s imports %q, which is not warm", file, p)
			}
		}
	}
}

func imports(t *testing.T, file string) (paths []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		paths = append(paths, p)
	}
	return paths
}
