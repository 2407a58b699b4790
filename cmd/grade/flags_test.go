package main

import (
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// As many are graded at a time as the machine's memory bears, and one in any case.
func TestAffordable(t *testing.T) {
	const gib = 1 << 30
	for memory, want := range map[uint64]int{0: 5, 1 * gib: 1, 4 * gib: 1, 7 * gib: 1, 8 * gib: 2, 16 * gib: 4, 64 * gib: 5} {
		assert.Equal(t, want, affordable(5, memory), "%d GiB", memory/gib)
	}
	if runtime.GOOS == "linux" {
		assert.NotZero(t, machineMemory())
	}
}

// What students handed in runs in an engine, also where a machine without one would grade its
// user's own work in a process; what the course ships runs as submit does.
func TestDiffOfSubmissions(t *testing.T) {
	for dir, want := range map[string]string{"handed-in": sandboxDocker, "": ""} {
		o := &diffOptions{app: newApp(nil, io.Discard, io.Discard), old: "none", new: "none", submissions: dir}
		require.Error(t, o.run(t.Context()))
		assert.Equal(t, want, o.grading.sandbox.Kind)
	}
}
