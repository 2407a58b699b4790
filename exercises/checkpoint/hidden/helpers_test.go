// Package hidden holds the hidden tests of the checkpoint exercise. How a solution writes
// its bytes, names its files and how many calls it makes is its own; so the tests record
// what comes back, and count what may not be. The doc comment of a test is what a student
// is told when it fails, so it names the rule and never the input.
package hidden

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/checkpoint"
)

type (
	state  = checkpoint.State
	tensor = checkpoint.Tensor
	config = checkpoint.Config
)

// all keeps all checkpoints of these tests.
var all = config{Keep: 1000}

// kinds are the errors of a checkpoint that is none.
var kinds = []error{checkpoint.ErrFormat, checkpoint.ErrVersion, checkpoint.ErrDamaged, checkpoint.ErrNone, errDisk}

// below draws from lo to hi, both included.
func below(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// chance is a generator for what a solution has a say in: how much is drawn of it must not
// change what the tests go on with.
func chance(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), 1)) }

// numbers draws n of them.
func numbers(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// small is a State by which others can be told: each of its numbers is made of its Step.
func small(step int, metric float64) *state {
	s := &state{Step: step, Metric: metric, Model: []tensor{{Name: "w", Data: make([]float64, 17)}, {Name: "b", Data: make([]float64, 3)}}}
	for _, t := range s.Model {
		for i := range t.Data {
			t.Data[i] = float64(step) + float64(i)/32
		}
	}
	return s
}

// mixed is the Step of a State that is not small, or not wholly so.
const mixed = -2

// step returns the Step of a State that small has made.
func step(s *state) int {
	want := small(s.Step, s.Metric)
	same := slices.EqualFunc(s.Model, want.Model, func(a, b tensor) bool { return a.Name == b.Name && slices.Equal(a.Data, b.Data) })
	if !same || len(s.Optimizer) > 0 || len(s.RNG) > 0 {
		return mixed
	}
	return s.Step
}

// none is what latest and best return where there is no checkpoint.
const none = -1

// latest returns the Step of the last checkpoint.
func latest(m *checkpoint.Manager) int { return found(m.Latest) }

// best returns the Step of the best one.
func best(m *checkpoint.Manager) int { return found(m.Best) }

func found(f func(*state) error) int {
	var s state
	switch err := f(&s); {
	case err == nil:
		return step(&s)
	case errors.Is(err, checkpoint.ErrNone):
		return none
	}
	return -3
}

func open(t testing.TB, fs checkpoint.FS, cfg config) *checkpoint.Manager {
	t.Helper()
	m, err := checkpoint.Open(fs, cfg)
	if err != nil || m == nil {
		t.Fatalf("Open: a Manager is %v, error %v", m != nil, err)
	}
	return m
}

func save(t testing.TB, m *checkpoint.Manager, states ...*state) {
	t.Helper()
	for _, s := range states {
		if err := m.Save(context.Background(), s); err != nil {
			t.Fatalf("Save: %v", err)
		}
	}
}

// written returns the bytes of a State.
func written(t testing.TB, s *state) []byte {
	t.Helper()
	var w bytes.Buffer
	if err := checkpoint.Write(&w, s); err != nil {
		t.Fatalf("Write: %v", err)
	}
	return w.Bytes()
}

func read(t testing.TB, data []byte, s *state) {
	t.Helper()
	if err := checkpoint.Read(bytes.NewReader(data), s); err != nil {
		t.Fatalf("Read: %v", err)
	}
}

// draw makes a State of some Tensors.
func draw(r *rand.Rand, model, optimizer int) *state {
	s := &state{Step: r.IntN(1e6), Epoch: r.IntN(1e3), Position: r.IntN(1e5), Rate: r.Float64(), Metric: r.Float64(), RNG: drawBytes(r, below(r, 1, 40))}
	for range model {
		s.Model = append(s.Model, tensor{Name: string(drawBytes(r, below(r, 1, 12))), Data: numbers(r, below(r, 1, 40))})
	}
	for range optimizer {
		s.Optimizer = append(s.Optimizer, tensor{Name: string(drawBytes(r, below(r, 1, 12))), Data: numbers(r, below(r, 1, 40))})
	}
	return s
}

func drawBytes(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// record writes down all of a State, to the last bit.
func record(o *observe.Observer, name string, s *state) {
	o.Ints(name+": place", []int{s.Step, s.Epoch, s.Position})
	o.Ints(name+": rate and metric", bits(s.Rate, s.Metric))
	o.String(name+": generator", string(s.RNG))
	recordTensors(o, name+": model", s.Model)
	recordTensors(o, name+": optimizer", s.Optimizer)
}

func recordTensors(o *observe.Observer, name string, list []tensor) {
	o.Int(name, len(list))
	for _, t := range list {
		o.String(name+": name", t.Name)
		o.Ints(name+": numbers", bits(t.Data...))
	}
}

func bits(xs ...float64) []int {
	list := make([]int, len(xs))
	for i, x := range xs {
		list[i] = int(math.Float64bits(x))
	}
	return list
}

// sum is of all the numbers of a State, with weights, so that none may be another one, or
// in another place.
func sum(s *state) float64 {
	total, weight := 0.0, 1.0
	for _, list := range [][]tensor{s.Model, s.Optimizer} {
		for _, t := range list {
			for _, x := range t.Data {
				total += weight * x
				if weight += 0.001; weight > 2 {
					weight = 1
				}
			}
		}
	}
	return total
}

// copied returns a State that shares nothing with s.
func copied(s *state) *state {
	c := *s
	c.RNG = slices.Clone(s.RNG)
	c.Model, c.Optimizer = copiedTensors(s.Model), copiedTensors(s.Optimizer)
	return &c
}

func copiedTensors(list []tensor) []tensor {
	list = slices.Clone(list)
	for i := range list {
		list[i].Data = slices.Clone(list[i].Data)
	}
	return list
}

// same reports whether two States are equal to the last bit.
func same(a, b *state) bool {
	sameTensors := func(x, y tensor) bool { return x.Name == y.Name && slices.Equal(bits(x.Data...), bits(y.Data...)) }
	return a.Step == b.Step && a.Epoch == b.Epoch && a.Position == b.Position && slices.Equal(bits(a.Rate, a.Metric), bits(b.Rate, b.Metric)) &&
		slices.Equal(a.RNG, b.RNG) && slices.EqualFunc(a.Model, b.Model, sameTensors) && slices.EqualFunc(a.Optimizer, b.Optimizer, sameTensors)
}
