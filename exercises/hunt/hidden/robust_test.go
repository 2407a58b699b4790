package hidden

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// WriteMetrics writes a header and a line for each epoch, with 6 and 4 digits (rule 21).
func TestMetrics(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	write := func(name string, epochs []hunt.Epoch) {
		var b bytes.Buffer
		o.Error(name+": error", hunt.WriteMetrics(&b, epochs))
		o.String(name, b.String())
	}
	for _, n := range []int{3, 1, 0, 12, 120} {
		epochs := make([]hunt.Epoch, n)
		for i := range epochs {
			epochs[i] = hunt.Epoch{Loss: 3 * r.Float64(), Accuracy: r.Float64()}
		}
		write("epochs", epochs)
	}
	var odd []hunt.Epoch
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), -r.Float64(), 1e-9, -1e-9, 0.0000005, 0.0000015, 0.00005, 0.00015, 0.99995, 0.9999995,
		1e6 + r.Float64(), 1e21, 1e300, math.MaxFloat64, 5e-324, 0.5, 1.5, 2.5, 1 << 53, 0.1, 1.0 / 3} {
		odd = append(odd, hunt.Epoch{Loss: x, Accuracy: r.Float64()}, hunt.Epoch{Loss: r.Float64(), Accuracy: x})
	}
	write("NaN, infinities, and numbers to be rounded", odd)
	long := make([]hunt.Epoch, 5_000)
	for i := range long {
		long[i] = hunt.Epoch{Loss: r.Float64(), Accuracy: r.Float64()}
	}
	write("long", long)
}

// full takes some bytes and then fails once, or takes less than it is given without a word. A
// late one fails as well where it takes all. Whatever is written after it is taken.
type full struct {
	left   int
	late   bool
	err    error
	got    []byte
	failed bool
	after  int // writes after it failed
}

func (f *full) Write(p []byte) (int, error) {
	if f.failed {
		f.after++
	}
	n := min(len(p), f.left)
	if f.late && n < len(p) {
		f.got, f.left, f.failed = append(f.got, p...), everything, true
		return len(p), f.err
	}
	f.got = append(f.got, p[:n]...)
	f.left -= n
	if n < len(p) {
		f.left, f.failed = everything, true
		return n, f.err
	}
	return n, nil
}

// errWriter is an error of a writer.
var errWriter = errors.New("the writer's own")

// The error of the writer is returned as it is, also where it took all bytes, and a write that is short without one is
// io.ErrShortWrite. What was written until then is how the text begins, and nothing is written after
// it (rule 22).
func TestWriters(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	own := errWriter
	for _, n := range []int{0, 1, 30, 700} {
		epochs := make([]hunt.Epoch, n)
		for i := range epochs {
			epochs[i] = hunt.Epoch{Loss: r.Float64(), Accuracy: r.Float64()}
		}
		var whole bytes.Buffer
		o.Error("a good writer", hunt.WriteMetrics(&whole, epochs))
		o.String("written", whole.String())
		size := whole.Len()
		for _, left := range []int{0, 1, 19, 20, 21, size / 2, size - 1, size, size + 1, r.IntN(size + 1)} {
			for _, fault := range []error{own, io.EOF, fmt.Errorf("disk: %w", io.EOF), errors.Join(own, io.ErrShortWrite)} {
				fails(o, full{left: left, err: fault, late: true}, epochs, whole.String())
			}
			for _, fault := range []error{own, nil, io.EOF, io.ErrShortWrite, fmt.Errorf("disk: %w", io.ErrShortWrite)} {
				fails(o, full{left: left, err: fault}, epochs, whole.String())
			}
		}
	}
	// Many bytes are behind the one that fails: also more than a buffer holds.
	epochs := random(r, 7_000)
	var whole bytes.Buffer
	o.Error("a good writer", hunt.WriteMetrics(&whole, epochs))
	for _, left := range []int{below(r, 1, 4_000), below(r, 5_000, 60_000), 65_535, below(r, 65_537, 130_000)} {
		fails(o, full{left: left, err: own, late: true}, epochs, whole.String())
		fails(o, full{left: left, err: own}, epochs, whole.String())
		fails(o, full{left: left}, epochs, whole.String())
	}
}

// fails records what WriteMetrics makes of a writer that fails.
func fails(o *observe.Observer, w full, epochs []hunt.Epoch, whole string) {
	name, fault := "", w.err
	if w.late {
		name = " with all bytes"
	}
	err := hunt.WriteMetrics(&w, epochs)
	o.Error("error"+name, err, errWriter, io.ErrShortWrite, io.EOF)
	o.Bool("the writer's own error"+name, fault == nil || err == fault || err == nil)
	o.Bool("the beginning"+name, strings.HasPrefix(whole, string(w.got)))
	if !w.late {
		o.Bool("all of it", len(w.got) == len(whole))
	}
	o.Int("writes after it"+name, w.after)
}

