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
