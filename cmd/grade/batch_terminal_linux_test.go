package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/turn"
)

// On a terminal a batch says what each came to when it is decided, those that need no
// box first, and not only in the table at the end.
func TestBatchOnATerminal(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	openEngine(t)
	course, root, want := class(t)
	for _, like := range []string{"bo", "ed"} { // they run, as ada's does
		require.NoError(t, os.RemoveAll(filepath.Join(root, like)))
		delete(want, like)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	var shown bytes.Buffer
	child := exec.Cmd{Path: self, Args: []string{"onterminal", "grade", "batch", root, "--course", course, "--results", t.TempDir(), "--workers", "1"}, Stdout: &shown, Stderr: &shown}
	require.NoError(t, child.Run(), &shown)
	decided := regexp.MustCompile(`\x1b\[2K(\w+  mean  .*)\n`).FindAllStringSubmatch(shown.String(), -1)
	require.Len(t, decided, len(want), "a line for each: %q", shown.String())
	assert.Regexp(t, `^dora  mean  0 of 100  refused: mean\.go:3: this exercise does not allow`, decided[0][1], "what the vet refuses is decided first")
	for _, line := range []string{"ada  mean  100 of 100", "cem  mean  0 of 100  does not compile: "} {
		assert.True(t, slices.ContainsFunc(decided, func(d []string) bool { return strings.HasPrefix(d[1], line) }), "%s: %q", line, decided)
	}
}
