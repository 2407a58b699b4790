package wording

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMilliseconds(t *testing.T) {
	for ms, want := range map[float64]string{0: "0.0 ms", 2.34: "2.3 ms", 842.4: "842 ms", 4126: "4.1 s", 61_000: "1 min 1 s", 119_900: "2 min 0 s"} {
		assert.Equal(t, want, milliseconds(ms))
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{12: "12 B", 1536: "1.5 KiB", 124 << 20: "124.0 MiB", 3 << 29: "1.5 GiB"} {
		assert.Equal(t, want, size(n))
	}
}
