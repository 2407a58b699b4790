package golang

import (
	"bytes"
	"regexp"
	"strings"
)

// number matches an int64 or uint64 in a message about an index. It is the only part
// of the messages below that a submission chooses.
const number = `-?[0-9]{1,20}`

// runtimePanics are the texts of the runtime's own panics, after
// "panic: runtime error: "; N stands for a number. Texts that end in a name of the
// submission's choice ("hash of unhashable type ...") are in cutTexts.
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

// plainPanics are the runtime's panics without "runtime error: ", and the standard
// library's on misuse of sync and strings.
var plainPanics = []string{
	`assignment to entry in nil map`,
	`(close of (nil|closed)|send on closed) channel`,
	`makechan: size out of range`,
	`sync: negative WaitGroup counter`,
	`sync: WaitGroup misuse: Add called concurrently with Wait`,
	`sync: WaitGroup is reused before previous Wait has returned`,
	`strings: negative Repeat count`,
}

// fatalErrors follow "fatal error: "; a program cannot recover from them.
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

// cutTexts continue with a type's name, which a submission chooses and the student is
// therefore not shown.
var cutTexts = []string{
	`panic: interface conversion`,
	`panic: runtime error: hash of unhashable type`,
	`panic: runtime error: comparing uncomparable type`,
}

// runtimeLine matches a line of standard error; its group "whole" or "cut" is safe to
// show.
var runtimeLine = regexp.MustCompile(strings.ReplaceAll(
	`^(?:(?P<whole>`+strings.Join([]string{
		`panic: runtime error: (` + strings.Join(runtimePanics, "|") + `)`,
		`panic: (` + strings.Join(plainPanics, "|") + `)`,
		`fatal error: (` + strings.Join(fatalErrors, "|") + `)`,
	}, "|")+`)( \[recovered(, repanicked)?\])?|(?P<cut>`+strings.Join(cutTexts, "|")+`)[: ].*)$`,
	"N", number))

// maxRuntimeLine caps the length of a line. It is longer than any message without a
// type's name, and than most with one.
const maxRuntimeLine = 400

// CrashWords returns the first of the runtime's own fixed messages in standard error;
// "" if there is none. No verdict rests on it, because a submission can print such a
// line as well; it cannot smuggle other words through it. The runtime indents every
// further line of a panic's text, so that none of them starts a line.
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
