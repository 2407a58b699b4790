package hidden

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// After Reset a Stopper is as new, with the Config it has: no best, no snapshot, no
// count of bad epochs, not stopped, for whatever reason it was. The next training may have
// other layers, and more of them or fewer.
func TestReset(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i, way := range []string{"in the middle of a training", "after a stop", "again and again"} {
		var l, ofNew log
		var found notes
		var waits []int
		mode := earlystop.Mode(i % 2)
		cfg, asNew := earlystop.Config{Mode: mode, Patience: 20}, true
		s := begin(t, &l, cfg)
		for round := range 5 {
			lengths := []int{1 + r.IntN(3), 2 + round, 1, 2}
			m := newModel(r, lengths[:[]int{3, 2, 4, 1, 2}[round]]...) // fewer layers than before, or more
			twin := begin(t, &ofNew, cfg)
			for epoch, metric := range climbs(r, mode) {
				m.train(r)
				s.epoch(some+epoch, 200+metric+float64(10*(i-round)), m)
				twin.epoch(some+epoch, 200+metric+float64(10*(i-round)), m)
			}
			for i := range 30 {
				if way == "after a stop" {
					s.Observe(99+i, nan, m)
				}
			}
			s.restore(m)
			s.Reset()
			for i := range 1<<16 + 1 {
				if way != "again and again" || i == 3<<round {
					break
				}
				s.Reset()
			}
			_, _, ok := s.Best()
			found.Add("reset: %s, best %v", reason(s.Reason()), ok)
			waits = append(waits, s.State().Wait)
			asNew = asNew && fields(s.State()) == fields(newStopper(t, cfg).State())
			s.restore(m)
		}
		if way == "again and again" { // counts of 8 and of 16 bits
			for _, n := range []int{1 << 8, 1 << 16} {
				m := newModel(r, 2)
				s.Observe(n, dyadic(r, 100, 120), m)
				for range n {
					s.Reset()
				}
				_, _, ok := s.Best()
				found.Add("reset: best %v", ok)
				s.restore(m)
			}
		}
		var again log
		for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} { // with each thing that a training may have seen
			sign := -sign(mode)
			// The last ones diverge, are good enough, or are not finite.
			for _, seen := range [][]float64{{-9}, {9, 8, 7}, {-9, 9, 9}, {nan}, {0.5, 3}, {60}, {9, 60}, {-60}, {9, -60}, {inf}, {9, inf}} {
				base, far, near := 100+dyadic(r, -1, 1)/4, 100+sign*50.0, 100-sign*50.0
				cfg := earlystop.Config{Mode: mode, Patience: 2, Baseline: &base, StopAt: &near, DivergeAt: &far, MinDelta: 0.25}
				cfg.CheckFinite = seen[len(seen)-1] == inf
				s, m := begin(t, &again, cfg), ordinary()
				for epoch, metric := range seen {
					s.Observe(some+epoch, 100+sign*metric, m)
				}
				s.Reset()
				asNew = asNew && fields(s.State()) == fields(newStopper(t, cfg).State())
				*s.begun = false
				s.run(100+sign*7, 100+sign*6, 100+sign*5, 100+sign*4)
				begin(t, &ofNew, cfg).run(100+sign*7, 100+sign*6, 100+sign*5, 100+sign*4)
				// The worst of the finite numbers improves as it does on a new one.
				plain := begin(t, &again, earlystop.Config{Mode: mode, Patience: 2})
				plain.Observe(some, 100+sign*seen[0], m)
				plain.Reset()
				*plain.begun = false
				plain.run(sign*math.MaxFloat64, base)
				begin(t, &ofNew, earlystop.Config{Mode: mode, Patience: 2}).run(sign*math.MaxFloat64, base)
			}
		}
		o.Strings(way+": errors", l.errors)
		o.Strings(way+": whether there is a best after Reset, and a reason", found)
		o.Bool(way+": best after each epoch as of a new one", slices.Equal(append(l.words, again.words...), ofNew.words))
		o.Bool(way+": Observe returns what that of a new one does", slices.Equal(append(l.stops, again.stops...), ofNew.stops))
		o.Strings(way+": weights", l.weights)
		o.Ints(way+": Wait of the State after Reset", waits)
		o.Bool(way+": all of the State after Reset as of a new one", asNew)
	}
}

// fields are all fields of a State, in words.
func fields(st earlystop.State) string {
	if st.Best == 0 {
		st.Best = 0 // also -0, as of one that turns scores into losses
	}
	return fmt.Sprintf("mode %d, wait %d, %s, best %v %v of %d, saved %v %v",
		int(st.Mode), st.Wait, reason(st.Reason), st.HasBest, st.Best, st.BestEpoch, st.Saved, slices.Concat(st.Weights...))
}

