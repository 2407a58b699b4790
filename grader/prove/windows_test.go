package prove

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/verdict"
	"grade/sandbox"
)

// A workload that this machine can judge and a faster one cannot is told at its line.
func TestShortWindows(t *testing.T) {
	short := course.Check{Name: "BenchmarkShort/speed", Kind: verdict.Speed, Line: 7}
	long := course.Check{Name: "BenchmarkLong/speed", Kind: verdict.Speed, Line: 8}
	memory := course.Check{Name: "BenchmarkShort/memory", Kind: verdict.Memory, Line: 9}
	run := func(window time.Duration) sandbox.Outcome {
		return sandbox.Outcome{CPU: window, Marks: []sandbox.Mark{{}, {CPU: window, Wall: window}}}
	}
	w := windows{}
	for _, c := range []course.Check{short, long, memory} {
		for i := range 3 {
			window := time.Millisecond + time.Duration(i)*time.Millisecond
			if c.Name == long.Name {
				window *= 4
			}
			w.hear(grader.Run{Check: c, Reference: run(window), Submission: run(window)})
		}
	}
	assert.Equal(t, []Finding{{Line: 7, Message: "BenchmarkShort/speed: the reference's window takes 2ms of CPU time: want at least 4ms, so that faster machines can judge it too"}},
		w.findings([]course.Check{short, long, memory}))
}
