package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/report/terminal"
)

// listed runs `grade list` for a course that has one of the built-in exercises.
func listed(t *testing.T, width int, chapters string) (string, error) {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"exercises", "reference"} {
		require.NoError(t, os.CopyFS(filepath.Join(root, dir, "logsumexp"), os.DirFS(filepath.Join(courseRoot, dir, "logsumexp"))))
	}
	if chapters != "" {
		require.NoError(t, os.WriteFile(filepath.Join(root, "exercises", course.ChaptersFile), []byte(chapters), 0o666))
	}
	var text bytes.Buffer
	o := &listOptions{app: &app{out: terminal.Stream{Writer: &text, Width: width}, courseDir: root}}
	err := o.run()
	return text.String(), err
}

// A program reads a line for each exercise; a person reads chapters. Where something is
// wrong with the chapters, the exercises are listed all the same.
func TestList(t *testing.T) {
	const line = "logsumexp\tLog-sum-exp\tThe logarithm of a sum of exponentials, stable, in one pass and in parts."
	const words = "logsumexp  Log-sum-exp\n           The logarithm of a sum of exponentials, stable, in one pass and in\n           parts.\n"
	const chapters = "chapters: [{title: Numbers, exercises: [{name: logsumexp, difficulty: easy, hours: 2}]}]\n"
	for name, tt := range map[string]struct {
		width          int
		chapters, want string
		fault          string
	}{
		"in a pipe":                     {0, chapters, line + "\tNumbers\teasy\t2\n", ""},
		"in a pipe, without chapters":   {0, "", line + "\n", ""},
		"a terminal":                    {80, chapters, "Numbers\n" + words + "           easy, 2 hours\n", ""},
		"a terminal, without chapters":  {80, "", words, ""},
		"a terminal, in no chapter":     {80, "chapters: [{title: Empty, exercises: []}]\n", "Empty\n\nOther exercises\n" + words, ""},
		"a fault of the chapters":       {80, "chapters: 3\n", words, `exercises/chapters.yaml:1: chapters: want a list, not "3"`},
		"an exercise that is not there": {80, "chapters: [{title: Numbers, exercises: [{name: logs}]}]\n", "Numbers\n\nOther exercises\n" + words, `there is no exercise "logs"`},
	} {
		got, err := listed(t, tt.width, tt.chapters)
		assert.Equal(t, tt.want, got, name)
		if tt.fault != "" {
			assert.ErrorContains(t, err, tt.fault, name)
			continue
		}
		assert.NoError(t, err, name)
	}
}