// interrupted is a training that changes Stoppers in the middle, by way of carry. A
// twin goes through it without: all that can be seen of the two has to be the same.
func interrupted(t *testing.T, o *observe.Observer, carry func(from, to session)) {
	t.Helper()
	r := o.Rand()
	var bests notes
	stops, same, weights := true, true, true
	for round := range 12 {
		mode := earlystop.Mode(round % 2)
		cfg := earlystop.Config{Mode: mode, Patience: 5, MinDelta: 0.25, CheckFinite: round%4 < 2}
		m := newModel(r, 2, 3)
		var l, ofTwin log
		s, twin := begin(t, &l, cfg), begin(t, &ofTwin, cfg)
		metrics := append(climbs(r, mode), course(r, 30, 0.25, false)...)
		for epoch, metric := range metrics {
			if epoch == round { // also before the first epoch
				next := begin(t, &l, cfg)
				if round%3 == 0 { // it may have seen other things before
					next.Observe(some, -99, newModel(r, 4))
					next.Observe(some+1, 99, newModel(r, 4))
				}
				carry(s, next)
				*next.begun = *s.begun
				s = next
				a, b := newModel(r, 2, 3), newModel(r, 2, 3)
				if twin.restore(b); kind(twin.Restore(b)) == "ErrNoBest" {
					copy(a.layers[0], b.layers[0])
					copy(a.layers[1], b.layers[1])
				}
				s.restore(a)
				if best, _, ok := s.Best(); round > 0 {
					bests.Add("resumed: %s", number(best, ok))
				}
			}
			m.train(r)
			s.epoch(some+epoch, metric, m)
			twin.epoch(some+epoch, metric, m)
		}
		other := newModel(r, 2, 3)
		copy(other.layers[0], m.layers[0])
		copy(other.layers[1], m.layers[1])
		s.restore(m)
		twin.restore(other)
		stops = stops && slices.Equal(l.stops, ofTwin.stops)
		same = same && slices.Equal(l.words, ofTwin.words)
		weights = weights && slices.Equal(l.weights, ofTwin.weights) && slices.Equal(l.errors, ofTwin.errors)
	}
	o.Strings("best of each Stopper that goes on", bests)
	o.Bool("it stops as one that was not interrupted", stops)
	o.Bool("its best is that of one that was not interrupted", same)
	o.Bool("weights agree: it restores as one that was not interrupted", weights)
}

// SetState makes a Stopper go on from where another one was, exactly as that would
// have gone on: count of bad epochs, best, snapshot, and whether and why it
// stopped. What it has seen itself before is gone; its Config is its own. Afterwards
// it refuses other layers, takes no model and is reset as any other Stopper.
func TestState(t *testing.T) {
	o := observe.New(t)
	carry := func(from, to session) {
		if err := to.SetState(from.State()); err != nil {
			t.Error("SetState refuses a State")
		}
	}
	interrupted(t, o, carry)
	goesOn(t, o, carry)
	patienceOfTheNew(t, o, carry)
	ofNothing(t, o)
	zeros(t, o, "weights agree: signs of zeros", carry)
	infiniteBests(t, o, carry)
	otherLimits(t, o, carry)
}

// otherLimits shows metrics within its limits to a Stopper that goes on with a best beyond them, or with
// none: limits are about metrics, so it stops as little as one without a best does.
func otherLimits(t *testing.T, o *observe.Observer, carry func(from, to session)) {
	t.Helper()
	r := o.Rand()
	var l, ofNew log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign, x := sign(mode), dyadic(r, -9, 9)
		for _, seen := range [][]float64{{x + 20*sign}, {x - 20*sign}, {x + 3*sign}, {x - 3*sign}, {sign * inf}, {nan}, {}} {
			for _, limits := range [][2]*float64{{new(x + 2*sign), nil}, {nil, new(x - 2*sign)}, {new(x + 2*sign), new(x - 2*sign)}} {
				s := begin(t, &l, earlystop.Config{Mode: mode, Patience: endless})
				for i, metric := range seen {
					s.Observe(some+i, metric, ordinary())
				}
				cfg := earlystop.Config{Mode: mode, Patience: endless, MinDelta: dyadic(r, 0, 1), StopAt: limits[0], DivergeAt: limits[1], CheckFinite: true}
				next := begin(t, &l, cfg)
				carry(s, next)
				metrics := []float64{x - sign, x + dyadic(r, -1, 1), x - dyadic(r, -1, 1), x + sign, x, x + 2*sign, x - 2*sign}
				next.run(metrics...)
				begin(t, &ofNew, cfg).run(metrics...)
			}
		}
	}
	o.Bool("with other limits it stops as one without a best", slices.Equal(l.stops, ofNew.stops))
}

