package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
	"grade/sandbox"
)

// program is what one run of a program takes, in multiples of what the limits allow, and
// by how much runs of it differ.
type program struct {
	time, peak float64
	noise      noise // of the time, and of the reference's as well
	heap       noise // of the peak
}

// The reference of the simulations, and the limits beside it.
const (
	simWindow   = 60 * time.Millisecond
	simPeak     = 100 << 20
	simBaseline = 10 << 20
	simLimit    = 4
)

// run is an outcome with a window of so much time and so high a peak.
func run(window time.Duration, peak float64) sandbox.Outcome {
	o := timed(time.Millisecond, window, window+time.Millisecond)
	o.Marks[0].Memory, o.Peak, o.PeakSource = simBaseline, simBaseline+int64(peak), sandbox.SourceRusage
	return o
}

func (p program) run(r *rand.Rand) sandbox.Outcome {
	return run(time.Duration(float64(simWindow)*simLimit*p.time*p.noise(r)), simPeak*simLimit*p.peak*p.heap(r))
}

// chooser says which program the i-th run of a workload is.
type chooser func(r *rand.Rand, i int) program

func always(p program) chooser { return func(*rand.Rand, int) program { return p } }

// coin is slim with the probability p, and else fast.
func coin(p float64, slim, fast program) chooser {
	return func(r *rand.Rand, _ int) program {
		if r.Float64() < p {
			return slim
		}
		return fast
	}
}

// turns is slim in every n-th run, beginning with the first: what a program that can
// count its runs would do.
func turns(n int, slim, fast program) chooser {
	return func(_ *rand.Rand, i int) program {
		if i%n == 0 {
			return slim
		}
		return fast
	}
}

// replay grades a workload as a grading for a student does, or beside others as one of a batch
// does: what is near a limit then is replayed alone.
func replay(t *testing.T, r *rand.Rand, w Workload, choose chooser, n noise) Decision {
	first := 0
	if w.Beside {
		d, runs := replayOnce(t, r, w, choose, n, 0)
		if !d.Near {
			return d
		}
		w.Beside, w.Again, first = false, true, runs
	}
	d, _ := replayOnce(t, r, w, choose, n, first)
	return d
}

func replayOnce(t *testing.T, r *rand.Rand, w Workload, choose chooser, n noise, first int) (d Decision, runs int) {
	s := Series{Workload: w}
	for i := first; ; i++ {
		detail, err := s.Add(run(time.Duration(float64(simWindow)*n(r)), simPeak), choose(r, i).run(r))
		require.NoError(t, err)
		require.Empty(t, detail)
		d, err := s.Decide(false)
		require.NoError(t, err)
		if d.Done {
			return d, i + 1
		}
	}
}

// exercise is one workload with both checks, or one for each.
type exercise struct {
	speed, memory int // points
	together      bool
	beside        bool // of a batch
}

func (x exercise) workloads() []Workload {
	both := Workload{Speed: simLimit, Memory: simLimit, SpeedPoints: x.speed, MemoryPoints: x.memory, Beside: x.beside}
	if x.together {
		return []Workload{both}
	}
	return []Workload{{Speed: simLimit, SpeedPoints: x.speed, Beside: x.beside}, {Memory: simLimit, MemoryPoints: x.memory}}
}

// points are the mean of what gradings give.
func (x exercise) points(t *testing.T, r *rand.Rand, gradings int, choose chooser, n noise) float64 {
	sum := 0
	for range gradings {
		for _, w := range x.workloads() {
			d := replay(t, r, w, choose, n)
			if d.Speed != nil && d.Speed.Verdict == verdict.Passed {
				sum += w.SpeedPoints
			}
			if d.Memory != nil && d.Memory.Verdict == verdict.Passed {
				sum += w.MemoryPoints
			}
		}
	}
	return float64(sum) / float64(gradings)
}

// mixed is the points of the better of two programs alone, and the most of any mixture.
func (x exercise) mixed(t *testing.T, gradings int, slim, fast program) (alone, most float64) {
	r := rand.New(rand.NewPCG(math.Float64bits(slim.time), math.Float64bits(fast.peak)))
	points := func(c chooser) float64 { return x.points(t, r, gradings, c, quiet) }
	alone = math.Max(points(always(slim)), points(always(fast)))
	for _, p := range []float64{0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95} {
		most = math.Max(most, points(coin(p, slim, fast)))
	}
	for n := 2; n <= 4 && x.together; n++ {
		most = math.Max(most, math.Max(points(turns(n, slim, fast)), points(turns(n, fast, slim))))
	}
	return alone, most
}

// quiet is the noise of a machine that is not busy, and of a heap.
var quiet = lognormal(0.05)

// A mixture of a slim program and a fast one earns at most what the better of the two earns
// alone. Where both limits are asked of one workload, that holds however each run is chosen.
// Where each has a workload of its own, it holds for what chooses by chance. There one of
// the two may be as near to its limit as no limit has to tell apart, which earns a quarter of
// a check at most; if both are, more.
func TestAMixtureEarnsNoMore(t *testing.T) {
	s := begin(t)
	for i, x := range []exercise{{4, 4, true, false}, {5, 3, true, false}, {3, 5, true, false}, {4, 4, false, false}, {4, 4, true, true}, {5, 3, true, true}, {4, 4, false, true}} {
		if s.whole || i%3 == 0 {
			s.run(fmt.Sprintf("%+v", x), func(t *testing.T) { x.noMixtureEarnsMore(t, s.pick(40, 10)) })
		}
	}
}

