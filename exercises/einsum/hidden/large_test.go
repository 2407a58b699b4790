package hidden

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// store has numbers for large operands, which are drawn once and copied from there.
type store struct {
	o        *observe.Observer
	r        *rand.Rand
	weights  []float64
	dyadic   []float64
	positive []float64
}

func newStore(o *observe.Observer) *store {
	r := o.Rand()
	return &store{o, r, tensorOf(r, positive, 1009).Data, random(r, 1<<14+1).Data, tensorOf(r, positive, 1<<14+1).Data}
}

// tensor fills a tensor with numbers from one of the lists, from any place on.
func (s *store) tensor(from []float64, shape ...int) tensor {
	t := tensor{Shape: shape, Data: make([]float64, volume(shape))}
	copied := copy(t.Data, from[s.r.IntN(len(from)):])
	for copied < len(t.Data) {
		copied += copy(t.Data[copied:], from)
	}
	return t
}

// ask calls Einsum, and records a fingerprint of what it answers.
func (s *store) ask(name, equation string, from []float64, size map[rune]int, ellipsis ...[]int) {
	var operands tensors
	for i, term := range terms(equation) {
		var own []int
		if i < len(ellipsis) {
			own = ellipsis[i]
		}
		operands = append(operands, s.tensor(from, shapeOf(term, size, own)...))
	}
	got, err := einsum.Einsum(equation, operands...)
	s.o.Error(name+": error", err, kinds...)
	s.o.Ints(name+": shape", got.Shape)
	s.o.Float(name+": numbers, weighted and added up", fingerprint(s.weights, got.Data))
}

