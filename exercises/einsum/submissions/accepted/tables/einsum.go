// Package einsum looks places up in tables of offsets.
package einsum

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sort"
)

type Tensor struct {
	Shape []int
	Data  []float64
}

var (
	ErrSyntax   = errors.New("syntax")
	ErrOperands = errors.New("operands")
	ErrShape    = errors.New("shape")
)

type Error struct {
	Err     error
	Pos     int
	Operand int
}

func (e *Error) Error() string {
	return fmt.Sprintf("einsum: %v at %d of operand %d", e.Err, e.Pos, e.Operand)
}
func (e *Error) Unwrap() error { return e.Err }

const (
	Dot              = "a,a->"
	Outer            = "a,b->ab"
	MatMul           = "ab,bc->ac"
	Trace            = "aa->"
	Diagonal         = "aa->a"
	RowSums          = "ab->a"
	SwapLast         = "...ab->...ba"
	BatchMatMul      = "...ab,...bc->...ac"
	SquaredNorms     = "ab,ab->a"
	Bilinear         = "xa,oab,xb->xo"
	AttentionScores  = "...qhd,...khd->...hqk"
	AttentionOutputs = "...hqk,...khd->...qhd"
)

// item is a letter or, negative, an axis of an ellipsis; 0 is an ellipsis as such.
type item struct{ id, pos int }

type parsed struct {
	terms  [][]item
	starts []int
	output []item
	arrow  bool
}

// read goes through the equation once.
func read(s string) (p parsed, err error) {
	p.terms, p.starts = [][]item{nil}, []int{0}
	current := &p.terms[0]
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ':
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if p.arrow && (find(p.output, int(c)) >= 0 || !p.knows(int(c))) {
				return p, &Error{Err: ErrSyntax, Pos: i}
			}
			*current = append(*current, item{int(c), i})
		case c == ',' && !p.arrow:
			p.terms, p.starts = append(p.terms, nil), append(p.starts, i+1)
			current = &p.terms[len(p.terms)-1]
		case c == '-' && !p.arrow && i+1 < len(s) && s[i+1] == '>':
			p.arrow = true
			current = &p.output
			i++
		case c == '.' && i+2 < len(s) && s[i+1] == '.' && s[i+2] == '.' && find(*current, 0) < 0:
			*current = append(*current, item{0, i})
			i += 2
		default:
			return p, &Error{Err: ErrSyntax, Pos: i}
		}
	}
	return p, nil
}

func find(items []item, id int) int {
	for i, it := range items {
		if it.id == id {
			return i
		}
	}
	return -1
}

func (p parsed) knows(id int) bool {
	for _, t := range p.terms {
		if find(t, id) >= 0 {
			return true
		}
	}
	return false
}

// array is numbers with letters that are all different.
type array struct {
	ids     []int
	strides []int
	data    []float64
}

func (a array) stride(id int) (int, bool) {
	for i, x := range a.ids {
		if x == id {
			return a.strides[i], true
		}
	}
	return 0, false
}

type state struct {
	size   map[int]int
	depth  int
	arrays []array
	output []int
}

func (s *state) take(i int, t Tensor, term []item, start int) error {
	var axes []item
	for _, it := range term {
		if it.id != 0 {
			axes = append(axes, it)
			continue
		}
		n := len(t.Shape) - len(term) + 1
		s.depth = max(s.depth, n)
		for ; n > 0; n-- {
			axes = append(axes, item{-n, it.pos})
		}
	}
	if len(axes) != len(t.Shape) || !consistent(t) {
		return &Error{ErrShape, start, i}
	}
	own := map[int]int{}
	for k, it := range axes {
		n := t.Shape[k]
		was, ok := own[it.id]
		if ok && was != n {
			return &Error{ErrShape, it.pos, i}
		}
		own[it.id] = n
		all, ok := s.size[it.id]
		if !ok || all == 1 {
			s.size[it.id] = n
		} else if n != 1 && n != all {
			return &Error{ErrShape, it.pos, i}
		}
	}
	a := array{data: t.Data}
	strides := map[int]int{}
	step := 1
	for k := len(axes) - 1; k >= 0; k-- {
		if t.Shape[k] > 1 {
			strides[axes[k].id] += step
		}
		step *= t.Shape[k]
	}
	for id, st := range strides {
		a.ids, a.strides = append(a.ids, id), append(a.strides, st)
	}
	s.arrays = append(s.arrays, a)
	return nil
}

