// Package hidden holds the hidden tests of the hunt exercise. Everything is compared to
// the last bit, because that is what the exercise promises; only the benchmarks leave
// room, so that a sum in another order costs its own tests and no more. The starter is
// slow, and has to pass all tests: where an input is large, it is large in one way.
package hidden

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

var exact = observe.Exact()

// below draws a number from lo to hi, both included.
func below(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// letters draws n small letters.
func letters(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}

// word draws a word that is no stop word: those are shorter.
func word(r *rand.Rand) string { return letters(r, below(r, 5, 9)) }

// words draws n different words.
func words(r *rand.Rand, n int) []string {
	seen, list := map[string]bool{}, make([]string, 0, n)
	for len(list) < n {
		if w := word(r); !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}

// some draws n words of a list, each any number of times.
func some(r *rand.Rand, list []string, n int) []string {
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = list[r.IntN(len(list))]
	}
	return drawn
}

// quoted shows words so that no two lists look alike.
func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

// examples records examples.
func examples(o *observe.Observer, name string, list []hunt.Example) {
	var labels, texts []string
	var counts []int
	for _, e := range list {
		labels, texts, counts = append(labels, e.Label), append(texts, quoted(e.Words)), append(counts, e.Count)
	}
	o.Strings(name+": labels", labels)
	o.Strings(name+": words", texts)
	o.Ints(name+": counts", counts)
}

// read records what Read makes of a text.
func read(o *observe.Observer, name, text string) {
	list, err := hunt.Read(strings.NewReader(text))
	failure(o, name, err)
	examples(o, name, list)
}

// mustRead reads a text that has no faults.
func mustRead(t testing.TB, text string) []hunt.Example {
	t.Helper()
	list, err := hunt.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// failure records which error it is, and its line.
func failure(o *observe.Observer, name string, err error) {
	o.Error(name+": error", err, hunt.ErrTab, hunt.ErrLabel)
	line := 0
	if at, ok := errors.AsType[*hunt.LineError](err); ok {
		line = at.Line
	}
	o.Int(name+": line", line)
}

// vector records a vector.
func vector(o *observe.Observer, name string, x hunt.Vector) {
	var indices []int
	var values []float64
	for _, e := range x {
		indices, values = append(indices, e.Index), append(values, e.Value)
	}
	o.Ints(name+": indices", indices)
	o.Floats(name+": values", values, exact)
}

// apart draws n different numbers below limit.
func apart(r *rand.Rand, limit, n int) []int {
	if n > limit/8 {
		return r.Perm(limit)[:n]
	}
	list := make([]int, 0, n)
	for len(list) < n {
		if k := r.IntN(limit); !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

// sparse draws a vector of n entries with indices below features.
func sparse(r *rand.Rand, features, n int) hunt.Vector {
	indices := apart(r, features, n)
	slices.Sort(indices)
	x := make(hunt.Vector, n)
	for i := range x {
		x[i] = hunt.Entry{Index: indices[i], Value: r.NormFloat64()}
	}
	return x
}

// samples draws n samples of all classes.
func samples(r *rand.Rand, cfg hunt.Config, n, entries int) []hunt.Sample {
	list := make([]hunt.Sample, n)
	for i := range list {
		list[i] = hunt.Sample{X: sparse(r, cfg.Features, min(entries, cfg.Features)), Class: r.IntN(cfg.Classes)}
	}
	return list
}

// config draws a training of a few classes.
func config(r *rand.Rand) hunt.Config {
	return hunt.Config{Features: below(r, 5, 20), Classes: below(r, 3, 6), Epochs: below(r, 2, 4), Batch: below(r, 3, 5), Rate: 0.25 + r.Float64(), Seed: r.Uint64()}
}

// train trains, where nothing is wrong.
func train(t testing.TB, cfg hunt.Config, list []hunt.Sample) (*hunt.Model, []hunt.Epoch) {
	t.Helper()
	m, epochs, err := hunt.Train(cfg, list)
	if err != nil || m == nil {
		t.Fatalf("Train: a model is %v, error %v", m != nil, err)
	}
	return m, epochs
}

// model records what a model says of each feature alone, and of none: that is all there is
// in it.
func model(o *observe.Observer, name string, m *hunt.Model, features int) {
	p := slices.Clone(m.Probabilities(nil))
	for f := range features {
		p = append(p, m.Probabilities(hunt.Vector{{Index: f, Value: 1}})...)
	}
	o.Floats(name, p, exact)
}

// metrics records what epochs came to.
func metrics(o *observe.Observer, name string, epochs []hunt.Epoch) {
	var losses, accuracies []float64
	for _, e := range epochs {
		losses, accuracies = append(losses, e.Loss), append(accuracies, e.Accuracy)
	}
	o.Floats(name+": losses", losses, exact)
	o.Floats(name+": accuracies", accuracies, exact)
}

// alike draws two lists of 1,024 of two things each, one of them where the other list has
// the other one, in the order of Thue and Morse. Whatever odd number a hash multiplies by
// for each byte: modulo 2^64 it is the same of both.
func alike(a, b string) (x, y []string) {
	for i := range 1_024 {
		if bits.OnesCount(uint(i))%2 == 1 {
			x, y = append(x, a), append(y, b)
		} else {
			x, y = append(x, b), append(y, a)
		}
	}
	return x, y
}

// alikeWords are two words made so.
func alikeWords(r *rand.Rand) (x, y string) {
	k := r.IntN(25)
	p, q := alike(string(rune('a'+k)), string(rune('b'+k+r.IntN(25-k))))
	return strings.Join(p, ""), strings.Join(q, "")
}

// between lists what may stand between two words, so that the two look like one: every byte,
// and some longer texts.
func between() []string {
	list := []string{"--", "::", "||", "<>", "</s>", "\x00\x00", "\xff\xff", "\u00a0", "\u2028", "\ufffd"}
	for b := range 256 {
		list = append(list, string([]byte{byte(b)}))
	}
	return list
}

// prefixed joins words to one, all but the first with their lengths before them: written with a
// length itself, it looks like all of them. A length of 8 bits is one byte, one of 16 bits is two
// equal bytes.
func prefixed(list []string, bytes int) string {
	var b strings.Builder
	b.WriteString(list[0])
	for _, w := range list[1:] {
		b.WriteString(strings.Repeat(string([]byte{byte(len(w))}), bytes) + w)
	}
	return b.String()
}

// lines joins lines, each with an end.
func lines(end string, list ...string) string { return strings.Join(list, end) + end }

// plain draws n lines of distinct examples: no two have the same first word.
func plain(r *rand.Rand, n int) []string {
	firsts, others := words(r, n), words(r, 9)
	list := make([]string, n)
	for i, w := range firsts {
		list[i] = letters(r, 2) + "\t" + strings.Join(append([]string{w}, some(r, others, below(r, 0, 4))...), " ")
	}
	return list
}
