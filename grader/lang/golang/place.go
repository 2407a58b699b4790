package golang

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// The lines of a traceback that count: the head of a goroutine's stack, and the place
// of a frame. -trimpath makes a place begin with an import path.
var (
	goroutineLine = regexp.MustCompile(`^goroutine [0-9]{1,10} (gp=\S+ m=\S+ (mp=\S+ )?)?\[[^\]]*\]:$`)
	frameLine     = regexp.MustCompile(`^\t(\S+/[a-z0-9_]+\.go):([0-9]{1,7})( \+0x[0-9a-f]+)?( .*)?$`)
)

// CrashPlaces finds where in the submission's own files the program crashed: the innermost
// frame there of the first goroutine that has one. In a deadlock it is where each goroutine
// waits, at most maxWaiting different places: which of them is at fault, the runtime cannot
// tell. The same holds for a program that was ended while it waited; of one that was at work,
// the goroutines count that run. Where a panic is under way in a goroutine, what it left
// counts, and not the deferred function that came after. Foreign is true where all was read
// and has no such frame: the test crashed, or waits, on what it was given. Of a program at
// work that is not known, because a goroutine that has the CPU may show no frames.
//
// A submission can print a traceback. So a place counts only if it is a line of code
// in a file that was handed in; which one it is remains the submission's to choose,
// and the grader caps how many a result shows.
func CrashPlaces(o sandbox.Outcome, e *course.Exercise, s *submission.Snapshot) (places []verdict.Place, foreign bool) {
	words, rest := crash(o.Stderr)
	if o.Cause.OfTime() {
		words, rest = "", lastWords(o.Stderr)
	}
	if rest == nil {
		_, rest, _ = bytes.Cut(o.Stderr, []byte("\ngoroutine "))
		rest = append([]byte("goroutine "), rest...)
	}
	t := traceback{exercise: e, snapshot: s, code: map[string][]bool{}, most: 1, busy: o.Cause == sandbox.CauseCPU || o.Cause == sandbox.CauseWall}
	if isDeadlock(words) || o.Cause == sandbox.CauseIdle {
		t.most = maxWaiting
	}
	for line := range bytes.Lines(rest) {
		if t.line(strings.TrimSuffix(string(line[:min(len(line), maxRuntimeLine)]), "\n")); len(t.places) == t.most {
			break
		}
	}
	t.end()
	slices.SortFunc(t.places, func(a, b verdict.Place) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	whole := !t.elided && !o.StderrCut && o.Signal == 0
	return t.places, t.frames > 0 && whole && !t.busy && len(t.places) == 0
}

// lastWords returns what a program wrote that was asked to quit, from the runtime's line on.
func lastWords(stderr []byte) []byte {
	if i := bytes.LastIndex(stderr, []byte("SIGQUIT: quit\n")); i >= 0 {
		return stderr[i:]
	}
	return nil
}

// maxWaiting is how many places a deadlock has.
const maxWaiting = 3

// underWay reports whether in a deadlock a goroutine waits while a panic is under way: its
// text never comes. The goroutine that runs tells of the deadlock.
func underWay(stacks []byte) bool {
	waits := false
	for line := range bytes.Lines(stacks) {
		switch {
		case bytes.HasPrefix(line, []byte("goroutine ")):
			waits = goroutineLine.Match(bytes.TrimSpace(line)) && !bytes.Contains(line, []byte(" [running"))
		case waits && bytes.HasPrefix(line, []byte(panicFrame)):
			return true
		}
	}
	return false
}

// panicFrame begins the runtime's own frame between a panic and a deferred function.
const panicFrame = "panic("

// traceback reads the stacks of goroutines line by line.
type traceback struct {
	exercise *course.Exercise
	snapshot *submission.Snapshot
	most     int  // places
	busy     bool // of goroutines that run, or are ready to, only
	inside   bool // of a goroutine's stack
	created  bool // the frame's function is the one that started the goroutine
	panicked bool // the frames from here on are those that a panic left
	frames   int
	elided   bool
	found    *verdict.Place // in this stack
	places   []verdict.Place
	code     map[string][]bool // of each file, by line from 0: whether it is code
}

func (t *traceback) line(s string) {
	switch {
	case goroutineLine.MatchString(s):
		t.end()
		t.inside = !t.busy || strings.Contains(s, "[run") // running, runnable
	case s == "":
		t.end()
		t.inside = false
	case !t.inside:
	case strings.HasPrefix(s, "..."):
		t.elided = true
	case !strings.HasPrefix(s, "\t"):
		t.created = strings.HasPrefix(s, "created by ")
		t.panicked = t.panicked || strings.HasPrefix(s, panicFrame)
	case !t.created:
		t.frame(s)
	}
}

// end ends a goroutine's stack.
func (t *traceback) end() {
	if t.found != nil && len(t.places) < t.most && !slices.Contains(t.places, *t.found) {
		t.places = append(t.places, *t.found)
	}
	t.found, t.panicked = nil, false
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
	if t.found != nil && !t.panicked {
		return
	}
	if t.isCode(file, n) {
		t.found, t.panicked = &verdict.Place{File: file, Line: n}, false
	}
}

// isCode reports whether a line of a file that was handed in is code. A file is read once:
// stacks may have ten thousands of frames.
func (t *traceback) isCode(file string, line int) bool {
	known, ok := t.code[file]
	if !ok {
		if i := slices.IndexFunc(t.snapshot.Files, func(f submission.File) bool { return f.Name == file }); i >= 0 {
			for text := range bytes.Lines(t.snapshot.Files[i].Data) {
				known = append(known, isCode(string(text)))
			}
		}
		t.code[file] = known
	}
	return 1 <= line && line <= len(known) && known[line-1]
}

// isCode reports whether a line has more than a comment, brackets or a function's
// head, in which a stack overflows but nothing is wrong.
func isCode(line string) bool {
	line = strings.TrimSpace(line)
	head := strings.HasPrefix(line, "func ") && strings.HasSuffix(line, "{")
	return !head && !strings.HasPrefix(line, "//") &&
		strings.ContainsFunc(line, func(r rune) bool { return !strings.ContainsRune("(){}[],; \t", r) })
}
