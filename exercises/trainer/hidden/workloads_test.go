package hidden

import (
	"context"
	"iter"
	"math"
	"runtime"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// tiny is the model, optimizer and tensor of workloads where the trainer's own
// work is to be seen: it allocates nothing, and takes about a microsecond
// for a batch.
type tiny struct {
	n                          int
	parameter, gradient, input float64
	y                          *tiny
	training                   bool
	quick                      bool   // Forward only adds
	failing, left              int    // Forward (1) or Step (5) fails after so many calls, if it is that
	calls                      [6]int // moves, Forward, Backward, ScaleGrads, ZeroGrad, Step
}

func (t *tiny) Len() int                                  { return t.n }
func (t *tiny) Device() trainer.Device                    { return "gpu" }
func (t *tiny) To(trainer.Device) (trainer.Tensor, error) { t.calls[0]++; return t, nil }
func (t *tiny) SetTraining(on bool)                       { t.training = on }
func (t *tiny) Training() bool                            { return t.training }
func (t *tiny) ScaleGrads(f float64)                      { t.calls[3]++; t.gradient *= f }
func (t *tiny) ClipGrads(float64)                         {}
func (t *tiny) ZeroGrad()                                 { t.calls[4]++; t.gradient = 0 }
func (t *tiny) Backward(grad trainer.Tensor) error {
	t.calls[2]++
	t.gradient += grad.(*tiny).input
	return nil
}
func (t *tiny) Step() error {
	if t.failing == 5 && t.calls[5] == t.left {
		return errCause
	}
	t.calls[5]++
	t.parameter -= 0.01 * t.gradient
	return nil
}
func (t *tiny) loss(trainer.Tensor, trainer.Tensor) (float64, trainer.Tensor, error) {
	return t.y.input * t.y.input, t.y, nil
}

func (t *tiny) Forward(_ context.Context, x trainer.Tensor) (trainer.Tensor, error) {
	if x == trainer.Tensor(t.y) { // of aside
		return x, nil
	}
	if t.failing == 1 && t.calls[1] == t.left {
		return nil, errCause
	}
	t.calls[1]++
	sum := x.(*tiny).input
	rounds := 700
	if t.quick {
		rounds = 0
	}
	for i := range rounds {
		sum += math.Float64frombits(uint64(0x3ff)<<52 | uint64(i)<<40) // from 1 to 1.17
	}
	t.y.input = t.parameter + sum/1000
	return t.y, nil
}

// aside is a validation that leaves no trace.
func (t *tiny) aside() trainer.Loader {
	return seq(func(yield func(trainer.Batch, error) bool) { yield(trainer.Batch{X: t.y, Y: t.y}, nil) })
}

// tinyModel is a model with its own Len: a model is no tensor.
type tinyModel struct{ *tiny }

func (m tinyModel) To(trainer.Device) error { return nil }

// tinyBatches gives the same tensors again and again, with other numbers. They have the same
// number of samples: how batches of unlike size are weighed is tested elsewhere.
type tinyBatches struct {
	x      [4]tiny // one after the other, so that a batch that is read ahead changes none
	y      *tiny
	inputs []float64
	n      int // batches
	size   int // of each, in samples
}

func newTinyBatches(o *observe.Observer, n int) *tinyBatches {
	return &tinyBatches{y: &tiny{n: 1}, inputs: draws(o, 1000), n: n, size: 2 + o.Rand().IntN(3)}
}

func (l *tinyBatches) Batches(context.Context, int) iter.Seq2[trainer.Batch, error] {
	return func(yield func(trainer.Batch, error) bool) {
		for i := range l.n {
			x := &l.x[i%len(l.x)]
			x.input, x.n = l.inputs[i%len(l.inputs)], l.size
			if !yield(trainer.Batch{X: x, Y: l.y}, nil) {
				return
			}
		}
	}
}

func draws(o *observe.Observer, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = o.Rand().Float64()
	}
	return xs
}

// counter is a callback of all kinds that costs nothing.
type counter struct {
	n    int
	loss float64
}

func (c *counter) TrainStart(context.Context) error { c.n++; return nil }
func (c *counter) BatchEnd(_ context.Context, b trainer.BatchInfo) error {
	c.n += b.Samples
	c.loss += b.Loss
	return nil
}
func (c *counter) StepEnd(_ context.Context, s trainer.StepInfo) error    { c.n += s.Step & 1; return nil }
func (c *counter) EpochEnd(_ context.Context, e trainer.EpochStats) error { c.n += e.Steps; return nil }
func (c *counter) TrainEnd(trainer.History, error) error                  { return nil }

