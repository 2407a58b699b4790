package scaffold

import (
	"bytes"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises"
)

// Whatever YAML a new exercise has, an editor finds its schema in the course.
func TestNewFilesNameTheirSchema(t *testing.T) {
	kit, err := Kit(fstest.MapFS{}, "1.26")
	require.NoError(t, err)
	for module, there := range map[string]func(name string) bool{
		"example.com/mine": func(name string) bool {
			return slices.ContainsFunc(kit, func(f exercises.File) bool { return f.Name == name })
		},
		"grade": func(name string) bool {
			rest, err := exercises.Schemas.ReadFile(path.Join("schema", path.Base(name)))
			return path.Dir(name) == "exercises/schema" && err == nil && len(rest) > 0
		},
	} {
		files, err := Exercise("gradclip", module)
		require.NoError(t, err)
		found := 0
		for _, f := range files {
			if path.Ext(f.Name) != ".yaml" {
				continue
			}
			first, _, _ := bytes.Cut(f.Data, []byte("\n"))
			way, ok := bytes.CutPrefix(first, []byte("# yaml-language-server: $schema="))
			assert.True(t, ok, f.Name)
			assert.True(t, there(path.Join(path.Dir(f.Name), string(way))), "%s: %s", f.Name, way)
			found++
		}
		assert.Equal(t, 3, found)
	}
}
