package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// SetState refuses, and changes nothing, for a State that no Stopper of its Mode can
// have, and takes every other: with each Reason there is.
func TestSetStateRefuses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	var refused notes
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		x := dyadic(r, 30, 60)
		s := begin(t, &l, earlystop.Config{Mode: mode, Patience: 40})
		m := newModel(r, 2)
		s.epoch(3, x, m)
		s.epoch(4, x-sign(mode), m)
		weights := [][]float64{{r.NormFloat64(), r.NormFloat64()}}
		states := []earlystop.State{
			{Mode: 1 - mode}, {Mode: 2}, {Mode: mode, Wait: -1 - r.IntN(9)}, {Mode: mode, Reason: 5}, {Mode: mode, Reason: -1},
			{Mode: mode, HasBest: true, Best: nan}, {Mode: mode, Saved: true, Weights: weights},
			{Mode: 1 - mode, HasBest: true, Best: x, BestEpoch: 3, Saved: true, Weights: weights},
			{Mode: mode, Wait: -1, HasBest: true, Best: x, BestEpoch: 3, Saved: true, Weights: weights},
		}
		all := func() {
			for _, i := range r.Perm(len(states)) {
				err := s.SetState(states[i])
				refused.Add("State %d: refused %v", i, err != nil)
				l.bests.Add("State %d: then %s, wait %d", i, s.best(), s.State().Wait)
			}
			m.train(r)
			s.restore(m)
		}
		all()
		right := earlystop.State{Mode: mode, Wait: 3, HasBest: true, Best: x, BestEpoch: 1, Saved: true, Weights: weights}
		refused.Add("a right one: refused %v", s.SetState(right) != nil)
		l.bests.Add("a right one: then %s", s.best())
		s.restore(m)
		all()
		s.epoch(7, x, m)
		for _, i := range r.Perm(int(earlystop.NonFinite) + 1) {
			right.Reason = earlystop.Reason(i)
			refused.Add("Reason %d: refused %v", i, s.SetState(right) != nil)
			l.stops.Add("Reason %d: then %s", i, reason(s.Reason()))
		}
		refused = append(refused, l.takes(s, x, weights)...)
	}
	o.Strings("which States are refused", refused)
	o.Strings("best after each State", l.bests)
	o.Strings("Reason after each State", l.stops)
	o.Strings("weights that Restore brings back", l.weights)
}

// takes gives s States at the edge of what a Stopper of its Mode may have.
func (l *log) takes(s session, x float64, weights [][]float64) (refused notes) {
	mode := s.State().Mode
	for i, st := range []earlystop.State{
		{HasBest: true, Best: sign(mode) * inf, BestEpoch: 1},
		{HasBest: true, Best: sign(mode) * inf, BestEpoch: 2, Saved: true, Weights: weights},
		{HasBest: true, Best: sign(mode) * math.MaxFloat64, BestEpoch: math.MaxInt},
		{HasBest: true, Best: -sign(mode) * math.MaxFloat64, BestEpoch: math.MinInt},
		{HasBest: true, Best: -x, BestEpoch: -3, Saved: true, Weights: [][]float64{{nan, inf, x}, {-inf}}},
		{HasBest: true, Best: x, BestEpoch: 5, Saved: true},
		{Wait: 1 << 40},
		{Wait: 41, HasBest: true, Best: x},
		{Reason: earlystop.NonFinite},
		{},
	} {
		st.Mode = mode
		refused.Add("State at the edge %d: refused %v", i, s.SetState(st) != nil)
		l.bests.Add("State at the edge %d: then %s", i, s.best())
		if st.Wait > 0 {
			l.bests.Add("State at the edge %d: then wait %d", i, s.State().Wait)
		}
	}
	return refused
}

// ofNothing gives the State of a new Stopper, or one after Reset, to one that has seen
// something.
func ofNothing(t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	asNew := true
	for i, seen := range [][]float64{{}, {3}, {3, 4, 5, 6}, {5, 4, 6}, {nan, nan}, {inf, -inf}} {
		cfg := earlystop.Config{Mode: earlystop.Mode(i % 2), Patience: 2}
		fresh := newStopper(t, cfg)
		for range 2 {
			s := newStopper(t, cfg)
			for epoch, metric := range seen {
				s.Observe(some+epoch, metric, newModel(r, 2))
			}
			if s.SetState(fresh.State()) != nil {
				t.Error("SetState refuses the State of one that has seen nothing")
			}
			twin := newStopper(t, cfg)
			asNew = asNew && fields(s.State()) == fields(twin.State())
			for _, of := range []*earlystop.Stopper{s, twin} { // the worst of the finite numbers improves
				of.Observe(some, -sign(cfg.Mode)*math.MaxFloat64, ordinary())
			}
			asNew = asNew && fields(s.State()) == fields(twin.State())
			fresh.Observe(some+9, dyadic(r, 1, 9), newModel(r, 3))
			fresh.Reset()
		}
	}
	o.Bool("after SetState of a new one's State all of the State is as of a new one", asNew)
}

// infiniteBests goes on from infinite bests, which are bests like any other, and with
// weights that are not finite.
func infiniteBests(t *testing.T, o *observe.Observer, carry func(from, to session)) {
	t.Helper()
	r := o.Rand()
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		var l log
		best := sign(mode) * inf
		s, next := begin(t, &l, earlystop.Config{Mode: mode, Patience: 4}), begin(t, &l, earlystop.Config{Mode: mode, Patience: 4})
		m := newModel(r, 3, 2)
		m.layers[0][r.IntN(3)], m.layers[1][0], m.layers[1][1] = nan, best, -best
		s.epoch(some, dyadic(r, 30, 60), m)
		s.epoch(some+1, best, m)
		m.train(r)
		s.epoch(some+2, dyadic(r, 30, 60), m)
		carry(s, next)
		l.words.Add("resumed: %s", next.best())
		for i, metric := range []float64{dyadic(r, 30, 60), best, -best, nan} {
			next.epoch(some+3+i, metric, m)
		}
		next.restore(m)
		o.Strings("an infinite best: best", l.words)
		o.Strings("an infinite best: when it stops", l.stops)
		o.Strings("an infinite best: weights", l.weights)
	}
}
