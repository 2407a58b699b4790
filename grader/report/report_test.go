package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/verdict"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
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
	r.Checks[0].Detail = evil
	return r
}

func TestGoldenText(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			var plain, colored bytes.Buffer
			require.NoError(t, Text(&plain, r, TextOptions{}))
			golden(t, name+".txt", plain.Bytes())
			require.NoError(t, Text(&colored, r, TextOptions{Color: true, Width: 80}))
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
