package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

const ms = time.Millisecond

// timed is a run with a window of CPU time after so much of it, in all total.
func timed(before, window, total time.Duration) sandbox.Outcome {
	return sandbox.Outcome{
		CPU: total, BoxCPU: total, BoxCPUSource: sandbox.SourceCgroupV1,
		Marks: []sandbox.Mark{{CPU: before, Wall: before}, {CPU: before + window, Wall: before + window}},
	}
}

func TestPairOf(t *testing.T) {
	child := timed(5*ms, 30*ms, 50*ms)
	child.BoxCPU = 350 * ms
	for _, test := range []struct {
		name     string
		ref, sub sandbox.Outcome
		want     Pair
	}{
		{"the same", timed(5*ms, 60*ms, 80*ms), timed(5*ms, 60*ms, 80*ms), Pair{60 * ms, 60 * ms, 0}},
		{"less outside", timed(50*ms, 60*ms, 200*ms), timed(0, 70*ms, 70*ms), Pair{60 * ms, 70 * ms, -140 * ms}},
		{"work moved before the window", timed(5*ms, 60*ms, 80*ms), timed(605*ms, 1*ms, 621*ms), Pair{60 * ms, 1 * ms, 600 * ms}},
		{"work moved after it", timed(5*ms, 60*ms, 80*ms), timed(5*ms, 1*ms, 621*ms), Pair{60 * ms, 1 * ms, 600 * ms}},
		{"work moved to a child", timed(5*ms, 60*ms, 80*ms), child, Pair{60 * ms, 30 * ms, 300 * ms}},
		{"clocks that disagree", timed(5*ms, 60*ms, 80*ms), timed(5*ms, 60*ms, 50*ms), Pair{60 * ms, 60 * ms, -20 * ms}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, detail, err := NewPair(test.ref, test.sub)
			require.NoError(t, err)
			assert.Empty(t, detail)
			assert.Equal(t, test.want, p)
		})
	}
}

func TestWithOverhead(t *testing.T) {
	pairs := func(excess ...time.Duration) (list []Pair) {
		for _, e := range excess {
			list = append(list, Pair{100 * ms, 60 * ms, e * ms})
		}
		return list
	}
	for _, test := range []struct {
		name   string
		excess []time.Duration
		want   []time.Duration // charged
	}{
		{"noise on both sides", []time.Duration{5, -5, 4, -4, 0}, []time.Duration{5, -5, 4, -4, 0}},
		{"all moved outside", []time.Duration{300, 310, 290}, []time.Duration{300, 310, 290}},
		{"a little moved outside", []time.Duration{18, 17, 19, -1}, []time.Duration{18, 17, 19, -1}},
		{"moved outside in some of the pairs", []time.Duration{300, 0, 0, 40, 300}, []time.Duration{300, 0, 0, 40, 300}},
		{"less outside earns no more than noise", []time.Duration{-300, -9}, []time.Duration{-10, -9}},
	} {
		list := pairs(test.excess...)
		got := withOverhead(list)
		for i, p := range got {
			assert.Equal(t, 60*ms+test.want[i]*ms, p.Submission, "%s: pair %d", test.name, i)
		}
		assert.Equal(t, pairs(test.excess...), list, "the pairs themselves stay")
	}
	assert.Equal(t, 2*ms, withOverhead([]Pair{{100 * ms, 4 * ms, -50 * ms}})[0].Submission, "something of a window always stays")
}

func TestPairWithoutItsMarks(t *testing.T) {
	good := timed(5*ms, 60*ms, 80*ms)
	for name, marks := range map[string][]sandbox.Mark{
		"none":      nil,
		"one":       good.Marks[:1],
		"three":     append(good.Marks[:2:2], sandbox.Mark{CPU: 70 * ms, Wall: 70 * ms}),
		"backwards": {good.Marks[1], good.Marks[0]},
	} {
		bad := good
		bad.Marks = marks
		_, detail, err := NewPair(good, bad)
		assert.NoError(t, err, name)
		assert.NotEmpty(t, detail, name)
		_, _, err = NewPair(bad, good)
		assert.ErrorContains(t, err, "time the reference", name)
	}
}

func TestPairDoesNotMixSources(t *testing.T) {
	without := timed(5*ms, 60*ms, 80*ms)
	without.BoxCPU, without.BoxCPUSource = 0, sandbox.SourceNone
	_, _, err := NewPair(timed(5*ms, 60*ms, 80*ms), without)
	assert.ErrorContains(t, err, "cgroup v1")
	p, _, err := NewPair(without, without)
	require.NoError(t, err)
	assert.Equal(t, Pair{60 * ms, 60 * ms, 0}, p)
}

func TestWallCap(t *testing.T) {
	assert.Equal(t, 2*time.Second+4800*ms, wallCap(100*ms, 4))
	assert.Equal(t, 2*time.Second+1200*ms, wallCap(100*ms, 0.5))
}
