package results

import (
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade"
)

// repository is the root of this module.
const repository = "../.."

// sources are the deciding sources as a program carries them, in a tree to be changed.
func sources(t *testing.T) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(grade.Deciding, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(grade.Deciding, name)
		tree[name] = &fstest.MapFile{Data: data}
		return err
	}))
	return tree
}

func digestOf(t *testing.T, tree fs.FS) string {
	t.Helper()
	d, err := SourceDigest(tree)
	require.NoError(t, err)
	return d
}

// The program carries what decides, all of it and as it is in the repository.
func TestSourceDigestOfTheProgram(t *testing.T) {
	assert.Equal(t, digestOf(t, os.DirFS(repository)), digestOf(t, grade.Deciding))
}

// One byte anywhere in what decides is another digest.
func TestSourceDigestOfAChange(t *testing.T) {
	tree := sources(t)
	seen := map[string]string{digestOf(t, tree): "as it is"}
	changed := map[string]bool{}
	for name, f := range tree {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		before := f.Data
		f.Data = append(slices.Clone(before), '\n')
		d := digestOf(t, tree)
		assert.Empty(t, seen[d], "%s: a byte more changes nothing", name)
		seen[d] = name
		f.Data = before
		changed[path.Dir(name)] = true
	}
	for _, dir := range deciding {
		assert.True(t, changed[dir], "%s has no source", dir)
	}
	tree["grader/new.go"] = &fstest.MapFile{Data: []byte("package grader\n")}
	assert.Empty(t, seen[digestOf(t, tree)], "a new file is a change")
}

// Two builds that differ in what decides nothing share their results.
func TestSourceDigestOfWhatDecidesNothing(t *testing.T) {
	want := digestOf(t, grade.Deciding)
	for _, name := range []string{
		"grader/grader_test.go", "observe/observe_test.go", "cmd/grade/main.go", "grader/report/html.go", "grader/results/sources.go",
		"grader/judge/testdata/judged.go", "grader/judge/notes.txt",
	} {
		for _, text := range []string{"package one\n", "package another\n"} {
			tree := sources(t)
			tree[name] = &fstest.MapFile{Data: []byte(text)}
			assert.Equal(t, want, digestOf(t, tree), name)
		}
	}
}

func TestSourceDigestWithoutAPackage(t *testing.T) {
	tree := sources(t)
	for name := range tree {
		if path.Dir(name) == "grader/judge" {
			delete(tree, name)
		}
	}
	_, err := SourceDigest(tree)
	require.ErrorContains(t, err, "grader/judge")
}

// undecided are what deciding packages import and is not hashed, each with its reason.
var undecided = map[string]string{
	"grade/exercises/course":          "what it reads out of an exercise is in the key itself",
	"grade/exercises/course/document": "what it reads out of an exercise is in the key itself",
	"grade/exercises/course/fixture":  "it says what shipped submissions are expected to get, after they got it",
	"grade/grader/wholefile":          "it keeps the compiled reference, by what made it",
	"github.com/gofrs/flock":          "it waits for a turn to measure, or for a cache",
	"golang.org/x/sync/errgroup":      "it waits for what was started",
	"gopkg.in/yaml.v3":                "what it reads out of an exercise is in the key itself",
}

// What the deciding packages import decides too, or is listed with a reason why not; and no
// reason outlives its import.
func TestDecidingIsComplete(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range deciding {
		for _, p := range imports(t, dir) {
			own, ours := strings.CutPrefix(p, "grade/")
			first, _, _ := strings.Cut(p, "/")
			switch {
			case !ours && !strings.Contains(first, "."): // the standard library: a grader is named by its Go, and the images have theirs
			case strings.HasPrefix(p, "github.com/docker/") || strings.HasPrefix(p, "github.com/containerd/"): // they speak to an engine; what they say is in sandbox/docker
			case ours && slices.Contains(deciding, own):
			case undecided[p] != "":
				used[p] = true
			default:
				t.Errorf("%s imports %s, which decides with it: hash it, or give a reason in undecided", dir, p)
			}
		}
	}
	for _, dir := range []string{"exercises/course", "exercises/course/document"} { // imported by packages with a reason
		for _, p := range imports(t, dir) {
			used[p] = true
		}
	}
	for p := range undecided {
		assert.True(t, used[p], "nothing imports %s any more", p)
	}
}

// imports are what the sources in a folder import, on any system.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	context := build.Default
	context.UseAllFiles = true
	pkg, err := context.ImportDir(filepath.Join(repository, filepath.FromSlash(dir)), 0)
	require.NoError(t, err)
	return pkg.Imports
}
