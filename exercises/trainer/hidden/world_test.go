// Package hidden holds the hidden tests of the trainer exercise. Most of them run
// the trainer in a world of fakes that compute with tokens in place of numbers: a
// prediction is a hash of the input, and of what else the world sees: parameters,
// mode, context. Any order that the README allows gives the same tokens, and they
// cannot be had without making the calls. Each test has a world that sees what the
// test is about and no more, so that one mistake does not cost the others. Other
// tests train a small linear model with numbers.
package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"weak"

	"grade/observe"
	"grade/reference/trainer"
)

// A facet is something that the tokens of a world depend on.
type facet uint

const (
	devices    facet = 1 << iota // where a tensor is: on another device than the model it is refused
	modes                        // whether the model is training
	contexts                     // what is in a context
	progress                     // how many Steps there were
	learning                     // all that has become of the parameters
	order                        // what had been done when a batch was asked for
	everything = 1<<iota - 1
)

// A world is a model, an optimizer, a loss and what happens to them.
type world struct {
	o      *observe.Observer
	r      *rand.Rand
	sees   facet
	device trainer.Device // of the model

	parameters, gradients, stats uint64
	remembered                   uint64 // by Forward, for Backward
	training                     bool

	moves       []move
	deviceLog   []string // of the model
	forwards    []forward
	scales      []float64
	clips       []clip
	lateScales  int      // ScaleGrads after a ClipGrads of the same window
	updates     []string // ZeroGrad, Backward and Step
	zeros       int      // ZeroGrads since Batches was called: a run that failed may have left one without a Backward
	open        int      // ranges over loaders that were not closed
	firstEpoch  int      // that Batches of the loader train was called for
	trainLoader bool     // it was

	events []event

	made      []weak.Pointer[tensor]
	given     context.Context   // to a fake, the last time
	kept      []context.Context // all that were, but for repetitions, if that is asked for
	keeps     bool
	elsewhere bool // predictions have a Len and a Device of their own
	junk      bool // an error comes with something, which is not to be used
	shared    bool // the machine, with worlds that are to have their turn
	calls     map[string]int
	faults    map[string]func() error // by kind and number of the call

	failed     bool // a fault has returned an error
	afterwards int  // calls that came later and that need not come, whatever the order
}

// newWorld makes a world that sees some facets, or none.
func newWorld(o *observe.Observer, sees ...facet) *world { return worldOf(o, o.Rand(), sees...) }

// worldOf makes a world whose tokens come from r.
func worldOf(o *observe.Observer, r *rand.Rand, sees ...facet) *world {
	w := &world{o: o, r: r, device: "nowhere", parameters: r.Uint64(), training: true,
		calls: map[string]int{}, faults: map[string]func() error{}}
	for _, f := range sees {
		w.sees |= f
	}
	return w
}

// seen is the token if the world sees the facet.
func (w *world) seen(f facet, token uint64) uint64 {
	if w.sees&f == 0 {
		return 0
	}
	return token
}

// A move is one call of To.
type move struct {
	of, kind string
	base     uint64
	n        int // samples
	to       trainer.Device
}

func (m move) String() string { return fmt.Sprintf("%s %s %x to %s", m.of, m.kind, m.base, m.to) }

// A forward is one call of Forward.
type forward struct {
	of       string
	base     uint64
	training bool
}

