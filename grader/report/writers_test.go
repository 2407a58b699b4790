package report

import (
	"bytes"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

// identity is a complete identity.
func identity() Identity {
	return Identity{
		Student: "ada", Classroom: "ml-2026", Assignment: "autograd", Submission: "submit/2026-03-14T15-00-00Z-0a1b2c3",
		Commit: "https://github.com/ml-2026/autograd-ada/commit/0a1b2c3", Release: "https://github.com/ml-2026/autograd-ada/releases/tag/submit",
		Committed: "2026-03-14T16:00:00+01:00", Actor: "ada", ActorID: 1815, Folder: "autograd",
	}
}

// extensions are what the golden files of a format are called.
var extensions = map[string]string{
	"html": ".html", "markdown": ".md", "junit": ".junit.xml", "github-annotations": ".annotations.txt", "classroom50": ".classroom50.json",
	"github-classroom": ".github-classroom.json", "gradescope": ".gradescope.json", "prairielearn": ".prairielearn.json", "exercism": ".exercism.json",
	"gitlab-codequality": ".codequality.json",
}

// written is r in the format called name.
func written(t *testing.T, name string, r *verdict.Result) []byte {
	t.Helper()
	return writtenFor(t, name, r, identity())
}

func writtenFor(t *testing.T, name string, r *verdict.Result, id Identity) []byte {
	t.Helper()
	f, ok := FormatNamed(name)
	require.True(t, ok, name)
	var b bytes.Buffer
	require.NoError(t, f.Write(&b, r, id))
	return b.Bytes()
}

func TestGoldenFormats(t *testing.T) {
	for format, extension := range extensions {
		for sample, r := range samples() {
			t.Run(path.Join(format, sample), func(t *testing.T) {
				golden(t, sample+extension, written(t, format, r))
			})
		}
	}
}

// elsewhere are formats whose golden files have a test of their own.
var elsewhere = map[string]string{"text": "report_test.go", "json": "report_test.go", "github-summary": "is markdown", "github-classroom-base64": "is github-classroom, encoded"}

// Every format of one grading is read back by an independent reader, and has golden files.
func TestEveryFormatIsTested(t *testing.T) {
	for _, f := range Formats() {
		if !f.OfOne() {
			continue
		}
		assert.NotNil(t, readers[f.Name], "%s: no reader: add one to readers (attacks_test.go)", f.Name)
		assert.True(t, extensions[f.Name] != "" || elsewhere[f.Name] != "", "%s: no golden files: give them an extension (writers_test.go)", f.Name)
	}
}

func TestFormatNames(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range FormatNames() {
		assert.False(t, seen[n], n)
		seen[n] = true
	}
	for n := range extensions {
		assert.True(t, seen[n], n)
	}
	_, ok := FormatNamed("pdf")
	assert.False(t, ok)
}
