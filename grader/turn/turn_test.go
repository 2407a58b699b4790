package turn

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each commit draws others, as many as it should.
func TestDrawn(t *testing.T) {
	const commits = 32_000
	for _, of := range []uint64{share, 80, 320} {
		n := 0
		for i := range commits {
			if Drawn(fmt.Sprint(i), of, "trainer", "accepted/a") {
				n++
			}
		}
		want := float64(commits / of)
		assert.InDelta(t, want, n, 4*math.Sqrt(want), "one of %d", of)
	}
}

// What is asked for by name runs, and so does all in CI; else some commits skip it.
func TestTake(t *testing.T) {
	run := flag.Lookup("test.run")
	before := run.Value.String()
	t.Cleanup(func() { require.NoError(t, run.Value.Set(before)) })
	// ran is how many of tests with unlike names ran.
	ran := func(pattern, ci string) (n int) {
		require.NoError(t, run.Value.Set(pattern))
		t.Setenv("CI", ci)
		for i := range 90 {
			t.Run(fmt.Sprint(i), func(t *testing.T) { Take(t); n++ })
		}
		return n
	}
	assert.Equal(t, 90, ran("TestTake", ""))
	assert.Equal(t, 90, ran("", "true"))
	some := ran("", "")
	assert.Positive(t, some)
	assert.Less(t, some, 90)
}
