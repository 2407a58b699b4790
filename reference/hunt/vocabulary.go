package hunt

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// stopWords are in no vocabulary.
var stopWords = setOf(strings.Fields("a an and are as at be by for from in is it of on or that the this to was were with"))

func setOf(words []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set
}

// Vocabulary numbers words, the most frequent first. It does not change, so any number
// of goroutines may use it.
type Vocabulary struct {
	words []string
	idf   []float64
	index map[string]int
}

// tally is how often a word comes.
type tally struct {
	word     string
	total    int
	examples int // that have it
	last     int // of these, plus one
}

// NewVocabulary takes the limit most frequent words of the examples.
func NewVocabulary(examples []Example, limit int) *Vocabulary {
	tallies := count(examples)
	slices.SortFunc(tallies, func(x, y *tally) int {
		return cmp.Or(cmp.Compare(y.total, x.total), strings.Compare(x.word, y.word))
	})
	tallies = tallies[:max(0, min(limit, len(tallies)))]
	v := &Vocabulary{index: make(map[string]int, len(tallies))}
	for i, t := range tallies {
		v.words = append(v.words, t.word)
		v.idf = append(v.idf, idf(len(examples), t.examples))
		v.index[t.word] = i
	}
	return v
}

// count counts all words but stop words.
func count(examples []Example) (tallies []*tally) {
	byWord := map[string]*tally{}
	for i, e := range examples {
		for _, w := range e.Words {
			t := byWord[w]
			if t == nil {
				t = &tally{word: w}
				byWord[w] = t
			}
			t.total += e.Count
			if t.last != i+1 {
				t.last = i + 1
				t.examples++
			}
		}
	}
	for w, t := range byWord {
		if !stopWords[w] {
			tallies = append(tallies, t)
		}
	}
	return tallies // in any order: they are sorted next
}

// idf is the smoothed inverse document frequency of scikit-learn's TfidfTransformer.
func idf(examples, with int) float64 {
	return math.Log(float64(1+examples)/float64(1+with)) + 1
}

// Words returns the words by their index.
func (v *Vocabulary) Words() []string { return slices.Clone(v.words) }

// Vector weighs the words that the vocabulary has: their number times their idf, scaled
// to a length of 1.
func (v *Vocabulary) Vector(words []string) Vector {
	indices := make([]int, 0, len(words))
	for _, w := range words {
		if i, ok := v.index[w]; ok {
			indices = append(indices, i)
		}
	}
	slices.Sort(indices)
	x := v.weigh(indices)
	norm := x.norm()
	for i := range x {
		x[i].Value /= norm
	}
	return x
}

// weigh makes an entry of each run of equal indices.
func (v *Vocabulary) weigh(indices []int) Vector {
	x := make(Vector, 0, len(indices))
	for len(indices) > 0 {
		n := 1
		for n < len(indices) && indices[n] == indices[0] {
			n++
		}
		x = append(x, Entry{indices[0], float64(n) * v.idf[indices[0]]})
		indices = indices[n:]
	}
	return x
}

// norm is the square root of the sum of the squares, added by ascending index.
func (x Vector) norm() float64 {
	sum := 0.0
	for _, e := range x {
		sum += float64(e.Value * e.Value)
	}
	return math.Sqrt(sum)
}
