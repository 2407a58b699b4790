package hunt

import (
	"math"
	"sort"
)

// Vocabulary numbers words, the most frequent first. Any number of goroutines may use it.
type Vocabulary struct {
	words []string
	idf   []float64
}

// NewVocabulary takes the limit most frequent words of the examples.
func NewVocabulary(examples []Example, limit int) *Vocabulary {
	c := &counts{}
	for _, e := range examples {
		c.add(e)
	}
	sort.Sort(c)
	v := &Vocabulary{}
	for i := range min(limit, len(c.words)) {
		v.words = append(v.words, c.words[i])
		v.idf = append(v.idf, idf(len(examples), c.examples[i]))
	}
	return v
}

// counts is how often words come.
type counts struct {
	words    []string
	totals   []int
	examples []int // that have the word
}

// add counts the words of an example.
func (c *counts) add(e Example) {
	seen := map[string]bool{}
	for _, word := range e.Words {
		if isStopWord(word) {
			continue
		}
		i := find(c.words, word)
		if i < 0 {
			i = len(c.words)
			c.words, c.totals, c.examples = append(c.words, word), append(c.totals, 0), append(c.examples, 0)
		}
		c.totals[i] += e.Count
		if !seen[word] {
			seen[word] = true
			c.examples[i]++
		}
	}
}

// The most frequent words come first, and of these the smallest.
func (c *counts) Less(i, j int) bool {
	if c.totals[i] != c.totals[j] {
		return c.totals[i] > c.totals[j]
	}
	return c.words[i] < c.words[j]
}

func (c *counts) Len() int { return len(c.words) }

func (c *counts) Swap(i, j int) {
	c.words[i], c.words[j] = c.words[j], c.words[i]
	c.totals[i], c.totals[j] = c.totals[j], c.totals[i]
	c.examples[i], c.examples[j] = c.examples[j], c.examples[i]
}

// isStopWord reports whether a word is in no vocabulary.
func isStopWord(word string) bool {
	stop := map[string]bool{
		"a": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "by": true,
		"for": true, "from": true, "in": true, "is": true, "it": true, "of": true, "on": true, "or": true,
		"that": true, "the": true, "this": true, "to": true, "was": true, "were": true, "with": true,
	}
	return stop[word]
}

// find returns the index of a word, or -1.
func find(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// idf is the smoothed inverse document frequency of scikit-learn's TfidfTransformer.
func idf(examples, with int) float64 {
	return math.Log(float64(1+examples)/float64(1+with)) + 1
}

// Words returns the words by their index.
func (v *Vocabulary) Words() []string {
	words := []string{}
	return append(words, v.words...)
}

// Vector weighs the words that the vocabulary has: their number times their idf, scaled
// to a length of 1.
func (v *Vocabulary) Vector(words []string) Vector {
	values := make([]float64, len(v.words))
	for _, word := range words {
		if i := find(v.words, word); i >= 0 {
			values[i]++
		}
	}
	for i := range values {
		values[i] *= v.idf[i]
	}
	length := norm(values)
	x := Vector{}
	for i, value := range values {
		if value != 0 {
			x = append(x, Entry{Index: i, Value: value / length})
		}
	}
	return x
}

// norm is the square root of the sum of the squares, added from left to right.
func norm(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += float64(value * value)
	}
	return math.Sqrt(sum)
}