// patienceOfTheNew records how many bad epochs a Stopper bears that goes on with
// another Patience: the Config is its own, the count that of the State.
func patienceOfTheNew(t *testing.T, o *observe.Observer, carry func(from, to session)) {
	t.Helper()
	var l, ofNew log
	r := o.Rand()
	x, m := dyadic(r, 30, 60), ordinary()
	bad := func() []float64 { return []float64{x + 1, x + dyadic(r, 1, 9), x + 2, x + 3, x + 4, x + 5, x + 6} }
	// fresh is a Stopper with so much patience left, after one best.
	fresh := func(left int) session {
		s := begin(t, &ofNew, earlystop.Config{Patience: left})
		s.Observe(some, x, m)
		return s
	}
	for _, c := range []struct{ before, bad, after int }{{4, 3, 9}, {9, 3, 4}, {300, 290, 291}} {
		s, next := begin(t, &l, earlystop.Config{Patience: c.before}), begin(t, &l, earlystop.Config{Patience: c.after})
		s.Observe(some, x, m)
		for epoch := range c.bad {
			s.Observe(some+1+epoch, x+1, m)
		}
		carry(s, next)
		l.stops.Add("resumed: %s, wait %v", reason(next.Reason()), next.State().Wait == s.State().Wait)
		ofNew.stops.Add("resumed: running, wait true")
		metrics := bad()
		next.run(metrics...)
		fresh(c.after - c.bad).run(metrics...)
	}
	for _, wait := range []int{1<<8 - 2, 1<<16 - 2, 1<<32 - 2} { // counts that go beyond 8, 16 and 32 bits
		s := begin(t, &l, earlystop.Config{Patience: wait + 4})
		if err := s.SetState(earlystop.State{Wait: wait, HasBest: true, Best: x, BestEpoch: some}); err != nil {
			t.Error("SetState refuses a State with a long count")
		}
		metrics := bad()
		s.run(metrics...)
		fresh(4).run(metrics...)
	}
	s, next := begin(t, &l, earlystop.Config{Patience: 2}), begin(t, &l, earlystop.Config{Patience: 50})
	for epoch := range 6 { // which has stopped
		s.Observe(some+epoch, x+float64(epoch), m)
	}
	carry(s, next)
	s, short := begin(t, &l, earlystop.Config{Patience: 9}), newStopper(t, earlystop.Config{Patience: 2})
	for epoch := range 5 {
		s.Observe(some+epoch, x+float64(epoch), m)
	}
	carry(s, session{short, &l, new(bool)})
	longPatience(t, o, s, x, carry)
	harderBaseline(t, o, x, carry)
	before := reason(short.Reason())
	o.Bool("a State keeps the count that is above its Stopper's Patience", short.State().Wait == s.State().Wait)
	short.Observe(some+5, x+9, m)
	o.Bool("a Stopper with another Patience goes on for as long as it bears", slices.Equal(l.stops, ofNew.stops))
	o.String("Reason of a stopped one with another Patience", reason(next.Reason()))
	o.Strings("Reason of one with less Patience, before and after a bad epoch", []string{before, reason(short.Reason())})
}

// longPatience shows one epoch to Stoppers that go on with less Patience than bad epochs have
// been counted. The count alone stops none of them: an epoch that improves sets it to 0.
func longPatience(t *testing.T, o *observe.Observer, from session, x float64, carry func(from, to session)) {
	t.Helper()
	for _, c := range []struct {
		name   string
		metric float64
	}{{"improves", x - dyadic(o.Rand(), 1, 9)}, {"is good enough", x - 20}, {"diverges", x + 20}} {
		cfg := earlystop.Config{Patience: 2, StopAt: new(x - 10), DivergeAt: new(x + 10)}
		s := session{newStopper(t, cfg), new(log), new(bool)}
		carry(from, s)
		stop, _ := s.Observe(some+5, c.metric, ordinary())
		o.String("one with less Patience, after an epoch that "+c.name, fmt.Sprintf("metric %v: stop %v, %s", c.metric, stop, reason(s.Reason())))
		if c.name == "improves" {
			o.Int("Wait of one with less Patience, after an epoch that improves", s.State().Wait)
		}
	}
}

