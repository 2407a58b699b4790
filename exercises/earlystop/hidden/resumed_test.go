package hidden

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// pair is a Stopper that goes on from the State of another one, and its twin that has
// seen all of it itself. Both are shown the same.
type pair struct {
	t             *testing.T
	r             *rand.Rand
	cfg           earlystop.Config
	carry         func(from, to session)
	resumed, twin session
	x, sign       float64 // a metric; 1 or -1 by the mode
	number        int     // of the last epoch
	carried       int     // how often the one has gone on from another's State
}

// firstEpoch is the StartEpoch of each pair.
const firstEpoch = 3

func newPair(t *testing.T, r *rand.Rand, mode earlystop.Mode, carry func(from, to session)) *pair {
	t.Helper()
	p := &pair{t: t, r: r, carry: carry, x: dyadic(r, 2000, 2100), sign: -1, number: firstEpoch - 1}
	if mode == earlystop.Max {
		p.sign = 1
	}
	p.cfg = earlystop.Config{
		Mode: mode, Patience: 4, MinDelta: 0.25, StartEpoch: firstEpoch, CheckFinite: true,
		StopAt: new(p.metric(1000)), DivergeAt: new(p.metric(-1000)), Baseline: new(p.metric(-100)),
	}
	p.resumed, p.twin = begin(t, new(log), p.cfg), begin(t, new(log), p.cfg)
	return p
}

// metric is one that is so much better than x.
func (p *pair) metric(better float64) float64 { return p.x + p.sign*better }

// setState makes a new Stopper go on in the place of the one. Every other time the new
// one has seen a training of its own, and has stopped.
func (p *pair) setState() {
	next := begin(p.t, p.resumed.log, p.cfg)
	if p.carried++; (p.carried+int(p.cfg.Mode))%2 == 0 {
		next.Observe(firstEpoch, p.metric(50), newModel(p.r, 4))
		next.Observe(firstEpoch, nan, nil)
	}
	p.carry(p.resumed, next)
	p.resumed = next
}

// epoch shows both a metric and a model with layers of these lengths.
func (p *pair) epoch(better float64, lengths ...int) {
	p.number++
	m := newModel(p.r, lengths...)
	same := &model{}
	for _, layer := range m.layers {
		same.layers = append(same.layers, slices.Clone(layer))
	}
	p.resumed.epoch(p.number, p.metric(better), m)
	p.twin.epoch(p.number, p.metric(better), same)
	m.train(p.r) // goes on in the same arrays
	same.train(p.r)
}

// without shows both a metric without a model.
func (p *pair) without(better float64) {
	p.number++
	p.resumed.epoch(p.number, p.metric(better), nil)
	p.twin.epoch(p.number, p.metric(better), nil)
}

// restore restores both into models with layers of these lengths.
func (p *pair) restore(lengths ...int) {
	m := newModel(p.r, lengths...)
	same := &model{}
	for _, layer := range m.layers {
		same.layers = append(same.layers, slices.Clone(layer))
	}
	p.resumed.restore(m)
	p.twin.restore(same)
}

func (p *pair) reset() {
	for _, s := range []session{p.resumed, p.twin} {
		s.Reset()
		st := s.State()
		s.log.stops.Add("reset: %s, wait %d", reason(s.Reason()), st.Wait)
		asNew := fields(st) == fields(newStopper(p.t, p.cfg).State())
		s.log.bests.Add("reset: %s, in the State %v, with a snapshot %v, all as of a new one %v", s.best(), st.HasBest, st.Saved, asNew)
	}
}

// pasts are what a Stopper may have seen before its State is taken.
var pasts = []func(p *pair){
	func(p *pair) {},
	func(p *pair) { p.without(-200); p.without(-300) }, // better than nothing, not than the Baseline
	func(p *pair) { p.without(0); p.epoch(0, 2, 3) },
	func(p *pair) { p.epoch(0, 2, 3); p.epoch(-1, 2, 3) },
	func(p *pair) { p.epoch(0, 2, 3); p.without(1) },
	func(p *pair) { p.epoch(0) },
	func(p *pair) { p.epoch(0, 0, 0) },
	func(p *pair) { p.epoch(0, 2, 3); p.reset() },
	func(p *pair) { // stopped by patience
		for range 6 {
			p.epoch(0, 2, 3)
		}
	},
	func(p *pair) { p.epoch(0, 2, 3); p.epoch(1001, 2, 3) }, // stopped by the threshold
	func(p *pair) { p.epoch(-1001, 2, 3) },                  // diverged, without a best
}