// consistent multiplies sizes in 128 bits.
func consistent(t Tensor) bool {
	zero := false
	for _, n := range t.Shape {
		if n < 0 {
			return false
		}
		zero = zero || n == 0
	}
	if zero {
		return len(t.Data) == 0
	}
	product := uint64(1)
	for _, n := range t.Shape {
		high, low := bits.Mul64(product, uint64(n))
		if high != 0 {
			return false
		}
		product = low
	}
	return product == uint64(len(t.Data))
}

func Einsum(equation string, operands ...Tensor) (Tensor, error) {
	p, err := read(equation)
	if err != nil {
		return Tensor{}, err
	}
	if n, m := len(p.terms), len(operands); n != m {
		return Tensor{}, &Error{Err: ErrOperands, Operand: min(n, m)}
	}
	s := &state{size: map[int]int{}}
	for i, t := range operands {
		if err := s.take(i, t, p.terms[i], p.starts[i]); err != nil {
			return Tensor{}, err
		}
	}
	s.setOutput(p)
	result := Tensor{Shape: []int{}}
	n := 1
	empty := false
	for _, id := range s.output {
		result.Shape = append(result.Shape, s.size[id])
		n *= s.size[id]
	}
	for _, size := range s.size {
		empty = empty || size == 0
	}
	if empty {
		result.Data = make([]float64, n)
		return result, nil
	}
	for len(s.arrays) < 2 {
		s.arrays = append(s.arrays, array{data: []float64{1}})
	}
	for len(s.arrays) > 2 {
		i, j := s.next()
		s.replace(i, j)
	}
	result.Data = s.multiply(s.arrays[0], s.arrays[1], s.output).data
	return result, nil
}

func (s *state) setOutput(p parsed) {
	if !p.arrow {
		p.output = []item{{}}
		times := map[int]int{}
		for _, t := range p.terms {
			for _, it := range t {
				times[it.id]++
			}
		}
		for id, n := range times {
			if id > 0 && n == 1 {
				p.output = append(p.output, item{id, 0})
			}
		}
		sort.Slice(p.output, func(i, j int) bool { return p.output[i].id < p.output[j].id })
	}
	for _, it := range p.output {
		if it.id > 0 {
			s.output = append(s.output, it.id)
			continue
		}
		for k := s.depth; k > 0; k-- {
			s.output = append(s.output, -k)
		}
	}
}

// next is the pair that the best order begins with, or a good one if there are many.
func (s *state) next() (int, int) {
	if len(s.arrays) > 7 {
		return s.pair()
	}
	sets := make([]map[int]bool, len(s.arrays))
	for i, a := range s.arrays {
		sets[i] = map[int]bool{}
		for _, id := range a.ids {
			sets[i][id] = true
		}
	}
	best, order := math.Inf(1), [2]int{0, 1}
	s.try(sets, 0, [2]int{-1, -1}, &best, &order)
	return order[0], order[1]
}

