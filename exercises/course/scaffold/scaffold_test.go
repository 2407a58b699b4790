package scaffold

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/schema"
)

// An editor finds the schema of every YAML file of a new exercise in the course.
func TestNewFilesNameTheirSchema(t *testing.T) {
	kit, err := Schemas("example.com/mine")
	require.NoError(t, err)
	for module, there := range map[string]func(name string) bool{
		"example.com/mine": func(name string) bool {
			return slices.ContainsFunc(kit, func(f course.File) bool { return f.Name == name })
		},
		"grade": func(name string) bool {
			rest, err := schema.Files.ReadFile(path.Base(name))
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

// GoMod keeps every line that a course has already.
func TestGoMod(t *testing.T) {
	const ignored = "\nignore (\n\tstarter\n\tsubmissions\n)\n"
	const own = "module m\n\ngo 1.26\n" + ignored + "\nrequire grade v0.0.0\n\nreplace grade => ./kit\n"
	for _, test := range []struct{ name, old, module, want, elsewhere, err string }{
		{name: "a new course", module: "m", want: own},
		{name: "once more", old: own, want: own},
		{name: "no module", old: "go 1.26\n", err: "no line with the module's path"},
		{name: "no go.mod at all", old: "modul", err: "unknown directive"},
		{name: "an older Go", old: "module m\n\ngo 1.20\n", want: own},
		{name: "grade itself", old: "module grade\n\ngo 1.26\n", want: "module grade\n\ngo 1.26\n" + ignored},
		{
			name: "the kit is elsewhere", old: "module m\n\ngo 1.27\n\nrequire grade v1.2.3\n\nreplace grade v1.2.3 => ../grade\n", elsewhere: "../grade",
			want: "module m\n\ngo 1.27\n" + ignored + "\nrequire grade v1.2.3\n\nreplace grade v1.2.3 => ../grade\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			mod, elsewhere, err := GoMod([]byte(test.old), test.module, "1.26")
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.elsewhere, elsewhere)
			assert.ElementsMatch(t, lines(test.want), lines(string(mod)), "in whatever order")
		})
	}
}

func lines(s string) (list []string) {
	for l := range strings.SplitSeq(s, "\n") {
		if l != "" {
			list = append(list, l)
		}
	}
	return list
}
