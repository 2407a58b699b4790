package hunt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
)

var (
	ErrConfig = errors.New("hunt: bad config")
	ErrSample = errors.New("hunt: bad sample")
)

// Entry is an element of a Vector.
type Entry struct {
	Index int
	Value float64
}

// Vector is sparse.
type Vector []Entry

// Sample is a Vector and its class.
type Sample struct {
	X     Vector
	Class int
}

// Config says how to train.
type Config struct {
	Features int
	Classes  int
	Epochs   int
	Batch    int
	Rate     float64
	Seed     uint64
}

// Epoch has what is measured in one.
type Epoch struct {
	Loss     float64
	Accuracy float64
}

// Model has a row for the features that it has met, and one of zeros for all others.
type Model struct {
	rows  [][]float64
	bias  []float64
	zeros []float64
}

func (m *Model) softmax(p []float64, x Vector) {
	copy(p, m.bias)
	for _, e := range x {
		row := m.rows[e.Index]
		if row == nil {
			row = m.zeros // an infinity times 0 is not 0
		}
		for c := range p {
			p[c] += float64(row[c] * e.Value)
		}
	}
	top, sum := p[0], 0.0
	for _, z := range p[1:] {
		if top < z {
			top = z
		}
	}
	for c, z := range p {
		p[c] = math.Exp(z - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
}

// Probabilities returns one for each class.
func (m *Model) Probabilities(x Vector) []float64 {
	p := make([]float64, len(m.bias))
	m.softmax(p, x)
	return p
}

// Predict returns the most probable class.
func (m *Model) Predict(x Vector) int { return first(m.Probabilities(x)) }

func first(p []float64) int {
	class, top := 0, p[0]
	for c, q := range p {
		if q > top {
			class, top = c, q
		}
	}
	return class
}

// part is what a sample of a batch has for a feature. The parts of a feature are a list.
type part struct {
	sample, next int // next: in parts; 0 is none, so that no list begins anew there
	value        float64
}

// learner has the room that a step needs.
type learner struct {
	*Model
	cfg   Config
	parts []part
	ends  []chain   // by features
	met   []int     // features with a chain
	d     []float64 // of all samples of a batch
	sum   []float64
}

// chain is where the list of a feature begins and ends; 0 is nowhere.
type chain struct{ first, last int }

// link adds a part to the list of a feature.
func (l *learner) link(feature int, p part) {
	at, end := len(l.parts), &l.ends[feature]
	l.parts = append(l.parts, p)
	if end.first == 0 {
		end.first = at
		l.met = append(l.met, feature)
	} else {
		l.parts[end.last].next = at
	}
	end.last = at
}

// Train learns from samples.
func Train(cfg Config, samples []Sample) (*Model, []Epoch, error) {
	if min(cfg.Features, cfg.Classes, cfg.Batch) < 1 || cfg.Epochs < 0 || math.IsNaN(cfg.Rate*0) {
		return nil, nil, fmt.Errorf("train: %w", ErrConfig)
	}
	for _, s := range samples {
		inside := func(e Entry) bool { return 0 <= e.Index && e.Index < cfg.Features }
		ascends := slices.IsSortedFunc(s.X, func(a, b Entry) int {
			if a.Index <= b.Index { // they are called as (next, one before)
				return -1
			}
			return 1
		})
		for _, e := range s.X {
			ascends = ascends && inside(e)
		}
		if s.Class < 0 || cfg.Classes <= s.Class || !ascends {
			return nil, nil, fmt.Errorf("train: %w", ErrSample)
		}
	}
	l := &learner{cfg: cfg, sum: make([]float64, cfg.Classes), ends: make([]chain, cfg.Features), Model: &Model{
		rows: make([][]float64, cfg.Features), bias: make([]float64, cfg.Classes), zeros: make([]float64, cfg.Classes)}}
	epochs := make([]Epoch, cfg.Epochs)
	for i := range epochs {
		order := rand.New(rand.NewPCG(cfg.Seed, uint64(i))).Perm(len(samples))
		for batch := range slices.Chunk(order, cfg.Batch) {
			l.step(samples, batch, &epochs[i])
		}
		epochs[i].Loss /= float64(len(samples))
		epochs[i].Accuracy /= float64(len(samples))
	}
	return l.Model, epochs, nil
}

func (l *learner) step(samples []Sample, batch []int, e *Epoch) {
	k := l.cfg.Classes
	l.parts, l.met, l.d = append(l.parts[:0], part{}), l.met[:0], l.d[:0]
	for n, i := range batch {
		s := samples[i]
		l.d = slices.Grow(l.d, k)[:(n+1)*k]
		p := l.d[n*k:]
		l.softmax(p, s.X)
		e.Loss -= math.Log(p[s.Class])
		if first(p) == s.Class {
			e.Accuracy++
		}
		p[s.Class]--
		for _, x := range s.X {
			l.link(x.Index, part{sample: n, value: x.Value})
		}
	}
	r := l.cfg.Rate / float64(len(batch))
	for n := range batch {
		for c, d := range l.d[n*k : (n+1)*k] {
			l.sum[c] += d
		}
	}
	l.descend(l.bias, r)
	for _, f := range l.met {
		l.feature(f, r)
	}
}

// feature moves the weights of a feature.
func (l *learner) feature(f int, r float64) {
	k := l.cfg.Classes
	for at := l.ends[f].first; at != 0; at = l.parts[at].next {
		p := &l.parts[at]
		d := l.d[p.sample*k:][:k]
		for c := range d {
			l.sum[c] += float64(p.value * d[c])
		}
	}
	l.ends[f] = chain{}
	if l.rows[f] == nil {
		l.rows[f] = make([]float64, k)
	}
	l.descend(l.rows[f], r)
}

// descend moves weights against the sum, and clears it.
func (l *learner) descend(weights []float64, r float64) {
	for c := range weights {
		weights[c] -= float64(r * l.sum[c])
	}
	clear(l.sum)
}

// Tally counts pairs in one list, and hands out copies of its parts.
func Tally(truth, predicted []int, classes int) [][]int {
	classes = max(classes, 0)
	flat := make([]int, classes*classes)
	for i := 0; i < len(truth) && i < len(predicted); i++ {
		t, p := truth[i], predicted[i]
		if 0 <= t && t < classes && 0 <= p && p < classes {
			flat[t*classes+p]++
		}
	}
	rows := make([][]int, classes)
	for t := range rows {
		rows[t] = slices.Clone(flat[t*classes : (t+1)*classes])
	}
	return rows
}

// checked remembers the first error of a writer, and does not call it again.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.Writer.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	c.err = err
	return n, err
}

// WriteMetrics writes a table.
func WriteMetrics(w io.Writer, epochs []Epoch) error {
	c := &checked{Writer: w}
	b := bufio.NewWriterSize(c, 1<<12)
	fmt.Fprintln(b, "epoch,loss,accuracy")
	for i := range epochs {
		fmt.Fprintf(b, "%d,%.6f,%.4f\n", 1+i, epochs[i].Loss, epochs[i].Accuracy)
	}
	b.Flush()
	return c.err
}
