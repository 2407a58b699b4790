package hidden

import (
	"bytes"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// near is how exactly benchmarks compare: the last bit is tested elsewhere.
var near = observe.Within(1e-6, 1e-6)

// sumOf is a sum over all of some examples that shows what is missing, or elsewhere.
func sumOf(list []hunt.Example) (sum int) {
	for i, e := range list {
		for k, w := range e.Words {
			sum += (i%1000 + 1) * (k%100 + 1) * int(crc32.ChecksumIEEE([]byte(w))%1000)
		}
		sum += (i + 1) * (e.Count*31 + int(crc32.ChecksumIEEE([]byte(e.Label))%1000))
	}
	return sum
}

// weighted is the same of a vector.
func weighted(x hunt.Vector) (sum float64) {
	for i, e := range x {
		sum += e.Value * float64(i+1+e.Index%100)
	}
	return sum
}

// repeated draws a text of n lines: so many different ones, of so many words.
func repeated(r *rand.Rand, n, different, size int) string {
	list := make([]string, different)
	known := words(r, 200)
	for i, first := range words(r, different) {
		list[i] = letters(r, 6) + "\t" + first + " " + strings.Join(some(r, known, size-1), " ")
	}
	return lines("\n", some(r, list, n)...)
}

// 200,000 short lines, of which 40 are different.
func BenchmarkReadShort(b *testing.B) {
	o := observe.New(b)
	text := repeated(o.Rand(), 200_000, 40, 2)
	var list []hunt.Example
	for o.Loop() {
		list = mustRead(b, text)
	}
	o.Int("examples", len(list))
	o.Int("sum", sumOf(list))
}

// 2,200 different lines of 150 words. Those of the same label differ in their last words.
func BenchmarkReadDifferent(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	begin := "x\t" + strings.Join(some(r, words(r, 200), 147), " ")
	last := words(r, 2_200)
	for i, w := range last {
		last[i] = begin + " " + word(r) + " " + w
	}
	text := lines("\n", last...)
	var list []hunt.Example
	for o.Loop() {
		list = mustRead(b, text)
	}
	o.Int("examples", len(list))
	o.Int("sum", sumOf(list))
}

// endless gives a text again and again, n bytes in all.
type endless struct {
	text string
	at   int
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	k := copy(p[:min(len(p), e.n)], e.text[e.at:])
	e.at = (e.at + k) % len(e.text)
	e.n -= k
	return k, nil
}

// A text of 24 MiB, nearly all of it comments and lines that were there before.
func BenchmarkReadText(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	part := repeated(r, 150, 40, 60)
	part += lines("\n", "# "+strings.Join(some(r, words(r, 100), 150_000), " "))
	size := 24 << 20 / len(part) * len(part)
	var list []hunt.Example
	for o.Loop() {
		var err error
		if list, err = hunt.Read(&endless{text: part, n: size}); err != nil {
			b.Fatal(err)
		}
	}
	o.Int("examples", len(list))
	o.Int("sum", sumOf(list))
}

// bag draws examples of some words.
func bag(r *rand.Rand, n, size int, known []string) []hunt.Example {
	list := make([]hunt.Example, n)
	for i := range list {
		list[i] = hunt.Example{Label: "x", Words: some(r, known, size), Count: 1 + r.IntN(3)}
	}
	return list
}

// joined is a sum over words that shows their order.
func joined(words []string) (sum int) {
	for i, w := range words {
		sum += (i + 1) * int(crc32.ChecksumIEEE([]byte(w))%1000)
	}
	return sum
}

// The vocabulary of 2,250,000 words, of which 40 are different.
func BenchmarkVocabularyFew(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	list := bag(r, 4_500, 500, append(words(r, 25), stopWords[:15]...))
	var v *hunt.Vocabulary
	for o.Loop() {
		v = hunt.NewVocabulary(list, 20)
	}
	o.Int("words", joined(v.Words()))
	o.Float("a vector", weighted(v.Vector(list[r.IntN(4_500)].Words)), near)
}

// The vocabulary of 30,000 words, most of which come once, twice.
func BenchmarkVocabularyMany(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 27_000)
	known = append(known, known[:3_000]...)
	r.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	list := make([]hunt.Example, 300)
	for i := range list {
		list[i] = hunt.Example{Label: "x", Words: known[100*i : 100*i+100], Count: 1}
	}
	var v *hunt.Vocabulary
	for o.Loop() {
		hunt.NewVocabulary(list[1:], 20_000)
		v = hunt.NewVocabulary(list, 20_000)
	}
	o.Int("words", joined(v.Words()))
	o.Float("a vector", weighted(v.Vector(list[r.IntN(300)].Words)), near)
}

