package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// Observe copies the weights when the metric improves, as they are at that moment.
// Training goes on in the same arrays, and Restore brings back those of the best
// epoch: not the last ones, and not those of the epoch before the best. Weights
// are any float64, and a layer may have millions of them.
func TestSnapshot(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 4 {
		mode := earlystop.Mode(i % 2)
		s := newStopper(t, earlystop.Config{Mode: mode, Patience: endless})
		m := newModel(r, 3, 1, 4)
		for epoch, metric := range climbs(r, mode) {
			m.train(r)
			s.Observe(epoch, metric, m)
			m.layers[r.IntN(3)][0] = r.NormFloat64() // between two epochs too
		}
		m.train(r)
		o.Error("error of Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
		o.Floats("weights of the best epoch", m.weights())
	}
	many := make([]int, 300) // more layers than 8 bits count
	for i := range many {
		many[i] = r.IntN(3)
	}
	s, m := newStopper(t, earlystop.Config{Patience: endless}), newModel(r, many...)
	for epoch := range 3 {
		m.train(r)
		s.Observe(epoch, float64(-epoch), m)
	}
	m.train(r)
	o.Error("many layers: error of Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
	o.Floats("many layers: weights of the best epoch", m.weights())
	odd(t, o)
	zeros(t, o, "signs of zeros", nil)
	large(t, o)
}

// climbs are metrics that improve three times, with worse ones between and after,
// so that the best is neither the first nor the last.
func climbs(r *rand.Rand, mode earlystop.Mode) []float64 {
	sign := -1.0
	if mode == earlystop.Max {
		sign = 1
	}
	var metrics []float64
	x := dyadic(r, 1, 20)
	for range 3 {
		metrics = append(metrics, x, x-sign*dyadic(r, 30, 40))
		x += sign * dyadic(r, 1, 9)
	}
	return append(metrics, x-sign*dyadic(r, 50, 60))
}

// odd records weights that are no ordinary numbers, bit by bit but for NaN.
func odd(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	zero := math.Copysign(0, -1)
	kinds := []float64{0, zero, nan, inf, -inf, math.SmallestNonzeroFloat64, -0x1p-1060, math.MaxFloat64, anySize(r), anySize(r)}
	s := newStopper(t, earlystop.Config{Patience: endless})
	m := newModel(r, len(kinds))
	for epoch := range 8 {
		for i := range kinds { // every other time 0 and -0 change places, which are equal
			kinds[i] = -kinds[i]
		}
		copy(m.layers[0], kinds)
		s.Observe(epoch, float64(-epoch), m)
		for i, x := range kinds {
			m.layers[0][i] = -x
		}
		if epoch%4 > 1 {
			m.train(r)
		}
		o.Error("odd weights: error of Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
		var signs []int
		for _, x := range m.layers[0] {
			signs = append(signs, int(math.Float64bits(x)>>63))
			if math.IsNaN(x) {
				signs[len(signs)-1] = 2
			}
		}
		o.Floats("odd weights", m.layers[0], observe.Exact())
		o.Ints("signs of odd weights", signs)
		if epoch%2 == 1 {
			kinds = slices.Concat(kinds[1:], kinds[:1]) // in each place another one
		}
	}
}

// zeros records weights where from one best to the next, and once more before Restore, nothing
// changes but the sign of a 0 in each layer: layers that are equal need not be the same. With
// carry, it is another Stopper that restores.
func zeros(t *testing.T, o *observe.Observer, name string, carry func(from, to session)) {
	t.Helper()
	r := o.Rand()
	cfg := earlystop.Config{Patience: endless}
	s, m := begin(t, new(log), cfg), newModel(r, 1, 4, 1, 9)
	last := s
	if carry != nil {
		last = begin(t, new(log), cfg)
	}
	at := m.places(r)
	var signs []int
	for epoch := range 6 {
		for i, layer := range m.layers {
			sign := r.NormFloat64()
			if epoch == 0 { // new memory is full of 0
				sign = -1
			}
			layer[at[i]] = math.Copysign(0, sign)
		}
		s.Observe(epoch, float64(-epoch), m)
		if carry != nil {
			carry(s, last)
		}
		for i, layer := range m.layers {
			layer[at[i]] = -layer[at[i]]
		}
		last.Restore(m)
		for i, layer := range m.layers {
			signs = append(signs, int(math.Float64bits(layer[at[i]])>>63))
		}
	}
	o.Ints(name, signs)
}

// Restore writes into the slices that the model has. Whoever else holds them, such
// as an optimiser, sees the restored weights; what he writes into them afterwards
// changes the model, and not the snapshot.
func TestRestoreInPlace(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	m := newModel(r, 2, 5, 3)
	held := append([][]float64(nil), m.layers...) // the optimiser's
	optimiser := &model{layers: held}
	s := newStopper(t, earlystop.Config{Patience: 10})
	s.Observe(0, 5, m)
	optimiser.train(r)
	s.Observe(1, 4, m)
	for range 3 {
		optimiser.train(r)
		o.Floats("trained", m.weights())
		o.Error("Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
		o.Floats("restored, as the optimiser sees it", optimiser.weights())
		o.Floats("restored", m.weights())
		for i := range held {
			held[i][0] += r.NormFloat64()
		}
		o.Floats("after a step", m.weights())
	}
	// An improvement after a Restore.
	s.Observe(2, 3, m)
	optimiser.train(r)
	o.Error("Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
	o.Floats("restored in the end", optimiser.weights())
}

// Restore works whenever there is a snapshot: in the middle of training, after
// training that ended without a stop, after a stop for any reason, again and again,
// and into another model with the same layers. A best that stops the training or
// does not beat the baseline is one like any other. Restore changes nothing in the
// Stopper.
func TestRestoreAnyTime(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, ofTwin log
	var ends notes
	for i, last := range []float64{0, -60, 60, nan, 0} { // out of patience, good enough, diverged, not finite
		x := dyadic(r, 100, 120)
		cfg := earlystop.Config{Patience: 20, StopAt: new(x - 50), DivergeAt: new(x + 50), CheckFinite: true}
		if i == 4 {
			cfg.Baseline = new(x - 40) // which nothing beats
		}
		s := begin(t, &l, cfg)
		m, other := newModel(r, 2, 2), newModel(r, 2, 2)
		metrics := []float64{x, x + 1, x - 1, x + 2, x + 1, x - 2, x, x}
		for epoch, metric := range metrics {
			m.train(r)
			s.epoch(some+epoch, metric, m)
			if epoch%2 == i%2 {
				s.restore(other)
			}
		}
		s.restore(m) // training has ended
		other.train(r)
		s.restore(other)
		for epoch := range 25 { // until it stops
			m.train(r)
			metrics = append(metrics, x+last)
			s.epoch(some+8+epoch, x+last, m)
		}
		s.restore(m)
		m.train(r)
		s.restore(m)
		ends.Add("metrics from %v to %v: %s", x, x+last, reason(s.Reason()))
		twin := begin(t, &ofTwin, cfg)
		for epoch, metric := range metrics {
			twin.epoch(some+epoch, metric, m)
		}
	}
	o.Strings("weights that Restore brings back", l.weights)
	o.Strings("errors", l.errors)
	o.Strings("why each training stops", ends)
	o.Bool("stops and bests are those of a Stopper without Restore",
		slices.Equal(l.stops, ofTwin.stops) && slices.Equal(l.words, ofTwin.words))
}

// Observe walks the model when the metric improves and only then, and never writes
// into it. Reason and Best have nothing to do with a model at all.
func TestUntouched(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var called, changed notes
	m := newModel(r, 2, 3)
	s := newStopper(t, earlystop.Config{Patience: endless})
	epoch := 0
	for round := range 6 {
		for _, metric := range climbs(r, earlystop.Min) {
			metric -= float64(200 * round)
			m.walks, m.read = 0, 0
			m.train(r)
			before := m.weights()
			s.Observe(epoch, metric, m)
			s.Best()
			s.Reason()
			called.Add("epoch %d, metric %v: walked %v, all layers read %v", epoch, metric, m.walks > 0, m.read >= len(m.layers))
			for i, w := range m.weights() {
				changed.Add("weight %v, changed %v", w, w != before[i])
			}
			epoch++
		}
	}
	o.Strings("epochs in which the model is walked", called)
	o.Strings("weights that Observe changes", changed)
}

// Restore returns ErrShape for a model that has other layers than the snapshot
// (fewer, more, or of other lengths, also if the total is the same) and has then
// not changed a single weight.
func TestRestoreShape(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	m := newModel(r, 2, 3, 1)
	s := begin(t, &l, earlystop.Config{Patience: 3})
	s.epoch(0, dyadic(r, -9, 9), m)
	for _, lengths := range [][]int{
		{3, 2, 1}, {2, 3}, {2}, {}, {2, 3, 1, 1}, {2, 3, 1, 0}, {2, 3, 0}, {2, 3, 2}, {2, 2, 2}, {6}, {1, 3, 1}, {2, 3, 0, 1}, {0, 2, 3, 1},
	} {
		other := newModel(r, lengths...)
		l.weights.Add("layers %v with weights %v", lengths, other.weights())
		s.restore(other)
	}
	for _, lengths := range nearly(2, 3, 1) {
		other := newModel(r, lengths...)
		before := other.weights()
		l.errors.Add("layers %v: error %s", lengths[:3], kind(s.Restore(other)))
		l.weights.Add("layers %v: the same %v", lengths[:3], slices.Equal(before, other.weights()))
	}
	s.restore(m)
	o.Strings("errors of Restore", l.errors)
	o.Strings("weights after Restore", l.weights)
}

// An improvement with other layers than those of the snapshot is ErrShape, does not
// stop, and changes nothing: neither best, count and reason nor the snapshot. A
// metric that does not improve does not look at the layers.
func TestObserveShape(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	var waits []int
	for _, lengths := range [][]int{{2, 2}, {2, 3, 1}, {2}, {3, 2}, {5}, {2, 3, 0}} {
		x := dyadic(r, 80, 120)
		m, other := newModel(r, 2, 3), newModel(r, lengths...)
		s := begin(t, &l, earlystop.Config{Patience: 40, StopAt: new(x - 50)})
		s.epoch(some, x, m)
		s.epoch(some+1, x+1, m)
		s.epoch(some+2, x-1, other)
		waits = append(waits, s.State().Wait)
		s.epoch(some+3, x-60, other) // StopAt does not stop either
		s.epoch(some+4, x+3, other)
		waits = append(waits, s.State().Wait)
		s.restore(m)
		m.train(r)
		s.epoch(some+5, x-2, m)
		s.restore(m)
		l.weights.Add("other: %v", other.weights())
	}
	m, x := newModel(r, 2, 3), dyadic(r, 80, 120)
	s := begin(t, &l, earlystop.Config{Patience: 40})
	s.epoch(some, x, m)
	for i, lengths := range nearly(2, 3) {
		s.epoch(some+1+i, x-1, newModel(r, lengths...))
	}
	s.restore(m)
	var worse log // than the baseline
	var counts []int
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		s := begin(t, &worse, earlystop.Config{Mode: mode, Patience: 40, Baseline: new(x + sign*50)})
		s.epoch(some, x, m)
		for _, better := range []float64{1, 60, 2} { // the second one beats the baseline
			s.epoch(some+1, x+sign*better, newModel(r, 3, 2))
			counts = append(counts, s.State().Wait)
		}
		s.restore(m)
	}
	o.Strings("worse than the baseline: errors", worse.errors)
	o.Strings("worse than the baseline: weights", worse.weights)
	o.Strings("worse than the baseline: best after each epoch", worse.bests)
	o.Ints("worse than the baseline: Wait of the State", counts)
	for _, lengths := range [][]int{{}, {0}, {0, 0}} { // without a weight, and a snapshot all the same
		empty, x := newModel(r, lengths...), dyadic(r, 80, 120)
		s := begin(t, &l, earlystop.Config{Patience: 40})
		s.epoch(some, x, empty)
		for i, others := range [][]int{{1}, {2, 3}, {0, 0, 0}} {
			s.epoch(some+1+i, x-1, newModel(r, others...))
		}
		s.epoch(some+9, x-1, empty)
	}
	o.Strings("errors", l.errors)
	o.Strings("best after each epoch", l.bests)
	o.Strings("what Observe returns", l.stops)
	o.Strings("weights", l.weights)
	o.Ints("Wait of the State", waits)
}

// Without a snapshot Restore returns ErrNoBest and leaves the weights alone: when
// nothing has improved, and when the best was observed without a model, whose
// snapshot an older one is not. A model of no layers, or of empty ones, has a
// snapshot like any other. Without a model the rules on stopping are the same.
func TestNoSnapshot(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	cfg := earlystop.Config{Patience: endless}
	x := dyadic(r, -20, 20)
	m := newModel(r, 2, 2)

	var limited log // where a limit applies
	for _, cfg := range []earlystop.Config{{Patience: endless, StopAt: new(x - 5)}, {Patience: endless, Baseline: new(x - 50)}} {
		s := begin(t, &limited, cfg)
		s.epoch(0, x, m)
		s.epoch(1, x-9, nil)
		s.restore(m)
	}
	o.Strings("where a limit applies: errors", limited.errors)
	o.Strings("where a limit applies: weights after Restore", limited.weights)

	cfg.StartEpoch = 0
	s := begin(t, &l, cfg)
	s.restore(m)
	s.epoch(-1, x, m) // which is ignored
	s.restore(m)
	s.restore(newModel(r))

	s = begin(t, &l, cfg)
	s.epoch(0, x, nil)
	s.epoch(1, x+1, m)
	s.restore(m)
	s.epoch(2, x-1, m)
	s.restore(m)
	s.epoch(3, x-2, nil)
	s.restore(m)
	s.restore(newModel(r, 7))
	other := newModel(r, 3, 1)
	s.epoch(4, x-3, other) // any layers are right again
	s.restore(other)
	s.restore(m)

	for _, lengths := range [][]int{{}, {0}, {0, 0}, {0, 2, 0}} {
		m := newModel(r, lengths...)
		s := begin(t, &l, cfg)
		s.restore(m)
		s.epoch(0, x, m)
		s.epoch(1, x-dyadic(r, 1, 2), m)
		s.restore(m)
		s.restore(newModel(r, 1))
		s.restore(newModel(r, 0, 0, 0))
	}
	o.Strings("errors", l.errors)
	o.Strings("weights after Restore", l.weights)
	o.Bool("without a model it stops as with one", withoutModel(t, r))
}

// withoutModel reports whether trainings without a model stop where those with one do,
// with the same bests.
func withoutModel(t *testing.T, r *rand.Rand) bool {
	t.Helper()
	var without, with log
	for i := range 40 {
		cfg := earlystop.Config{
			Mode: earlystop.Mode(i % 2), MinDelta: dyadic(r, 0, 1), Patience: r.IntN(9), CheckFinite: r.IntN(2) == 0,
			Baseline: maybe(r.IntN(3), dyadic(r, 80, 120)), StopAt: maybe(r.IntN(3), dyadic(r, 60, 140)),
		}
		metrics := course(r, 40, cfg.MinDelta, r.IntN(2) == 0)
		begin(t, &with, cfg).run(metrics...)
		s := begin(t, &without, cfg)
		for i, metric := range metrics {
			if s.epoch(some+i, metric, nil) {
				break
			}
		}
		without.stops.Add("end")
	}
	return slices.Equal(without.stops, with.stops) && slices.Equal(without.words, with.words) &&
		slices.Equal(without.errors, with.errors)
}
