package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

func times(ms ...int) (list []time.Duration) {
	for _, m := range ms {
		list = append(list, time.Duration(m)*time.Millisecond)
	}
	return list
}

func TestRowOf(t *testing.T) {
	assert.Equal(t, row{"a", 2 * time.Millisecond, time.Millisecond, 9 * time.Millisecond}, rowOf("a", times(9, 2, 1)))
	assert.Equal(t, 3*time.Millisecond, rowOf("b", times(9, 4, 1, 2)).median)
	assert.Equal(t, 7*time.Millisecond, rowOf("c", times(7)).median)
}

func TestReport(t *testing.T) {
	var b strings.Builder
	p := []phases{
		{verdict.Phases{BuildMs: 9000, TotalMs: 9000}, 9 * time.Second}, // the first round does not count
		{verdict.Phases{BuildMs: 300, TotalMs: 800}, time.Second},
		{verdict.Phases{BuildMs: 500, TotalMs: 800}, time.Second},
	}
	require.NoError(t, report(&b, [][]time.Duration{times(800, 800), times(1000, 1000), times(2500, 1500)}, p))
	assert.Equal(t, strings.TrimPrefix(`
  a  go test -c and its tests, bare     800.0 ms  ████████████▊                     800.0 ms to 800.0 ms
  b  grade submit --only correctness   1000.0 ms  ████████████████                  1000.0 ms to 1000.0 ms
  c  a container with go test in it    2000.0 ms  ████████████████████████████████  1500.0 ms to 2500.0 ms

b/a  1.25  (target: at most 1.5, met)
c/b  2.00

where the time of b goes (build and start overlap):

  build                     400.0 ms  ████████████████                  300.0 ms to 500.0 ms
  all of the grading        800.0 ms  ████████████████████████████████  800.0 ms to 800.0 ms
  before it and after it    200.0 ms  ████████                          200.0 ms to 200.0 ms
`, "\n"), b.String())
}

// A fourth contender has a ratio of its own.
func TestReportOfGoJudge(t *testing.T) {
	var b strings.Builder
	p := []phases{{verdict.Phases{TotalMs: 1}, time.Second}}
	require.NoError(t, report(&b, [][]time.Duration{times(100), times(200), times(300), times(190)}, p))
	assert.Contains(t, b.String(), "\nc/b  1.50\nd/b  0.95  (target: at least 1.0, missed)\n")
}

// Without an engine the report has one line and no ratios.
func TestReportOfBareAlone(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report(&b, [][]time.Duration{times(500)}, nil))
	assert.NotContains(t, b.String(), "b/a")
}

func TestTargetMissed(t *testing.T) {
	var b strings.Builder
	p := []phases{{verdict.Phases{TotalMs: 1}, time.Second}}
	require.NoError(t, report(&b, [][]time.Duration{times(100), times(151), times(301)}, p))
	assert.Contains(t, b.String(), "missed")
}

func TestReportFull(t *testing.T) {
	var b strings.Builder
	require.NoError(t, reportFull(&b, []string{"autograd", "trainer"}, [][]time.Duration{times(1000), times(2000), times(1000), times(3000)}))
	assert.Contains(t, b.String(), "  2.00  (target: at most 2.5, met)\n")
	assert.Contains(t, b.String(), "  3.00  (target: at most 2.5, missed)\n")
}
