package hidden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"

	"grade/reference/trainer"
)

// A loader gives batches of the sizes it has for an epoch. In a world that sees the
// order of things, what is in them depends on how far the training has come, so that
// reading ahead shows.
type loader struct {
	w                         *world
	name                      string
	sizes                     func(pass int) []int     // by the calls of Batches, from 0
	means                     func(pass int) []float64 // of the loss; nil: whatever comes out
	noY                       bool
	same                      bool // Y is X
	bare                      bool // with an error comes no batch
	device                    trainer.Device
	seed                      uint64
	asked                     []int    // the epochs that Batches was called for
	given                     []uint64 // the contexts that it was given
	ranges                    int
	updates, events, forwards int    // that there were when Batches was called
	end                       func() // called before the end

	// A pass is begun again where nothing was moved since: to range twice is the matter of another test.
	pass, epoch, moves, loads int
}

func (w *world) loader(name string, sizes ...int) *loader {
	return &loader{w: w, name: name, seed: w.r.Uint64(), device: "disk", sizes: func(int) []int { return sizes }}
}

func (l *loader) Batches(ctx context.Context, epoch int) iter.Seq2[trainer.Batch, error] {
	if len(l.w.faults) > 0 {
		l.w.call(l.name + " Batches") // cannot fail, and may panic
	}
	pass := l.begin(epoch)
	l.w.gave(ctx)
	l.asked = append(l.asked, epoch)
	l.given = append(l.given, contextToken(ctx))
	if l.name == "train" && !l.w.trainLoader {
		l.w.trainLoader, l.w.firstEpoch = true, epoch
	}
	l.w.zeros, l.updates, l.events, l.forwards = 0, len(l.w.updates), len(l.w.events), len(l.w.forwards)
	return func(yield func(trainer.Batch, error) bool) {
		l.ranges++
		l.w.open++
		defer func() { l.w.open-- }()
		for i, n := range l.sizes(pass) {
			l.w.gave(ctx)
			err := l.w.call(l.name + " load")
			b := l.batch(ctx, pass, i, n)
			if err != nil && l.bare {
				b = trainer.Batch{}
			}
			if !yield(b, err) {
				return
			}
		}
		if l.end != nil {
			l.end()
		}
	}
}

// begin says which pass a call of Batches begins.
func (l *loader) begin(epoch int) int {
	load := l.name + " load"
	switch {
	case len(l.asked) == 0:
		l.pass, l.loads = 0, l.w.calls[load]
	case epoch == l.epoch && len(l.w.moves) == l.moves:
		l.w.calls[load] = l.loads
	default:
		l.pass, l.loads = l.pass+1, l.w.calls[load]
	}
	l.epoch, l.moves = epoch, len(l.w.moves)
	return l.pass
}

// aside is the name of batches that leave no trace in a world.
const aside = "aside"

// aside is a loader for tests that are not about validation.
func (w *world) aside() trainer.Loader {
	t := &tensor{w: w, of: aside, n: 1}
	return seq(func(yield func(trainer.Batch, error) bool) { yield(trainer.Batch{X: t, Y: t}, nil) })
}

func (l *loader) batch(ctx context.Context, pass, i, n int) trainer.Batch {
	w := l.w
	base := mix(l.seed, uint64(pass), uint64(i))
	done := mix(w.parameters, uint64(len(w.updates)-l.updates), uint64(len(w.events)-l.events), uint64(len(w.forwards)-l.forwards))
	token := mix(base, w.seen(contexts, contextToken(ctx)), w.seen(order, done))
	x := w.track(&tensor{w: w, of: l.name, kind: "X", n: n, device: l.device, base: base, token: token})
	if l.noY {
		return trainer.Batch{X: x}
	}
	if l.same {
		return trainer.Batch{X: x, Y: x}
	}
	y := w.track(&tensor{w: w, of: l.name, kind: "Y", n: n, device: l.device, base: base, token: token + 1})
	if l.means != nil {
		y.mean = &l.means(pass)[i]
	}
	return trainer.Batch{X: x, Y: y}
}

// An event is what a callback was told, and what there was then.
type event struct {
	name, kind string // of the callback, of the event
	what       []int
	loss       float64
	epochs     int    // in the History that TrainEnd is given
	err        string // that TrainEnd is given
	steps, val int    // Steps, and batches of validation, so far
	ctx        context.Context
	place      string // of the error that TrainEnd is given
	stats      trainer.EpochStats
}

// heard lists who was told of what.
func (w *world) heard() (list []string) {
	for _, e := range w.events {
		list = append(list, e.name+" "+e.kind)
	}
	return list
}

// told lists what was told with events of a kind.
func (w *world) told(kind string) (list []int) {
	for _, e := range w.events {
		if e.kind == kind {
			list = append(list, e.what...)
		}
	}
	return list
}

// ends lists what TrainEnd was given: how many epochs, and the error.
func (w *world) ends() (list []string) {
	for _, e := range w.events {
		if e.kind == "TrainEnd" {
			list = append(list, fmt.Sprint(e.name, ": ", e.epochs, " epochs, error ", e.err))
		}
	}
	return list
}