// Vectors of long texts, for a vocabulary of 3,000 words.
func BenchmarkVectorsLong(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 3_000)
	v := hunt.NewVocabulary([]hunt.Example{{Words: known, Count: 1}, {Words: known[:1_700], Count: 1}}, everything)
	texts := bag(r, 220, 2_000, known)
	sum := 0.0
	for o.Loop() {
		sum = 0
		for i, e := range texts {
			sum += weighted(v.Vector(e.Words)) * float64(i%10+1)
		}
	}
	o.Float("sum", sum, near)
}

// Vectors of short texts of frequent words, for a vocabulary of 1,000 words.
func BenchmarkVectorsShort(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 1_000)
	v := hunt.NewVocabulary([]hunt.Example{{Words: known, Count: 1}, {Words: known[:10], Count: 9}}, everything)
	texts := bag(r, 200_000, 4, known[:10])
	sum := 0.0
	for o.Loop() {
		sum = 0
		for i, e := range texts {
			sum += weighted(v.Vector(e.Words)) * float64(i%10+1)
		}
	}
	o.Float("sum", sum, near)
}

// trained measures a training, and records what came of it.
func trained(b *testing.B, cfg hunt.Config, n, entries int) {
	b.Helper()
	o := observe.New(b)
	r := o.Rand()
	cfg.Seed = r.Uint64()
	list := samples(r, cfg, n, entries)
	var m *hunt.Model
	var epochs []hunt.Epoch
	for o.Loop() {
		m, epochs = train(b, cfg, list)
	}
	for _, e := range epochs {
		o.Float("loss", e.Loss, near)
		o.Float("accuracy", e.Accuracy, observe.Within(0.01, 0))
	}
	sum := 0.0
	for i, s := range list[:50] {
		for c, p := range m.Probabilities(s.X) {
			sum += p * float64(1+(i+3*c)%17)
		}
	}
	o.Float("probabilities", sum, near)
}

// A training with 100 classes and few features.
func BenchmarkTrainClasses(b *testing.B) {
	trained(b, hunt.Config{Features: 20, Classes: 100, Epochs: 6, Batch: 100, Rate: 0.5}, 3_000, 2)
}

// A training with 3,000 features in small batches.
func BenchmarkTrainWide(b *testing.B) {
	trained(b, hunt.Config{Features: 3_000, Classes: 3, Epochs: 20, Batch: 4, Rate: 0.5}, 2_500, 20)
}

// A training with vectors of 300 entries.
func BenchmarkTrainLong(b *testing.B) {
	trained(b, hunt.Config{Features: 600, Classes: 4, Epochs: 8, Batch: 200, Rate: 0.05}, 2_500, 300)
}

// A training of 50 epochs.
func BenchmarkTrainEpochs(b *testing.B) {
	trained(b, hunt.Config{Features: 30, Classes: 10, Epochs: 50, Batch: 50, Rate: 0.1}, 6_000, 2)
}

// Predictions of 100 classes.
func BenchmarkPredict(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	cfg := hunt.Config{Features: 8, Classes: 100, Epochs: 1, Batch: 50, Rate: 0.5, Seed: r.Uint64()}
	m, _ := train(b, cfg, samples(r, cfg, 600, 2))
	list := samples(r, cfg, 20_000, 1)
	sum := 0
	for o.Loop() {
		sum = 0
		for i, s := range list {
			sum += m.Predict(s.X) * (i%100 + 1)
		}
	}
	o.Float("sum", float64(sum), observe.Within(0, 1e-3))
}

// Twenty million pairs of 12 classes.
func BenchmarkTally(b *testing.B) {
	o := observe.New(b)
	truth, predicted := pairs(o.Rand(), 2_000_000, 12)
	var rows [][]int
	for o.Loop() {
		for i := range 10 {
			truth[i], predicted[i] = i, 11-i // another table each time
			rows = hunt.Tally(truth, predicted, 12)
		}
	}
	table(o, "table", rows)
}

