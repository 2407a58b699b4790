package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// As many are graded at a time as the machine's memory bears, and one in any case.
func TestAffordable(t *testing.T) {
	const gib = 1 << 30
	for memory, want := range map[uint64]int{0: 5, 1 * gib: 1, 4 * gib: 1, 7 * gib: 2, 16 * gib: 5, 64 * gib: 5} {
		assert.Equal(t, want, affordable(5, memory), "%d GiB", memory/gib)
	}
	if runtime.GOOS == "linux" {
		assert.NotZero(t, machineMemory())
	}
}
