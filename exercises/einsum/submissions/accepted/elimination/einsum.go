// Package einsum eliminates one index after the other.
package einsum

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

type Tensor struct {
	Shape []int
	Data  []float64
}

var (
	ErrSyntax   = errors.New("einsum: syntax error")
	ErrOperands = errors.New("einsum: number of operands")
	ErrShape    = errors.New("einsum: shapes")
)

type Error struct {
	Err     error
	Pos     int
	Operand int
}

func (e *Error) Error() string { return fmt.Sprint(e.Err, ": ", e.Pos, ", ", e.Operand) }
func (e *Error) Unwrap() error { return e.Err }

const (
	Dot              = " i , i -> "
	Outer            = "x,y"
	MatMul           = "mk,kn->mn"
	Trace            = "ii->"
	Diagonal         = "DD->D"
	RowSums          = "R...->R"
	SwapLast         = "...mn->...nm"
	BatchMatMul      = "bmk,bkn->bmn"
	SquaredNorms     = "nd,nd->n"
	Bilinear         = "bi,oij,bj->bo"
	AttentionScores  = "bqhd,bkhd->bhqk"
	AttentionOutputs = "bhqk,bkhd->bqhd"
)

// parser reads an equation by recursive descent. It panics with an *Error.
type parser struct {
	text string
	pos  int
}

type name string // a letter, or "..." or "...3", the third axis from the end

type symbol struct {
	name name
	pos  int
}

func (p *parser) skip() {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
}

func (p *parser) accept(s string) bool {
	if len(p.text)-p.pos >= len(s) && p.text[p.pos:p.pos+len(s)] == s {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) fail(pos int) { panic(&Error{Err: ErrSyntax, Pos: pos}) }

func (p *parser) term() (start int, symbols []symbol) {
	start = p.pos
	for {
		p.skip()
		at := p.pos
		switch {
		case at == len(p.text):
			return start, symbols
		case p.accept("..."):
			if slices.ContainsFunc(symbols, func(s symbol) bool { return s.name == "..." }) {
				p.fail(at)
			}
			symbols = append(symbols, symbol{"...", at})
		case letter(p.text[at]):
			symbols = append(symbols, symbol{name(p.text[at : at+1]), at})
			p.pos++
		default:
			return start, symbols
		}
	}
}

func letter(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }

type equation struct {
	starts []int
	terms  [][]symbol
	output []symbol
	arrow  bool
}

func (p *parser) equation() (e equation) {
	for more := true; more; more = p.accept(",") {
		start, symbols := p.term()
		e.starts, e.terms = append(e.starts, start), append(e.terms, symbols)
	}
	if e.arrow = p.accept("->"); e.arrow {
		_, e.output = p.term()
	}
	if p.pos < len(p.text) && !e.arrow {
		p.fail(p.pos)
	}
	known := map[name]bool{"...": true}
	for _, s := range slices.Concat(e.terms...) {
		known[s.name] = true
	}
	for _, s := range e.output {
		if !known[s.name] {
			p.fail(s.pos)
		}
		known[s.name] = s.name == "..."
	}
	if p.pos < len(p.text) {
		p.fail(p.pos)
	}
	return e
}

// Einsum sums.
func Einsum(text string, operands ...Tensor) (result Tensor, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			result, err = Tensor{}, e
		}
	}()
	e := (&parser{text: text}).equation()
	if len(e.terms) != len(operands) {
		panic(&Error{Err: ErrOperands, Operand: min(len(e.terms), len(operands))})
	}
	c := computation{extent: map[name]int{}}
	for i, t := range operands {
		c.factors = append(c.factors, c.factor(t, e.terms[i], e.starts[i], i))
	}
	c.setOutput(e)
	for _, n := range c.output {
		result.Shape = append(result.Shape, c.extent[n])
	}
	result.Data = c.compute().data
	return result, nil
}

// factor is an operand, or what has come of some.
type factor struct {
	stride map[name]int
	data   []float64
}

type computation struct {
	extent  map[name]int
	factors []factor
	output  []name
	hidden  int
}

func (c *computation) factor(t Tensor, term []symbol, start, operand int) factor {
	var axes []symbol
	for _, s := range term {
		if s.name != "..." {
			axes = append(axes, s)
			continue
		}
		n := max(0, len(t.Shape)-len(term)+1)
		c.hidden = max(c.hidden, n)
		for ; n > 0; n-- {
			axes = append(axes, symbol{hidden(n), s.pos})
		}
	}
	if len(axes) != len(t.Shape) || !t.whole() {
		panic(&Error{ErrShape, start, operand})
	}
	f := factor{map[name]int{}, t.Data}
	mine := map[name]int{}
	for i, a := range axes {
		n := t.Shape[i]
		if m, twice := mine[a.name]; twice && m != n {
			panic(&Error{ErrShape, a.pos, operand})
		}
		mine[a.name] = n
		if m, known := c.extent[a.name]; known && m != n && m != 1 && n != 1 {
			panic(&Error{ErrShape, a.pos, operand})
		} else if !known || m == 1 {
			c.extent[a.name] = n
		}
	}
	step := 1
	for i, a := range slices.Backward(axes) {
		if t.Shape[i] != 1 {
			f.stride[a.name] += step
		}
		step *= t.Shape[i]
	}
	return f
}

