package golang

import (
	"bytes"
	"regexp"
	"strings"
)

// crashes is the whole vocabulary of what a student is told of a crash: the first row
// whose pattern matches what follows "panic: " or "fatal error: " gives its words. The
// words are constants. A message of the runtime holds numbers and names of types,
// which a submission chooses and could choose by a hidden input; of those, only which
// row they fall into is told.
//
// Patterns from go1.26: runtime/error.go, panic.go, slice.go, proc.go, stack.go.
var crashes = rows(
	// Panics.
	`runtime error: index out of range \[-N\]`, "index out of range: the index was negative",
	`runtime error: index out of range \[N\] with length 0`, "index out of range: there was no element, the length was 0",
	`runtime error: index out of range \[N\]( with length N)?`, "index out of range: the index was the length or more",
	`runtime error: slice bounds out of range \[:?:?-N:?:?\]`, "slice bounds out of range: a bound was negative",
	`runtime error: slice bounds out of range \[:-N:N?\]`, "slice bounds out of range: a bound was negative",
	`runtime error: slice bounds out of range \[-N::\]`, "slice bounds out of range: a bound was negative",
	`runtime error: slice bounds out of range \[:?:?N(:N?)?\] with (length|capacity) N`, "slice bounds out of range: the end was above the length or the capacity",
	`runtime error: slice bounds out of range \[:?N:(N:?)?\]`, "slice bounds out of range: a start was above an end",
	`runtime error: cannot convert slice with length N to array or pointer to array with length N`, "conversion of a slice to an array that is longer",
	`runtime error: invalid memory address or nil pointer dereference`, "nil pointer dereference",
	`runtime error: (integer divide by zero|integer overflow|floating point error)`, "integer division by zero",
	`runtime error: negative shift amount`, "negative shift amount",
	`runtime error: (makeslice: (len|cap)|growslice: len) out of range`, "make or append with a length or capacity that is negative or too large",
	`runtime error: range function (continued iteration after .*|recovered a loop body panic and did not resume panicking)`, "an iterator went on after its loop had ended",
	`runtime error: hash of unhashable type .*`, "map key of a type that cannot be compared",
	`runtime error: comparing uncomparable type .*`, "comparison of values that cannot be compared",
	`interface conversion: .*`, "type assertion on a value of another type, or on nil",
	`assignment to entry in nil map`, "assignment to an entry of a nil map",
	`close of (nil|closed) channel`, "close of a channel that is nil or closed already",
	`send on closed channel`, "send on a closed channel",
	`makechan: size out of range`, "make of a channel with a size that is negative or too large",
	`sync: (negative WaitGroup counter|WaitGroup .*)`, "misuse of a sync.WaitGroup: more calls of Done than of Add, or Add beside Wait",
	`strings: negative Repeat count|bytes: negative Repeat count`, "strings.Repeat with a negative count",
	`panic called with nil argument( .*)?`, "panic(nil)",
	`deadlock: main bubble goroutine has exited but blocked goroutines remain`, goroutinesLeft,
	`deadlock: all goroutines in bubble are blocked`, deadlocked,
)

// fatals are the rows for what follows "fatal error: ", from which no program recovers.
var fatals = rows(
	`all goroutines are asleep - deadlock!|no goroutines \(main called runtime\.Goexit\) - deadlock!`, deadlocked,
	`stack overflow`, "stack overflow: a recursion without end, or one that is far too deep",
	`concurrent map (writes|read and map write|iteration and map write|clone and map write)`, "a map is written while another goroutine uses it",
	`sync: (unlock of unlocked mutex|R?Unlock of unlocked RWMutex)`, "unlock of a mutex that is not locked",
	`go of nil func value`, "go with a function that is nil",
	`thread exhaustion|newosproc.*`, "too many threads",
	`(runtime: )?(out of memory.*|cannot allocate memory.*)`, "out of memory",
)

// The words that other rules go by.
const (
	deadlocked     = "deadlock: all goroutines wait for each other"
	goroutinesLeft = "goroutines are left that wait for ever when the work is over: each has to end"
	afterPanic     = "; one of them waits in a deferred function, after a panic: mend what panics first"
	ownPanic       = "the program ended with a panic, with a value of its own"
)

// isDeadlock reports whether these are the words of one.
func isDeadlock(words string) bool {
	return strings.Contains(words, deadlocked) || strings.HasSuffix(words, goroutinesLeft)
}

// row is one line of the vocabulary.
type row struct {
	pattern *regexp.Regexp
	words   string
}

// rows makes a table of pairs of pattern and words; N in a pattern stands for digits.
func rows(pairs ...string) (list []row) {
	for i := 0; i < len(pairs); i += 2 {
		p := strings.ReplaceAll(pairs[i], "N", "[0-9]{1,20}")
		list = append(list, row{regexp.MustCompile(`^(?:` + p + `)( \[recovered(, repanicked)?\])?$`), pairs[i+1]})
	}
	return list
}

// maxRuntimeLine caps the length of a line that is looked at.
const maxRuntimeLine = 400

// CrashWords returns what a student is told of a crash, one of a fixed list of texts;
// "" if standard error has no message of the runtime. No verdict that speaks for a
// submission rests on it, because it can print such a line as well: then it has chosen
// among constants. The runtime indents every further line of a panic's text, so that
// none of them starts a line.
func CrashWords(stderr []byte) string {
	words, _ := crash(stderr)
	return words
}

// crash finds the first message of the runtime that has words of its own, and what follows
// its line; without one, the first panic with another text.
func crash(stderr []byte) (words string, after []byte) {
	for len(stderr) > 0 {
		var line []byte
		line, stderr, _ = bytes.Cut(stderr, []byte("\n"))
		switch found := message(line[:min(len(line), maxRuntimeLine+1)]); {
		case strings.HasSuffix(found, deadlocked) && underWay(stderr):
			return found + afterPanic, stderr
		case found != "" && found != ownPanic:
			return found, stderr
		case found == ownPanic && words == "":
			words, after = ownPanic, stderr
		}
	}
	return words, after
}

// message returns the words for one line; "" if it is none of the runtime's.
func message(line []byte) string {
	if text, ok := bytes.CutPrefix(line, []byte("fatal error: ")); ok {
		return find(fatals, "", text)
	}
	text, ok := bytes.CutPrefix(line, []byte("panic: "))
	if !ok {
		return ""
	}
	if words := find(crashes, "panic: ", text); words != "" {
		return words
	}
	return ownPanic
}

func find(table []row, prefix string, text []byte) string {
	if len(text) > maxRuntimeLine {
		return ""
	}
	for _, r := range table {
		if r.pattern.Match(text) {
			return prefix + r.words
		}
	}
	return ""
}
