package hidden

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// everything is a limit that keeps all words.
const everything = 1 << 40

var stopWords = strings.Fields("a an and are as at be by for from in is it of on or that the this to was were with")

// ranked draws a text for each of n examples. Of its words, no two come equally often: the
// order of the vocabulary does not depend on how equal ones are ordered.
func ranked(r *rand.Rand, n int) []hunt.Example {
	list := make([]hunt.Example, n)
	for i := range list {
		list[i] = hunt.Example{Label: letters(r, 3), Count: 1}
	}
	for i, w := range words(r, 3*n) {
		for range i + 1 {
			e := &list[r.IntN(n)]
			e.Words = append(e.Words, w)
		}
	}
	for i := range list {
		r.Shuffle(len(list[i].Words), func(j, k int) { list[i].Words[j], list[i].Words[k] = list[i].Words[k], list[i].Words[j] })
	}
	return list
}

// The words are ordered by how often they come in all examples together, each example as
// often as its Count says (rule 8).
func TestVocabulary(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		o.Strings("words", hunt.NewVocabulary(ranked(r, below(r, 2, 9)), everything).Words())
		w := words(r, 4)
		counted := []hunt.Example{{Words: w[:1], Count: 5}, {Words: []string{w[1], w[1], w[1], w[2], w[2]}, Count: 2}, {Words: []string{w[3], w[3], w[3]}, Count: 1}}
		o.Strings("by Count", hunt.NewVocabulary(counted, everything).Words())
	}
	w := words(r, 3)
	often := []hunt.Example{{Words: slices.Repeat(w[:1], 70_000), Count: 1}, {Words: w[1:2], Count: 70_001}, {Words: w[2:], Count: 65_537}, {Words: w[2:], Count: 1 << 40}}
	o.Strings("often", hunt.NewVocabulary(often, everything).Words())
	for _, n := range []int{1 << 24, 1 << 53, 1 << 60} {
		w := words(r, 2)
		slices.Sort(w)
		once := []hunt.Example{{Words: w[:1], Count: n}, {Words: w[1:], Count: n}, {Words: w[1:], Count: 1}}
		o.Strings("one more of very many", hunt.NewVocabulary(once, everything).Words())
	}
}

// Words that come equally often are ordered by their bytes (rule 8).
func TestTies(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		w := append(words(r, 30), "", "\x00", "Zebra", "zebra", "É", "é", "\xff", "~", "10", "9", "zebra1", "zebra-", "zebra ",
			"zebra\x00", "\xfe", "\ufb00", "\ufffd", "\U0001f600", "\xed\xa0\x80")
		long := letters(r, 40)
		w = append(w, long, long+"\x00", long+"b", long+"a", long+"\xff")
		r.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
		once := []hunt.Example{{Words: w[:9], Count: 1}, {Words: w[9:], Count: 1}}
		o.String("all equal", quoted(hunt.NewVocabulary(once, everything).Words()))
		twice := append(once, hunt.Example{Words: w[20:30], Count: 1})
		o.String("two groups", quoted(hunt.NewVocabulary(twice, everything).Words()))
		o.String("cut in a group", quoted(hunt.NewVocabulary(twice, below(r, 15, 35)).Words()))
	}
}

// No more than limit words are kept, and none if limit is 0 or below (rule 8).
func TestLimit(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := ranked(r, 4)
	for _, limit := range []int{5, 11, 12, 13, 1, 0, -1, -1 << 40} {
		v := hunt.NewVocabulary(list, limit)
		o.Strings("words", v.Words())
		o.Int("entries", len(v.Vector(list[0].Words)))
	}
	o.Int("of no examples", len(hunt.NewVocabulary(nil, 7).Words()))
	o.Int("of no words", len(hunt.NewVocabulary(make([]hunt.Example, 3), 7).Words()))
}

// Stop words are in no vocabulary, and nothing else is left out (rule 9).
func TestStopWords(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	near := []string{"The", "AND", "", "b", "i", "ing", "thee", "th", "an ", " a", "wa", "were.", "by-", "I", "withs", "he", "not", "but", "has", "had", "have", "will", "we", "you", "if", "they"}
	all := append(slices.Clone(near), stopWords...)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	v := hunt.NewVocabulary([]hunt.Example{{Words: all, Count: 1}, {Words: slices.Concat(stopWords, stopWords, near[:9]), Count: 3}}, everything)
	o.String("words", quoted(v.Words()))
	o.Int("entries of stop words", len(v.Vector(stopWords)))
	o.Int("entries of all", len(v.Vector(all)))
	limited := hunt.NewVocabulary([]hunt.Example{{Words: all, Count: 1}, {Words: stopWords, Count: 3}}, len(near)-3)
	o.Int("words within a limit", len(limited.Words()))
	o.Int("of stop words alone", len(hunt.NewVocabulary([]hunt.Example{{Words: stopWords, Count: 1}}, 9).Words()))
}