// work runs Fit in the measured window, and records what came of it.
func work(o *observe.Observer, epochs, accum int, train, val trainer.Loader) {
	m := &tiny{y: &tiny{n: 1}}
	var list []trainer.Callback
	var counters [5]counter
	for i := range counters {
		list = append(list, &counters[i])
	}
	tr, err := trainer.New(tinyModel{m}, m, m.loss, trainer.Config{Epochs: epochs, AccumSteps: accum, Callbacks: list})
	o.Error("error of New", err)
	var h trainer.History
	for o.Loop() {
		h, err = tr.Fit(context.Background(), train, val)
	}
	o.Error("error", err)
	o.Int("epochs", len(h.Epochs))
	for _, e := range h.Epochs[max(0, len(h.Epochs)-100):] {
		o.Float("loss", e.TrainLoss, observe.Within(1e-6, 1e-6))
		o.Bool("a loss of validation", e.ValLoss > 0)
		o.Ints("samples, steps", []int{e.Samples, e.Steps})
	}
	o.Float("parameter", m.parameter, observe.Within(1e-6, 1e-6))
	o.Ints("calls", m.calls[:])
	for _, c := range counters {
		o.Int("events", c.n)
		o.Float("losses in all", c.loss, observe.Within(1e-6, 1e-6))
	}
}

// 100,000 batches, four for a step, with five callbacks: what the trainer does for
// a batch must not grow with the batches there were (rules 9 and 19).
func BenchmarkManyBatches(b *testing.B) {
	o := observe.New(b)
	work(o, 1, 4, newTinyBatches(o, 100_000), newTinyBatches(o, 1))
}

// 20,000 epochs of two batches, with validation: what the trainer does for an
// epoch must not grow with the epochs there were (rule 18).
func BenchmarkManyEpochs(b *testing.B) {
	o := observe.New(b)
	work(o, 20_000, 2, newTinyBatches(o, 2), newTinyBatches(o, 1))
}

// large is a tensor of 512 KiB, and so is what it is moved to.
type large struct {
	data []float64
	n    int
}

func newLarge(n int, first float64) *large {
	l := &large{make([]float64, 64<<10), n}
	for i := 0; i < len(l.data); i += 512 { // touch every page
		l.data[i] = first
	}
	return l
}

func (l *large) Len() int               { return l.n }
func (l *large) Device() trainer.Device { return "gpu" }
func (l *large) To(trainer.Device) (trainer.Tensor, error) {
	return newLarge(l.n, l.data[0]), nil
}

// largeModel answers with tensors as large as what it is given.
type largeModel struct{ *tiny }

func (m largeModel) To(trainer.Device) error       { return nil }
func (m largeModel) Backward(trainer.Tensor) error { m.gradient++; return nil }
func (m largeModel) Forward(_ context.Context, x trainer.Tensor) (trainer.Tensor, error) {
	return newLarge(x.Len(), x.(*large).data[0]+m.parameter), nil
}

func largeLoss(pred, y trainer.Tensor) (float64, trainer.Tensor, error) {
	return pred.(*large).data[0] + y.(*large).data[512], pred, nil
}

// largeBatches gives n batches of 1 MiB. It collects garbage now and then: on one
// CPU a collection that runs beside the program may come late by a time slice, and
// many batches be piled up by then. They are of one size, as above.
func largeBatches(o *observe.Observer, n int) seq {
	inputs, size := draws(o, n), 2+o.Rand().IntN(4)
	return func(yield func(trainer.Batch, error) bool) {
		for i := range n {
			if i%8 == 0 {
				runtime.GC()
			}
			if !yield(trainer.Batch{X: newLarge(size, inputs[i]), Y: newLarge(size, 2)}, nil) {
				return
			}
		}
	}
}

// seq is a loader that gives the same in every epoch.
type seq iter.Seq2[trainer.Batch, error]

func (s seq) Batches(context.Context, int) iter.Seq2[trainer.Batch, error] {
	return iter.Seq2[trainer.Batch, error](s)
}

// Fit and validation hold one batch at a time: no list of batches, of predictions
// or of gradients, be it for a window or for an epoch (rules 8 and 32).
func BenchmarkLargeBatches(b *testing.B) {
	o := observe.New(b)
	train, val := largeBatches(o, 150), largeBatches(o, 50)
	m := &tiny{}
	tr, err := trainer.New(largeModel{m}, m, largeLoss, trainer.Config{Epochs: 1, AccumSteps: 100})
	o.Error("error of New", err)
	var h trainer.History
	for o.Loop() {
		h, err = tr.Fit(context.Background(), train, val)
	}
	o.Error("error", err)
	for _, e := range h.Epochs {
		o.Float("loss", e.TrainLoss, observe.Within(1e-6, 1e-6))
		o.Bool("a loss of validation", e.ValLoss > 0)
	}
}

// Predict streams: it asks for a batch when the one before was used, and holds
// no prediction that it has given away (rules 16 and 32).
func BenchmarkPredict(b *testing.B) {
	o := observe.New(b)
	test := largeBatches(o, 200)
	m := &tiny{}
	tr, err := trainer.New(largeModel{m}, m, largeLoss, trainer.Config{Epochs: 1, AccumSteps: 1})
	o.Error("error of New", err)
	var predictions []float64
	for o.Loop() {
		predictions = predictions[:0]
		for p, err := range tr.Predict(context.Background(), test) {
			if err != nil {
				break
			}
			predictions = append(predictions, p.(*large).data[0])
		}
	}
	o.Floats("predictions", predictions)
}
