// Package hidden holds the hidden tests of the earlystop exercise. They feed
// fresh random metrics and weights and record what comes back; package observe
// says how it is judged. The doc comment of a test is what a student is told when
// it fails, so it names the rule and never the input.
//
// Metrics are multiples of 1/64: sums and differences of them are exact, however
// a comparison with MinDelta is arranged.
package hidden

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"grade/reference/earlystop"
)

// model is layers of weights, with a count of the walks over them.
type model struct {
	layers [][]float64
	walks  int
	read   int // layers yielded in all walks
}

func newModel(r *rand.Rand, lengths ...int) *model {
	m := &model{}
	for _, n := range lengths {
		m.layers = append(m.layers, make([]float64, n))
	}
	m.train(r)
	return m
}

func (m *model) Params() iter.Seq[[]float64] {
	m.walks++
	return func(yield func([]float64) bool) {
		for _, layer := range m.layers {
			m.read++
			if !yield(layer) {
				return
			}
		}
	}
}

// train writes a new number into every weight, in place.
func (m *model) train(r *rand.Rand) {
	for _, layer := range m.layers {
		for i := range layer {
			layer[i] = r.NormFloat64()
		}
	}
}

// weights returns a copy of all weights.
func (m *model) weights() []float64 {
	var all []float64
	for _, layer := range m.layers {
		all = append(all, layer...)
	}
	return all
}

// dyadic draws a multiple of 1/64 from [lo, hi].
func dyadic(r *rand.Rand, lo, hi int) float64 {
	return float64(64*lo+r.IntN(64*(hi-lo)+1)) / 64
}

// newStopper makes a Stopper of a valid Config.
func newStopper(t testing.TB, cfg earlystop.Config) *earlystop.Stopper {
	t.Helper()
	s, err := earlystop.New(cfg)
	if err != nil || s == nil {
		t.Fatal("New refuses a valid Config")
	}
	return s
}

// log is what was written down of Stoppers, by what it is about: a test records what
// it is about, so that one mistake does not cost the others. The lines hold numbers
// of the test's own making, so that they differ from grading to grading. Bests have
// no epochs, which are in moves and in what words says; they begin with the first
// finite metric, for whether there is a best before is another question.
type log struct{ stops, bests, moves, words, errors, weights notes }

// notes are lines of text.
type notes []string

func (n *notes) Add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// session is one Stopper and its log.
type session struct {
	*earlystop.Stopper
	log   *log
	begun *bool // a finite metric was seen
}

func begin(t testing.TB, l *log, cfg earlystop.Config) session {
	t.Helper()
	return session{newStopper(t, cfg), l, new(bool)}
}

// endless is a Patience that no test uses up.
const endless = 1 << 20

