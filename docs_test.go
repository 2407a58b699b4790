package grade_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/turn"
)

// asBuilt has the go command build as make test does: else what a reader vets and tests
// compiles the standard library anew.
var asBuilt = []string{"GOFLAGS=-trimpath", "CGO_ENABLED=0"}

// A reader who does what the guides say, in their order and in an empty folder, gets
// what they show. A child process grades; the rest is as a reader has it.
func TestGuides(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("grades in a sandbox")
	}
	r := &reader{t: t, dir: t.TempDir(), env: withoutEngine(t)}
	r.follow("writing-an-exercise.md", "feedback.md")
}

// The guide for those who run a course grades what others wrote, for which an engine
// is needed.
func TestCourseGuide(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("grades in a sandbox")
	}
	r := &reader{t: t, dir: t.TempDir(), env: append(append(withGrade(t), asBuilt...), "GOPROXY=off")}
	r.follow("courses.md")
}

// follow does what guides say, one after the other.
func (r *reader) follow(guides ...string) {
	r.t.Helper()
	for _, guide := range guides {
		steps, err := readGuide(filepath.Join("docs", guide))
		require.NoError(r.t, err)
		for _, s := range steps {
			if r.do(s); r.t.Failed() {
				return // what comes next rests on it
			}
		}
	}
}

// What the guide for CI shows are the files that make course runs.
func TestCIGuide(t *testing.T) {
	steps, err := readGuide(filepath.Join("docs", "ci.md"))
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, s := range steps {
		dir := "course"
		if s.file == ".gitattributes" || s.file == ".gitignore" {
			dir = "course-private"
		}
		want, err := os.ReadFile(filepath.Join("examples", dir, filepath.FromSlash(s.file)))
		require.NoError(t, err, s.place)
		assert.Equal(t, string(want), s.text, s.place)
		shown[s.file] = true
	}
	assert.Len(t, shown, 5)
}

// What keeps make docs from writing is told.
func TestMakeDocsShowsFailures(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho told\nexit ${STATUS:-0}\n"), 0o777))
	env := append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, status := bash(t, ".", env, "make --no-print-directory docs")
	assert.Zero(t, status, out)
	assert.Empty(t, out)
	out, status = bash(t, ".", append(env, "STATUS=1"), "make --no-print-directory docs")
	assert.NotZero(t, status)
	assert.Contains(t, out, "told")
}

// step is a fenced block of a guide: a file, or commands and what they answer.
type step struct {
	place    string // in the guide
	file     string // "" of commands
	added    bool   // to the file
	text     string
	commands []command
}

type command struct {
	line   string
	status int
	want   string // "": not shown
}

var (
	fenced     = regexp.MustCompile("^(`{3,})([a-z]*)$")
	fileName   = regexp.MustCompile("^(Add to )?`([^`]+)`$")
	exitStatus = regexp.MustCompile(`# exit status (\d+)$`)
)

// readGuide lists the blocks of a guide that a reader acts on. A block that is none
// of them is an error: it would stay wrong unnoticed.
func readGuide(name string) (steps []step, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var s step
	fence, kind, before := "", "", ""
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		l := lines.Text()
		open := fenced.FindStringSubmatch(l)
		switch {
		case fence == "" && open != nil:
			fence, kind = open[1], open[2]
			s = step{place: fmt.Sprintf("%s:%d", name, n)}
			if m := fileName.FindStringSubmatch(before); m != nil {
				s.added, s.file = m[1] != "", m[2]
			} else if kind != "console" {
				return nil, fmt.Errorf("%s: a block of %q without the name of its file", s.place, kind)
			}
		case fence != "" && l == fence:
			if kind == "console" {
				s.commands = commands(s.text)
			}
			steps, fence = append(steps, s), ""
		case fence != "":
			s.text += l + "\n"
		}
		if strings.TrimSpace(l) != "" {
			before = l
		}
	}
	return steps, lines.Err()
}

func commands(text string) (list []command) {
	for l := range strings.Lines(text) {
		typed, ok := strings.CutPrefix(l, "$ ")
		if !ok {
			list[len(list)-1].want += l
			continue
		}
		c := command{line: strings.TrimSpace(typed)}
		if m := exitStatus.FindStringSubmatch(c.line); m != nil {
			_, _ = fmt.Sscan(m[1], &c.status)
		}
		list = append(list, c)
	}
	return list
}

// reader does what a guide says.
type reader struct {
	t   *testing.T
	dir string
	env []string
}

func (r *reader) do(s step) {
	r.t.Helper()
	if s.file != "" {
		r.write(s)
	}
	for _, c := range s.commands {
		if to, ok := strings.CutPrefix(c.line, "cd "); ok {
			r.dir = filepath.Join(r.dir, to)
			continue
		}
		start := time.Now()
		out, status := bash(r.t, r.dir, r.env, c.line)
		r.t.Logf("%5.1f s  %s", time.Since(start).Seconds(), c.line)
		assert.Equal(r.t, c.status, status, "%s: %s\n%s", s.place, c.line, out)
		if c.want != "" {
			assert.Regexp(r.t, pattern(c.want), out, "%s: %s\n%s", s.place, c.line, out)
		}
	}
}

func (r *reader) write(s step) {
	name := filepath.Join(r.dir, filepath.FromSlash(s.file))
	require.NoError(r.t, os.MkdirAll(filepath.Dir(name), 0o777))
	text := s.text
	if s.added {
		old, err := os.ReadFile(name)
		require.NoError(r.t, err, s.place)
		text = string(old) + text
	}
	require.NoError(r.t, os.WriteFile(name, []byte(text), 0o666))
}

// figure is what differs from one machine to the next, and the room before it that
// lines it up.
var figure = regexp.MustCompile(` *[0-9]+\\\.[0-9]+`)

// pattern matches the whole of an output. A number with a point stands for any
// number, … for anything in a line, and on a line of its own for any number of lines.
func pattern(shown string) string {
	var b strings.Builder
	for l := range strings.Lines(shown) {
		l = strings.TrimRight(l, "\n")
		if strings.TrimSpace(l) == "…" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		l = figure.ReplaceAllLiteralString(regexp.QuoteMeta(l), ` *[0-9]+(?:\.[0-9]+)?`)
		b.WriteString(strings.ReplaceAll(l, "…", ".*") + "\n")
	}
	return `\A` + b.String() + `\z`
}

// withoutEngine puts a grade on the path that grades in a child process, whether
// there is an engine or not, and a git that knows who commits.
func withoutEngine(t *testing.T) (env []string) {
	t.Helper()
	bin := t.TempDir()
	wrapper := fmt.Sprintf(`#!/usr/bin/env bash
case "$1 ${2-}" in
submit\ * | "exercise check" | "exercise seeds" | "exercise mutate" | "exercise diff") set -- "$@" --sandbox process ;;
esac
exec %q "$@"
`, filepath.Join(program(t), "grade"))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "grade"), []byte(wrapper), 0o777))
	return append(append(os.Environ(), asBuilt...), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOWORK=off", "GOPROXY=off",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
}