// A vector has an entry for each word that the vocabulary has: how often it comes times its
// idf, scaled to a length of 1 (rules 10 and 11).
func TestVector(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		list := ranked(r, below(r, 3, 9))
		v := hunt.NewVocabulary(list, everything)
		for _, e := range list {
			vector(o, "of an example", v.Vector(e.Words))
		}
		known := v.Words()
		if len(known) == 0 {
			continue
		}
		vector(o, "of a word", v.Vector(known[:1]))
		vector(o, "of words, some often", v.Vector(some(r, known, 200)))
		vector(o, "of all words", v.Vector(known))
		vector(o, "with words that are not known", v.Vector(append(words(r, 3), some(r, known, 3)...)))
		vector(o, "of no words", v.Vector(nil))
		vector(o, "of words that are not known", v.Vector(words(r, 2)))
	}
	list := ranked(r, 9)
	limited := hunt.NewVocabulary(list, 8)
	for _, e := range list {
		vector(o, "within a limit", limited.Vector(e.Words))
	}
}

// The idf counts the examples that have a word, each once, whatever its Count and however
// often it has the word (rule 10).
func TestFrequencies(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		w := words(r, 5)
		list := []hunt.Example{
			{Words: []string{w[0], w[1], w[0], w[0]}, Count: 3}, {Words: []string{w[0], w[2]}, Count: 1}, {Words: nil, Count: 2},
			{Words: []string{w[0], w[3], w[3], w[1], w[3], "the"}, Count: below(r, 2, 9)}, {Words: []string{w[4], "the"}, Count: 1}, {Words: []string{"the"}, Count: 1},
		}
		vector(o, "of all words", hunt.NewVocabulary(list, everything).Vector(w))
		vector(o, "of a twin", hunt.NewVocabulary(append(list, list[0]), everything).Vector(w))
		vector(o, "of one example", hunt.NewVocabulary(list[:1], everything).Vector(append(w, w[1])))
	}
	many := make([]hunt.Example, 70_000)
	w := words(r, 3)
	for i := range many {
		many[i] = hunt.Example{Words: w[:1], Count: 1}
		if i%100 == 0 {
			many[i].Words = w[1:]
		}
	}
	many[0].Words = w
	vector(o, "of 70,000 examples", hunt.NewVocabulary(many, everything).Vector(w))
	// These words are in examples whose numbers are the same in 8 or 16 bits, or 0 or all ones there.
	at, rare := below(r, 1, 50), words(r, 8)
	for k, numbers := range [][]int{{at, at + 256}, {at, at + 65_536}, {0, 256}, {0, 65_536}, {255}, {256}, {65_535}, {65_536}} {
		for _, n := range numbers {
			many[n].Words = append(slices.Clone(many[n].Words), rare[k])
		}
	}
	vector(o, "of words in few of 70,000 examples", hunt.NewVocabulary(many, everything).Vector(append(rare, w...)))
}

// The squares of a vector are added by ascending index, and each value is divided by the root:
// equal words give the same bits in any order (rule 11).
func TestNorm(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := ranked(r, 25)
	v := hunt.NewVocabulary(list, everything)
	for range 20 {
		text := some(r, v.Words(), below(r, 40, 90))
		vector(o, "a text", v.Vector(text))
		r.Shuffle(len(text), func(i, j int) { text[i], text[j] = text[j], text[i] })
		vector(o, "in another order", v.Vector(text))
	}
	vector(o, "a word 70,000 times", v.Vector(append(slices.Repeat(v.Words()[3:4], 70_000), v.Words()[7])))
}