// futures are what comes after SetState.
var futures = []struct {
	name string
	run  func(p *pair)
}{
	{"a model with other layers", func(p *pair) {
		for i, lengths := range [][]int{{3, 2}, {2, 3, 1}, {2}, {5}, {2, 3, 0}, {}, {2, 3}} {
			p.epoch(float64(2+i), lengths...)
			p.restore(2, 3)
		}
		p.epoch(1001, 4) // good enough, with other layers
		p.restore(2, 3)
	}},
	{"Restore into other layers", func(p *pair) {
		for _, lengths := range [][]int{{2, 3}, {3, 2}, {2, 3, 1}, {2}, {5}, {2, 3, 0}, {}, {0, 0}, {2, 3}} {
			p.restore(lengths...)
		}
	}},
	{"no model", func(p *pair) {
		p.without(2)
		p.restore(2, 3)
		p.epoch(1, 4)
		p.epoch(3, 4, 1) // any layers are right
		p.restore(2, 3)
		p.restore(4, 1)
		p.without(4)
		p.restore(4, 1)
	}},
	{"Reset", func(p *pair) {
		for range 2 {
			p.reset()
			p.restore(2, 3)
			p.without(-50)
			p.reset()
			p.epoch(-20, 1, 2, 1)
			p.restore(1, 2, 1)
			for range 5 { // until it stops
				p.epoch(-30, 1, 2, 1)
			}
		}
	}},
	{"Reset after an epoch", func(p *pair) {
		p.epoch(2, 2, 3)
		p.reset()
		p.restore(2, 3)
		p.epoch(1, 4)
		p.restore(4)
		p.restore(2, 3)
	}},
	{"Reset and SetState", func(p *pair) {
		p.reset()
		p.setState()
		p.restore(2, 3)
		p.epoch(-20, 4, 1)
		p.restore(4, 1)
	}},
	{"SetState again", func(p *pair) {
		p.setState()
		p.epoch(2, 2, 3)
		p.setState()
		p.epoch(1, 2, 3)
		p.epoch(3, 3, 2)
		p.restore(2, 3)
		p.setState()
		p.without(4)
		p.setState()
		p.epoch(5, 1)
		p.restore(1)
	}},
	{"bad epochs", func(p *pair) {
		for range 2 { // the first may improve, and is not better than the Baseline
			p.epoch(-150, 2, 3)
		}
		for range 6 {
			p.epoch(0.25, 2, 3)
		}
		p.restore(2, 3)
	}},
	{"a metric that is not finite", func(p *pair) { p.last(nan) }},
	{"a metric good enough", func(p *pair) { p.last(1001) }},
	{"a metric that diverges", func(p *pair) { p.last(-1001) }},
}

// last shows both an epoch that is ignored, a good one, and one that stops.
func (p *pair) last(better float64) {
	number := p.number
	p.number = firstEpoch - 2
	p.epoch(better, 7)
	p.number = number
	p.epoch(2, 2, 3)
	p.epoch(better, 2, 3)
	p.epoch(2000, 2, 3)
	p.restore(2, 3)
}

// goesOn records whether a Stopper that has been through SetState does in all things
// what one does that has seen the same itself.
func goesOn(t *testing.T, o *observe.Observer, carry func(from, to session)) {
	t.Helper()
	r := o.Rand()
	for _, future := range futures {
		stops, bests, errors, weights := true, true, true, true
		for i := range 2 * len(pasts) {
			p := newPair(t, r, earlystop.Mode(i%2), carry)
			pasts[i/2](p)
			p.setState()
			future.run(p)
			a, b := p.resumed.log, p.twin.log
			stops = stops && slices.Equal(a.stops, b.stops)
			bests = bests && slices.Equal(a.words, b.words) && slices.Equal(a.bests, b.bests)
			errors = errors && slices.Equal(a.errors, b.errors)
			weights = weights && slices.Equal(a.weights, b.weights)
		}
		name := future.name
		o.Bool("stops agree: SetState, then "+name, stops)
		o.Bool("bests agree: SetState, then "+name, bests)
		o.Bool("errors agree: SetState, then "+name, errors)
		o.Bool("weights agree: SetState, then "+name, weights)
	}
}
