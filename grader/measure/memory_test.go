package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
	"grade/sandbox"
)

// mibs are in MiB above a baseline of 5.
func mibs(mib ...float64) []peak {
	list := make([]peak, len(mib))
	for i, m := range mib {
		list[i] = peak{Bytes: int64((5 + m) * (1 << 20)), Source: sandbox.SourceRusage}
	}
	return list
}

func TestJudgeMemory(t *testing.T) {
	for _, test := range []struct {
		name     string
		ref, sub []peak
		limit    float64
		verdict  verdict.Verdict
		note     bool
	}{
		{"alike", mibs(100, 101, 102), mibs(101, 99, 130), 2, verdict.Passed, false},
		{"on the limit", mibs(100), mibs(200), 2, verdict.Passed, false},
		{"above", mibs(100), mibs(201), 2, verdict.TooMuchMemory, false},
		{"two of five count", mibs(100, 120), mibs(290, 150, 190, 290, 210), 2, verdict.Passed, false},
		{"one of five does not", mibs(100, 120), mibs(290, 150, 201, 290, 210), 2, verdict.TooMuchMemory, false},
		{"far above in one of five", mibs(100, 101), mibs(150, 150, 150, 150, 400), 2, verdict.TooMuchMemory, true},
		{"far above in one of ten", mibs(100), mibs(150, 150, 150, 150, 400, 150, 150, 150, 150, 150), 2, verdict.Passed, false},
		{"far above in two of ten", mibs(100), mibs(150, 150, 150, 150, 400, 150, 400, 150, 150, 150), 2, verdict.TooMuchMemory, true},
		{"far above, as the reference in one run", mibs(100, 200), mibs(150, 150, 150, 400, 400), 2, verdict.Passed, false},
		{"small: within the slack", mibs(2), mibs(9.9), 2, verdict.Passed, true},
		{"small: beyond it", mibs(2), mibs(10.1), 2, verdict.TooMuchMemory, false},
		{"a limit below the noise", mibs(100), mibs(129), 1, verdict.Passed, true},
		{"above the noise", mibs(100), mibs(131), 1, verdict.TooMuchMemory, false},
		{"nothing against nothing", mibs(-1), mibs(-2), 2, verdict.Passed, false},
		{"something against nothing", mibs(0), mibs(9), 2, verdict.TooMuchMemory, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := judgePeaks(test.ref, test.sub, 5<<20, test.limit, true)
			require.NoError(t, err)
			assert.Equal(t, test.verdict, m.Verdict)
			assert.Equal(t, test.note, m.Note != "")
			assert.GreaterOrEqual(t, m.Ratio, m.Interval[0])
			assert.LessOrEqual(t, m.Interval[0], m.Interval[1])
		})
	}
}

func TestPeaksOfTwoSourcesDoNotCompare(t *testing.T) {
	cgroup := []peak{{Bytes: 1 << 30, Source: sandbox.SourceCgroupV1}}
	for name, test := range map[string]struct {
		ref, sub []peak
	}{
		"reference": {cgroup, mibs(1)},
		"mixed":     {append(mibs(1), cgroup...), mibs(1)},
		"watchdog":  {mibs(1), []peak{{Bytes: 1, Source: sandbox.SourceWatchdog}}},
		"unread":    {mibs(1), []peak{{}}},
		"neither":   {[]peak{{}}, []peak{{}}},
		"no run":    {mibs(1), nil},
	} {
		_, err := judgePeaks(test.ref, test.sub, 0, 2, true)
		assert.ErrorContains(t, err, "judge memory", name)
	}
}

// Two of five, and never fewer than that share: who knows that a run is slim must not make it
// the last one.
func TestNeeded(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 2, 10: 4} {
		assert.Equal(t, want, needed(n), n)
	}
}