// Words and vectors are the caller's, and later changes of the examples change no vocabulary
// (rule 12). Nor does a call change what comes of another one (rule 23).
func TestOwnVocabulary(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := ranked(r, 6)
	v, text := hunt.NewVocabulary(list, everything), slices.Clone(list[2].Words)
	first := v.Vector(text)
	vector(o, "before", first)
	_ = append(v.Words()[:3], "appended")
	clear(v.Words())
	clear(v.Vector(text))
	_ = append(v.Vector(text)[:1], hunt.Entry{Index: 1 << 30, Value: -1})
	empty, last := v.Vector(nil), v.Vector(text)
	for _, x := range []hunt.Vector{empty, first} {
		_ = append(x, hunt.Entry{Index: 1 << 30, Value: -1}, hunt.Entry{Index: 1 << 30, Value: -1})
	}
	vector(o, "after appends to others", last)
	none := []hunt.Vector{v.Vector(nil), v.Vector([]string{""}), v.Vector([]string{"?"})}
	for i := range none {
		none[i] = append(none[i], hunt.Entry{Index: i, Value: float64(i)})
	}
	for _, x := range none {
		vector(o, "without a word, appended to", x)
	}
	for _, e := range list {
		clear(e.Words)
	}
	clear(list)
	o.Strings("words", v.Words())
	vector(o, "after", v.Vector(text))
	other := hunt.NewVocabulary(ranked(r, 7), everything)
	vector(o, "after another one", v.Vector(text))
	vector(o, "of another one", other.Vector(other.Words()))
	vector(o, "of one word", v.Vector(text[:1]))
	vector(o, "the first", first)
	// The same slices with other values in them are other examples, and other words.
	reused, w := ranked(r, 5), words(r, 2)
	hunt.NewVocabulary(reused, everything)
	reused[1].Words[0], reused[2].Count = w[0], 50
	o.Strings("of examples that were changed", hunt.NewVocabulary(reused, 7).Words())
	known := other.Words()
	if len(known) < 3 {
		t.Fatal("the vocabulary has lost its words")
	}
	text = slices.Clone(known[:2])
	other.Vector(text)
	text[1] = known[2]
	vector(o, "of words that were changed", other.Vector(text))
	// No call knows of another one whose words look alike when they are joined.
	w = words(r, 3)
	for _, sep := range append(between(), "", ", ", "\" \"") {
		texts := [][]string{{w[0] + sep + w[1]}, w[:2], {w[0] + sep + w[1], w[2]}, w, {w[0], w[1] + sep + w[2]}, {w[1], w[0]}, {w[0] + sep + w[1] + sep + w[2]}, {w[0], "", w[1]}, {}, {""}}
		r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		var entries, kept []int
		v := hunt.NewVocabulary([]hunt.Example{{Words: []string{w[0], w[1], w[1], w[2], w[2], w[2]}, Count: 1}, {Words: w[:1], Count: 1}}, 3)
		for _, text := range append(texts, texts...) {
			entries = append(entries, len(v.Vector(text)))
		}
		for _, text := range texts {
			kept = append(kept, len(hunt.NewVocabulary([]hunt.Example{{Words: text, Count: 1}}, 9).Words()))
		}
		o.Ints("entries of texts that look alike", entries)
		o.Ints("words of texts that look alike", kept)
	}
	firstAskedLate(o)
}

// firstAskedLate asks a vocabulary for the first time when its examples have changed.
func firstAskedLate(o *observe.Observer) {
	list := ranked(o.Rand(), 6)
	v, text := hunt.NewVocabulary(list, everything), slices.Clone(list[2].Words)
	for _, e := range list {
		clear(e.Words)
	}
	clear(list)
	o.Strings("words, first asked for after the examples changed", v.Words())
	vector(o, "a vector, first asked for after the examples changed", v.Vector(text))
}

// 66,000 different words, and long ones that have the same hash (rules 8 and 11).
func TestManyWords(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// Of many lengths, so that the starter is quick to see that two are not equal.
	w := make([]string, 66_000)
	for i := range w {
		w[i] = strings.Repeat("-", 5+i%90) + strconv.Itoa(i)
	}
	r.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
	twice := w[below(r, 0, 60_000):][:9]
	v := hunt.NewVocabulary([]hunt.Example{{Words: w, Count: 1}, {Words: twice, Count: 1}}, everything)
	all := v.Words()
	o.Int("words", len(all))
	for _, at := range []int{0, 250, 32_700, 65_500, 65_900} {
		at += r.IntN(80)
		if at+10 <= len(all) {
			o.Strings("of them", all[at:at+10])
			vector(o, "their vector", v.Vector(all[at:at+10]))
		}
	}
	long := v.Vector(all[:min(len(all), below(r, 1_000, 1_200))])
	vector(o, "of a thousand words", long)
	x, y := alikeWords(r)
	v = hunt.NewVocabulary([]hunt.Example{{Words: []string{x, x, y}, Count: 1}, {Words: []string{x}, Count: 1}}, everything)
	o.Strings("long words", v.Words())
	vector(o, "of long words", v.Vector([]string{y, x, y}))
	vector(o, "of one of them", v.Vector([]string{y}))
	v = hunt.NewVocabulary([]hunt.Example{{Words: []string{x}, Count: 1}, {Words: w[:1], Count: 1}}, everything)
	vector(o, "of a long word that is not known", v.Vector([]string{y, w[0]}))
}
