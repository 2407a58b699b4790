package hunt

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// These tests hold the package against the original in original_test.go, on random inputs
// and to the last bit. The hidden ones go further: README.md says what is graded.

const rounds = 200

// randomText draws lines, some of them odd.
func randomText(r *rand.Rand) string {
	words := strings.Fields("The cat SAT on a (mat), and mat's É \u00a0x 42 !? cat. dog")
	labels := []string{"a", "b", "pet-7", "x_y"}
	var b strings.Builder
	for range r.IntN(12) {
		switch r.IntN(10) {
		case 0:
			b.WriteString([]string{"", " \t", "# comment", "#x\ty", "\r"}[r.IntN(4)])
		default:
			b.WriteString(labels[r.IntN(len(labels))] + "\t")
			for range r.IntN(5) {
				b.WriteString(words[r.IntN(len(words))] + []string{" ", "\t", "  "}[r.IntN(3)])
			}
		}
		if r.IntN(60) == 0 {
			b.WriteString([]string{"\rno tab", "Bad\tlabel"}[r.IntN(2)])
		}
		b.WriteString([]string{"\n", "\r\n", "\r\r\n"}[min(2, r.IntN(9))])
	}
	return b.String()
}

func TestReadIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 * rounds {
		in := randomText(r)
		got, err := Read(strings.NewReader(in))
		want, wantErr := originalRead(strings.NewReader(in))
		same := slices.EqualFunc(got, want, func(x, y Example) bool {
			return x.Label == y.Label && x.Count == y.Count && slices.Equal(x.Words, y.Words)
		})
		if !same || faultOf(err) != faultOf(wantErr) {
			t.Fatalf("Read(%q)\n= %+v, %v, want\n  %+v, %v", in, got, err, want, wantErr)
		}
	}
}

// faultOf is where an error is, and which.
func faultOf(err error) string {
	var at *LineError
	if !errors.As(err, &at) {
		return ""
	}
	return strings.Repeat("\n", at.Line) + at.Err.Error()
}

func TestVectorsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds {
		list := make([]Example, r.IntN(9))
		for i := range list {
			list[i] = Example{Words: strings.Fields(strings.Repeat(randomText(r), 2)), Count: 1 + r.IntN(3)}
		}
		limit := r.IntN(30) - 1
		v, want := NewVocabulary(list, limit), originalNewVocabulary(list, limit)
		if !slices.Equal(v.Words(), want.Words()) {
			t.Fatalf("words: %q, want %q", v.Words(), want.Words())
		}
		for _, e := range list {
			if got, want := v.Vector(e.Words), want.Vector(e.Words); !slices.Equal(got, want) {
				t.Fatalf("Vector(%q) = %v, want %v", e.Words, got, want)
			}
		}
	}
}

// randomSamples draws samples.
func randomSamples(r *rand.Rand, cfg Config, n, entries int) []Sample {
	list := make([]Sample, n)
	for i := range list {
		indices := r.Perm(cfg.Features)[:min(entries, cfg.Features)]
		slices.Sort(indices)
		for _, f := range indices {
			list[i].X = append(list[i].X, Entry{Index: f, Value: r.NormFloat64()})
		}
		list[i].Class = r.IntN(cfg.Classes)
	}
	return list
}

// sameBits compares numbers to the last bit; NaN is equal to NaN, and 0 to -0.
func sameBits(x, y float64) bool {
	return x == y || math.IsNaN(x) && math.IsNaN(y)
}

func TestTrainIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds {
		cfg := Config{Features: 1 + r.IntN(12), Classes: 1 + r.IntN(6), Epochs: r.IntN(4), Batch: 1 + r.IntN(6), Rate: r.Float64(), Seed: r.Uint64()}
		list := randomSamples(r, cfg, r.IntN(30), 3)
		if len(list) > 0 && r.IntN(5) == 0 {
			list[0].X[0].Value = []float64{math.NaN(), math.Inf(1), 1e300, 0}[r.IntN(4)]
		}
		m, epochs, err := Train(cfg, list)
		want, wantEpochs, wantErr := originalTrain(cfg, list)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("Train: error %v, want %v", err, wantErr)
		}
		same := slices.EqualFunc(epochs, wantEpochs, func(x, y Epoch) bool { return sameBits(x.Loss, y.Loss) && sameBits(x.Accuracy, y.Accuracy) })
		if !same {
			t.Fatalf("%+v: epochs %v, want %v", cfg, epochs, wantEpochs)
		}
		for _, s := range list {
			p, wantP := m.Probabilities(s.X), want.Probabilities(s.X)
			if !slices.EqualFunc(p, wantP, sameBits) || m.Predict(s.X) != want.Predict(s.X) {
				t.Fatalf("%+v: probabilities %v, want %v", cfg, p, wantP)
			}
		}
	}
}

func TestTrainErrors(t *testing.T) {
	good := Config{Features: 2, Classes: 2, Epochs: 1, Batch: 1, Rate: 1}
	bad := good
	bad.Rate = math.NaN()
	if m, epochs, err := Train(bad, nil); m != nil || epochs != nil || !errors.Is(err, ErrConfig) {
		t.Errorf("a rate of NaN: %v, %v, %v", m, epochs, err)
	}
	for _, s := range []Sample{{Class: 2}, {X: Vector{{Index: 2}}}, {X: Vector{{Index: 1}, {Index: 0}}}} {
		if m, epochs, err := Train(good, []Sample{s}); m != nil || epochs != nil || !errors.Is(err, ErrSample) {
			t.Errorf("%v: %v, %v, %v", s, m, epochs, err)
		}
	}
}

func TestTallyIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range rounds {
		classes := r.IntN(5) - 1
		truth, predicted := make([]int, r.IntN(20)), make([]int, r.IntN(20))
		for _, list := range [][]int{truth, predicted} {
			for i := range list {
				list[i] = r.IntN(7) - 1
			}
		}
		got, want := Tally(truth, predicted, classes), originalTally(truth, predicted, classes)
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Fatalf("Tally(%v, %v, %d) = %v, want %v", truth, predicted, classes, got, want)
		}
	}
}

// tightWriter takes some bytes.
type tightWriter struct {
	bytes.Buffer
	left int
}

var errTight = errors.New("no room")

func (w *tightWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n, _ := w.Buffer.Write(p[:w.left])
		w.left = 0
		return n, errTight
	}
	w.left -= len(p)
	return w.Buffer.Write(p)
}

func TestMetricsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range rounds {
		epochs := make([]Epoch, r.IntN(9))
		for i := range epochs {
			epochs[i] = Epoch{Loss: r.NormFloat64() * 1e3, Accuracy: []float64{r.Float64(), math.NaN(), math.Inf(-1)}[min(2, r.IntN(9))]}
		}
		got, want := tightWriter{left: r.IntN(300)}, tightWriter{}
		want.left = got.left
		err, wantErr := WriteMetrics(&got, epochs), originalWriteMetrics(&want, epochs)
		if got.String() != want.String() || err != wantErr {
			t.Fatalf("WriteMetrics wrote %q, %v, want %q, %v", got.String(), err, want.String(), wantErr)
		}
	}
}