func (x exercise) noMixtureEarnsMore(t *testing.T, gradings int) {
	for _, slow := range []float64{1.1, 1.6, 2.5} {
		for _, fat := range []float64{1.1, 1.6, 20} {
			near := 0.0
			if !x.together && min(slow, fat) < sensitivity {
				near = float64(min(x.speed, x.memory)) / 4
			}
			if !x.together && max(slow, fat) < sensitivity {
				continue
			}
			slim, fast := program{slow, 0.25, quiet, lognormal(0.02)}, program{0.25, fat, quiet, lognormal(0.02)}
			alone, most := x.mixed(t, gradings, slim, fast)
			assert.LessOrEqual(t, most, alone+near+noiseOfMeans(x, gradings), "%v times the time or %v times the memory", slow, fat)
		}
	}
}

// A submission that is surely too slow stays so if it does some of its work outside of the
// window in a part of its runs, and one that is surely within its limit passes, however much
// two runs differ outside.
func TestMovedWorkGainsNothing(t *testing.T) {
	const gradings, away = 200, 1.15
	r := rand.New(rand.NewPCG(17, 18))
	grade := func(time, moved, p, scatter float64) verdict.Verdict {
		s := Series{Workload: Workload{Speed: simLimit}}
		for {
			window := time * simLimit * quiet(r)
			outside := scatter * r.NormFloat64()
			if r.Float64() < p {
				window, outside = window-moved, outside+moved
			}
			_, err := s.Add(outsideOf(quiet(r), 1), outsideOf(window, 1+outside))
			require.NoError(t, err)
			d, err := s.Decide(false)
			require.NoError(t, err)
			if d.Done {
				return d.Speed.Verdict
			}
		}
	}
	for _, scatter := range []float64{0.02, 0.1, 0.3} {
		for _, p := range []float64{0, 0.2, 0.35, 0.5, 0.68, 0.9, 1} {
			for range gradings {
				require.Equal(t, verdict.TooSlow, grade(away, 0.5, p, scatter), "%v of the runs move half a window, scatter %v", p, scatter)
				require.Equal(t, verdict.Passed, grade(1/away, 0.2, p, scatter), "%v of the runs move a fifth of one, scatter %v", p, scatter)
			}
		}
	}
}

// outsideOf is an outcome with a window and time outside of it, in multiples of the
// reference's window.
func outsideOf(window, outside float64) sandbox.Outcome {
	in, out := time.Duration(window*float64(simWindow)), time.Duration(max(outside, 0)*float64(simWindow))
	return timed(out/2, in, out+in)
}

// noiseOfMeans is four standard deviations of a mean, of gradings that lose the lesser
// check as often as not.
func noiseOfMeans(x exercise, gradings int) float64 {
	return 4 * float64(min(x.speed, x.memory)) / 2 / math.Sqrt(float64(gradings))
}

// A right program keeps its points, near both limits and beside busy neighbours.
func TestRightProgramsKeepTheirPoints(t *testing.T) {
	for name, c := range map[string]struct {
		program
		machine noise
	}{
		"like the reference":              {program{0.25, 0.25, quiet, quiet}, quiet},
		"near both limits":                {program{0.9, 0.9, quiet, lognormal(0.02)}, quiet},
		"on a busy machine":               {program{0.6, 0.6, outliers(3), quiet}, outliers(3)},
		"with a heap that varies by half": {program{0.6, 0.6, quiet, lognormal(0.25)}, quiet},
		"with a time that varies by half": {program{0.6, 0.25, lognormal(0.25), quiet}, quiet},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 12))
			for _, x := range []exercise{{4, 4, true, false}, {4, 4, false, false}, {4, 4, true, true}, {4, 4, false, true}} {
				assert.Equal(t, 8.0, x.points(t, r, 200, always(c.program), c.machine))
			}
		})
	}
}

// At the limit itself a failure of speed is as rare as the comment on looks says, and a
// peak that is half of the time above it passes more often than not.
func TestAtBothLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const gradings = 500
	at := program{1, 0.25, quiet, quiet}
	exact := failureAt(8 | 16 | 32)
	lost := 8 - exercise{4, 4, true, false}.points(t, r, gradings, always(at), quiet)
	assert.LessOrEqual(t, lost, 4*(exact+4*math.Sqrt(exact/gradings)))
	at = program{0.25, 1, quiet, lognormal(0.02)}
	assert.Greater(t, exercise{4, 4, false, false}.points(t, r, gradings, always(at), quiet), 4+4*0.75)
}

// A submission that is 1.3 times away from its limit gets the same verdict in each of a
// thousand gradings, for a student or in a batch, on a quiet machine and on a loaded one.
func TestNoVerdictFlips(t *testing.T) {
	const away = 1.3
	s := begin(t)
	gradings := s.pick(1000, 100)
	for name, n := range map[string]noise{"quiet": quiet, "loaded": lognormal(0.1), "heavily loaded": lognormal(0.15), "a quarter is slower": outliers(1.5)} {
		for _, beside := range []bool{false, true} {
			s.run(fmt.Sprintf("%s, beside others: %v", name, beside), func(t *testing.T) {
				r := rand.New(rand.NewPCG(15, 16))
				x := exercise{8, 0, false, beside}
				within, beyond := program{1 / away, 0.25, n, quiet}, program{away, 0.25, n, quiet}
				w := x.workloads()[0]
				for range gradings {
					require.Equal(t, verdict.Passed, replay(t, r, w, always(within), n).Speed.Verdict)
					require.Equal(t, verdict.TooSlow, replay(t, r, w, always(beyond), n).Speed.Verdict)
				}
			})
		}
	}
}
