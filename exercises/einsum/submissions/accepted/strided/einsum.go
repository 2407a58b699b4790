// Package einsum walks over operands by strides, two operands at a time.
package einsum

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

type Tensor struct {
	Shape []int
	Data  []float64
}

var (
	ErrSyntax   = errors.New("bad equation")
	ErrOperands = errors.New("wrong number of operands")
	ErrShape    = errors.New("bad shape")
)

type Error struct {
	Err     error
	Pos     int
	Operand int
}

func (e *Error) Error() string {
	return "einsum: " + e.Err.Error() + " (offset " + strconv.Itoa(e.Pos) + ", operand " + strconv.Itoa(e.Operand) + ")"
}

func (e *Error) Unwrap() error { return e.Err }

const (
	Dot              = "i,i"
	Outer            = "i,j"
	MatMul           = "ij,jk"
	Trace            = "ii"
	Diagonal         = "ii->i"
	RowSums          = "ij->i"
	SwapLast         = "...xy->...yx"
	BatchMatMul      = "bmk,bkn->bmn"
	SquaredNorms     = "nd,nd->n"
	Bilinear         = "bn,onm,bm->bo"
	AttentionScores  = "bqhd,bkhd->bhqk"
	AttentionOutputs = "bhqk,bkhd->bqhd"
)

// Einsum adds up products of operands.
func Einsum(equation string, operands ...Tensor) (Tensor, error) {
	p, err := plan(equation, operands)
	if err != nil {
		return Tensor{}, err
	}
	for len(p.ops) > 1 {
		p.reduceOnce()
	}
	out := p.target(p.out)
	p.loop(out, p.ops[0], one)
	shape := make([]int, len(p.out))
	for i, l := range p.out {
		shape[i] = p.size[l]
	}
	return Tensor{shape, out.data}, nil
}

// Letters are numbered by their codes; axis i of an ellipsis, from the end, is 1000-i.
const dots = 1000

// op is data with a stride for each of its letters.
type op struct {
	stride map[int]int
	data   []float64
}

var one = op{nil, []float64{1}}

type program struct {
	size map[int]int
	ops  []op
	out  []int
}

// letter of a term, and where it stands.
type letter struct{ name, pos int }

func scan(term string, pos int) ([]letter, error) {
	var out []letter
	dotted := false
	for i := 0; i < len(term); {
		c := term[i]
		switch {
		case c == ' ':
			i++
		case strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0:
			out = append(out, letter{int(c), pos + i})
			i++
		case !dotted && strings.HasPrefix(term[i:], "..."):
			dotted = true
			out = append(out, letter{dots, pos + i})
			i += 3
		default:
			return nil, &Error{Err: ErrSyntax, Pos: pos + i}
		}
	}
	return out, nil
}

func plan(equation string, operands []Tensor) (*program, error) {
	left, right, arrow := strings.Cut(equation, "->")
	texts := strings.Split(left, ",")
	terms := make([][]letter, len(texts))
	starts := make([]int, len(texts))
	pos := 0
	count := map[int]int{}
	for i, text := range texts {
		var err error
		if terms[i], err = scan(text, pos); err != nil {
			return nil, err
		}
		for _, l := range terms[i] {
			count[l.name]++
		}
		starts[i] = pos
		pos += len(text) + 1
	}
	output, err := scan(right, len(left)+2)
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	for _, l := range output {
		if l.name != dots && (seen[l.name] || count[l.name] == 0) {
			return nil, &Error{Err: ErrSyntax, Pos: l.pos}
		}
		seen[l.name] = true
	}
	if len(operands) != len(terms) {
		return nil, &Error{Err: ErrOperands, Operand: min(len(operands), len(terms))}
	}
	p := &program{size: map[int]int{}}
	deepest := 0
	for i, t := range operands {
		deep, err := p.add(terms[i], t, i, starts[i])
		if err != nil {
			return nil, err
		}
		deepest = max(deepest, deep)
	}
	if !arrow {
		output = []letter{{dots, 0}}
		for c := 'A'; c <= 'z'; c++ {
			if count[int(c)] == 1 {
				output = append(output, letter{int(c), 0})
			}
		}
	}
	for _, l := range output {
		if l.name != dots {
			p.out = append(p.out, l.name)
			continue
		}
		for i := deepest; i > 0; i-- {
			p.out = append(p.out, dots-i)
		}
	}
	return p, nil
}

