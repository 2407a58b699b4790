package measure

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
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
	data, err := os.ReadFile("testdata/loaded.json")
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

// pair is the i-th, of a submission whose window takes so many times what the program did.
func (s series) pair(i int, times float64) (ref, sub sandbox.Outcome) {
	const outside = 10 * time.Millisecond
	p := s[i%len(s)]
	us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	of := func(window, outside time.Duration) sandbox.Outcome { return timed(outside/2, window, outside+window) }
	return of(us(p[0]), outside), of(time.Duration(times*float64(us(p[1]))), max(0, outside+us(p[2])))
}

// speed grades a submission with recorded runs, from the i-th on.
func (s series) speed(t *testing.T, i int, times float64) verdict.Verdict {
	t.Helper()
	w := Series{Workload: Workload{Speed: simLimit, SpeedPoints: 8}}
	for ; ; i++ {
		detail, err := w.Add(s.pair(i, times))
		require.NoError(t, err)
		require.Empty(t, detail)
		if d, err := w.Decide(false); err != nil || d.Done {
			require.NoError(t, err)
			return d.Speed.Verdict
		}
	}
}

// A submission that is 1.3 times away from its limit gets the same verdict in each of a thousand
// gradings, of runs that were recorded beside busy loops, twice as many as there are CPUs; and
// so on a machine on which the windows are a fifth of that, some of them 2 ms.
func TestNoRecordedVerdictFlips(t *testing.T) {
	const gradings, away = 1000, 1.3
	for name, s := range recordings(t) {
		for _, times := range []int64{1, 5} {
			t.Run(fmt.Sprintf("%s/%d times as fast", name, times), func(t *testing.T) {
				r, s := rand.New(rand.NewPCG(17, 18)), s.faster(times)
				for range gradings {
					i := r.IntN(len(s))
					require.Equal(t, verdict.Passed, s.speed(t, i, simLimit/away), "from pair %d on", i)
					require.Equal(t, verdict.TooSlow, s.speed(t, i, simLimit*away), "from pair %d on", i)
				}
			})
		}
	}
}
