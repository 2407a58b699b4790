package judge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/observe/wire"
)

// An author sees both values of everything that differs, whatever the feedback is.
func TestExplain(t *testing.T) {
	ref := ran(stream(wire.Passed, sample()...))
	for _, test := range []struct {
		name string
		got  []byte
		want []string
	}{
		{"nothing differs", stream(wire.Passed, sample()...), nil},
		{"a number", stream(wire.Passed, with(3, float(-1))...), []string{`"x" is -1, want 2.5`}},
		{"a cell", stream(wire.Passed, with(5, matrix(2, 3, 1, 2, 3, 4, 5, 7))...), []string{`"m"[1,2] is 7, want 6`}},
		{"too few", stream(wire.Passed, sample()[:2]...), []string{`only 2 of 9 observations, and the next should be "ns"`}},
		{"too many", stream(wire.Passed, append(sample(), record("more", integer(1)))...), []string{`9 of 9 observations, and then "more" comes`}},
		{"another one", stream(wire.Passed, rename(1, "m")...), []string{`observation 2 of 9 is "m", want "n"`}},
		{"a cut record", stream(0, with(0, boolean(false))[:1]...), []string{`"ok" is false, want true`, `only 1 of 9 observations, and the next should be "n"`}},
	} {
		assert.Equal(t, test.want, Explain(testCheck, ref, ran(test.got)), test.name)
	}
	assert.Contains(t, fmt.Sprint(Explain(testCheck, ran([]byte("x")), ref)), "the reference's record cannot be read")
	var want, got []wire.Record
	for range maxExplained + 5 {
		want, got = append(want, record("x", integer(1))), append(got, record("x", integer(2)))
	}
	lines := Explain(testCheck, ran(stream(wire.Passed, want...)), ran(stream(wire.Passed, got...)))
	assert.Len(t, lines, maxExplained+1)
	assert.Equal(t, "5 more observations differ", lines[maxExplained])
}