// add makes an op of an operand, and says how many axes its ellipsis has.
func (p *program) add(term []letter, t Tensor, operand, start int) (deep int, err error) {
	bad := func(pos int) error { return &Error{ErrShape, pos, operand} }
	dotted := slices.IndexFunc(term, func(l letter) bool { return l.name == dots })
	if dotted >= 0 {
		if deep = len(t.Shape) - len(term) + 1; deep < 0 {
			return 0, bad(start)
		}
		var middle []letter
		for i := deep; i > 0; i-- {
			middle = append(middle, letter{dots - i, term[dotted].pos})
		}
		term = slices.Concat(term[:dotted], middle, term[dotted+1:])
	}
	if len(term) != len(t.Shape) || !fits(t) {
		return 0, bad(start)
	}
	x := op{map[int]int{}, t.Data}
	own := map[int]int{}
	for i, l := range term {
		n := t.Shape[i]
		if m, ok := own[l.name]; ok && m != n {
			return 0, bad(l.pos)
		}
		own[l.name] = n
		if m, ok := p.size[l.name]; ok && m != 1 && n != 1 && m != n {
			return 0, bad(l.pos)
		} else if !ok || m == 1 {
			p.size[l.name] = n
		}
	}
	step := 1
	for i := len(term) - 1; i >= 0; i-- {
		if t.Shape[i] != 1 {
			x.stride[term[i].name] += step
			step *= t.Shape[i]
		}
	}
	p.ops = append(p.ops, x)
	return deep, nil
}

func fits(t Tensor) bool {
	left := len(t.Data)
	for _, n := range t.Shape {
		if n < 0 {
			return false
		}
	}
	if slices.Contains(t.Shape, 0) {
		return left == 0
	}
	for _, n := range t.Shape {
		if left%n != 0 {
			return false
		}
		left /= n
	}
	return left == 1
}

// reduceOnce replaces the two operands that take the least work by their product.
func (p *program) reduceOnce() {
	bestA, bestB, best := 0, 1, -1.0
	for b := range p.ops {
		for a := range b {
			work := 1.0
			for l, n := range p.size {
				if p.ops[a].stride[l] != 0 || p.ops[b].stride[l] != 0 {
					work *= float64(n)
				}
			}
			if best < 0 || work < best {
				bestA, bestB, best = a, b, work
			}
		}
	}
	a, b := p.ops[bestA], p.ops[bestB]
	p.ops = slices.Delete(p.ops, bestB, bestB+1)
	p.ops = slices.Delete(p.ops, bestA, bestA+1)
	var keep []int
	for l := range p.size {
		if a.stride[l] == 0 && b.stride[l] == 0 {
			continue
		}
		used := slices.Contains(p.out, l)
		for _, other := range p.ops {
			used = used || other.stride[l] != 0
		}
		if used {
			keep = append(keep, l)
		}
	}
	// In the order of the output, then as they come.
	slices.SortFunc(keep, func(x, y int) int {
		i, j := slices.Index(p.out, x), slices.Index(p.out, y)
		if i != j {
			return i - j
		}
		return x - y
	})
	out := p.target(keep)
	p.loop(out, a, b)
	p.ops = append(p.ops, out)
}

func (p *program) target(keep []int) op {
	out := op{stride: map[int]int{}}
	step := 1
	for _, l := range slices.Backward(keep) {
		if p.size[l] != 1 {
			out.stride[l] = step
			step *= p.size[l]
		}
	}
	out.data = make([]float64, step)
	return out
}

type dim struct{ n, c, a, b int }

// loop adds the products of a and b to out.
func (p *program) loop(out, a, b op) {
	var dims []dim
	for l, n := range p.size {
		if n == 0 {
			return
		}
		if d := (dim{n, out.stride[l], a.stride[l], b.stride[l]}); d.c != 0 || d.a != 0 || d.b != 0 {
			dims = append(dims, d)
		}
	}
	// The innermost loop is the one with the shortest steps. Diagonals make no difference.
	slices.SortFunc(dims, func(x, y dim) int { return y.c + y.a + y.b - x.c - x.a - x.b })
	nest(dims, out.data, a.data, b.data)
}

func nest(dims []dim, c, a, b []float64) {
	if len(dims) == 0 {
		c[0] += a[0] * b[0]
		return
	}
	d := dims[0]
	if len(dims) > 1 {
		for i := range d.n {
			nest(dims[1:], c[i*d.c:], a[i*d.a:], b[i*d.b:])
		}
		return
	}
	switch {
	case d.c == 0:
		sum := 0.0
		for i := range d.n {
			sum += a[i*d.a] * b[i*d.b]
		}
		c[0] += sum
	case d.c == 1 && d.a == 0 && d.b == 1:
		x, c, b := a[0], c[:d.n], b[:d.n]
		for i := range c {
			c[i] += x * b[i]
		}
	default:
		for i := range d.n {
			c[i*d.c] += a[i*d.a] * b[i*d.b]
		}
	}
}
