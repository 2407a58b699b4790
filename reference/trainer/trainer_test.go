package trainer

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"os"
	"testing"
	"time"
)

// The grader puts the starter's copy into submissions, and uses this one here.
func TestTypesAreTheGivenOnes(t *testing.T) {
	given, err := os.ReadFile("../../exercises/trainer/starter/types.go")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("types.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(given, ours) {
		t.Error("types.go is not the starter's")
	}
}

// still is a tensor, a model and an optimizer that costs nothing.
type still struct {
	n        int
	loss     float64
	training bool
	scales   []float64
	err      error // of Forward
}

func (s *still) Len() int                  { return s.n }
func (s *still) Device() Device            { return CPU }
func (s *still) To(Device) (Tensor, error) { return s, nil }

type stillModel struct{ *still }

func (m stillModel) To(Device) error                                 { return nil }
func (m stillModel) SetTraining(on bool)                             { m.training = on }
func (m stillModel) Training() bool                                  { return m.training }
func (m stillModel) Forward(context.Context, Tensor) (Tensor, error) { return m.still, m.err }
func (m stillModel) Backward(Tensor) error                           { return nil }
func (m stillModel) ScaleGrads(f float64) {
	if len(m.scales) < cap(m.scales) {
		m.scales = append(m.scales, f)
	}
}
func (m stillModel) ClipGrads(float64) {}
func (m stillModel) ZeroGrad()         {}
func (m stillModel) Step() error       { return nil }

func stillLoss(_, y Tensor) (float64, Tensor, error) { return y.(*still).loss, y, nil }

// repeated gives the same batches again and again, n in all.
type repeated struct {
	batches []Batch
	n       int
}

func (l *repeated) Batches(context.Context, int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for i := range l.n {
			if !yield(l.batches[i%len(l.batches)], nil) {
				return
			}
		}
	}
}

func batch(n int, loss float64) Batch { return Batch{X: &still{n: n}, Y: &still{n: n, loss: loss}} }

type hearsAll struct{ batches, steps, epochs, ends int }

func (h *hearsAll) BatchEnd(context.Context, BatchInfo) error  { h.batches++; return nil }
func (h *hearsAll) StepEnd(context.Context, StepInfo) error    { h.steps++; return nil }
func (h *hearsAll) EpochEnd(context.Context, EpochStats) error { h.epochs++; return nil }
func (h *hearsAll) TrainEnd(History, error) error              { h.ends++; return nil }

func newStill(t testing.TB, cfg Config) (*Trainer, *still) {
	m := stillModel{&still{scales: make([]float64, 0, 16)}}
	tr, err := New(m, m, stillLoss, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr, m.still
}

func TestLossAndScalesWeighSamples(t *testing.T) {
	tr, m := newStill(t, Config{Epochs: 1, AccumSteps: 2})
	h, err := tr.Fit(t.Context(), &repeated{[]Batch{batch(6, 1), batch(0, math.NaN()), batch(2, 3), batch(5, 2)}, 4}, nil)
	if err != nil || len(h.Epochs) != 1 {
		t.Fatal(h, err)
	}
	if want := (6*1 + 2*3 + 5*2) / 13.0; math.Abs(h.Epochs[0].TrainLoss-want) > 1e-15 || !math.IsNaN(h.Epochs[0].ValLoss) {
		t.Errorf("losses %v, want %v", h.Epochs, want)
	}
	if len(m.scales) != 2 || m.scales[0] != 1.0/8 || m.scales[1] != 1.0/5 {
		t.Errorf("scales %v, want 1/8 and 1/5", m.scales)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	tr, m := newStill(t, Config{Epochs: 1, AccumSteps: 1})
	m.training, m.err = true, errors.New("no")
	_, err := tr.Evaluate(t.Context(), &repeated{[]Batch{batch(1, 1)}, 3})
	var at *BatchError
	if !errors.Is(err, m.err) || !errors.As(err, &at) || at.Batch != 0 || !m.training {
		t.Errorf("error %v, training %v", err, m.training)
	}
	if want := "evaluate: epoch 0, batch 0: forward: no"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// What a batch costs: 2 µs and 8 allocations at most, with callbacks, on any
// machine that is not ten times slower than ours.
func TestOverhead(t *testing.T) {
	const n, tries = 10_000, 20
	hears := &hearsAll{}
	tr, _ := newStill(t, Config{Epochs: 1, AccumSteps: 2, MaxGradNorm: 1, Callbacks: []Callback{hears, hears}})
	l := &repeated{[]Batch{batch(3, 1)}, n}
	run := func() {
		if _, err := tr.Fit(context.Background(), l, nil); err != nil {
			t.Fatal(err)
		}
	}
	allocs := testing.AllocsPerRun(1, run) / n
	each := time.Hour // of the fastest, which nothing else has held up
	for range tries {
		begin := time.Now()
		run()
		each = min(each, time.Since(begin)/n)
	}
	if each > 2*time.Microsecond || allocs > 0.01 {
		t.Errorf("a batch takes %v and %.2f allocations", each, allocs)
	}
	if hears.batches == 0 || hears.steps == 0 || hears.epochs == 0 || hears.ends == 0 {
		t.Errorf("callbacks heard of %+v", *hears)
	}
}
