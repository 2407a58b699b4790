package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/verdict"
)

// assertHarmless holds a report to what a terminal and the log of a CI may be
// given: printable characters only, and no line that a GitHub runner would obey.
func assertHarmless(t *testing.T, report string) {
	t.Helper()
	for line := range strings.SplitSeq(report, "\n") {
		for _, r := range line {
			if !unicode.IsPrint(r) {
				t.Fatalf("%U in %q", r, line)
			}
		}
		// The runner trims what .NET calls white space before it looks for "::".
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Fatalf("a workflow command: %q", line)
		}
	}
	assert.NotContains(t, report, "##[")
}

func TestNothingHostileIsPrinted(t *testing.T) {
	for _, width := range []int{0, 20, 40, 80, 120} {
		var b bytes.Buffer
		require.NoError(t, Text(&b, hostile(), TextOptions{Width: width}))
		assertHarmless(t, b.String())
	}
	var b bytes.Buffer
	require.NoError(t, JSON(&b, hostile()))
	assertHarmless(t, b.String())
}

func TestJSONKeepsWhatItEscapes(t *testing.T) {
	var b bytes.Buffer
	r := hostile()
	r.Checks[0].Detail = "\U000e0041 \u202e ##[error] \u009b"
	require.NoError(t, JSON(&b, r))
	var got verdict.Result
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	assert.Equal(t, r.Checks[0].Detail, got.Checks[0].Detail)
	assert.Equal(t, strings.ToValidUTF8(evil, "\ufffd"), got.Submission.Dir)
}

func FuzzReports(f *testing.F) {
	f.Add(evil, 40)
	f.Add("::a b", 9)
	f.Add("x ::error::y", 30)
	f.Fuzz(func(t *testing.T, s string, width int) {
		r := hostile()
		r.Submission.Files, r.Submission.Ignored = []string{s, s}, []string{s}
		r.Problems[0].File, r.Problems[0].Message = s, s
		r.Warnings[0], r.Checks[0].Detail = s, s
		var b bytes.Buffer
		require.NoError(t, Text(&b, r, TextOptions{Width: width % 200}))
		assertHarmless(t, b.String())
		b.Reset()
		require.NoError(t, JSON(&b, r))
		assertHarmless(t, b.String())
		require.True(t, json.Valid(b.Bytes()))
	})
}

// A submission cannot make a report long.
func TestLongTextIsCut(t *testing.T) {
	r := sample.Mixed()
	long := strings.Repeat(strings.Repeat("x", 1000)+"\n", 1000)
	r.Checks[0].Detail = long
	for range 1000 {
		r.Problems = append(r.Problems, problem(long))
		r.Submission.Ignored = append(r.Submission.Ignored, long)
	}
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, TextOptions{}))
	assert.Less(t, b.Len(), 1<<20)
	assert.Contains(t, b.String(), "… and 980 more lines")
	assert.Contains(t, b.String(), "… and 960 more")
	assert.Contains(t, b.String(), " and 990 more")
}