// random draws metrics.
func random(r *rand.Rand, n int) []hunt.Epoch {
	epochs := make([]hunt.Epoch, n)
	for i := range epochs {
		epochs[i] = hunt.Epoch{Loss: 3 * r.Float64(), Accuracy: r.Float64()}
	}
	return epochs
}

// Metrics of 1,500 epochs, into memory, 220 times.
func BenchmarkWriteLong(b *testing.B) {
	o := observe.New(b)
	epochs := random(o.Rand(), 1_500)
	var out bytes.Buffer
	for o.Loop() {
		for i := range 220 {
			epochs[0].Loss = float64(i)
			out.Reset()
			if err := hunt.WriteMetrics(&out, epochs); err != nil {
				b.Fatal(err)
			}
		}
	}
	o.Int("bytes", out.Len())
	o.Int("sum", int(crc32.ChecksumIEEE(out.Bytes())))
}

// Metrics of 40 epochs, into a file, 3,000 times.
func BenchmarkWriteFile(b *testing.B) {
	o := observe.New(b)
	epochs := random(o.Rand(), 40)
	file, err := os.Create(b.TempDir() + "/metrics.csv")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for o.Loop() {
		for i := range 3_000 {
			epochs[0].Loss = float64(i)
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				b.Fatal(err)
			}
			if err := hunt.WriteMetrics(file, epochs); err != nil {
				b.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(file.Name())
	if err != nil {
		b.Fatal(err)
	}
	o.Int("bytes", len(data))
	o.Int("sum", int(crc32.ChecksumIEEE(data)))
}

// All of it: a text of 3,000 lines is read, counted, turned into vectors and learned, and the
// metrics are written.
func BenchmarkPipeline(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 3_000)
	text := make([]string, 3_000)
	for i := range text {
		text[i] = string(rune('a'+i%6)) + "\t" + strings.Join(some(r, known, 30), " ")
	}
	input := lines("\n", text...)
	var out bytes.Buffer
	right := 0
	for o.Loop() {
		out.Reset()
		list := mustRead(b, input)
		v := hunt.NewVocabulary(list, 2_000)
		given := make([]hunt.Sample, len(list))
		for i, e := range list {
			given[i] = hunt.Sample{X: v.Vector(e.Words), Class: int(e.Label[0] - 'a')}
		}
		m, epochs := train(b, hunt.Config{Features: 2_000, Classes: 6, Epochs: 3, Batch: 20, Rate: 1, Seed: 1}, given)
		right = 0
		for _, s := range given {
			if m.Predict(s.X) == s.Class {
				right++
			}
		}
		if err := hunt.WriteMetrics(&out, epochs); err != nil {
			b.Fatal(err)
		}
	}
	o.Int("lines", bytes.Count(out.Bytes(), []byte("\n")))
	o.Float("right", float64(right), observe.Within(0, 0.01))
}

// Read allocates little for a line that was there before (rule 25).
func TestReadAllocations(t *testing.T) {
	o := observe.New(t)
	text := repeated(o.Rand(), 2_000, 10, 3)
	o.Int("sum", sumOf(mustRead(t, text)))
	allocations := testing.AllocsPerRun(3, func() { _, _ = hunt.Read(strings.NewReader(text)) })
	o.SelfReported().Float("allocations", allocations, observe.AtMost(1, 30_000))
}

// Train allocates nothing for a sample, whatever its size, and at most once for a batch (rule 25).
func TestTrainAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []struct{ features, classes, entries, epochs int }{{20, 5, 3, 100}, {20, 70, 2, 20}, {5, 260, 1, 20}, {300, 2, 300, 60}} {
		cfg := hunt.Config{Features: size.features, Classes: size.classes, Epochs: size.epochs, Batch: 5, Rate: 0.1, Seed: r.Uint64()}
		list := samples(r, cfg, 50, size.entries)
		_, epochs := train(t, cfg, list)
		o.Float("loss", epochs[len(epochs)-1].Loss, near)
		allocations := testing.AllocsPerRun(1, func() { _, _, _ = hunt.Train(cfg, list) })
		// 5 for an epoch and one for each of its 10 batches; rows of weights and of a gradient.
		o.SelfReported().Float("allocations", allocations, observe.AtMost(1, float64(15*size.epochs+2*(size.features+size.classes))))
	}
}
