package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
)

// trainer trains a linear model by mini-batches, with Adam (Kingma and Ba, 2015) or with
// momentum. All that changes while it trains is in its State, whose numbers are those that
// it works with.
type trainer struct {
	state
	adam bool
	x, y []float64
	pcg  *rand.PCG
}

const features, samples, batch = 4, 23, 3

// newTrainer begins a training. Only its first numbers, and not the data, are of seed.
func newTrainer(data [2][]float64, adam bool, seed uint64) *trainer {
	t := &trainer{adam: adam, x: data[0], y: data[1], pcg: rand.NewPCG(seed, 7)}
	r := rand.New(t.pcg)
	t.Model = []tensor{{Name: "weights", Data: numbers(r, features)}, {Name: "bias", Data: numbers(r, 1)}}
	for _, p := range t.Model {
		t.Optimizer = append(t.Optimizer, tensor{Name: p.Name + ".1", Data: make([]float64, len(p.Data))}, tensor{Name: p.Name + ".2", Data: make([]float64, len(p.Data))})
	}
	t.Rate, t.Metric = 0.1, math.NaN()
	t.keepGenerator()
	return t
}

func (t *trainer) keepGenerator() { t.RNG, _ = t.pcg.MarshalBinary() }

// resumed makes what is not in the State out of what is.
func (t *trainer) resumed() error { return t.pcg.UnmarshalBinary(t.RNG) }

// shuffled is the order of this epoch, which the Epoch alone decides.
func (t *trainer) shuffled() []int { return rand.New(rand.NewPCG(uint64(t.Epoch), 3)).Perm(samples) }

// train makes a step.
func (t *trainer) train() {
	r := rand.New(t.pcg)
	grads := [][]float64{make([]float64, features), make([]float64, 1)}
	order, loss := t.shuffled(), 0.0
	used := order[t.Position:min(t.Position+batch, samples)]
	for _, i := range used {
		out := t.Model[1].Data[0]
		for j := range features {
			if r.Float64() < 0.8 { // dropout
				out += t.Model[0].Data[j] * t.x[i*features+j]
			}
		}
		off := out - t.y[i]
		loss += off * off
		grads[1][0] += off
		for j := range features {
			grads[0][j] += off * t.x[i*features+j]
		}
	}
	t.Metric = loss
	t.Position += len(used)
	if t.Position == samples {
		t.Epoch, t.Position = t.Epoch+1, 0
	}
	t.Step++
	for p := range grads {
		for j, g := range grads[p] {
			t.update(p, j, g)
		}
	}
	t.Rate *= 0.99
	t.keepGenerator()
}

func (t *trainer) update(p, j int, g float64) {
	m, v := &t.Optimizer[2*p].Data[j], &t.Optimizer[2*p+1].Data[j]
	if !t.adam {
		*m = 0.9**m + g
		t.Model[p].Data[j] -= t.Rate / 100 * *m
		return
	}
	*m = 0.9**m + 0.1*g
	*v = 0.999**v + 0.001*g*g
	n := float64(t.Step)
	t.Model[p].Data[j] -= t.Rate * (*m / (1 - math.Pow(0.9, n))) / (math.Sqrt(*v/(1-math.Pow(0.999, n))) + 1e-8)
}

// A training that is resumed equals one that was never interrupted, bit for bit: model,
// optimizer, schedule, generator and the place in the data (rules 1 and 10).
func TestResume(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, adam := range []bool{false, true} {
		for range 3 {
			data := [2][]float64{numbers(r, samples*features), numbers(r, samples)}
			seed := r.Uint64()
			const steps = 40
			whole := newTrainer(data, adam, seed)
			for whole.Step < steps {
				whole.train()
			}
			d := newDisk()
			dead := r.IntN(5)
			got := run(t, d, newTrainer(data, adam, seed), below(r, 3, 6), steps/2+dead)
			for _, end := range []int{steps/2 + dead + 4, steps} {
				d = d.after(r, "nothing", "no name")
				got = newTrainer(data, adam, seed+1) // other numbers, which are of no matter
				m := open(t, d, config{Keep: 1})
				if err := m.Latest(&got.state); err != nil {
					t.Fatalf("Latest: %v", err)
				}
				if err := got.resumed(); err != nil || !like(got.Model, whole.Model) || !like(got.Optimizer, whole.Optimizer) {
					t.Fatalf("what is resumed has another generator (%v) or other Tensors", err)
				}
				got = run(t, d, got, below(r, 2, 4), end)
			}
			o.Ints("steps, epochs and position", []int{got.Step, got.Epoch, got.Position})
			o.Floats("weights", got.Model[0].Data, observe.Exact())
			o.Floats("momentum", slices.Concat(got.Optimizer[0].Data, got.Optimizer[1].Data), observe.Exact())
			o.Bool("as never interrupted", same(&got.state, &whole.state))
		}
	}
}

// like reports whether lists have as many Tensors of as many numbers.
func like(a, b []tensor) bool {
	return slices.EqualFunc(a, b, func(a, b tensor) bool { return len(a.Data) == len(b.Data) })
}

// run trains and saves now and then, until the end.
func run(t *testing.T, d *disk, tr *trainer, every, end int) *trainer {
	m := open(t, d, config{Keep: 1})
	for tr.Step < end {
		tr.train()
		if tr.Step%every == 0 {
			save(t, m, &tr.state)
		}
	}
	return tr
}
