package document

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"1B": 1, "64KiB": 64 << 10, "512MiB": 512 << 20, "2GiB": 2 << 30, "8589934591GiB": 8589934591 << 30} {
		got, err := parseSize(s)
		assert.NoError(t, err, s)
		assert.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "B", "0B", "-1B", "+1B", "1", "1K", "1 MiB", "1MB", "1.5GiB", "1mib", "8589934592GiB", "99999999999999999999B"} {
		_, err := parseSize(s)
		assert.ErrorIs(t, err, ErrUnfit, s)
	}
}

func TestLinesOfSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: 2\n- c\n":         "f.yaml:3: did not find expected key",
		"a: 1\nb:\n  - 1\n  c: 2\n": "f.yaml:3: did not find expected '-' indicator", // where the list begins
		"a: 1\nb: {c: 1\nd: 2\n":    "f.yaml:2: did not find expected ',' or '}'",    // where the mapping begins
		"a: 1\nb: @c\n":             "f.yaml:2: found character that cannot start any token",
		"a: 1\nb: c: d\n":           "f.yaml:2: mapping values are not allowed in this context",
		"a: 1\nb: !x!y 1\n":         "f.yaml:2: found undefined tag handle",
	} {
		faults := &Faults{}
		File{faults, "f.yaml"}.Read([]byte(text), Fields{})
		assert.ErrorContains(t, faults.Join(), want, text)
	}
}