// try goes on from every pair.
func (s *state) try(sets []map[int]bool, cost float64, first [2]int, best *float64, order *[2]int) {
	if cost >= *best {
		return
	}
	if len(sets) == 1 {
		*best, *order = cost, first
		return
	}
	for j := range sets {
		for i := range j {
			var rest []map[int]bool
			for k := range sets {
				if k != i && k != j {
					rest = append(rest, sets[k])
				}
			}
			union, keep, work := map[int]bool{}, map[int]bool{}, 1.0
			for _, side := range []int{i, j} {
				for id := range sets[side] {
					union[id] = true
				}
			}
			for id := range union {
				work *= float64(s.size[id])
				if s.wanted(id, rest) {
					keep[id] = true
				}
			}
			from := first
			if from[0] < 0 {
				from = [2]int{i, j}
			}
			s.try(append(rest, keep), cost+work, from, best, order)
		}
	}
}

func (s *state) wanted(id int, rest []map[int]bool) bool {
	for _, x := range s.output {
		if x == id {
			return true
		}
	}
	for _, set := range rest {
		if set[id] {
			return true
		}
	}
	return false
}

// pair takes the fewest multiplications now.
func (s *state) pair() (int, int) {
	bi, bj, best := 0, 1, math.Inf(1)
	for j, b := range s.arrays {
		for i, a := range s.arrays[:j] {
			work := 1.0
			for _, id := range a.ids {
				work *= float64(s.size[id])
			}
			for _, id := range b.ids {
				if _, shared := a.stride(id); !shared {
					work *= float64(s.size[id])
				}
			}
			if work < best {
				bi, bj, best = i, j, work
			}
		}
	}
	return bi, bj
}

// replace puts the product of arrays i and j in their place.
func (s *state) replace(i, j int) {
	a, b := s.arrays[i], s.arrays[j]
	var rest []array
	for k, x := range s.arrays {
		if k != i && k != j {
			rest = append(rest, x)
		}
	}
	var keep []int
	for _, x := range []array{a, b} {
		for _, id := range x.ids {
			needed := false
			for _, y := range s.output {
				needed = needed || y == id
			}
			for _, y := range rest {
				_, has := y.stride(id)
				needed = needed || has
			}
			for _, k := range keep {
				needed = needed && k != id
			}
			if needed {
				keep = append(keep, id)
			}
		}
	}
	s.arrays = append(rest, s.multiply(a, b, keep))
}

// multiply sums products of a and b over what is not in keep.
func (s *state) multiply(a, b array, keep []int) array {
	kept := map[int]bool{}
	for _, id := range keep {
		kept[id] = true
	}
	var inner []int
	for i, x := range []array{a, b} {
		for _, id := range x.ids {
			_, other := a.stride(id)
			if !kept[id] && (i == 0 || !other) {
				inner = append(inner, id)
			}
		}
	}
	out := array{ids: keep, strides: make([]int, len(keep))}
	n := 1
	for i := len(keep) - 1; i >= 0; i-- {
		out.strides[i] = n
		n *= s.size[keep[i]]
	}
	out.data = make([]float64, n)
	// A place in the result is one of a few rows and one of its last letters.
	cut := len(keep)
	for width := 1; cut > 0 && width < 64; cut-- {
		width *= s.size[keep[cut-1]]
	}
	rowA, rowB := s.table(a, keep[:cut]), s.table(b, keep[:cut])
	colA, colB := s.table(a, keep[cut:]), s.table(b, keep[cut:])
	sumA, sumB := s.table(a, inner), s.table(b, inner)
	at := 0
	for i, p := range rowA {
		q := rowB[i]
		for j, u := range colA {
			x, y := a.data[p+u:], b.data[q+colB[j]:]
			sum := 0.0
			for k, o := range sumA {
				sum += x[o] * y[sumB[k]]
			}
			out.data[at] = sum
			at++
		}
	}
	return out
}

// table lists the offset in a of all values of ids, the last one fastest.
func (s *state) table(a array, ids []int) []int {
	offsets := []int{0}
	for _, id := range ids {
		stride, _ := a.stride(id)
		next := make([]int, 0, len(offsets)*s.size[id])
		for _, o := range offsets {
			for i := range s.size[id] {
				next = append(next, o+i*stride)
			}
		}
		offsets = next
	}
	return offsets
}
