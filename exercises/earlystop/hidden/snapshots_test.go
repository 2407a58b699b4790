package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// Observe copies the weights when the metric improves, as they are at that moment.
// Training goes on in the same arrays, and Restore brings back those of the best
// epoch: not the last ones, and not those of the epoch before the best.
func TestSnapshot(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		s := newStopper(t, earlystop.Config{Mode: earlystop.Mode(r.IntN(2)), Patience: 10})
		m := newModel(r, 3, 1, 4)
		for epoch := range 12 {
			m.train(r)
			s.Observe(epoch, dyadic(r, -9, 9), m)
			m.layers[r.IntN(3)][0] = r.NormFloat64() // between two epochs too
		}
		m.train(r)
		o.Error("Restore", s.Restore(m), earlystop.ErrNoBest, earlystop.ErrShape)
		o.Floats("weights", m.weights())
	}
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
// and into another model with the same layers. It changes nothing in the Stopper.
func TestRestoreAnyTime(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for range 3 {
		s := begin(t, &lines, earlystop.Config{Patience: 3, CheckFinite: true})
		m, other := newModel(r, 2, 2), newModel(r, 2, 2)
		x := dyadic(r, -20, 20)
		for epoch, metric := range []float64{x, x + 1, x - 1, x + 2, x + 1, x - 2, x, x} {
			m.train(r)
			s.epoch(epoch, metric, m)
			if r.IntN(2) == 0 {
				s.restore(other)
			}
		}
		s.restore(m) // training has ended
		other.train(r)
		s.restore(other)
		m.train(r)
		s.epoch(8, []float64{x, nan}[r.IntN(2)], m) // the stop
		s.restore(m)
		m.train(r)
		s.restore(m)
		lines.Add("in the end: %s", s.status())
	}
	o.Transcript("restored", &lines)
}

// Observe walks the model when the metric improves and only then, and never writes
// into it. Reason, Best and Reset have nothing to do with a model at all.
func TestUntouched(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	m := newModel(r, 2, 3)
	s := newStopper(t, earlystop.Config{Patience: 40, MinDelta: 0.5, StartEpoch: 3, DivergeAt: new(100.0)})
	for epoch, metric := range course(r, 40, 0.5, true) {
		m.walks, m.read = 0, 0
		m.train(r)
		before := m.weights()
		s.Observe(epoch, metric, m)
		s.Best()
		lines.Add("epoch %d: called %v, all layers read %v", epoch, m.walks > 0, m.read >= len(m.layers))
		for i, w := range m.weights() {
			lines.Add("weight %v, changed %v", w, w != before[i])
		}
	}
	o.Transcript("walks", &lines)
}

// Restore returns ErrShape for a model that has other layers than the snapshot
// (fewer, more, or of other lengths, also if the total is the same) and has then
// not changed a single weight.
func TestRestoreShape(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	m := newModel(r, 2, 3, 1)
	s := begin(t, &lines, earlystop.Config{Patience: 3})
	s.epoch(0, dyadic(r, -9, 9), m)
	for _, lengths := range [][]int{
		{3, 2, 1}, {2, 3}, {2}, {}, {2, 3, 1, 1}, {2, 3, 1, 0}, {2, 3, 0}, {2, 3, 2}, {2, 2, 2}, {6}, {1, 3, 1}, {2, 3, 0, 1}, {0, 2, 3, 1},
	} {
		other := newModel(r, lengths...)
		lines.Add("layers %v with weights %v", lengths, other.weights())
		s.restore(other)
	}
	m.train(r)
	s.restore(m)
	o.Transcript("restored", &lines)
}

// An improvement with other layers than those of the snapshot is ErrShape, does not
// stop, and changes nothing: neither best, count and reason nor the snapshot. A
// metric that does not improve does not look at the layers.
func TestObserveShape(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, lengths := range [][]int{{2, 2}, {2, 3, 1}, {2}, {3, 2}, {5}, {2, 3, 0}} {
		x := dyadic(r, -20, 20)
		m, other := newModel(r, 2, 3), newModel(r, lengths...)
		s := begin(t, &lines, earlystop.Config{Patience: 4, StopAt: new(x - 50)})
		s.epoch(0, x, m)
		s.epoch(1, x+1, m)
		s.epoch(2, x-1, other)
		lines.Add("wait %d", s.State().Wait)
		s.epoch(3, x-60, other) // StopAt does not stop either
		s.epoch(4, x+3, other)
		lines.Add("wait %d", s.State().Wait)
		m.train(r)
		s.restore(m)
		m.train(r)
		s.epoch(5, x-2, m)
		m.train(r)
		s.restore(m)
		lines.Add("other: %v", other.weights())
	}
	o.Transcript("epochs", &lines)
}

// Without a snapshot Restore returns ErrNoBest and leaves the weights alone: when
// nothing has improved, and when the best was observed without a model, whose
// snapshot an older one is not. A model of no layers, or of empty ones, has a
// snapshot like any other.
func TestNoSnapshot(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	cfg := earlystop.Config{Patience: 9}
	x := dyadic(r, -20, 20)
	m := newModel(r, 2, 2)

	s := begin(t, &lines, cfg)
	s.restore(m)
	s.epoch(0, nan, m)
	s.epoch(1, inf, m)
	s.restore(m)
	s.restore(newModel(r))

	s = begin(t, &lines, cfg)
	s.epoch(0, x, nil)
	s.epoch(1, x+1, m)
	s.restore(m)
	s.epoch(2, x-1, m)
	s.restore(m)
	m.train(r)
	s.epoch(3, x-2, nil)
	s.restore(m)
	s.restore(newModel(r, 7))
	other := newModel(r, 3, 1)
	s.epoch(4, x-3, other) // any layers are right again
	other.train(r)
	s.restore(other)
	s.restore(m)

	for _, lengths := range [][]int{{}, {0}, {0, 0}, {0, 2, 0}} {
		m := newModel(r, lengths...)
		s := begin(t, &lines, cfg)
		s.restore(m)
		s.epoch(0, x, m)
		s.epoch(1, x-dyadic(r, 1, 2), m)
		m.train(r)
		s.restore(m)
		s.restore(newModel(r, 1))
		s.restore(newModel(r, 0, 0, 0))
	}
	o.Transcript("restored", &lines)
}