// volume is how many elements a tensor has.
func volume(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// lettersOf are the letters that have a size, in order.
func lettersOf(size map[rune]int) string {
	var all []byte
	for c := range size {
		all = append(all, byte(c))
	}
	return sorted(string(all))
}

// Sizes at which blocks and counters come round, one large axis at a time, and some large
// ones at once, also beside an axis of size 1 (rules 2, 3, 6 and 7).
func TestLargeSizes(t *testing.T) {
	s := newStore(observe.New(t))
	s.oneLarge()
	s.justAbove()
	s.veryLarge()
	s.allLarge()
	s.sizeOne()
}

// oneLarge makes one axis large, of two operands and of one.
func (s *store) oneLarge() {
	large := []int{100 + s.r.IntN(100), 300 + s.r.IntN(1000), 65_536 + s.r.IntN(9)}
	for n := 8; n <= 512; n *= 2 {
		large = append(large, n-1, n, n+1)
	}
	for _, equation := range []string{"ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->j", "i,j->ij", "ij,ij->ij", "ijk->kij"} {
		for _, n := range large {
			size := sizesOf(equation, same(1))
			for _, c := range lettersOf(size) {
				if c == 'b' {
					continue
				}
				size := sizesOf(equation, same(1+s.r.IntN(3)))
				size[c] = n
				s.ask("large sizes", equation, s.dyadic, size)
			}
		}
	}
}

// justAbove makes an axis longer than a power of two by an odd number, in each place of
// one, two and three operands. The others are short, or one of them is as long as a row
// that loops may take at once. Sizes have one digit but for the large one, so those of
// two calls read differently also without commas.
func (s *store) justAbove() {
	const name = "just above a power of two"
	for _, equation := range []string{
		"ij,jk->ik", "ji,kj->ik", "ij,j->i", "i,ij->j", "ij->j", "ij->i", // the first six with long rows as well
		"ij->ji", "ij->ij", "ijk->kij", "ijk->j", "bij,bjk->bik", "ij,ik->kj", "ij,ij->ji", "i,j->ji", "i,i->", "ij,k->ik",
		"ij,jk,kl->il", "i,ij,j->", "i,ij,->j", "j,jk,k->k", "ij,i,j->ij",
	} {
		rows := slices.Contains([]string{"ij,jk->ik", "ji,kj->ik", "ij,j->i", "i,ij->j", "ij->j", "ij->i"}, equation)
		for _, base := range []int{1 << 8, 1 << 12, 1 << 13, 1 << 15, 1 << 16} {
			size := sizesOf(equation, same(1))
			for _, large := range lettersOf(size) {
				for _, long := range lettersOf(size) {
					if long != large && base > 1<<13 && !rows {
						continue
					}
					size := sizesOf(equation, same(1+s.r.IntN(2)*(min(1, 1<<13/base))))
					size[long] = 8 + s.r.IntN(2)
					size[large] = base + 1 + 2*s.r.IntN(4)
					s.ask(name, equation, s.dyadic, size)
				}
			}
		}
	}
	for _, base := range []int{1 << 8, 1 << 13, 1 << 16} {
		n := base + 1 + 2*s.r.IntN(4)
		for _, equation := range []string{"...->...", "...i->...", "...i,...->...i", "...i,...i->i..."} {
			s.ask(kind(equation)+name, equation, s.dyadic, map[rune]int{'i': 2}, []int{n}, []int{n})
		}
	}
}

// veryLarge makes one axis as long as a million, of positive numbers, so that what is left
// out shows.
func (s *store) veryLarge() {
	for _, base := range []int{1 << 17, 1 << 18, 1 << 20} {
		for _, equation := range []string{"i->", "i->i", "ij->j", "ij->i", "ij->ji", "i,i->", "i,i->i", "ij,j->i", "...i,i->...", "i,j->j", "i,i,i->"} {
			all := sizesOf(equation, same(1+s.r.IntN(2)))
			for _, c := range lettersOf(all) {
				size := sizesOf(equation, same(all[c]))
				size[c] = base + 2*s.r.IntN(4) + 1
				if size['i']*max(size['j'], 1) > 1<<20 && equation != "i->" && equation != "i,i->" && equation != "i->i" {
					continue
				}
				s.ask("very large sizes", equation, s.positive, size)
			}
		}
	}
}

// allLarge makes all axes longer than a block, the summed one the shortest or the longest.
func (s *store) allLarge() {
	for range 3 {
		sizes := []int{70 + s.r.IntN(20), 100 + s.r.IntN(20), 130 + s.r.IntN(20)}
		slices.Reverse(sizes[s.r.IntN(2):])
		for range sizes {
			sizes = append(sizes[1:], sizes[0])
			s.ask("large sizes", "ij,jk->ik", s.dyadic, map[rune]int{'i': sizes[0], 'j': sizes[1], 'k': sizes[2]})
		}
	}
	for range 4 {
		size := map[rune]int{'b': 2 + s.r.IntN(3)}
		for _, c := range "ijk" {
			size[c] = 30 + s.r.IntN(60)
		}
		for _, equation := range []string{"ij,jk->ik", "bij,bkj->bki", "ij->ji", "bij->jb", "ij,j->i", "ij,ik->kj"} {
			s.ask("large sizes", equation, s.dyadic, size)
		}
	}
}

// sizeOne makes each axis of each operand 1, one at a time, where the others are long: who
// multiplies large operands in another way than small ones repeats an axis there too.
func (s *store) sizeOne() {
	n, m := 66+s.r.IntN(9), 330+s.r.IntN(9)
	for _, c := range []struct {
		equation string
		size     map[rune]int
	}{
		{"ij,jk->ik", map[rune]int{'i': n, 'j': n, 'k': 20}}, {"ij,kj->ik", map[rune]int{'i': 20, 'j': n, 'k': n}}, {"bij,bjk->bik", map[rune]int{'b': 3, 'i': 40, 'j': 40, 'k': 40}},
		{"ij,jk->ik", map[rune]int{'i': m, 'j': m, 'k': 2}}, {"ij,jk->ik", map[rune]int{'i': 2, 'j': m, 'k': m}},
		{"ij,ij->ij", map[rune]int{'i': m, 'j': m}}, {"ij,ij->", map[rune]int{'i': m, 'j': m}}, {"ij,j->i", map[rune]int{'i': m, 'j': m}}, {"i,ij->ij", map[rune]int{'i': m, 'j': m}},
	} {
		for i, term := range terms(c.equation) {
			for axis := range term {
				var operands tensors
				for k, term := range terms(c.equation) {
					shape := shapeOf(term, c.size, nil)
					if k == i {
						shape[axis] = 1
					}
					operands = append(operands, s.tensor(s.dyadic, shape...))
				}
				got, err := einsum.Einsum(c.equation, operands...)
				s.o.Error("size 1 beside large ones: error", err, kinds...)
				s.o.Ints("size 1 beside large ones: shape", got.Shape)
				s.o.Float("size 1 beside large ones: numbers, weighted and added up", fingerprint(s.weights, got.Data))
			}
		}
	}
}
