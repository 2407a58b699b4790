package measure

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
	"grade/sandbox"
)

// series are pairs of runs of one program on a loaded machine, in their order: the two windows,
// and what one program took more outside of it, in microseconds. `make noise` records them.
type series [][3]int64

func recordings(t *testing.T) map[string]series {
	t.Helper()
	data, err := inputs.ReadFile("testdata/loaded.json")
	require.NoError(t, err)
	var file struct{ Pairs map[string]series }
	require.NoError(t, json.Unmarshal(data, &file))
	require.NotEmpty(t, file.Pairs)
	return file.Pairs
}

// faster are the pairs of a machine that many times as fast and just as noisy outside of the
// windows.
func (s series) faster(times int64) (list series) {
	for _, p := range s {
		list = append(list, [3]int64{p[0] / times, p[1] / times, p[2]})
	}
	return list
}

// pair is one of them, of a submission whose window takes so many times what the program did.
// Which of the two runs was slow outside is not recorded: the one that took more.
func (s series) pair(r *rand.Rand, times float64) (ref, sub sandbox.Outcome) {
	const before, after = 8 * time.Millisecond, 2 * time.Millisecond
	p := s[r.IntN(len(s))]
	us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	of := func(window, more time.Duration) sandbox.Outcome {
		return timed(before+more, window, before+more+window+after)
	}
	return of(us(p[0]), us(max(0, -p[2]))), of(time.Duration(times*float64(us(p[1]))), us(max(0, p[2])))
}

// speed grades a submission with recorded runs, in any order.
func (s series) speed(t *testing.T, r *rand.Rand, times float64) verdict.Verdict {
	t.Helper()
	w := Series{Workload: Workload{Speed: simLimit, SpeedPoints: 8}}
	for {
		detail, err := w.Add(s.pair(r, times))
		require.NoError(t, err)
		require.Empty(t, detail)
		if d, err := w.Decide(false); err != nil || d.Done {
			require.NoError(t, err)
			return d.Speed.Verdict
		}
	}
}

// A submission that is 1.3 times below its limit passes in each of a thousand gradings, of runs
// that were recorded beside busy loops, twice as many as there are CPUs; and so on a machine
// three times as fast, whose windows are shorter and no less noisy outside. One that is as
// far above it fails, but for one in a hundred, where the machine is not too noisy by the
// reference's own account to hold anything against it.
func TestNoRecordedVerdictFlips(t *testing.T) {
	const away = 1.3
	sim := begin(t)
	gradings := sim.pick(1000, 100)
	for name, s := range recordings(t) {
		for _, times := range []int64{1, 3} {
			sim.run(fmt.Sprintf("%s/%d times as fast", name, times), func(t *testing.T) {
				r, s := rand.New(rand.NewPCG(17, 18)), s.faster(times)
				accused, spared := 0, 0
				for range gradings {
					if s.speed(t, r, simLimit/away) != verdict.Passed {
						accused++
					}
					if s.speed(t, r, simLimit*away) != verdict.TooSlow {
						spared++
					}
				}
				require.Zero(t, accused)
				if !s.control().Noisy {
					require.LessOrEqual(t, spared, gradings/100)
				}
			})
		}
	}
}

// control is what the recorded runs of the reference say of the machine.
func (s series) control() Control {
	var windows []time.Duration
	for _, p := range s {
		windows = append(windows, time.Duration(p[0])*time.Microsecond)
	}
	return ControlOf(windows)
}
