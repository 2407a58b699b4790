package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func second() time.Duration { return time.Second }

func turns(waits []wait) (list []time.Duration) {
	for _, w := range waits {
		list = append(list, w.turn)
	}
	return list
}

func TestFirstComeFirstServed(t *testing.T) {
	uploads := []upload{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {5 * time.Second, 4, 0}}
	assert.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 0}, turns(simulate(uploads, 1, second)))
	assert.Equal(t, []time.Duration{0, 0, time.Second, 0}, turns(simulate(uploads, 2, second)))
}

// A newer upload replaces one that waits, goes to the end of the line, and leaves one that is
// being graded alone.
func TestNewerUploadReplacesTheWaitingOne(t *testing.T) {
	const half = time.Second / 2
	uploads := []upload{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {half, 2, 0}, {half + 1, 1, 0}}
	waits := simulate(uploads, 1, second)
	assert.Equal(t, []time.Duration{0, time.Second - 2, 2*time.Second - half, 3*time.Second - half - 1}, turns(waits))
}

// With one slot, exponential arrivals and gradings, the mean wait is known: utilisation /
// (1 - utilisation) gradings (an M/M/1 queue; Kleinrock, Queueing Systems, vol. 1, 3.2).
func TestAgainstAKnownQueue(t *testing.T) {
	const utilisation, n = 0.7, 400_000
	r := rand.New(rand.NewPCG(1, 2))
	var uploads []upload
	at := 0.0
	for i := range n {
		at += r.ExpFloat64() / utilisation
		uploads = append(uploads, upload{time.Duration(at * float64(time.Second)), i, 0})
	}
	var sum time.Duration
	for _, w := range simulate(uploads, 1, func() time.Duration { return time.Duration(r.ExpFloat64() * float64(time.Second)) }) {
		sum += w.turn
	}
	assert.InEpsilon(t, utilisation/(1-utilisation), (sum / n).Seconds(), 0.05)
}

func TestHalfOfARushComesInTheLastHour(t *testing.T) {
	o := options{uploads: 3, exercises: 2, half: time.Hour}
	uploads := rush(rand.New(rand.NewPCG(3, 4)), 5000, o)
	require.Len(t, uploads, 30_000)
	assert.True(t, slices.IsSortedFunc(uploads, func(a, b upload) int { return int(a.at - b.at) }))
	first := slices.IndexFunc(uploads, func(u upload) bool { return u.at > uploads[len(uploads)-1].at-time.Hour })
	assert.InDelta(t, 0.5, 1-float64(first)/30_000, 0.02)
}

// More machines never make anybody wait longer, and no grading is lost.
func TestMoreMachinesWaitLess(t *testing.T) {
	o := options{uploads: 1, exercises: 1, half: time.Minute, rounds: 1, slots: 2}
	m := measured{gradings: []time.Duration{time.Second, 3 * time.Second}}
	last := time.Duration(math.MaxInt64)
	for _, machines := range []int{1, 2, 4} {
		turn, _ := o.simulated(m, 300, machines)
		assert.Less(t, turn.p95, last, "%d machines", machines)
		last = turn.p95
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"-results", "x", "-slots", "0"}, {"-results", "x", "-students", "many"}, {"-results", t.TempDir()}} {
		assert.Error(t, run(args, &bytes.Buffer{}), "%q", args)
	}
}
