package hidden

import (
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// near is how exactly benchmarks compare: the last bit is tested elsewhere.
var near = observe.Within(1e-6, 1e-6)

// hash adds a text to a number that depends on all texts before it, and on their order.
func hash(sum int, text string) int { return sum*1_000_003 + int(crc32.ChecksumIEEE([]byte(text))) }

// sumOf is a number for all of some examples that shows what is missing, or elsewhere.
func sumOf(list []hunt.Example) (sum int) {
	for _, e := range list {
		for _, w := range e.Words {
			sum = hash(sum, w)
		}
		sum = hash(sum, e.Label)*31 + e.Count
	}
	return sum
}

// about draws a number that is n, or up to one percent more or less.
func about(r *rand.Rand, n int) int { return below(r, n-n/100, n+n/100) }

// weighted is a sum of a vector that does.
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

// spelled gives some letters behind the label of a line, which has six, capitals.
func spelled(r *rand.Rand, line string) string {
	b, capitals := []byte(line), r.Uint64()
	for i := 7; i < len(b); i++ {
		if capitals>>i&1 == 1 && b[i] != ' ' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// 200,000 short lines of 40 examples. Each has capitals of its own, so who remembers lines as they
// came gains nothing.
func BenchmarkReadShort(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	few := make([]string, 40)
	for i := range few {
		few[i] = letters(r, 6) + "\t" + letters(r, 7) + " " + letters(r, 7)
	}
	all := some(r, few, about(r, 200_000))
	for i, line := range all {
		all[i] = spelled(r, line)
	}
	text := lines("\n", all...)
	var list []hunt.Example
	for o.Loop() {
		list = mustRead(b, text)
	}
	o.Int("number of examples", len(list))
	o.Int("all examples, hashed", sumOf(list))
}

// 2,200 different lines of 150 words. Those of the same label differ in their last words.
func BenchmarkReadDifferent(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	begin := "x\t" + strings.Join(some(r, words(r, 200), 147), " ")
	last := words(r, about(r, 2_200))
	for i, w := range last {
		last[i] = begin + " " + word(r) + " " + w
	}
	text := lines("\n", last...)
	var list []hunt.Example
	for o.Loop() {
		list = mustRead(b, text)
	}
	o.Int("number of examples", len(list))
	o.Int("all examples, hashed", sumOf(list))
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
	o.Int("number of examples", len(list))
	o.Int("all examples, hashed", sumOf(list))
}

// bag draws examples of some words.
func bag(r *rand.Rand, n, size int, known []string) []hunt.Example {
	list := make([]hunt.Example, n)
	for i := range list {
		list[i] = hunt.Example{Label: "x", Words: some(r, known, size), Count: 1 + r.IntN(3)}
	}
	return list
}

// joined is a number for words and their order.
func joined(words []string) (sum int) {
	for _, w := range words {
		sum = hash(sum, w)
	}
	return sum
}

// vocabulary records all words of a vocabulary in their order, and vectors of some of them
// and of some examples, which nobody knows before.
func vocabulary(o *observe.Observer, v *hunt.Vocabulary, list []hunt.Example) {
	r, known := o.Rand(), v.Words()
	o.Int("number of words", len(known))
	o.Int("all words, hashed", joined(known))
	if len(known) > 0 {
		o.Float("a vector of words of the vocabulary", weighted(v.Vector(some(r, known, 2_000))), near)
	}
	for range 8 {
		o.Float("a vector of an example", weighted(v.Vector(list[r.IntN(len(list))].Words)), near)
	}
}

// firstAnswers are a vector and the words of a vocabulary.
type firstAnswers struct {
	vector hunt.Vector
	words  []string
}

// ask makes a vocabulary that has put off its work do all of it.
func ask(v *hunt.Vocabulary, text []string) firstAnswers {
	return firstAnswers{v.Vector(text), v.Words()}
}

func (a firstAnswers) record(o *observe.Observer) {
	o.Float("the vector that was asked for first", weighted(a.vector), near)
	o.Int("all words that were asked for first, hashed", joined(a.words))
}

// The vocabulary of 2,250,000 words, of which 40 are different.
func BenchmarkVocabularyFew(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := append(words(r, 25), stopWords[:15]...)
	var tape []string         // to draw each word of each example would take longer than what is measured
	for len(tape) < 100_000 { // not all words are in all examples
		r.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
		tape = append(tape, some(r, known[:below(r, 20, 40)], 500)...)
	}
	list := make([]hunt.Example, about(r, 4_500))
	for i := range list {
		at := r.IntN(len(tape) - 500)
		list[i] = hunt.Example{Label: "x", Words: slices.Clone(tape[at : at+500]), Count: 1 + r.IntN(3)}
	}
	var v *hunt.Vocabulary
	var first firstAnswers
	for o.Loop() {
		v = hunt.NewVocabulary(list, 20)
		first = ask(v, list[0].Words)
	}
	first.record(o)
	vocabulary(o, v, list)
}

// rare draws examples of about 30,000 words, most of which come once.
func rare(r *rand.Rand) []hunt.Example {
	known := words(r, 27_000)
	known = append(known, known[:3_000]...)
	r.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	list := make([]hunt.Example, below(r, 296, 300))
	for i := range list {
		list[i] = hunt.Example{Label: "x", Words: known[100*i : 100*i+100], Count: 1}
	}
	return list
}

// The vocabulary of 30,000 words, most of which come once, and of 30,000 others.
func BenchmarkVocabularyMany(b *testing.B) {
	o := observe.New(b)
	lists := [][]hunt.Example{rare(o.Rand()), rare(o.Rand())} // what was counted in one is in no other
	vocabularies, first := make([]*hunt.Vocabulary, len(lists)), make([]firstAnswers, len(lists))
	for o.Loop() {
		for i, list := range lists {
			vocabularies[i] = hunt.NewVocabulary(list, 20_000)
			first[i] = ask(vocabularies[i], list[0].Words[:10]) // few, so that a slow Vector does not count
		}
	}
	for i, v := range vocabularies {
		first[i].record(o)
		vocabulary(o, v, lists[i])
	}
}

// Vectors of long texts, for a vocabulary of 3,000 words.
func BenchmarkVectorsLong(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 3_000)
	v := hunt.NewVocabulary([]hunt.Example{{Words: known, Count: 1}, {Words: known[:1_700], Count: 1}}, everything)
	texts := bag(r, about(r, 220), 2_000, known)
	sum := 0.0
	for o.Loop() {
		sum = 0
		for i, e := range texts {
			sum += weighted(v.Vector(e.Words)) * float64(i%10+1)
		}
	}
	o.Float("all vectors, added up with weights", sum, near)
}

// Vectors of short texts of frequent words, for a vocabulary of 1,000 words. A hundred of them
// make so many texts of four that hardly any comes twice, also in another order: who remembers
// vectors by their words gains nothing.
func BenchmarkVectorsShort(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	known := words(r, 1_000)
	v := hunt.NewVocabulary([]hunt.Example{{Words: known, Count: 1}, {Words: known[:100], Count: 9}}, everything)
	texts := bag(r, about(r, 200_000), 4, known[:100])
	sum := 0.0
	for o.Loop() {
		sum = 0
		for i, e := range texts {
			sum += weighted(v.Vector(e.Words)) * float64(i%10+1)
		}
	}
	o.Float("all vectors, added up with weights", sum, near)
}

// trained measures a training, and records what came of it.
func trained(b *testing.B, cfg hunt.Config, n, entries int) {
	b.Helper()
	o := observe.New(b)
	r := o.Rand()
	cfg.Seed = r.Uint64()
	list := samples(r, cfg, about(r, n), entries)
	var m *hunt.Model
	var epochs []hunt.Epoch
	for o.Loop() {
		m, epochs = train(b, cfg, list)
	}
	learned(o, epochs, m, list)
}

// learned records what each epoch came to, and what the model says of some samples, which
// nobody knows before.
func learned(o *observe.Observer, epochs []hunt.Epoch, m *hunt.Model, list []hunt.Sample) {
	for _, e := range epochs {
		o.Float("loss of an epoch", e.Loss, near)
		o.Float("accuracy of an epoch", e.Accuracy, observe.Within(0.01, 0))
	}
	for range 100 {
		sum := 0.0
		for c, p := range m.Probabilities(list[o.Rand().IntN(len(list))].X) {
			sum += p * float64(1+3*c%17)
		}
		o.Float("probabilities of a sample, added up with weights", sum, near)
	}
}

// A training with 100 classes and few features.
func BenchmarkTrainClasses(b *testing.B) {
	trained(b, hunt.Config{Features: 20, Classes: 100, Epochs: 6, Batch: 100, Rate: 0.5}, 3_000, 2)
}

// A training with 6,000 features in small batches.
func BenchmarkTrainWide(b *testing.B) {
	trained(b, hunt.Config{Features: 6_000, Classes: 3, Epochs: 20, Batch: 4, Rate: 0.5}, 2_500, 20)
}

// A training with vectors of 300 entries.
func BenchmarkTrainLong(b *testing.B) {
	trained(b, hunt.Config{Features: 600, Classes: 4, Epochs: 8, Batch: 200, Rate: 0.05}, 2_500, 300)
}

// A training of 50 epochs.
func BenchmarkTrainEpochs(b *testing.B) {
	trained(b, hunt.Config{Features: 30, Classes: 10, Epochs: 50, Batch: 50, Rate: 0.1}, 6_000, 2)
}

// Read allocates little for a line that was there before (rule 25).
func TestReadAllocations(t *testing.T) {
	o := observe.New(t)
	text := repeated(o.Rand(), 2_000, 10, 3)
	o.Int("all examples, hashed", sumOf(mustRead(t, text)))
	allocations := testing.AllocsPerRun(3, func() { _, _ = hunt.Read(strings.NewReader(text)) })
	o.SelfReported().Float("allocations", allocations, observe.AtMost(1, 30_000))
}

// Train allocates nothing for a sample, whatever its size, and at most once for a batch (rule 25).
func TestTrainAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []struct{ features, classes, entries, epochs int }{{20, 5, 3, 100}, {20, 70, 2, 20}, {5, 260, 1, 20}, {300, 2, 300, 60}, {3, below(r, 1_100, 1_300), 1, 120}} {
		cfg := hunt.Config{Features: size.features, Classes: size.classes, Epochs: size.epochs, Batch: 5, Rate: 0.1, Seed: r.Uint64()}
		list := samples(r, cfg, 50, size.entries)
		_, epochs := train(t, cfg, list)
		o.Float("loss", epochs[len(epochs)-1].Loss, near)
		allocations := testing.AllocsPerRun(1, func() { _, _, _ = hunt.Train(cfg, list) })
		// 5 for an epoch and one for each of its 10 batches; rows of weights and of a gradient.
		o.SelfReported().Float("allocations", allocations, observe.AtMost(1, float64(15*size.epochs+2*(size.features+size.classes))))
	}
}
