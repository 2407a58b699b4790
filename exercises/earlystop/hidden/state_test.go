package hidden

import (
	"encoding/json"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// After Reset a Stopper is as new, with the Config it has: no best, no snapshot, no
// count of bad epochs, not stopped. The next training may have other layers.
func TestReset(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		s := begin(t, &lines, earlystop.Config{Mode: mode, Patience: 3, StartEpoch: 2, MinDelta: 0.25, CheckFinite: true})
		for round := range 5 {
			m := newModel(r, 1+r.IntN(3), 2+round)
			metrics := course(r, 30, 0.25, round%2 == 1)
			if round == 2 {
				metrics = metrics[:4] // in the middle of a run
			}
			for epoch, metric := range metrics {
				m.train(r)
				if s.epoch(epoch, metric, m) {
					break
				}
			}
			m.train(r)
			s.restore(m)
			s.Reset()
			lines.Add("reset: %s, wait %d", s.status(), s.State().Wait)
			s.restore(m)
		}
	}
	o.Transcript("epochs", &lines)
}

// interrupted is a training that changes Stoppers in the middle, by way of carry.
func interrupted(t *testing.T, o *observe.Observer, carry func(from, to session)) {
	t.Helper()
	r := o.Rand()
	var lines observe.Transcript
	for round := range 12 {
		mode := earlystop.Mode(round % 2)
		cfg := earlystop.Config{Mode: mode, Patience: 5, MinDelta: 0.25, CheckFinite: true}
		m := newModel(r, 2, 3)
		s := begin(t, &lines, cfg)
		metrics := course(r, 40, 0.25, false)
		pause := round // also before the first epoch
		for epoch, metric := range metrics {
			if epoch == pause {
				cfg.Patience += r.IntN(3) // the Config is that of the new one
				next := begin(t, &lines, cfg)
				if round%3 == 0 { // it may have seen other things before
					next.epoch(0, -99, newModel(r, 4))
					next.epoch(1, 99, newModel(r, 4))
				}
				carry(s, next)
				s = next
				lines.Add("resumed: %s", s.status())
			}
			m.train(r)
			s.epoch(epoch, metric, m)
		}
		m.train(r)
		s.restore(m)
	}
	o.Transcript("epochs", &lines)
}

// SetState makes a Stopper go on from where another one was, exactly as that would
// have gone on: count of bad epochs, best, snapshot, and whether and why it
// stopped. What it has seen itself before is gone; its Config is its own.
func TestState(t *testing.T) {
	o := observe.New(t)
	interrupted(t, o, func(from, to session) {
		if err := to.SetState(from.State()); err != nil {
			t.Error("SetState refuses a State")
		}
	})
}

// A State survives encoding/json, also that of a Stopper which has seen nothing:
// JSON has no infinities.
func TestStateJSON(t *testing.T) {
	o := observe.New(t)
	interrupted(t, o, func(from, to session) {
		text, err := json.Marshal(from.State())
		if err != nil {
			t.Error("json.Marshal refuses a State")
			return
		}
		var st earlystop.State
		if err := json.Unmarshal(text, &st); err != nil {
			t.Error("json.Unmarshal refuses what json.Marshal made of a State")
		}
		if err := to.SetState(st); err != nil {
			t.Error("SetState refuses a State that has been through JSON")
		}
	})
}

// A State shares no memory with a Stopper: neither with the one it is of, nor with
// the one it is given to. Its fields say what the Stopper has seen.
func TestStateIsACopy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	show := func(st earlystop.State) {
		lines.Add("mode %d, wait %d, %s, best %v %v of %d, saved %v %v",
			int(st.Mode), st.Wait, reason(st.Reason), st.HasBest, st.Best, st.BestEpoch, st.Saved, slices.Concat(st.Weights...))
	}
	mode := earlystop.Mode(r.IntN(2))
	s := begin(t, &lines, earlystop.Config{Mode: mode, Patience: 3})
	show(s.State())
	x, step := dyadic(r, 1, 20), -1.0
	if mode == earlystop.Max {
		step = 1
	}
	m := newModel(r, 2, 0, 1)
	s.epoch(5, x, m)
	s.epoch(6, x, m)
	st := s.State()
	show(st)
	m.train(r)
	s.epoch(9, x+step, m) // changes the Stopper, and no State
	show(st)
	if len(st.Weights) != 3 || len(st.Weights[0]) != 2 || len(st.Weights[2]) != 1 {
		t.Error("a State does not have the snapshot's layers")
		o.Transcript("states", &lines)
		return
	}
	st.Weights[0][1] = r.NormFloat64() // changes the State, and no Stopper
	s.restore(m)

	first, second := begin(t, &lines, earlystop.Config{Mode: mode, Patience: 2}), begin(t, &lines, earlystop.Config{Mode: mode, Patience: 1})
	for _, to := range []session{first, second} {
		lines.Add("set: error %s", kind(to.SetState(st)))
	}
	m.train(r)
	first.epoch(11, x+2*step, m)
	first.restore(m)
	second.restore(m)
	show(st)
	st.Weights[0][0], st.Weights[2][0] = r.NormFloat64(), r.NormFloat64()
	second.restore(m)
	first.restore(m)
	second.epoch(12, x-step, nil)
	show(second.State())
	o.Transcript("states", &lines)
}

// SetState refuses, and changes nothing, for a State that no Stopper of its Mode can
// have, and takes every other: with each Reason there is.
func TestSetStateRefuses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		x := dyadic(r, 1, 20)
		s := begin(t, &lines, earlystop.Config{Mode: mode, Patience: 4})
		m := newModel(r, 2)
		s.epoch(3, x, m)
		s.epoch(4, x, m)
		weights := [][]float64{{r.NormFloat64(), r.NormFloat64()}}
		states := []earlystop.State{
			{Mode: 1 - mode}, {Mode: 2}, {Mode: mode, Wait: -1 - r.IntN(9)}, {Mode: mode, Reason: 5}, {Mode: mode, Reason: -1},
			{Mode: mode, HasBest: true, Best: nan}, {Mode: mode, Saved: true, Weights: weights},
			{Mode: 1 - mode, HasBest: true, Best: x, BestEpoch: 3, Saved: true, Weights: weights},
			{Mode: mode, Wait: -1, HasBest: true, Best: x, BestEpoch: 3, Saved: true, Weights: weights},
		}
		for _, i := range r.Perm(len(states)) {
			err := s.SetState(states[i])
			lines.Add("State %d: refused %v, then %s, wait %d", i, err != nil, s.status(), s.State().Wait)
		}
		m.train(r)
		s.restore(m)
		right := earlystop.State{Mode: mode, Wait: 3, HasBest: true, Best: x, BestEpoch: 1, Saved: true, Weights: weights}
		lines.Add("a right one: refused %v, then %s", s.SetState(right) != nil, s.status())
		s.restore(m)
		s.epoch(7, x, m)
		for _, i := range r.Perm(int(earlystop.NonFinite) + 1) {
			right.Reason = earlystop.Reason(i)
			lines.Add("Reason %d: refused %v, then %s", i, s.SetState(right) != nil, s.status())
		}
	}
	o.Transcript("states", &lines)
}
