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
		{"the same", timed(5*ms, 60*ms, 80*ms), timed(5*ms, 60*ms, 80*ms), Pair{60 * ms, 60 * ms, 20 * ms, Excess{}}},
		{"less outside", timed(50*ms, 60*ms, 200*ms), timed(0, 70*ms, 70*ms), Pair{60 * ms, 70 * ms, 140 * ms, Excess{-50 * ms, -90 * ms}}},
		{"work moved before the window", timed(5*ms, 60*ms, 80*ms), timed(605*ms, 1*ms, 621*ms), Pair{60 * ms, 1 * ms, 20 * ms, Excess{Before: 600 * ms}}},
		{"work moved after it", timed(5*ms, 60*ms, 80*ms), timed(5*ms, 1*ms, 621*ms), Pair{60 * ms, 1 * ms, 20 * ms, Excess{After: 600 * ms}}},
		{"work moved to a child", timed(5*ms, 60*ms, 80*ms), child, Pair{60 * ms, 30 * ms, 20 * ms, Excess{After: 300 * ms}}},
		{"clocks that disagree", timed(5*ms, 60*ms, 80*ms), timed(5*ms, 60*ms, 50*ms), Pair{60 * ms, 60 * ms, 20 * ms, Excess{After: -15 * ms}}},
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
	const none = 0
	pairs := func(excess ...Excess) (list []Pair) {
		for _, e := range excess {
			list = append(list, Pair{100 * ms, 60 * ms, 20 * ms, Excess{e.Before * ms, e.After * ms}})
		}
		return list
	}
	for _, test := range []struct {
		name   string
		excess []Excess
		want   []time.Duration // charged
	}{
		{"noise on both sides", []Excess{{5, none}, {-5, none}, {none, 4}, {none, -4}, {}}, []time.Duration{5, -5, 4, -4, 0}},
		{"noise in both places", []Excess{{5, -3}, {-5, -5}, {-9, 3}, {6, 1}}, []time.Duration{2, -10, -6, 7}},
		{"all moved outside", []Excess{{none, 300}, {310, none}, {100, 190}}, []time.Duration{300, 310, 290}},
		{"a little moved outside", []Excess{{18, none}, {none, 17}, {10, 9}, {-1, none}}, []time.Duration{18, 17, 19, -1}},
		{"moved outside in some of the pairs", []Excess{{none, 300}, {}, {}, {none, 40}, {300, none}}, []time.Duration{300, 0, 0, 40, 300}},
		{"less outside earns no more than noise", []Excess{{-300, none}, {none, -9}, {-200, -100}}, []time.Duration{-10, -9, -10}},
		{"what is saved before pays for nothing after", []Excess{{-185, 300}, {300, -185}}, []time.Duration{290, 290}},
	} {
		list := pairs(test.excess...)
		got := withOverhead(list)
		for i, p := range got {
			assert.Equal(t, 60*ms+test.want[i]*ms, p.Submission, "%s: pair %d", test.name, i)
		}
		assert.Equal(t, pairs(test.excess...), list, "the pairs themselves stay")
	}
	assert.Equal(t, 2*ms, withOverhead([]Pair{{100 * ms, 4 * ms, 80 * ms, Excess{Before: -50 * ms}}})[0].Submission, "something of a window always stays")
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
	assert.Equal(t, Pair{60 * ms, 60 * ms, 20 * ms, Excess{}}, p)
}

func TestWallCap(t *testing.T) {
	assert.Equal(t, 2*time.Second+4800*ms, wallCap(100*ms, 4))
	assert.Equal(t, 2*time.Second+1200*ms, wallCap(100*ms, 0.5))
}