// No call writes to what it is given (rule 23).
func TestUntouched(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := ranked(r, 6)
	v := hunt.NewVocabulary(list, 9)
	examples(o, "examples", list)
	text := some(r, append(words(r, 3), v.Words()...), 30)
	o.Int("entries", len(v.Vector(text)))
	o.Strings("words", text)
	cfg := config(r)
	given := samples(r, cfg, 23, 3)
	m, epochs := train(t, cfg, given)
	for _, s := range given {
		o.Int("class", s.Class)
		vector(o, "sample", s.X)
		m.Predict(s.X)
		m.Probabilities(s.X)
		vector(o, "sample, predicted", s.X)
	}
	p := m.Probabilities(given[0].X)
	clear(p)
	o.Floats("probabilities after writing to them", m.Probabilities(given[0].X), observe.Within(1e-6, 0))
	truth, predicted := pairs(r, 20, 3)
	hunt.Tally(truth, predicted, 2)
	o.Ints("truth", truth)
	o.Ints("predicted", predicted)
	copied := slices.Clone(epochs)
	o.Error("error", hunt.WriteMetrics(io.Discard, epochs))
	o.Bool("epochs", slices.Equal(epochs, copied))
}

// Samples may be changed after Train, and models know nothing of each other, however alike
// samples and seeds look (rules 12, 14 and 23).
func TestOwnModels(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	cfg := config(r)
	list := samples(r, cfg, 23, 3)
	x := slices.Clone(list[3].X)
	m, epochs := train(t, cfg, list)
	p := m.Probabilities(x)
	kept := slices.Clone(p)
	for _, s := range list {
		clear(s.X)
	}
	clear(list)
	after := m.Probabilities(x)
	o.Bool("samples were changed", slices.Equal(kept, after))
	o.Floats("its values", after, observe.Within(1e-6, 0))
	before := slices.Clone(epochs)
	other, _ := train(t, cfg, samples(r, cfg, 23, 3))
	other.Probabilities(x)
	m.Probabilities(nil)
	m.Probabilities(hunt.Vector{{Index: 1, Value: 9}})
	o.Bool("earlier probabilities", slices.Equal(kept, p))
	o.Bool("another model", slices.Equal(kept, m.Probabilities(x)))
	o.Bool("earlier epochs", slices.Equal(before, epochs))
	p, next := m.Probabilities(x), m.Probabilities(x)
	_ = append(p, 7, 7, 7)
	o.Bool("after an append to others", slices.Equal(kept, next))
	// The same slices with other values in them are other samples.
	reused := samples(r, cfg, 23, 3)
	train(t, cfg, reused)
	for i := range reused {
		reused[i].X[0].Value += 1 + r.Float64()
		reused[i].Class = r.IntN(cfg.Classes)
	}
	m, _ = train(t, cfg, reused)
	o.Floats("of samples that were changed", m.Probabilities(reused[0].X), observe.Within(1e-6, 0))
	reused[0].X[0].Value += 1
	o.Floats("of an x that was changed", m.Probabilities(reused[0].X), observe.Within(1e-6, 0))
	reused[0].X[0].Value -= 20
	o.Int("its class", m.Predict(reused[0].X))
	// Samples that are nearly the same are others.
	others, first := samples(r, cfg, 9, 3), []float64{}
	for k := range 4 {
		x := hunt.Vector{{Index: 1, Value: 0.5}, {Index: 2 + k%2, Value: 0.5 + float64(k/2)*1e-9}}
		first = append(first, m.Probabilities(x)...)
		others[0] = hunt.Sample{X: x, Class: 0}
		similar, _ := train(t, cfg, others)
		first = append(first, similar.Probabilities(nil)...)
	}
	o.Floats("of samples that are nearly the same", first, observe.Within(1e-13, 0))
	clear(epochs)
	_, again := train(t, cfg, samples(r, cfg, 23, 3))
	o.Int("epochs of a third", len(again))
	alikeSeeds(t, o)
}

// alikeSeeds trains with the same samples and two seeds, one behind the other. For an epoch of each, the sum,
// the product, the text or some of the bits of its seed and number are the same. The orders are not.
func alikeSeeds(t testing.TB, o *observe.Observer) {
	r := o.Rand()
	cfg := config(r)
	for _, n := range []int{below(r, 9, 12), below(r, 100, 140)} {
		list := samples(r, cfg, n, 3)
		for _, seed := range []uint64{uint64(below(r, 1, 9)), r.Uint64()} {
			for _, other := range []uint64{seed + 1, seed - 1, seed ^ 1, 2 * seed, 10*seed + 1, seed + 31, seed + 1<<32, seed + 1<<56} {
				cfg.Seed, cfg.Epochs = seed, 3+400/n // for few samples more than 31
				train(t, cfg, list)
				cfg.Seed, cfg.Epochs = other, 3
				m, epochs := train(t, cfg, list)
				for _, e := range epochs {
					o.Float("loss of an epoch after a training with a seed that looks alike", e.Loss, observe.Within(1e-6, 0))
				}
				o.Floats("of a training after one with a seed that looks alike", m.Probabilities(list[0].X), observe.Within(1e-6, 0))
			}
		}
	}
}

