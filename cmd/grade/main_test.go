package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"grade/grader/fault"
	"grade/grader/report/terminal"
)

func TestRunReturnsTheExitCode(t *testing.T) {
	var out, err bytes.Buffer
	assert.Equal(t, exitOK, run(t.Context(), []string{"version"}, nil, &out, &err))
	assert.True(t, strings.HasPrefix(out.String(), "grade "))
	assert.Empty(t, err.String())
	assert.Equal(t, exitUsage, run(t.Context(), []string{"nope"}, nil, &out, &err))
}

// A full disk is told, and is no success.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"list"}, {"show", "autograd"}} {
		var err bytes.Buffer
		full := failingWriter{errors.New("no space left")}
		assert.Equal(t, exitNoVerdict, run(t.Context(), args, nil, full, &err), "%s", args)
		assert.Equal(t, "grade: write output: no space left\n", err.String())
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// Every exit code is documented, once.
func TestExitCodesAreDocumented(t *testing.T) {
	help := newExitCodes().Long
	for _, code := range []int{exitOK, exitMissing, exitUsage, exitNoVerdict, exitInterrupted} {
		assert.Equal(t, 1, strings.Count(help, fmt.Sprintf("\n  %3d  ", code)), "%d", code)
	}
	assert.Len(t, exits, 5)
}

// Help is complete: a command without an example, a group or a completion is not
// finished.
func TestEveryCommandIsFinished(t *testing.T) {
	root := newRoot(newApp(nil, os.Stdout, os.Stderr))
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			assert.NotEmpty(t, c.Long, c.Name())
			continue
		}
		assert.NotEmpty(t, c.Short, c.Name())
		assert.NotEmpty(t, c.Example, c.Name())
		assert.NotEmpty(t, c.GroupID, c.Name())
		assert.NotNil(t, c.ValidArgsFunction, c.Name())
	}
}

func TestErrorsOfSeveralLines(t *testing.T) {
	var b bytes.Buffer
	a := &app{err: terminal.Stream{Writer: &b}, started: true}
	code := a.exit(t.Context(), &cobra.Command{}, errors.Join(errors.New("one"), errors.New("::error::two")))
	assert.Equal(t, exitNoVerdict, code)
	assert.Equal(t, "grade: one\ngrade: ::error::two\n", b.String(), "nothing from elsewhere starts a line")
}

func TestBuildVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	for want, info := range map[string]*debug.BuildInfo{
		"(unknown)":            nil,
		"(devel)":              {Main: debug.Module{Version: "(devel)"}},
		"v1.2.3":               {Main: debug.Module{Version: "v1.2.3"}},
		"0123456789ab":         {Settings: commit[:1]},
		"0123456789ab+changes": {Settings: commit},
	} {
		assert.Equal(t, want, buildVersion(info))
	}
}

// What a library finds wrong is told with what to do in this command's words, unless the
// library knows better, and an error that is none of usage has no such hint.
func TestHints(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		told string
	}{
		"the command's":    {withHint("--here", &fault.Error{Message: "wrong"}), exitUsage, "grade: wrong\nhint: --here\n"},
		"inside another":   {fmt.Errorf("x: %w", withHint("--here", &fault.Error{Message: "wrong"})), exitUsage, "grade: x: wrong\nhint: --here\n"},
		"the library's":    {withHint("--here", &fault.Error{Message: "wrong", Advice: "there"}), exitUsage, "grade: wrong\nhint: there\n"},
		"none":             {&fault.Error{Message: "wrong"}, exitUsage, "grade: wrong\nhint: see: grade --help\n"},
		"an error of ours": {withHint("--here", errors.New("gone")), exitNoVerdict, "grade: gone\n"},
	} {
		var b bytes.Buffer
		a := &app{err: terminal.Stream{Writer: &b}, started: true}
		assert.Equal(t, c.code, a.exit(t.Context(), &cobra.Command{Use: "grade"}, c.err), name)
		assert.Equal(t, c.told, b.String(), name)
	}
	assert.NoError(t, withHint("--here", nil))
}