// A clip is one call of ClipGrads.
type clip struct {
	norm             float64
	backwards, steps int // before it
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

// gave takes down the context that a fake was given.
func (w *world) gave(ctx context.Context) {
	if w.keeps && ctx != w.given {
		w.kept = append(w.kept, ctx)
	}
	w.given = ctx
}

func (w *world) call(kind string) error {
	n := w.calls[kind]
	w.calls[kind]++
	if w.shared {
		runtime.Gosched()
	}
	if w.failed && ends(kind) {
		w.afterwards++
	}
	if len(w.faults) == 0 {
		return nil
	}
	if do := w.faults[fmt.Sprint(kind, n)]; do != nil {
		err := do()
		w.failed = w.failed || err != nil
		return err
	}
	return nil
}

// ends reports whether there are no calls of a kind after the first error. Len and Batches do no harm,
// ScaleGrads and ClipGrads are not graded then, and callbacks hear of a stop that is another's.
func ends(kind string) bool {
	switch of, what, _ := strings.Cut(kind, " "); of {
	case "zero", "backward", "step":
		return true
	case "train", "val", "test":
		return what != "Len" && what != "Batches"
	}
	return false
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

func (t *tensor) Device() trainer.Device { return t.device }

// Len cannot fail, and may panic.
func (t *tensor) Len() int {
	if len(t.w.faults) > 0 {
		t.w.call(t.of + " Len")
	}
	return t.n
}

func (t *tensor) To(d trainer.Device) (trainer.Tensor, error) {
	if t.of == aside {
		return t, nil
	}
	t.w.moves = append(t.w.moves, move{t.of, t.kind, t.base, t.n, d})
	err := t.w.call(t.of + " move " + t.kind)
	if err != nil && !t.w.junk {
		return nil, err
	}
	t.times++
	moved := *t
	moved.device = d
	if t.w.sees&devices != 0 {
		moved.token = mix(t.token, uint64(t.times))
	}
	return t.w.track(&moved), err
}

// track notes a tensor that was made.
func (w *world) track(t *tensor) *tensor {
	w.made = append(w.made, weak.Make(t))
	return t
}

// movesOf lists the moves of what is of one kind.
func (w *world) movesOf(of, kind string) (list []string) {
	for _, m := range w.moves {
		if m.of == of && m.kind == kind {
			list = append(list, m.String())
		}
	}
	return list
}

// moved counts the tensors of a kind that were moved, however often.
func (w *world) moved(of, kind string) int {
	different := map[uint64]bool{}
	for _, m := range w.moves {
		if m.of == of && m.kind == kind {
			different[m.base] = true
		}
	}
	return len(different)
}

type contextKey struct{}

// ctx returns a context that fakes recognise.
func (w *world) ctx() context.Context {
	return context.WithValue(context.Background(), contextKey{}, w.r.Uint64())
}

func contextToken(ctx context.Context) uint64 {
	if ctx == nil {
		return 0
	}
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
	if m.gave(ctx); t.of == aside {
		return t, nil
	}
	m.forwards = append(m.forwards, forward{t.of, t.base, m.training})
	if err := m.call(t.of + " forward"); err != nil {
		if m.junk {
			return t, err
		}
		return nil, err
	}
	if t.device != m.device && m.sees&devices != 0 {
		return nil, errDevice
	}
	p := m.track(&tensor{w: m.world, of: t.of, kind: "prediction", n: t.n, device: t.device, base: t.base})
	if m.elsewhere {
		p.n, p.device = 1+m.calls[t.of+" forward"]%3, "elsewhere"
	}
	p.token = mix(t.token, m.seen(learning, mix(m.parameters, m.stats)), m.seen(modes, flag(m.training)),
		m.seen(contexts, contextToken(ctx)), m.seen(progress, uint64(m.calls["step"])))
	if m.training {
		m.stats = mix(m.stats, t.token)
	}
	m.remembered = p.token
	return p, nil
}

func (m model) Backward(grad trainer.Tensor) error {
	t := grad.(*tensor)
	if t.of == aside {
		return nil
	}
	m.updates = append(m.updates, fmt.Sprintf("Backward %x", t.base))
	if err := m.call("backward"); err != nil {
		return err
	}
	m.gradients = mix(m.gradients, t.token, m.remembered, flag(m.training))
	return nil
}

func (m model) ScaleGrads(f float64) {
	if n := len(m.clips); n > 0 && m.clips[n-1].steps == m.calls["step"] {
		m.lateScales++
	}
	m.scales = append(m.scales, f)
	m.call("scale")
	m.gradients = mix(m.gradients, 2)
}

func (m model) ClipGrads(maxNorm float64) {
	m.clips = append(m.clips, clip{maxNorm, m.calls["backward"], m.calls["step"]})
	m.call("clip")
	m.gradients = mix(m.gradients, 3)
}

type optimizer struct{ *world }

func (o optimizer) ZeroGrad() {
	o.zeros++
	o.updates = append(o.updates, "ZeroGrad")
	o.call("zero")
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
	if t.of == aside {
		return 0.5, pred, nil
	}
	if err := w.call(t.of + " loss"); err != nil {
		if w.junk {
			return math.NaN(), pred, err
		}
		return 0, nil, err
	}
	if w.sees&devices != 0 && (p.device != w.device || t.device != w.device) {
		return 0, nil, errDevice
	}
	grad := w.track(&tensor{w: w, of: t.of, kind: "gradient", n: t.n, device: w.device, base: t.base, token: mix(p.token, t.token)})
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
