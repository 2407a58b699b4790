package golang

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// The lines of a traceback that count: the head of a goroutine's stack, and the place
// of a frame. -trimpath makes a place begin with an import path.
var (
	goroutineLine = regexp.MustCompile(`^goroutine [0-9]{1,10} (gp=\S+ m=\S+ (mp=\S+ )?)?\[[^\]]*\]:$`)
	frameLine     = regexp.MustCompile(`^\t(\S+/[a-z0-9_]+\.go):([0-9]{1,7})( \+0x[0-9a-f]+)?( .*)?$`)
)

// CrashPlace finds where in the submission's own files the program crashed: the
// innermost frame there of the first goroutine that has one. Foreign is true where the
// whole stack was read and has no such frame: the test crashed on what it was given.
//
// A submission can print a traceback. So a place counts only if it is a line of code
// in a file that was handed in; which one it is remains the submission's to choose,
// and the grader caps how many a result shows.
func CrashPlace(stderr []byte, e *course.Exercise, s *submission.Snapshot) (place *verdict.Place, foreign bool) {
	_, rest := crash(stderr)
	if rest == nil {
		_, rest, _ = bytes.Cut(stderr, []byte("\ngoroutine "))
		rest = append([]byte("goroutine "), rest...)
	}
	t := traceback{exercise: e, snapshot: s}
	for line := range bytes.Lines(rest) {
		if t.line(strings.TrimSuffix(string(line[:min(len(line), maxRuntimeLine)]), "\n")); t.found != nil {
			return t.found, false
		}
	}
	return nil, t.frames > 0 && !t.elided
}

// traceback reads the stacks of goroutines line by line.
type traceback struct {
	exercise *course.Exercise
	snapshot *submission.Snapshot
	inside   bool // of a goroutine's stack
	created  bool // the frame's function is the one that started the goroutine
	frames   int
	elided   bool
	found    *verdict.Place
}

func (t *traceback) line(s string) {
	switch {
	case goroutineLine.MatchString(s):
		t.inside = true
	case s == "":
		t.inside = false
	case !t.inside:
	case strings.HasPrefix(s, "..."):
		t.elided = true
	case !strings.HasPrefix(s, "\t"):
		t.created = strings.HasPrefix(s, "created by ")
	case !t.created:
		t.frame(s)
	}
}

// frame looks at the place of a frame.
func (t *traceback) frame(s string) {
	m := frameLine.FindStringSubmatch(s)
	if m == nil {
		return
	}
	t.frames++
	dir, file := path.Split(m[1])
	n, err := strconv.Atoi(m[2])
	if err != nil || strings.TrimSuffix(dir, "/") != t.exercise.ImportPath || slices.Contains(t.exercise.Provided, file) {
		return
	}
	if text, ok := sourceLine(t.snapshot, file, n); ok && isCode(text) {
		t.found = &verdict.Place{File: file, Line: n}
	}
}

// sourceLine returns a line of a file that was handed in, without its newline.
func sourceLine(s *submission.Snapshot, file string, n int) (text string, ok bool) {
	i := slices.IndexFunc(s.Files, func(f submission.File) bool { return f.Name == file })
	if i < 0 || n < 1 {
		return "", false
	}
	for line := range bytes.Lines(s.Files[i].Data) {
		if n--; n == 0 {
			return strings.TrimRight(string(line), "\r\n"), true
		}
	}
	return "", false
}

// isCode reports whether a line has more than a comment, brackets or a function's
// head, in which a stack overflows but nothing is wrong.
func isCode(line string) bool {
	line = strings.TrimSpace(line)
	head := strings.HasPrefix(line, "func ") && strings.HasSuffix(line, "{")
	return !head && !strings.HasPrefix(line, "//") &&
		strings.ContainsFunc(line, func(r rune) bool { return !strings.ContainsRune("(){}[],; \t", r) })
}
