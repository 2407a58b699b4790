package hunt

import (
	"math"
	"slices"
	"sort"
)

// Vocabulary numbers words, the most frequent first. Any number of goroutines may use it.
type Vocabulary struct {
	words []string
	idf   []float64
	index map[string]int
}

// NewVocabulary takes the limit most frequent words of the examples.
func NewVocabulary(examples []Example, limit int) *Vocabulary {
	c := &counts{index: map[string]int{}}
	for _, e := range examples {
		c.add(e)
	}
	sort.Sort(c)
	v := &Vocabulary{index: map[string]int{}}
	for i := range min(limit, len(c.words)) {
		v.index[c.words[i]] = i
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
	index    map[string]int
}

// add counts the words of an example.
func (c *counts) add(e Example) {
	seen := map[string]bool{}
	for _, word := range e.Words {
		if isStopWord(word) {
			continue
		}
		i, ok := c.index[word]
		if !ok {
			i = len(c.words)
			c.index[word] = i
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

var stop = map[string]bool{
	"a": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "by": true,
	"for": true, "from": true, "in": true, "is": true, "it": true, "of": true, "on": true, "or": true,
	"that": true, "the": true, "this": true, "to": true, "was": true, "were": true, "with": true,
}

// isStopWord reports whether a word is in no vocabulary.
func isStopWord(word string) bool { return stop[word] }

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
	var indices []int
	for _, word := range words {
		if i, ok := v.index[word]; ok {
			indices = append(indices, i)
		}
	}
	slices.Sort(indices)
	x := Vector{}
	for _, i := range indices {
		if len(x) == 0 || x[len(x)-1].Index != i {
			x = append(x, Entry{Index: i})
		}
		x[len(x)-1].Value++
	}
	for k := range x {
		x[k].Value *= v.idf[x[k].Index]
	}
	length := norm(x)
	for k := range x {
		x[k].Value /= length
	}
	return x
}

// norm is the square root of the sum of the squares, added from left to right.
func norm(x Vector) float64 {
	sum := 0.0
	for _, e := range x {
		sum += float64(e.Value * e.Value)
	}
	return math.Sqrt(sum)
}