func hidden(n int) name { return name(fmt.Sprintf("...%03d", n)) }

func (t Tensor) whole() bool {
	n := 1
	for _, size := range t.Shape {
		if size < 0 {
			return false
		}
	}
	if slices.Contains(t.Shape, 0) {
		return len(t.Data) == 0
	}
	for _, size := range t.Shape {
		if n *= size; n > len(t.Data) || size > len(t.Data) {
			return false
		}
	}
	return n == len(t.Data)
}

func (c *computation) setOutput(e equation) {
	if !e.arrow {
		e.output = []symbol{{name: "..."}}
		count := map[name]int{"...": 2}
		for _, s := range slices.Concat(e.terms...) {
			count[s.name]++
		}
		for _, n := range slices.Sorted(maps.Keys(count)) {
			if count[n] == 1 {
				e.output = append(e.output, symbol{name: n})
			}
		}
	}
	for _, s := range e.output {
		if s.name != "..." {
			c.output = append(c.output, s.name)
			continue
		}
		for n := c.hidden; n > 0; n-- {
			c.output = append(c.output, hidden(n))
		}
	}
}

// compute eliminates all names that are not in the output, the cheapest first.
func (c *computation) compute() factor {
	for _, n := range c.extent {
		if n == 0 {
			return c.blank(c.output)
		}
	}
	left := slices.Sorted(maps.Keys(c.extent))
	left = slices.DeleteFunc(left, func(n name) bool { return slices.Contains(c.output, n) })
	for len(left) > 0 {
		next := slices.MinFunc(left, func(x, y name) int { return cmp.Compare(c.work(x), c.work(y)) })
		left = slices.DeleteFunc(left, func(n name) bool { return n == next })
		c.eliminate(next)
	}
	// What is left have names of the output only.
	return c.multiply(c.factors, c.output)
}

// around lists the names of all factors that have n, and those factors.
func (c *computation) around(n name) (names []name, with []factor) {
	seen := map[name]bool{}
	for _, f := range c.factors {
		if f.stride[n] == 0 {
			continue
		}
		with = append(with, f)
		for m := range f.stride {
			seen[m] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), with
}

func (c *computation) work(n name) float64 {
	names, _ := c.around(n)
	work := 1.0
	for _, m := range names {
		work *= float64(c.extent[m])
	}
	return work
}

// eliminate multiplies all factors that have n, two at a time, and sums over n.
func (c *computation) eliminate(n name) {
	names, with := c.around(n)
	if len(with) == 0 {
		return
	}
	c.factors = slices.DeleteFunc(c.factors, func(f factor) bool { return f.stride[n] != 0 })
	names = slices.DeleteFunc(names, func(m name) bool { return m == n })
	slices.SortStableFunc(names, func(x, y name) int { // as the output has them
		return slices.Index(c.output, x) - slices.Index(c.output, y)
	})
	c.factors = append(c.factors, c.multiply(with, names))
}

func (c *computation) blank(names []name) factor {
	f := factor{map[name]int{}, nil}
	step := 1
	for _, n := range slices.Backward(names) {
		if c.extent[n] != 1 {
			f.stride[n] = step
		}
		step *= c.extent[n]
	}
	f.data = make([]float64, step)
	return f
}

// multiply makes a factor of some, with these names, and sums over all other ones.
func (c *computation) multiply(factors []factor, names []name) factor {
	out := c.blank(names)
	for len(factors) > 2 { // the smallest two, with all their names
		slices.SortFunc(factors, func(x, y factor) int { return len(x.data) - len(y.data) })
		joint := map[name]int{}
		maps.Copy(joint, factors[0].stride)
		maps.Copy(joint, factors[1].stride)
		keep := slices.Sorted(maps.Keys(joint))
		factors = append([]factor{c.multiply(factors[:2:2], keep)}, factors[2:]...)
	}
	for len(factors) < 2 {
		factors = append(factors, factor{nil, []float64{1}})
	}
	l := loops{x: factors[0].data, y: factors[1].data, z: out.data}
	for n, extent := range c.extent {
		a := axis{extent, factors[0].stride[n], factors[1].stride[n], out.stride[n]}
		if a.x != 0 || a.y != 0 || a.z != 0 {
			l.axes = append(l.axes, a)
		}
	}
	slices.SortFunc(l.axes, func(a, b axis) int { return b.x + b.y + b.z - a.x - a.y - a.z })
	l.run(0, 0, 0, 0)
	return out
}

type axis struct{ n, x, y, z int }

type loops struct {
	axes    []axis
	x, y, z []float64
}

// run goes through axes from depth on.
func (l *loops) run(depth, x, y, z int) {
	if depth == len(l.axes) {
		l.z[z] += l.x[x] * l.y[y]
		return
	}
	a := l.axes[depth]
	if depth < len(l.axes)-1 {
		for range a.n {
			l.run(depth+1, x, y, z)
			x, y, z = x+a.x, y+a.y, z+a.z
		}
		return
	}
	for range a.n {
		l.z[z] += l.x[x] * l.y[y]
		x, y, z = x+a.x, y+a.y, z+a.z
	}
}
