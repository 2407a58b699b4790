package report

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

func problem(message string) verdict.Problem {
	return verdict.Problem{File: "a.go", Line: 1, Rule: "import", Message: message}
}

func TestBar(t *testing.T) {
	plain := func(s string) string { return s }
	for name, c := range map[string]struct {
		value, limit, scale float64
		want                string
	}{
		"the reference":     {1, 4, 5, "██████▍··················│······"},
		"a little above it": {1.1, 4, 5, "███████··················│······"},
		"below the limit":   {3.9, 4, 5, "█████████████████████████│······"},
		"above it":          {4.2, 4, 5, "█████████████████████████│▉·····"},
		"the whole scale":   {5, 4, 5, "█████████████████████████│██████"},
		"beyond the scale":  {100, 4, 5, "█████████████████████████│█████▶"},
		"without end":       {math.Inf(1), 4, 5, "█████████████████████████│█████▶"},
		"next to nothing":   {0.001, 4, 5, "▏························│······"},
		"nothing":           {0, 4, 5, "·························│······"},
		"without a limit":   {1, math.NaN(), 2, "████████████████················"},
		"a limit below one": {1, 0.5, 0.625, "█████████████████████████│█████▶"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, bar(c.value, c.limit, c.scale, plain)) })
	}
}

func TestCheckLine(t *testing.T) {
	c := sample.Checks()[1]
	assert.Equal(t, "✓ TestAllocs                          2/2  passed, self-reported", CheckLine(c, TextOptions{}))
	c.Verdict = ""
	assert.Contains(t, CheckLine(c, TextOptions{}), "✗")
	assert.Contains(t, CheckLine(c, TextOptions{}), "unknown verdict")
}

// What was asked for is shown as a part of the whole, and what was asked for and not
// reached as missing.
func TestTextSaysWhatWasAskedFor(t *testing.T) {
	last := func(r *verdict.Result) string {
		var b bytes.Buffer
		require.NoError(t, Text(&b, r, TextOptions{}))
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		return lines[len(lines)-1]
	}
	r := sample.OnlyCorrectness()
	assert.Equal(t, "autograd  6 of 6 selected points (20 in all): every point asked for was reached", last(r))
	r.Score = 2
	assert.Equal(t, "autograd  2 of 6 selected points (20 in all): points are missing", last(r))
	r.Checks[0].Verdict, r.Checks[0].Detail, r.Checks[0].Points = verdict.NotRun, "not run: too late", 0
	assert.Equal(t, "autograd  2 of 6 selected points (20 in all), 4 not run: points are missing", last(r))
	r.Verdict, r.Score = verdict.Invalid, 0
	assert.Equal(t, "autograd  refused, 0 of 6 selected points (20 in all)", last(r))
}

// A screen holds what is to be mended first in full, and of the rest a line each for some. A
// pipe has all of it.
func TestBriefFitsOnAScreen(t *testing.T) {
	var brief, all bytes.Buffer
	r := sample.Grouped()
	for i := range 20 { // each for a reason of its own
		c := r.Checks[1]
		c.Name, c.Detail, c.Hint = fmt.Sprintf("TestOther%d", i), fmt.Sprint(i), "A rule of some length, which the author of the exercise has put into two sentences. This is the other."
		r.Checks = append(r.Checks, c)
	}
	require.NoError(t, Text(&brief, r, TextOptions{Width: 80, Brief: true}))
	assert.LessOrEqual(t, strings.Count(brief.String(), "\n"), 45)
	require.NoError(t, Text(&all, r, TextOptions{}))
	for _, c := range r.Checks {
		if c.Verdict != verdict.Passed {
			assert.Contains(t, all.String(), c.Name)
		}
	}
}

// What is verbose lists what passed, with its hint; else it is counted.
func TestVerboseListsWhatPassed(t *testing.T) {
	var verbose, usual bytes.Buffer
	r := sample.AllPoints()
	require.NoError(t, Text(&verbose, r, TextOptions{Verbose: true}))
	require.NoError(t, Text(&usual, r, TextOptions{}))
	assert.Contains(t, verbose.String(), "✓ TestSharedNode           4/4  passed  A node used twice")
	assert.NotContains(t, usual.String(), "TestSharedNode")
	assert.Contains(t, usual.String(), "2 of 2 checks passed")
}

func TestCheckOfUnknownKindIsShown(t *testing.T) {
	r := sample.Mixed()
	r.Checks = append(r.Checks, verdict.CheckResult{Name: "TestStyle", Kind: "style", Verdict: verdict.Passed, Points: 3, MaxPoints: 3})
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, TextOptions{}))
	assert.Contains(t, b.String(), "style         3 of 3 points, 1 of 1 check passed\n")
}

// Points stand in one column, whatever script a check is named in.
func TestChecksLineUp(t *testing.T) {
	r := sample.Mixed()
	for i, name := range []string{"Test空输入", "TestE\u0301tat", "Test🎓", "TestSharedNode"} {
		c := &r.Checks[i]
		c.Name, c.Kind, c.Ratio, c.Points, c.MaxPoints = name, "correctness", nil, 0, 4
	}
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, TextOptions{Verbose: true}))
	seen := map[int]int{}
	for l := range strings.SplitSeq(b.String(), "\n") {
		if head, _, ok := strings.Cut(l, "/"); ok && strings.Contains(l, "Test") {
			seen[terminal.Width(head)]++
		}
	}
	require.Len(t, seen, 1, b.String())
	for _, n := range seen {
		assert.Equal(t, 4, n)
	}
}

func TestNoLineIsLongerThanTheTerminal(t *testing.T) {
	for name, r := range samples() {
		for _, brief := range []bool{true, false} {
			var b bytes.Buffer
			require.NoError(t, Text(&b, r, TextOptions{Color: true, Width: 80, Brief: brief, Verbose: !brief}))
			for l := range strings.SplitSeq(b.String(), "\n") {
				if strings.Contains(l, "✗") && name == "hostile" {
					continue // where a problem is stays in one line, to click on
				}
				assert.LessOrEqual(t, terminal.Width(l), 80, "%s: %s", name, l)
			}
		}
	}
}

func TestWriteErrorIsReported(t *testing.T) {
	full := writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") })
	assert.EqualError(t, Text(full, sample.Mixed(), TextOptions{}), "write report: disk full")
	assert.EqualError(t, JSON(full, sample.Mixed()), "write result as JSON: disk full")
	r := sample.Mixed()
	r.Checks[3].Ratio = new(math.Inf(1))
	assert.ErrorContains(t, JSON(&bytes.Buffer{}, r), "write result as JSON: ")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
