package trainer

import (
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

// numbers is a tensor of one number for each sample.
type numbers struct {
	x      []float64
	device Device
}

func (n numbers) Len() int                    { return len(n.x) }
func (n numbers) Device() Device              { return n.device }
func (n numbers) To(d Device) (Tensor, error) { return numbers{n.x, d}, nil }

// line is the model w·x with its optimizer. It writes down what is called.
type line struct {
	w, grad  float64
	x        []float64
	device   Device
	training bool
	log      []string
}

func (l *line) To(d Device) error    { l.device = d; return nil }
func (l *line) SetTraining(on bool)  { l.training = on }
func (l *line) Training() bool       { return l.training }
func (l *line) ScaleGrads(f float64) { l.write("scale"); l.grad *= f }
func (l *line) ClipGrads(maxNorm float64) {
	l.write("clip")
	l.grad = max(-maxNorm, min(l.grad, maxNorm))
}
func (l *line) ZeroGrad()         { l.write("zero"); l.grad = 0 }
func (l *line) Step() error       { l.write("step"); l.w -= 0.1 * l.grad; return nil }
func (l *line) write(what string) { l.log = append(l.log, what) }
func (l *line) String() string    { return strings.Join(l.log, " ") }
func (l *line) Backward(grad Tensor) error {
	l.write("backward")
	for i, g := range grad.(numbers).x {
		l.grad += g * l.x[i]
	}
	return nil
}

func (l *line) Forward(_ context.Context, x Tensor) (Tensor, error) {
	if x.Device() != l.device {
		return nil, errors.New("wrong device")
	}
	if l.training {
		l.write("forward")
	} else {
		l.write("evaluate")
	}
	l.x = x.(numbers).x
	pred := numbers{device: l.device}
	for _, x := range l.x {
		pred.x = append(pred.x, l.w*x)
	}
	return pred, nil
}

func squares(pred, y Tensor) (mean float64, sumGrad Tensor, err error) {
	if pred.Device() != y.Device() {
		return 0, nil, errors.New("two devices")
	}
	grad := numbers{device: y.Device()}
	for i, p := range pred.(numbers).x {
		d := p - y.(numbers).x[i]
		mean += d * d / float64(pred.Len())
		grad.x = append(grad.x, 2*d)
	}
	return mean, grad, nil
}

// data is a loader of y = 2x in batches.
type data struct{ samples, size int }

func (d data) Batches(context.Context, int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for at := 0; at < d.samples; at += d.size {
			x, y := numbers{device: "disk"}, numbers{device: "disk"}
			for i := at; i < min(at+d.size, d.samples); i++ {
				x.x = append(x.x, float64(i%7)/7)
				y.x = append(y.x, 2*float64(i%7)/7)
			}
			if !yield(Batch{X: x, Y: y}, nil) {
				return
			}
		}
	}
}

func fit(t *testing.T, l *line, train, val Loader, cfg Config) History {
	t.Helper()
	tr, err := New(l, l, squares, cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := tr.Fit(t.Context(), train, val)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Two windows: two batches, and the one that is left.
func TestOrder(t *testing.T) {
	l := &line{}
	fit(t, l, data{5, 2}, data{2, 2}, Config{Device: "gpu", Epochs: 1, AccumSteps: 2, MaxGradNorm: 1})
	want := "forward zero backward forward backward scale clip step forward zero backward scale clip step evaluate"
	// Zero may also come before forward.
	got := strings.ReplaceAll(l.String(), "zero forward", "forward zero")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// One batch of 4 with losses of 0 would not be noticed; these weigh.
func TestLossOfAnEpoch(t *testing.T) {
	l := &line{w: 1}
	h := fit(t, l, data{23, 6}, nil, Config{Epochs: 1, AccumSteps: 100}) // one step, at the end
	want := 0.0
	for i := range 23 {
		x := float64(i%7) / 7
		want += x * x / 23
	}
	if len(h.Epochs) != 1 || math.Abs(h.Epochs[0].TrainLoss-want) > 1e-9 {
		t.Errorf("history %v, want one epoch with loss %v", h.Epochs, want)
	}
}

// The example that catches most first attempts: 23 samples, 6 in a batch or three
// times 2, are the same training.
func TestAccumulation(t *testing.T) {
	whole, parts := &line{}, &line{}
	fit(t, whole, data{23, 6}, nil, Config{Epochs: 5, AccumSteps: 1})
	fit(t, parts, data{23, 2}, nil, Config{Epochs: 5, AccumSteps: 3})
	if whole.w == 0 || math.Abs(whole.w-parts.w) > 1e-12 {
		t.Errorf("batches of 6 come to %v, three of 2 to %v", whole.w, parts.w)
	}
}

// The mode is what it was, also where the range is left.
func TestPredict(t *testing.T) {
	l := &line{w: 3, training: true}
	tr, err := New(l, l, squares, Config{Device: "gpu", Epochs: 1, AccumSteps: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for p, err := range tr.Predict(t.Context(), data{10, 2}) {
		if err != nil || p.Device() != CPU || l.training {
			t.Errorf("prediction %v, error %v, training %v", p, err, l.training)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 || !l.training || l.String() != "evaluate evaluate evaluate" {
		t.Errorf("%d predictions, training %v, calls: %s", n, l.training, l)
	}
}

type stopper struct{ ended int }

func (s *stopper) StepEnd(_ context.Context, i StepInfo) error {
	if i.Epoch == 1 {
		return ErrStop
	}
	return nil
}

func (s *stopper) TrainEnd(h History, err error) error {
	s.ended += len(h.Epochs)
	return err
}

func TestStop(t *testing.T) {
	s := &stopper{}
	h := fit(t, &line{}, data{6, 2}, nil, Config{Epochs: 3, AccumSteps: 1, Callbacks: []Callback{s}})
	if len(h.Epochs) != 1 || s.ended != 1 {
		t.Errorf("%d epochs in the history, %d as TrainEnd was told; want 1 and 1", len(h.Epochs), s.ended)
	}
}