// epoch observes one metric and writes down all that can be seen afterwards.
func (s session) epoch(epoch int, metric float64, m earlystop.Params) (stop bool) {
	_, before, had := s.Best()
	had = had && *s.begun
	stop, err := s.Observe(epoch, metric, m)
	s.log.stops.Add("epoch %d, metric %v: stop %v, %s", epoch, metric, stop, reason(s.Reason()))
	s.log.errors.Add("epoch %d, metric %v: error %s", epoch, metric, kind(err))
	s.log.words.Add("epoch %d, metric %v: %s", epoch, metric, s.best())
	best, at, ok := s.Best()
	if had {
		s.log.moves.Add("epoch %d, metric %v: moved %v", epoch, metric, at != before)
	}
	if *s.begun = *s.begun || finite(metric); *s.begun {
		s.log.bests.Add("epoch %d, metric %v: %s", epoch, metric, number(best, ok))
	}
	return stop
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// number is a best without its epoch, in words.
func number(best float64, ok bool) string {
	if !ok {
		return "no best"
	}
	return fmt.Sprintf("best %v", best)
}

// best is the best in words.
func (s session) best() string {
	metric, epoch, ok := s.Best()
	if !ok {
		return "no best"
	}
	return fmt.Sprintf("best %v of epoch %d", metric, epoch)
}

// some is the number of the first epoch where it does not matter.
const some = 3

// ordinary is a model for tests that are about metrics alone.
func ordinary() *model { return &model{layers: [][]float64{{1, 2}, {3}}} }

// run observes metrics until the Stopper stops, with an ordinary model.
func (s session) run(metrics ...float64) {
	m := ordinary()
	for i, metric := range metrics {
		if s.epoch(some+i, metric, m) {
			break
		}
	}
	s.log.stops.Add("end")
}

// alike reports whether a Stopper of cfg stops where a plain one does, which has
// neither Baseline nor limits, has begun with a metric worse than all, and is shown
// worse ones yet in the place of those that are bad.
func alike(t testing.TB, cfg earlystop.Config, bad func(float64) bool, metrics ...float64) bool {
	t.Helper()
	better := sign(cfg.Mode)
	low := 1e6 * better
	for _, metric := range metrics {
		if finite(metric) && better*metric < better*low {
			low = metric
		}
	}
	shown := []float64{low - 2*better}
	for _, metric := range metrics {
		if bad(metric) {
			metric = low - 3*better
		}
		shown = append(shown, max(-1e6, min(metric, 1e6)))
	}
	plain := earlystop.Config{Mode: cfg.Mode, Patience: cfg.Patience, MinDelta: cfg.MinDelta}
	return 1+stopsAfter(t, cfg, metrics) == stopsAfter(t, plain, shown)
}

// stopsAfter returns after how many metrics a Stopper has run out of patience.
func stopsAfter(t testing.TB, cfg earlystop.Config, metrics []float64) int {
	t.Helper()
	s, m := newStopper(t, cfg), ordinary()
	for i, metric := range metrics {
		if stop, _ := s.Observe(some+i, metric, m); stop && s.Reason() == earlystop.Patience {
			return i + 1
		}
	}
	return len(metrics) + 1
}

// sign is 1 if great metrics are good, and -1 if small ones are.
func sign(mode earlystop.Mode) float64 {
	if mode == earlystop.Max {
		return 1
	}
	return -1
}

// restore restores into m and writes down the outcome and all weights.
func (s session) restore(m *model) {
	err := s.Restore(m)
	s.log.errors.Add("restored: error %s", kind(err))
	s.log.weights.Add("restored: %v", m.weights())
}

func kind(err error) string {
	switch {
	case err == nil:
		return "nil"
	case errors.Is(err, earlystop.ErrNoBest):
		return "ErrNoBest"
	case errors.Is(err, earlystop.ErrShape):
		return "ErrShape"
	}
	return "other"
}

// reason compares one by one: a submission's constants might be equal.
func reason(r earlystop.Reason) string {
	if r == earlystop.Running {
		return "running"
	}
	if r == earlystop.Patience {
		return "stopped by patience"
	}
	if r == earlystop.Threshold {
		return "stopped by the threshold"
	}
	if r == earlystop.Diverged {
		return "diverged"
	}
	if r == earlystop.NonFinite {
		return "not finite"
	}
	return "some other reason"
}

// course is a random walk of n metrics, around 100, with ties, steps of exactly delta, better
// and worse ones; with rough, now and then a NaN or an infinity.
func course(r *rand.Rand, n int, delta float64, rough bool) []float64 {
	metrics := make([]float64, n)
	x := dyadic(r, 80, 120)
	for i := range metrics {
		metrics[i] = x
		if rough && r.IntN(12) == 0 {
			metrics[i] = []float64{math.NaN(), math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(4)]
		}
		switch r.IntN(6) {
		case 0: // the same again
		case 1:
			x -= delta
		case 2:
			x += delta
		default:
			x += dyadic(r, -2, 2)
		}
	}
	return metrics
}
