package grader

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/verdict"
)

// A submission chooses where it crashes, so a result has few different places. Those of
// a data race come from two lines that the detector has seen, and are not counted here.
func TestPlacesOfCrashesAreCapped(t *testing.T) {
	var checks []verdict.CheckResult
	add := func(v verdict.Verdict, lines ...int) {
		c := verdict.CheckResult{Verdict: v}
		for _, n := range lines {
			c.Places = append(c.Places, verdict.Place{File: "a.go", Line: n})
		}
		checks = append(checks, c)
	}
	add(verdict.RuntimeError, 1)
	add(verdict.RuntimeError, 2)
	add(verdict.RuntimeError)
	add(verdict.RuntimeError, 1)
	add(verdict.RuntimeError, 4, 2, 3)
	add(verdict.RuntimeError, 3)
	add(verdict.DataRace, 5, 6)
	add(verdict.TooSlow, 7)
	add(verdict.RuntimeError, 2)
	var lines [][]int
	for _, c := range capPlaces(checks) {
		var list []int
		for _, p := range c.Places {
			list = append(list, p.Line)
		}
		lines = append(lines, list)
	}
	assert.Equal(t, [][]int{{1}, {2}, nil, {1}, {4, 2}, nil, {5, 6}, nil, {2}}, lines)
}

// The news of a grading has no place at all: each check is told of, and its line is the
// submission's choice.
func TestEventsTellNoPlaces(t *testing.T) {
	var told Event
	a := &announcer{onEvent: func(e Event) { told = e }}
	crashed := verdict.CheckResult{Name: "TestSum", Verdict: verdict.RuntimeError, Places: []verdict.Place{{File: "sum.go", Line: 1141}}}
	a.check(Test, crashed)
	assert.Empty(t, told.Check.Places)
	assert.Equal(t, verdict.RuntimeError, told.Check.Verdict)
	assert.NotEmpty(t, crashed.Places, "the result has it")
}