// harderBaseline shows an improvement to Stoppers that go on with a Baseline which it does not beat:
// that the other Stopper's was beaten, or that it had none, does not count.
func harderBaseline(t *testing.T, o *observe.Observer, x float64, carry func(from, to session)) {
	t.Helper()
	for _, old := range []*float64{nil, new(x + 30)} {
		s := session{newStopper(t, earlystop.Config{Patience: 9, Baseline: old}), new(log), new(bool)}
		next := session{newStopper(t, earlystop.Config{Patience: 9, Baseline: new(x - 50)}), new(log), new(bool)}
		s.Observe(some, x, ordinary())
		s.Observe(some+1, x-1, ordinary())
		carry(s, next)
		next.Observe(some+2, x-2, ordinary())
		o.Int("Wait of one with another Baseline, after an improvement that does not beat it", next.State().Wait)
	}
}

// A State survives encoding/json, also that of a Stopper which has seen nothing:
// JSON has no infinities.
func TestStateJSON(t *testing.T) {
	o := observe.New(t)
	carry := func(from, to session) {
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
	}
	interrupted(t, o, carry)
	goesOn(t, o, carry)
	patienceOfTheNew(t, o, carry)
}

// A State shares no memory with a Stopper: neither with the one it is of, nor with
// the one it is given to. Its fields say what the Stopper has seen.
func TestStateIsACopy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	var states notes
	show := func(st earlystop.State) { states.Add("%s", fields(st)) }
	mode := earlystop.Mode(r.IntN(2))
	s := begin(t, &l, earlystop.Config{Mode: mode, Patience: 3})
	show(s.State())
	x, step := 1+19*r.Float64(), -1.0
	if mode == earlystop.Max {
		step = 1
	}
	m := newModel(r, 2, 0, 1)
	s.epoch(5, x, m)
	s.epoch(6, x-step, m)
	st := s.State()
	show(st)
	m.train(r)
	s.epoch(9, x+step, m) // changes the Stopper, and no State
	show(st)
	if len(st.Weights) != 3 || len(st.Weights[0]) != 2 || len(st.Weights[2]) != 1 {
		t.Error("a State does not have the snapshot's layers")
		o.Strings("fields of each State", states)
		return
	}
	st.Weights[0][1] = r.NormFloat64() // changes the State, and no Stopper
	s.restore(m)

	one, other := s.State(), s.State()
	if len(one.Weights) > 0 && len(one.Weights[0]) > 0 { // no State shares memory with another one of the same snapshot
		show(other)
		one.Weights[0][0] += 1000
		show(other)
		show(s.State())
	}
	first, second := begin(t, &l, earlystop.Config{Mode: mode, Patience: 2}), begin(t, &l, earlystop.Config{Mode: mode, Patience: 1})
	for _, to := range []session{first, second} {
		l.errors.Add("set: error %s", kind(to.SetState(st)))
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
	show(st) // no State shares memory with another either
	// An improvement: that of the second one was none, and its snapshot stays.
	first.epoch(12, x+3*step, nil)
	o.String("fields of a State after a best without a model", fields(first.State()))
	o.Strings("fields of each State", states)
	o.Strings("weights that Restore brings back", l.weights)
	o.Strings("errors", l.errors)
	apart(t, o)
	largeState(t, o)
}

// apart has Stoppers that have given or taken a State see a new best, and writes into the State.
// It is of one layer, and of more: nothing of it may change another.
func apart(t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	var l log
	var states notes
	cfg := earlystop.Config{Patience: endless}
	for _, lengths := range [][]int{{1}, {2}, {0, 3}, {2, 2}} {
		s, next, other := begin(t, &l, cfg), begin(t, &l, cfg), begin(t, &l, cfg)
		x, m := dyadic(r, 30, 60), newModel(r, lengths...)
		s.epoch(some, x, m)
		st := s.State()
		for _, to := range []session{next, other} {
			l.errors.Add("set: error %s", kind(to.SetState(st)))
		}
		for _, improves := range []session{other, s} {
			m.train(r)
			improves.epoch(some+1, x-1, m)
			states.Add("%s", fields(st))
			next.restore(m)
		}
		for _, layer := range st.Weights {
			for i := range layer {
				layer[i] += 1000
			}
		}
		for _, of := range []session{next, other, s} {
			of.restore(m)
			states.Add("%s", fields(of.State()))
		}
		m.train(r)
		next.epoch(some+1, x-1, m)
		states.Add("%s", fields(st))
	}
	o.Strings("fields of each State, of one layer and more", states)
	o.Strings("weights that Restore brings back, of one layer and more", l.weights)
	o.Strings("errors, of one layer and more", l.errors)
}