// callback hears of everything.
type callback struct {
	w    *world
	name string
}

// hear takes down an event with what the world is like, and may fail.
func (c callback) hear(e event) error {
	e.name, e.steps, e.val = c.name, c.w.calls["step"], c.w.calls["val load"]
	c.w.gave(e.ctx)
	c.w.events = append(c.w.events, e)
	return c.w.call(c.name + " " + e.kind)
}

func (c callback) TrainStart(ctx context.Context) error {
	return c.hear(event{ctx: ctx, kind: "TrainStart"})
}

func (c callback) BatchEnd(ctx context.Context, b trainer.BatchInfo) error {
	return c.hear(event{ctx: ctx, kind: "BatchEnd", what: []int{b.Epoch - c.w.firstEpoch, b.Batch, b.Samples}, loss: b.Loss})
}

func (c callback) StepEnd(ctx context.Context, s trainer.StepInfo) error {
	return c.hear(event{ctx: ctx, kind: "StepEnd", what: []int{s.Epoch - c.w.firstEpoch, s.Step, s.Samples}})
}

func (c callback) EpochEnd(ctx context.Context, e trainer.EpochStats) error {
	return c.hear(event{ctx: ctx, kind: "EpochEnd", what: []int{e.Epoch - c.w.firstEpoch, e.Samples, e.Steps}, stats: e})
}

func (c callback) TrainEnd(h trainer.History, err error) error {
	return c.hear(event{kind: "TrainEnd", epochs: len(h.Epochs), err: kind(err), place: c.w.place(err)})
}

// onEpochEnd is a function as a callback.
type onEpochEnd func(e trainer.EpochStats) error

func (f onEpochEnd) EpochEnd(_ context.Context, e trainer.EpochStats) error { return f(e) }

// trainer makes a Trainer that has to work; the zero Config is filled in. Whether New takes
// a callback of one method is the matter of another test.
func (w *world) trainer(cfg trainer.Config) *trainer.Trainer {
	cfg.Epochs, cfg.AccumSteps = max(cfg.Epochs, 1), max(cfg.AccumSteps, 1)
	if cfg.Device == "" {
		cfg.Device = trainer.Device(fmt.Sprintf("gpu%d", w.r.IntN(1000)))
	}
	t, err := trainer.New(model{w}, optimizer{w}, w.loss, cfg)
	if err != nil {
		cfg.Callbacks = accompanied(cfg.Callbacks)
		t, err = trainer.New(model{w}, optimizer{w}, w.loss, cfg)
	}
	w.o.String("error of New", kind(err))
	if err != nil {
		panic(fmt.Sprint("New refuses a Config that the README allows: ", err))
	}
	return t
}

// kind names an error: the injected one by its token, sentinels by name.
func kind(err error) string {
	var f *fault
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &f):
		return f.Error()
	}
	for _, known := range []struct {
		name string
		err  error
	}{
		{"ErrEmpty", trainer.ErrEmpty}, {"ErrNonFinite", trainer.ErrNonFinite}, {"ErrConfig", trainer.ErrConfig},
		{"ErrStop", trainer.ErrStop}, {"cancelled", context.Canceled}, {"deadline", context.DeadlineExceeded}, {"EOF", io.EOF},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return "another"
}

// place says which error it is, and of which batch. Epochs count from the first
// that the training loader was asked for.
func (w *world) place(err error) string {
	var b *trainer.BatchError
	if !errors.As(err, &b) {
		return kind(err) + " of no batch"
	}
	return fmt.Sprintf("%s of epoch %d, batch %d", kind(err), b.Epoch-w.firstEpoch, b.Batch)
}

// samples records how many epochs are in h, and how many samples each had.
func (w *world) samples(name string, h trainer.History) {
	var list []int
	for _, e := range h.Epochs {
		list = append(list, e.Samples)
	}
	w.o.Ints(name+": samples of each epoch", list)
}

// tokenOf is what a prediction was made of.
func tokenOf(p trainer.Tensor) string {
	t, ok := p.(*tensor)
	if !ok || t == nil {
		return "nil"
	}
	return fmt.Sprintf("%s %x of %x", t.kind, t.token, t.base)
}

// baseOf is what a prediction was made for.
func baseOf(p trainer.Tensor) string {
	t, ok := p.(*tensor)
	if !ok || t == nil {
		return "nil"
	}
	return fmt.Sprintf("%s of %x", t.kind, t.base)
}

// manySamples draws n batch sizes whose sums are beyond 16 bits.
func (w *world) manySamples(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 30_000 + w.r.IntN(40_000)
	}
	return list
}

// sizes draws n batch sizes.
func (w *world) sizes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1 + w.r.IntN(9)
	}
	return list
}

// twins are two random sources that give the same.
func twins(r *rand.Rand) (a, b *rand.Rand) {
	x, y := r.Uint64(), r.Uint64()
	return rand.New(rand.NewPCG(x, y)), rand.New(rand.NewPCG(x, y))
}
