package judge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/lang/golang"
	"grade/grader/measure"
	"grade/grader/verdict"
	"grade/observe/wire"
)

func TestFeedbackPolicies(t *testing.T) {
	got := []wire.Record{
		record("ok", boolean(false)),
		record("n", text("CANARY")),
		record("ns", ints(1, 2)),
		record("x", float(nan)),
		record("xs", floats(1, 0, nan, -inf)),
		record("m", matrix(2, 3, 1, 2, 3, 4, 7, 6)),
		record("s", text("CANARY\x1b[31m\n::error::"+strings.Repeat("é", 100))),
		record("ss", texts("a", "\u202e", "c")),
		record("err", failure("nil")),
	}
	for _, test := range []struct {
		from, to           int
		hint, class, value string
	}{
		{0, 3, `3 of 3 observations differ; the first is "ok"`,
			`3 of 3 observations differ: "ok" (value differs), "n" (a different kind of value), "ns" (length differs)`,
			`3 of 3 observations differ: "ok" is false, want true, "n" is a different kind of value, "ns" has 2 elements, want 3`},
		{3, 6, `3 of 3 observations differ; the first is "x"`,
			`3 of 3 observations differ: "x" (not a number), "xs" (infinite), "m" (value differs)`,
			`3 of 3 observations differ: "x" is NaN, want 2.5, "xs"[3] is -Inf, want +Inf, "m"[1,1] is 7, want 5`},
		{6, 9, `3 of 3 observations differ; the first is "s"`,
			`3 of 3 observations differ: "s" (value differs), "ss" (value differs), "err" (no error where one is expected)`,
			`3 of 3 observations differ: "s" is "CANARY\x1b[31m\n::error::` + strings.Repeat("é", 19) + `"..., want "héllo", "ss"[1] is "\u202e", want "", "err" is "nil", want "EOF"`},
		{0, 4, `4 of 4 observations differ; the first is "ok"`,
			`4 of 4 observations differ: "ok" (value differs), "n" (a different kind of value), "ns" (length differs), ...`,
			`4 of 4 observations differ: "ok" is false, want true, "n" is a different kind of value, "ns" has 2 elements, want 3, ...`},
	} {
		d := compareStreams(sample()[test.from:test.to], got[test.from:test.to])
		assert.Equal(t, test.hint, d.detail(course.FeedbackHint))
		assert.Equal(t, test.hint, d.detail(""), "no policy is the strictest")
		assert.Equal(t, test.class, d.detail(course.FeedbackClass))
		assert.Equal(t, test.value, d.detail(course.FeedbackValues))
	}
}

func TestDetailIsCappedAndHarmless(t *testing.T) {
	long := strings.Repeat("\x1b", wire.MaxName)
	var want, got []wire.Record
	for range 10 {
		want = append(want, record(long, text(strings.Repeat("\u202e", 1000))))
		got = append(got, record(long, text(strings.Repeat("\u009b", 1000))))
	}
	for _, policy := range []course.Feedback{course.FeedbackHint, course.FeedbackClass, course.FeedbackValues} {
		check := testCheck
		check.Feedback = policy
		_, detail, err := Test(check, ran(stream(wire.Passed, want...)), ran(stream(wire.Passed, got...)), golang.CrashWords)
		require.NoError(t, err)
		assertHarmless(t, detail)
		if policy == course.FeedbackValues {
			assert.Regexp(t, `\.\.\.$`, detail, "cut, visibly")
		}
	}
}

func assertHarmless(t *testing.T, detail string) {
	t.Helper()
	assert.LessOrEqual(t, len(detail), maxDetail)
	assert.True(t, utf8.ValidString(detail))
	assert.False(t, strings.ContainsFunc(detail, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2028' }), "%q", detail)
}

func TestFirstBytes(t *testing.T) {
	for _, test := range []struct {
		s     string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aéé", 4, "aé"}, {"é", 1, ""}, {"\x80\x80\x80", 2, ""}, {"", 0, ""}} {
		assert.Equal(t, test.want, firstBytes(test.s, test.limit))
	}
}

func TestDetailsOfMeasurements(t *testing.T) {
	assert.Equal(t, "takes 3.14 times the reference's CPU time, where 2 is allowed", measure.Speed{Verdict: verdict.TooSlow, Ratio: 3.1415}.Detail(2))
	assert.Equal(t, "takes 2.01 times the reference's CPU time, where 2 is allowed; sensitive", measure.Speed{Verdict: verdict.TooSlow, Ratio: 2.014, Note: "sensitive"}.Detail(2))
	assert.Equal(t, "takes 120 times the reference's CPU time, where 2.5 is allowed", measure.Speed{Verdict: verdict.TooSlow, Ratio: 120.4}.Detail(2.5))
	assert.Empty(t, measure.Speed{Verdict: verdict.Passed, Ratio: 1}.Detail(2))
	assert.Equal(t, "inconclusive", measure.Speed{Verdict: verdict.Passed, Ratio: 2, Note: "inconclusive"}.Detail(2))
	assert.Equal(t, "peaks at 3 times the reference's memory, where 2 is allowed", measure.Memory{Verdict: verdict.TooMuchMemory, Ratio: 3}.Detail(2))
	assert.Empty(t, measure.Memory{Verdict: verdict.Passed}.Detail(2))
}
