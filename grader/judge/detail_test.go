package judge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/lang/golang"
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
		{0, 3, `all values differ from what is expected; the first is "ok"`,
			`all values differ from what is expected: "ok" (value differs), "n" (a different kind of value), "ns" (length differs)`,
			`all values differ from what is expected: "ok" is false, want true, "n" is a different kind of value, "ns" has 2 elements, want 3`},
		{3, 6, `all values differ from what is expected; the first is "x"`,
			`all values differ from what is expected: "x" (not a number), "xs" (infinite), "m" (value differs)`,
			`all values differ from what is expected: "x" is NaN, want 2.5, "xs"[3] is -Inf, want +Inf, "m"[1,1] is 7, want 5`},
		{6, 9, `all values differ from what is expected; the first is "s"`,
			`all values differ from what is expected: "s" (value differs), "ss" (value differs), "err" (no error where one is expected)`,
			`all values differ from what is expected: "s" is "CANARY\x1b[31m\n::error::` + strings.Repeat("é", 19) + `"..., want "héllo", "ss"[1] is "\u202e", want "", "err" is "nil", want "EOF"`},
		{0, 4, `all values differ from what is expected; the first is "ok"`,
			`all values differ from what is expected: "ok" (value differs), "n" (a different kind of value), "ns" (length differs), ...`,
			`all values differ from what is expected: "ok" is false, want true, "n" is a different kind of value, "ns" has 2 elements, want 3, ...`},
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
