package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/verdict"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// pageSource returns a file of package page.
func pageSource(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("page", name))
	require.NoError(t, err)
	return string(source)
}

// styles are the style sheets of pages, by the mark that stands for each in a golden page.
func styles(t *testing.T) map[string]string {
	t.Helper()
	grading := pageSource(t, "grading.css")
	return map[string]string{"grading.css": grading, "grading.css and course.css": grading + pageSource(t, "course.css")}
}

// inPolicy is the hash of a style sheet or a script, as it stands in a page's policy.
func inPolicy(source string) string {
	sum := sha256.Sum256([]byte(source))
	return strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;")
}

// withoutStyle is a page with marks for its style sheet, its script and their hashes in its
// policy. Golden pages hold these marks, so that a change of style changes the sheet and
// no golden file. The page must hold one of the sheets as it is in its source.
func withoutStyle(t *testing.T, page []byte) []byte {
	t.Helper()
	script := pageSource(t, "course.js")
	page = []byte(strings.NewReplacer("<script>"+script+"</script>", "<script>course.js</script>", inPolicy(script), "of course.js").Replace(string(page)))
	for mark, css := range styles(t) {
		element, hash := "<style>"+css+"</style>", inPolicy(css)
		if strings.Count(string(page), element) == 1 && strings.Count(string(page), hash) == 1 {
			return []byte(strings.NewReplacer(element, "<style>"+mark+"</style>", hash, "of "+mark).Replace(string(page)))
		}
	}
	t.Fatal("the page has none of the style sheets in page/*.css, or its policy does not name it")
	return nil
}

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if filepath.Ext(name) == ".html" {
		got = withoutStyle(t, got)
	}
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, got, 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update to write it")
	assert.Equal(t, string(want), string(got))
}

// samples are the gradings that the golden files show.
func samples() map[string]*verdict.Result {
	return map[string]*verdict.Result{
		"mixed":         sample.Mixed(),
		"all_points":    sample.AllPoints(),
		"grouped":       sample.Grouped(),
		"only":          sample.OnlyCorrectness(),
		"invalid":       sample.Invalid(),
		"compile_error": sample.CompileError(),
		"hostile":       hostile(),
	}
}

// evil is what a submission would like to print: colours, a new title for the
// window, commands for a runner, text that runs backwards, bytes that are no text.
const evil = "\x1b[2J\x1b]0;pwn\x07\r::error::forged\n::error::forged\n##[error]forged \u009b31m \u202egnorw\u2066 \u2028\xff\x00"

func hostile() *verdict.Result {
	r := sample.Mixed()
	r.Submission.Dir = evil
	r.Submission.Files = []string{evil}
	r.Submission.Ignored = []string{evil, "::error::forged"}
	r.Problems = []verdict.Problem{{File: evil, Line: 7, Rule: "file-name", Message: evil}, {File: "::error::forged", Message: "::error::forged"}}
	r.Warnings = []string{evil, "::error::forged"}
	r.Checks[0].Detail, r.Checks[0].Cause, r.Checks[0].Places = evil, evil, places(evil)
	r.Problems[0].Excerpt = excerpt(evil)
	return r
}

// places are lines of a submission that has s in a file's name and in the file.
func places(s string) []verdict.Place {
	return []verdict.Place{{File: s, Line: 7, Excerpt: excerpt(s)}, {File: "a.go", Line: 8, Excerpt: excerpt(s)}}
}

func excerpt(s string) verdict.Excerpt { return verdict.Excerpt{Source: s, Before: s, After: s} }

func TestGoldenText(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			var plain, colored bytes.Buffer
			require.NoError(t, Text(&plain, r, TextOptions{}))
			golden(t, name+".txt", plain.Bytes())
			require.NoError(t, Text(&colored, r, TextOptions{Color: true, Width: 80, Brief: true}))
			golden(t, name+".color.txt", colored.Bytes())
		})
	}
}

func TestGoldenJSON(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, JSON(&b, r))
			golden(t, name+".json", b.Bytes())
		})
	}
}
