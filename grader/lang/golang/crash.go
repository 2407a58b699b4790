package golang

import (
	"bytes"
	"regexp"
	"strings"
)

// number is what the runtime puts into a message about an index: an int64 or a
// uint64. It is the only thing in the messages below that a submission chooses.
const number = `-?[0-9]{1,20}`

// runtimePanics are the texts of panics that Go's runtime raises itself, after
// "panic: runtime error: "; N stands for a number. A text that ends in a name
// of the submission's own making ("hash of unhashable type ...") is in cutTexts.
// From go1.26: runtime/error.go, panic.go, slice.go.
var runtimePanics = []string{
	`index out of range \[N\]( with length N)?`,
	`slice bounds out of range \[:?:?N\]( with (length|capacity) N)?`,
	`slice bounds out of range \[:?N:(N:?)?\]`,
	`slice bounds out of range \[:N:N?\]`,
	`slice bounds out of range \[N::\]`,
	`cannot convert slice with length N to array or pointer to array with length N`,
	`invalid memory address or nil pointer dereference`,
	`integer divide by zero`,
	`integer overflow`,
	`floating point error`,
	`negative shift amount`,
	`makeslice: (len|cap) out of range`,
	`growslice: len out of range`,
	`range function continued iteration after (whole loop exit|loop body panic|function for loop body returned false)`,
	`range function recovered a loop body panic and did not resume panicking`,
}

// plainPanics are those without "runtime error: ", the standard library's own
// on misuse of sync included.
var plainPanics = []string{
	`assignment to entry in nil map`,
	`(close of (nil|closed)|send on closed) channel`,
	`makechan: size out of range`,
	`sync: negative WaitGroup counter`,
	`sync: WaitGroup misuse: Add called concurrently with Wait`,
	`sync: WaitGroup is reused before previous Wait has returned`,
	`strings: negative Repeat count`,
}

// fatalErrors follow "fatal error: "; nothing recovers from them.
var fatalErrors = []string{
	`all goroutines are asleep - deadlock!`,
	`no goroutines \(main called runtime\.Goexit\) - deadlock!`,
	`stack overflow`,
	`concurrent map (writes|read and map write|iteration and map write|clone and map write)`,
	`sync: (unlock of unlocked mutex|R?Unlock of unlocked RWMutex)`,
	`go of nil func value`,
	`thread exhaustion`,
	`newosproc`,
	`(runtime: )?out of memory`,
	`runtime: cannot allocate memory`,
}

// cutTexts go on with a type's name, which is not shown.
var cutTexts = []string{
	`panic: interface conversion`,
	`panic: runtime error: hash of unhashable type`,
	`panic: runtime error: comparing uncomparable type`,
}

// runtimeLine matches a line of standard error; the group "whole" or the group
// "cut" is what may be shown of it.
var runtimeLine = regexp.MustCompile(strings.ReplaceAll(
	`^(?:(?P<whole>`+strings.Join([]string{
		`panic: runtime error: (` + strings.Join(runtimePanics, "|") + `)`,
		`panic: (` + strings.Join(plainPanics, "|") + `)`,
		`fatal error: (` + strings.Join(fatalErrors, "|") + `)`,
	}, "|")+`)( \[recovered(, repanicked)?\])?|(?P<cut>`+strings.Join(cutTexts, "|")+`)[: ].*)$`,
	"N", number))

// maxRuntimeLine is longer than any line that runtimeLine matches without a
// type's name, and long enough for most with one.
const maxRuntimeLine = 400

// CrashWords finds the first line of a program's standard error that is one
// of the runtime's own fixed messages, or returns "". It serves a student's
// understanding only and no verdict rests on it: a submission may write such a
// line as well, but never one with words of its own. The runtime indents every
// further line of a panic's text, so none of those is at the start of a line.
func CrashWords(stderr []byte) string {
	for line := range bytes.Lines(stderr) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) > maxRuntimeLine || !bytes.HasPrefix(line, []byte("panic: ")) && !bytes.HasPrefix(line, []byte("fatal error: ")) {
			continue
		}
		if m := runtimeLine.FindSubmatch(line); m != nil {
			return string(m[runtimeLine.SubexpIndex("whole")]) + string(m[runtimeLine.SubexpIndex("cut")])
		}
	}
	return ""
}
