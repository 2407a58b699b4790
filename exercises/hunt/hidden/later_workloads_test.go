package hidden

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// Predictions of 100 classes.
func BenchmarkPredict(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	cfg := hunt.Config{Features: 8, Classes: 100, Epochs: 1, Batch: 50, Rate: 0.5, Seed: r.Uint64()}
	m, _ := train(b, cfg, samples(r, cfg, 600, 2))
	list := samples(r, cfg, about(r, 20_000), 1)
	sums := make([]int, 128)
	for o.Loop() {
		clear(sums)
		for i, s := range list {
			sums[i%len(sums)] += m.Predict(s.X) * (i%100 + 1)
		}
	}
	o.Ints("all predictions, in sums with weights", sums)
}

// Twenty million pairs of 12 classes.
func BenchmarkTally(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	truth, predicted := pairs(r, 2_040_000, 12)
	tables := make([][][]int, 10)
	for o.Loop() {
		for i := range tables { // other pairs each time
			from, to, n := r.IntN(20_000), r.IntN(20_000), about(r, 2_000_000)
			tables[i] = hunt.Tally(truth[from:from+n], predicted[to:to+n], 12)
		}
	}
	for _, rows := range tables {
		table(o, "table of a call", rows)
	}
}

// random draws metrics.
func random(r *rand.Rand, n int) []hunt.Epoch {
	epochs := make([]hunt.Epoch, n)
	for i := range epochs {
		epochs[i] = hunt.Epoch{Loss: 3 * r.Float64(), Accuracy: r.Float64()}
	}
	return epochs
}

// parts draws the metrics of so many calls: of n epochs each, or up to three percent more or
// less. No epoch is in two of them, so who remembers its line gains nothing.
func parts(r *rand.Rand, calls, n int) [][]hunt.Epoch {
	list := make([][]hunt.Epoch, calls)
	for i := range list {
		list[i] = random(r, below(r, n-n/32, n+n/32))
	}
	return list
}

// spots adds to a number the length of some bytes, and those at places that nobody knows before.
func spots(r *rand.Rand, sum int, data []byte) int {
	sum = sum*31 + len(data)
	for range min(32, len(data)) {
		sum = sum*31 + int(data[r.IntN(len(data))])
	}
	return sum
}

// Metrics of 1,500 epochs, into memory, 220 times.
func BenchmarkWriteLong(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	list := parts(r, about(r, 220), 1_500)
	var out bytes.Buffer
	written := make([]int, len(list))
	for o.Loop() {
		for i, epochs := range list {
			out.Reset()
			if err := hunt.WriteMetrics(&out, epochs); err != nil {
				b.Fatal(err)
			}
			written[i] = spots(r, 0, out.Bytes())
		}
	}
	o.Ints("length and some bytes of each text, hashed", written)
	o.Int("all of the last text, hashed", int(crc32.ChecksumIEEE(out.Bytes())))
}

// Metrics of 40 epochs, into a file, 3,000 times, one behind the other.
func BenchmarkWriteFile(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	list := parts(r, about(r, 3_000), 40)
	file, err := os.Create(b.TempDir() + "/metrics.csv")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for o.Loop() {
		for _, epochs := range list {
			if err := hunt.WriteMetrics(file, epochs); err != nil {
				b.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(file.Name())
	if err != nil {
		b.Fatal(err)
	}
	o.Int("bytes of all texts", len(data))
	o.Int("all texts, hashed", int(crc32.ChecksumIEEE(data)))
}

// pipeline is all that comes of a text on its way.
type pipeline struct {
	list       []hunt.Example
	vocabulary *hunt.Vocabulary
	given      []hunt.Sample
	model      *hunt.Model
	epochs     []hunt.Epoch
	classes    int // predicted, in a sum with weights
	out        bytes.Buffer
}

// run reads a text, counts its words, turns them into vectors and learns them.
func (p *pipeline) run(b *testing.B, input string, seed uint64) {
	b.Helper()
	p.list = mustRead(b, input)
	p.vocabulary = hunt.NewVocabulary(p.list, 2_000)
	p.given = make([]hunt.Sample, len(p.list))
	for i, e := range p.list {
		p.given[i] = hunt.Sample{X: p.vocabulary.Vector(e.Words), Class: int(e.Label[0] - 'a')}
	}
	p.model, p.epochs = train(b, hunt.Config{Features: 2_000, Classes: 6, Epochs: 3, Batch: 20, Rate: 1, Seed: seed}, p.given)
	p.classes = 0
	for i, s := range p.given {
		p.classes += p.model.Predict(s.X) * (i%997 + 1)
	}
	p.out.Reset()
	if err := hunt.WriteMetrics(&p.out, p.epochs); err != nil {
		b.Fatal(err)
	}
}

// All of it: a text of 3,000 lines is read, counted, turned into vectors and learned, and the
// metrics are written.
func BenchmarkPipeline(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 3_000)
	text := make([]string, about(r, 3_000))
	for i := range text {
		text[i] = string(rune('a'+i%6)) + "\t" + strings.Join(some(r, known, 30), " ")
	}
	input, seed := lines("\n", text...), r.Uint64()
	p := &pipeline{}
	for o.Loop() {
		p.run(b, input, seed)
	}
	o.Int("all examples, hashed", sumOf(p.list))
	vocabulary(o, p.vocabulary, p.list)
	sum := 0.0
	for i, s := range p.given {
		sum += weighted(s.X) * float64(i%101+1)
	}
	o.Float("all vectors, added up with weights", sum, near)
	learned(o, p.epochs, p.model, p.given)
	o.Int("all predictions, added up with weights", p.classes)
	o.Int("the metrics as they were written, hashed", int(crc32.ChecksumIEEE(p.out.Bytes())))
}
