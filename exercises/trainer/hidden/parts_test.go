package hidden

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"grade/reference/trainer"
)

// A loader gives batches of the sizes it has for an epoch. What is in them
// depends on how far the training has come, so that reading ahead shows.
type loader struct {
	w                         *world
	name                      string
	sizes                     func(epoch int) []int
	means                     func(epoch int) []float64 // of the loss; nil: whatever comes out
	noY                       bool
	seed                      uint64
	asked                     []int // the epochs that Batches was called for
	ranges                    int
	updates, events, forwards int    // that there were when Batches was called
	end                       func() // called before the end
}

func (w *world) loader(name string, sizes ...int) *loader {
	return &loader{w: w, name: name, seed: w.r.Uint64(), sizes: func(int) []int { return sizes }}
}

func (l *loader) Batches(ctx context.Context, epoch int) iter.Seq2[trainer.Batch, error] {
	l.asked = append(l.asked, epoch)
	l.w.zeros, l.updates, l.events, l.forwards = 0, len(l.w.updates), len(l.w.events), len(l.w.forwards)
	return func(yield func(trainer.Batch, error) bool) {
		l.ranges++
		l.w.open++
		defer func() { l.w.open-- }()
		for i, n := range l.sizes(epoch) {
			err := l.w.call(l.name + " load")
			if !yield(l.batch(ctx, epoch, i, n), err) {
				return
			}
		}
		if l.end != nil {
			l.end()
		}
	}
}

func (l *loader) batch(ctx context.Context, epoch, i, n int) trainer.Batch {
	w := l.w
	state := mix(w.parameters, uint64(len(w.updates)-l.updates), uint64(len(w.events)-l.events), uint64(len(w.forwards)-l.forwards))
	base := mix(l.seed, uint64(epoch), uint64(l.ranges), uint64(i))
	token := mix(base, contextToken(ctx), state)
	x := &tensor{w: w, of: l.name, kind: "X", n: n, device: "disk", base: base, token: token}
	if l.noY {
		return trainer.Batch{X: x}
	}
	y := &tensor{w: w, of: l.name, kind: "Y", n: n, device: "disk", base: base, token: token + 1}
	if l.means != nil {
		y.mean = &l.means(epoch)[i]
	}
	return trainer.Batch{X: x, Y: y}
}

// callback hears of everything.
type callback struct {
	w    *world
	name string
}

// hear takes down an event with what the world is like, and may fail.
func (c callback) hear(kind string, ctx context.Context, what ...any) error {
	c.w.events = append(c.w.events, fmt.Sprint(c.name, " ", kind, " ", what))
	if ctx != nil {
		c.w.events = append(c.w.events, fmt.Sprintf("%x %x", c.w.parameters, contextToken(ctx)))
	}
	return c.w.call(c.name + " " + kind)
}

func (c callback) TrainStart(ctx context.Context) error { return c.hear("TrainStart", ctx) }

func (c callback) BatchEnd(ctx context.Context, b trainer.BatchInfo) error {
	c.w.losses = append(c.w.losses, b.Loss)
	return c.hear("BatchEnd", ctx, b.Epoch, b.Batch, b.Samples, c.w.training)
}

func (c callback) StepEnd(ctx context.Context, s trainer.StepInfo) error {
	return c.hear("StepEnd", ctx, s.Epoch, s.Step, s.Samples, c.w.training)
}

func (c callback) EpochEnd(ctx context.Context, e trainer.EpochStats) error {
	c.w.losses = append(c.w.losses, e.TrainLoss, e.ValLoss)
	return c.hear("EpochEnd", ctx, e.Epoch, e.Samples, e.Steps, c.w.training)
}

func (c callback) TrainEnd(h trainer.History, err error) error {
	for _, e := range h.Epochs {
		c.w.losses = append(c.w.losses, e.TrainLoss, e.ValLoss)
	}
	return c.hear("TrainEnd", nil, len(h.Epochs), kind(err))
}

// Callbacks that hear of one thing each.
type (
	batchOnly struct{ c callback }
	epochOnly struct{ c callback }
	endOnly   struct{ c callback }
)

func (b *batchOnly) BatchEnd(ctx context.Context, i trainer.BatchInfo) error {
	return b.c.BatchEnd(ctx, i)
}
func (e *epochOnly) EpochEnd(ctx context.Context, s trainer.EpochStats) error {
	return e.c.EpochEnd(ctx, s)
}
func (e endOnly) TrainEnd(h trainer.History, err error) error { return e.c.TrainEnd(h, err) }

// onEpochEnd is a function as a callback.
type onEpochEnd func(e trainer.EpochStats) error

func (f onEpochEnd) EpochEnd(_ context.Context, e trainer.EpochStats) error { return f(e) }

// trainer makes a Trainer that has to work; the zero Config is filled in.
func (w *world) trainer(cfg trainer.Config) *trainer.Trainer {
	cfg.Epochs, cfg.AccumSteps = max(cfg.Epochs, 1), max(cfg.AccumSteps, 1)
	if cfg.Device == "" {
		cfg.Device = trainer.Device(fmt.Sprintf("gpu%d", w.r.IntN(1000)))
	}
	t, err := trainer.New(model{w}, optimizer{w}, w.loss, cfg)
	w.o.String("error of New", kind(err))
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
		{"ErrStop", trainer.ErrStop}, {"cancelled", context.Canceled}, {"deadline", context.DeadlineExceeded},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return "another"
}

// place says which error it is, and of which batch.
func place(err error) string {
	var b *trainer.BatchError
	if !errors.As(err, &b) {
		return kind(err) + " of no batch"
	}
	return fmt.Sprintf("%s of epoch %d, batch %d", kind(err), b.Epoch, b.Batch)
}

// history records all of h.
func (w *world) history(h trainer.History) {
	var counts []int
	var losses []float64
	for _, e := range h.Epochs {
		counts = append(counts, e.Epoch, e.Samples, e.Steps)
		losses = append(losses, e.TrainLoss, e.ValLoss)
	}
	w.o.Ints("history: epoch, samples, steps", counts)
	w.o.Floats("history: losses", losses)
}

// state is what the world has come to.
func (w *world) state() string {
	return fmt.Sprintf("parameters %x, training %t, open loaders %d", w.parameters, w.training, w.open)
}

// sizes draws n batch sizes.
func (w *world) sizes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1 + w.r.IntN(9)
	}
	return list
}
