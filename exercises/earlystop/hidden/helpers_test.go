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
// of the test's own making, so that they differ from grading to grading.
type log struct{ stops, bests, errors, weights notes }

// notes are lines of text.
type notes []string

func (n *notes) Add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// session is one Stopper and its log.
type session struct {
	*earlystop.Stopper
	log *log
}

func begin(t testing.TB, l *log, cfg earlystop.Config) session {
	t.Helper()
	return session{newStopper(t, cfg), l}
}

// endless is a Patience that no test uses up.
const endless = 1 << 20

// epoch observes one metric and writes down all that can be seen afterwards.
func (s session) epoch(epoch int, metric float64, m earlystop.Params) (stop bool) {
	stop, err := s.Observe(epoch, metric, m)
	s.log.stops.Add("epoch %d, metric %v: stop %v, %s", epoch, metric, stop, reason(s.Reason()))
	s.log.errors.Add("epoch %d, metric %v: error %s", epoch, metric, kind(err))
	s.log.bests.Add("epoch %d, metric %v: %s", epoch, metric, s.best())
	return stop
}

// best is the best in words.
func (s session) best() string {
	metric, epoch, ok := s.Best()
	if !ok {
		return "no best"
	}
	return fmt.Sprintf("best %v of epoch %d", metric, epoch)
}

// run observes metrics until the Stopper stops, without weights.
func (s session) run(metrics ...float64) {
	for epoch, metric := range metrics {
		if s.epoch(epoch, metric, nil) {
			break
		}
	}
	s.log.stops.Add("end")
}

// train observes metrics until the Stopper stops, with a model that learns in each
// epoch, and restores it.
func (s session) train(r *rand.Rand, m *model, metrics ...float64) {
	for epoch, metric := range metrics {
		m.train(r)
		if s.epoch(epoch, metric, m) {
			break
		}
	}
	s.log.stops.Add("end")
	m.train(r)
	s.restore(m)
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

// course is a random walk of n metrics with ties, steps of exactly delta, better
// and worse ones; with rough, now and then a NaN or an infinity.
func course(r *rand.Rand, n int, delta float64, rough bool) []float64 {
	metrics := make([]float64, n)
	x := dyadic(r, -20, 20)
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
