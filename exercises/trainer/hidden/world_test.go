// Package hidden holds the hidden tests of the trainer exercise. Most of them run
// the trainer in a world of fakes that compute with tokens in place of numbers: a
// prediction is a hash of the parameters, of the input and of the mode, a step
// makes new parameters of the old ones and of the gradients, and so on. What
// depends on what is thereby part of every token, any order that the README
// allows gives the same ones, and they cannot be had without making the calls.
// Other tests train a small linear model with numbers.
package hidden

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"

	"grade/observe"
	"grade/reference/trainer"
)

// A world is a model, an optimizer, a loss and what happens to them.
type world struct {
	o      *observe.Observer
	r      *rand.Rand
	device trainer.Device // of the model

	parameters, gradients, stats uint64
	remembered                   uint64 // by Forward, for Backward
	training                     bool

	moves     []string // of X and Y: what, where to
	deviceLog []string // of the model
	forwards  []string
	scales    []float64
	clips     []float64
	updates   []string // ZeroGrad, Backward and Step
	zeros     int      // ZeroGrads since Batches was called: a run that failed may have left one without a Backward
	open      int      // ranges over loaders that were not closed

	events []string // what callbacks were told
	losses []float64

	shared bool // the machine, with worlds that are to have their turn
	calls  map[string]int
	faults map[string]func() error // by kind and number of the call
}

func newWorld(o *observe.Observer) *world {
	r := o.Rand()
	return &world{o: o, r: r, device: "nowhere", parameters: r.Uint64(), training: r.IntN(2) == 0,
		calls: map[string]int{}, faults: map[string]func() error{}}
}

// A fault is an error that is injected.
type fault struct{ token uint64 }

func (f *fault) Error() string { return fmt.Sprintf("fault %x", f.token) }

// at has the n-th call of a kind, from 0, do something first, and fail if that
// does.
func (w *world) at(kind string, n int, do func() error) {
	w.faults[fmt.Sprint(kind, n)] = do
}

// fail has the n-th call of a kind fail.
func (w *world) fail(kind string, n int) {
	f := &fault{w.r.Uint64()}
	w.at(kind, n, func() error { return f })
}

func (w *world) call(kind string) error {
	n := w.calls[kind]
	w.calls[kind]++
	if w.shared {
		runtime.Gosched()
	}
	if len(w.faults) == 0 {
		return nil
	}
	if do := w.faults[fmt.Sprint(kind, n)]; do != nil {
		return do()
	}
	return nil
}

// A tensor has a token for what is in it. Base is that of the X or Y that it was
// made from, by whatever way.
type tensor struct {
	w           *world
	of, kind    string // the loader; X, Y, prediction or gradient
	token, base uint64
	n           int
	device      trainer.Device
	mean        *float64 // of a Y: the loss, where that is given
	times       int      // that it was moved
}

func (t *tensor) Len() int               { return t.n }
func (t *tensor) Device() trainer.Device { return t.device }

func (t *tensor) To(d trainer.Device) (trainer.Tensor, error) {
	t.w.moves = append(t.w.moves, fmt.Sprintf("%s %s %x to %s", t.of, t.kind, t.base, d))
	if err := t.w.call(t.of + " move " + t.kind); err != nil {
		return nil, err
	}
	t.times++
	moved := *t
	moved.device, moved.token = d, mix(t.token, uint64(t.times))
	return &moved, nil
}

// movesOf lists the moves of what is of one kind.
func (w *world) movesOf(prefix string) (list []string) {
	for _, m := range w.moves {
		if len(m) > len(prefix) && m[:len(prefix)] == prefix {
			list = append(list, m)
		}
	}
	return list
}

type contextKey struct{}

// ctx returns a context that fakes recognise.
func (w *world) ctx() context.Context {
	return context.WithValue(context.Background(), contextKey{}, w.r.Uint64())
}

func contextToken(ctx context.Context) uint64 {
	token, _ := ctx.Value(contextKey{}).(uint64)
	return token
}

var errDevice = errors.New("a tensor on another device than the model")

type model struct{ *world }

func (m model) To(d trainer.Device) error {
	m.deviceLog = append(m.deviceLog, string(d))
	if err := m.call("move model"); err != nil {
		return err
	}
	m.device = d
	m.parameters = mix(m.parameters, 1)
	return nil
}

func (m model) SetTraining(on bool) { m.training = on }
func (m model) Training() bool      { return m.training }

func (m model) Forward(ctx context.Context, x trainer.Tensor) (trainer.Tensor, error) {
	t := x.(*tensor)
	m.forwards = append(m.forwards, fmt.Sprintf("%s %x, training: %t", t.of, t.base, m.training))
	if err := m.call(t.of + " forward"); err != nil {
		return nil, err
	}
	if t.device != m.device {
		return nil, errDevice
	}
	p := &tensor{w: m.world, of: t.of, kind: "prediction", n: t.n, device: t.device, base: t.base}
	p.token = mix(m.parameters, m.stats, t.token, flag(m.training), contextToken(ctx))
	if m.training {
		m.stats = mix(m.stats, t.token)
	}
	m.remembered = p.token
	return p, nil
}

func (m model) Backward(grad trainer.Tensor) error {
	t := grad.(*tensor)
	m.updates = append(m.updates, fmt.Sprintf("Backward %x", t.base))
	if err := m.call("backward"); err != nil {
		return err
	}
	m.gradients = mix(m.gradients, t.token, m.remembered, flag(m.training))
	return nil
}

func (m model) ScaleGrads(f float64) {
	m.scales = append(m.scales, f)
	m.gradients = mix(m.gradients, 2)
}

func (m model) ClipGrads(maxNorm float64) {
	m.clips = append(m.clips, maxNorm)
	m.gradients = mix(m.gradients, 3)
}

type optimizer struct{ *world }

func (o optimizer) ZeroGrad() {
	o.zeros++
	o.updates = append(o.updates, "ZeroGrad")
	o.gradients = mix(4, uint64(o.zeros))
}

func (o optimizer) Step() error {
	o.updates = append(o.updates, "Step")
	if err := o.call("step"); err != nil {
		return err
	}
	o.parameters = mix(o.parameters, o.gradients)
	return nil
}

// loss is a number that all went into, unless Y says what it is.
func (w *world) loss(pred, y trainer.Tensor) (float64, trainer.Tensor, error) {
	p, t := pred.(*tensor), y.(*tensor)
	if err := w.call(t.of + " loss"); err != nil {
		return 0, nil, err
	}
	if p.device != w.device || t.device != w.device {
		return 0, nil, errDevice
	}
	grad := &tensor{w: w, of: t.of, kind: "gradient", n: t.n, device: w.device, base: t.base, token: mix(p.token, t.token)}
	if t.mean != nil {
		return *t.mean, grad, nil
	}
	return 0.5 + float64(grad.token>>11)/(1<<53), grad, nil
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// mix hashes tokens, by the finalizer of SplitMix64.
func mix(tokens ...uint64) uint64 {
	h := uint64(len(tokens))
	for _, t := range tokens {
		h = (h ^ t) + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