// A thousand texts, vocabularies and models in one program, the first ones still there at the
// end. A call knows nothing of earlier ones, also not of one that an error, or a panic of its
// reader or writer, has ended (rule 23).
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	type kept struct {
		list []hunt.Example
		v    *hunt.Vocabulary
		m    *hunt.Model
		x    hunt.Vector
	}
	var all []kept
	for range 1_000 {
		list := mustRead(t, lines("\n", plain(r, 4)...))
		v := hunt.NewVocabulary(list, 6)
		k := kept{list: list, v: v}
		cfg := hunt.Config{Features: 6, Classes: 2, Epochs: 1, Batch: 2, Rate: 0.5, Seed: 7}
		var given []hunt.Sample
		for i, e := range list {
			given = append(given, hunt.Sample{X: v.Vector(e.Words), Class: i % 2})
		}
		k.m, _ = train(t, cfg, given)
		if len(given) > 0 {
			k.x = given[0].X
		}
		all = append(all, k)
	}
	for _, i := range []int{0, 1, 255, 256, 500, 999} {
		examples(o, "examples", all[i].list)
		o.Strings("words", all[i].v.Words())
		o.Floats("probabilities", all[i].m.Probabilities(all[i].x), observe.Within(1e-6, 0))
	}
	m := all[0].m
	first, sum := m.Probabilities(all[0].x), 0.0
	for range 70_000 {
		sum += m.Probabilities(all[0].x)[0] + float64(m.Predict(all[0].x))
	}
	o.Float("70,000 calls", sum/70_000, observe.Within(1e-6, 0))
	o.Bool("the last call", slices.Equal(first, m.Probabilities(all[0].x)))
	afterEndings(o)
}

// bursting is a reader and a writer that ends with its last byte: by a panic, or an error if it
// has one.
type bursting struct {
	text  string // to be read
	left  int    // may be written
	err   error
	value any // of the panic
}

func (b *bursting) end() error {
	if b.err == nil {
		panic(b.value)
	}
	return b.err
}

func (b *bursting) Read(p []byte) (int, error) {
	n := copy(p, b.text)
	if b.text = b.text[n:]; n == 0 {
		return 0, b.end()
	}
	return n, nil
}

func (b *bursting) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	if b.left -= n; n < len(p) {
		return n, b.end()
	}
	return n, nil
}

// ending is how a reader or a writer ends: by an error, or a panic with a value.
type ending struct {
	fault error
	value any
}

// burst returns the value of the panic that ends a call, or nil.
func burst(call func() error) (value any) {
	defer func() { value = recover() }()
	_ = call()
	return nil
}

// afterEndings records what Read and WriteMetrics answer behind calls of theirs that a panic or
// an error has ended, early or late.
func afterEndings(o *observe.Observer) {
	r := o.Rand()
	for _, e := range []ending{{value: new(int)}, {value: errOwn}, {fault: errOwn}} { // a text made of a value is another one
		ended := func(name string, call func() error) {
			if e.fault == nil {
				o.Panics(name+" bursts", func() { _ = call() })
				o.Bool(name+" bursts with its own value", burst(call) == e.value)
			} else {
				_ = call()
			}
		}
		list := plain(r, 5)
		text := lines("\n", list...)
		other := lines("\n", plain(r, 2)...) + list[0]
		once, otherOnce := outcome(strings.NewReader(text)), outcome(strings.NewReader(other))
		many := lines("\n", plain(r, 300)...)
		for _, before := range []string{"", list[0], text, text + "half a line", "z\t" + word(r) + "\n" + text + list[1], text + "x\t" + letters(r, 70_000), many + text + "\r", text + "no tab\n"} {
			if strings.HasSuffix(before, "no tab\n") { // it has a fault before its end
				_, _ = hunt.Read(strings.NewReader(before))
			} else {
				ended("a reader", func() error { _, err := hunt.Read(&bursting{text: before, err: e.fault, value: e.value}); return err })
			}
			o.Bool("a Read after one that was ended", outcome(strings.NewReader(text)) == once)
			o.Bool("a Read of another text after it", outcome(strings.NewReader(other)) == otherOnce)
		}
		for _, n := range []int{5, 3_000} {
			epochs := random(r, n)
			var whole bytes.Buffer
			_ = hunt.WriteMetrics(&whole, epochs[:3])
			for _, left := range []int{0, 1, below(r, 20, 60), 15 * n} {
				ended("a writer", func() error { return hunt.WriteMetrics(&bursting{left: left, err: e.fault, value: e.value}, epochs) })
				var b bytes.Buffer
				err := hunt.WriteMetrics(&b, epochs[:3])
				o.Bool("a WriteMetrics after one that was ended", err == nil && b.String() == whole.String())
			}
		}
	}
}
