package hunt

import (
	"container/heap"
	"math"
	"slices"
	"strings"
	"sync"
)

// Vocabulary numbers words.
type Vocabulary struct {
	places map[string]place
	words  []string
}

type place struct {
	index int
	idf   float64
}

// count is a word with its numbers.
type count struct {
	word                  string
	total, examples, last int
}

// before reports whether a word comes before another one.
func (c *count) before(d *count) bool {
	if c.total == d.total {
		return c.word < d.word
	}
	return c.total > d.total
}

// best is a heap with the last of the best words on top.
type best []*count

func (b best) Len() int           { return len(b) }
func (b best) Less(i, j int) bool { return b[j].before(b[i]) }
func (b best) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *best) Push(x any)        { *b = append(*b, x.(*count)) }
func (b *best) Pop() any {
	old := *b
	x := old[len(old)-1]
	*b = old[:len(old)-1]
	return x
}

// stop is made when first asked for, and only read from then on.
var stop = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be by for from in is it of on or that the this to was were with") {
		set[w] = true
	}
	return set
})

// NewVocabulary keeps the most frequent words in a heap while it looks at all of them.
func NewVocabulary(examples []Example, limit int) *Vocabulary {
	all, stop := map[string]*count{}, stop()
	for i := range examples {
		for _, w := range examples[i].Words {
			c := all[w]
			if c == nil {
				c = &count{word: w, last: -1}
				all[w] = c
			}
			c.total += examples[i].Count
			if c.last < i {
				c.last = i
				c.examples++
			}
		}
	}
	var kept best
	for w, c := range all {
		switch {
		case limit <= 0 || stop[w]:
		case len(kept) < limit:
			heap.Push(&kept, c)
		case c.before(kept[0]):
			kept[0] = c
			heap.Fix(&kept, 0)
		}
	}
	v := &Vocabulary{places: make(map[string]place, len(kept)), words: make([]string, len(kept))}
	for i := len(kept) - 1; i >= 0; i-- {
		c := heap.Pop(&kept).(*count)
		v.words[i] = c.word
		v.places[c.word] = place{i, math.Log(float64(1+len(examples))/float64(1+c.examples)) + 1}
	}
	return v
}

// Words returns the words.
func (v *Vocabulary) Words() []string { return slices.Clone(v.words) }

// Vector sorts what it finds, and puts equal ones together in place.
func (v *Vocabulary) Vector(words []string) Vector {
	type found struct {
		Entry
		idf float64
	}
	list := make([]found, 0, len(words))
	for _, w := range words {
		if p, ok := v.places[w]; ok {
			list = append(list, found{Entry{p.index, 1}, p.idf})
		}
	}
	slices.SortFunc(list, func(a, b found) int { return a.Index - b.Index })
	n := 0
	for i, f := range list {
		if i > 0 && list[n-1].Index == f.Index {
			list[n-1].Value++
			continue
		}
		list[n] = f
		n++
	}
	x, sum := make(Vector, n), 0.0
	for i, f := range list[:n] {
		value := f.Value * f.idf
		x[i] = Entry{f.Index, value}
		sum += float64(value * value)
	}
	length := math.Sqrt(sum)
	for i := range x {
		x[i].Value /= length
	}
	return x
}
