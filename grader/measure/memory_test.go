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
		{"the least counts", mibs(100, 300), mibs(500, 150, 400), 2, verdict.Passed, false},
		{"the least counts on both sides", mibs(100, 300), mibs(500, 250, 400), 2, verdict.TooMuchMemory, false},
		{"small: within the slack", mibs(2), mibs(9.9), 2, verdict.Passed, true},
		{"small: beyond it", mibs(2), mibs(10.1), 2, verdict.TooMuchMemory, false},
		{"a limit below the noise", mibs(100), mibs(129), 1, verdict.Passed, true},
		{"above the noise", mibs(100), mibs(131), 1, verdict.TooMuchMemory, false},
		{"nothing against nothing", mibs(-1), mibs(-2), 2, verdict.Passed, false},
		{"something against nothing", mibs(0), mibs(9), 2, verdict.TooMuchMemory, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := judgePeaks(test.ref, test.sub, 5<<20, test.limit)
			require.NoError(t, err)
			assert.Equal(t, test.verdict, m.Verdict)
			assert.Equal(t, test.note, m.Note != "")
			assert.Equal(t, m.Ratio, m.Interval[0])
			assert.LessOrEqual(t, m.Interval[0], m.Interval[1])
		})
	}
}

func TestPeaksOfTwoSourcesDoNotCompare(t *testing.T) {
	cgroup := []peak{{Bytes: 1 << 30, Source: sandbox.SourceCgroupV1}}
	for name, test := range map[string]struct {
		ref, sub []peak
	}{
		"submission": {mibs(1), cgroup},
		"reference":  {cgroup, mibs(1)},
		"mixed":      {mibs(1), append(mibs(1), cgroup...)},
		"unread":     {mibs(1), []peak{{}}},
		"neither":    {[]peak{{}}, []peak{{}}},
		"no run":     {mibs(1), nil},
	} {
		_, err := judgePeaks(test.ref, test.sub, 0, 2)
		assert.ErrorContains(t, err, "judge memory", name)
	}
}
