// Package broadcast writes down first where the rows of the operands begin.
package broadcast

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

type Tensor struct {
	Shape []int
	Data  []float64
}

var (
	ErrShape   = errors.New("broadcast: bad shapes")
	ErrTensor  = errors.New("broadcast: bad tensor")
	ErrGrad    = errors.New("broadcast: bad gradient")
	ErrOp      = errors.New("broadcast: bad operation")
	ErrPicture = errors.New("broadcast: bad picture")
)

type ShapeError struct {
	Dim      int
	Operands [2]int
	Sizes    [2]int
}

func (e *ShapeError) Error() string { return fmt.Sprintf("broadcast: %+v", *e) }
func (e *ShapeError) Unwrap() error { return ErrShape }

func pad(shape []int, rank int) []int {
	return slices.Concat(slices.Repeat([]int{1}, rank-len(shape)), shape)
}

func Shapes(shapes ...[]int) ([]int, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	padded := make([][]int, len(shapes))
	for i, s := range shapes {
		padded[i] = pad(s, rank)
		for _, n := range s {
			if n < 0 {
				return nil, fmt.Errorf("%w: %v", ErrTensor, s)
			}
		}
	}
	out := slices.Repeat([]int{1}, rank)
	for d := rank - 1; d >= 0; d-- {
		first := slices.IndexFunc(padded, func(s []int) bool { return s[d] != 1 })
		if first < 0 {
			continue
		}
		out[d] = padded[first][d]
		other := slices.IndexFunc(padded, func(s []int) bool { return s[d] != 1 && s[d] != out[d] })
		if other >= 0 {
			return nil, fmt.Errorf("wrapped: %w", &ShapeError{d - rank, [2]int{first, other}, [2]int{out[d], padded[other][d]}})
		}
	}
	return out, nil
}

func size(shape []int) (int, error) {
	for _, n := range shape {
		if n < 0 {
			return 0, ErrTensor
		}
	}
	if slices.Contains(shape, 0) {
		return 0, nil
	}
	total := uint64(1)
	for _, n := range shape {
		hi, lo := bits.Mul64(total, uint64(n))
		if hi != 0 || lo > math.MaxInt {
			return 0, ErrTensor
		}
		total = lo
	}
	return int(total), nil
}

func right(ts ...Tensor) error {
	for _, t := range ts {
		if n, err := size(t.Shape); err != nil || n != len(t.Data) {
			return ErrTensor
		}
	}
	return nil
}

func prepare(a, b Tensor) (Tensor, error) {
	if err := right(a, b); err != nil {
		return Tensor{}, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return Tensor{}, err
	}
	n, _ := size(shape)
	return Tensor{shape, make([]float64, n)}, nil
}

// plan is a table of rows. Both operands are contiguous along a row, or repeated.
type plan struct {
	length   int
	starts   [2][]int
	repeated [2]bool
}

func strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for d := len(shape) - 1; d >= 0; d-- {
		s[d] = n
		if shape[d] == 1 {
			s[d] = 0
		}
		n *= shape[d]
	}
	return s
}

func newPlan(shape []int, operands [2][]int) plan {
	rank := len(shape)
	var st [2][]int
	for k := range operands {
		st[k] = strides(pad(operands[k], rank))
	}
	p := plan{length: 1}
	d := rank - 1
	for ; d >= 0; d-- { // as long a row as possible
		if shape[d] == 1 {
			continue
		}
		fits := true
		for k := range st {
			repeated := st[k][d] == 0
			if p.length > 1 && repeated != p.repeated[k] {
				fits = false
			}
		}
		if !fits {
			break
		}
		for k := range st {
			p.repeated[k] = st[k][d] == 0
		}
		p.length *= shape[d]
	}
	for k := range st {
		starts := []int{0}
		for e := range d + 1 {
			next := make([]int, 0, len(starts)*shape[e])
			for _, s := range starts {
				for i := range shape[e] {
					next = append(next, s+i*st[k][e])
				}
			}
			starts = next
		}
		p.starts[k] = starts
	}
	return p
}

const block = 512

// spread writes one number into a buffer, as often as there is room.
func spread(buffer []float64, x float64) {
	for i := range buffer {
		buffer[i] = x
	}
}

// blocks calls f with parts of rows that are of equal length.
func blocks(shape []int, a, b Tensor, f func(at, i, j int, x, y []float64, p *plan)) {
	if n, _ := size(shape); n == 0 {
		return
	}
	p := newPlan(shape, [2][]int{a.Shape, b.Shape})
	bufferX, bufferY := make([]float64, min(block, p.length)), make([]float64, min(block, p.length))
	for r := range p.starts[0] {
		i, j := p.starts[0][r], p.starts[1][r]
		if p.repeated[0] {
			spread(bufferX, a.Data[i])
		}
		if p.repeated[1] {
			spread(bufferY, b.Data[j])
		}
		for from := 0; from < p.length; from += block {
			n := min(block, p.length-from)
			x, y, atX, atY := bufferX[:n], bufferY[:n], i, j
			if !p.repeated[0] {
				atX = i + from
				if p.length == 1 {
					atX = i
				}
				x = a.Data[atX : atX+n]
			}
			if !p.repeated[1] {
				atY = j + from
				y = b.Data[atY : atY+n]
			}
			f(r*p.length+from, atX, atY, x, y, &p)
		}
	}
}

type Op int

const (
	Add Op = iota
	Sub
	Mul
	Div
	Maximum
)

var flat = [...]func(z, x, y []float64){
	Add: func(z, x, y []float64) {
		x, y = x[:len(z)], y[:len(z)]
		for i := range z {
			z[i] = x[i] + y[i]
		}
	},
	Sub: func(z, x, y []float64) {
		x, y = x[:len(z)], y[:len(z)]
		for i := range z {
			z[i] = x[i] - y[i]
		}
	},
	Mul: func(z, x, y []float64) {
		x, y = x[:len(z)], y[:len(z)]
		for i := range z {
			z[i] = x[i] * y[i]
		}
	},
	Div: func(z, x, y []float64) {
		x, y = x[:len(z)], y[:len(z)]
		for i := range z {
			z[i] = x[i] / y[i]
		}
	},
	Maximum: func(z, x, y []float64) {
		x, y = x[:len(z)], y[:len(z)]
		for i := range z {
			z[i] = max(x[i], y[i])
		}
	},
}

func (op Op) exists() bool { return 0 <= op && int(op) < len(flat) }

func (op Op) Apply(a, b Tensor) (Tensor, error) {
	if !op.exists() {
		return Tensor{}, ErrOp
	}
	z, err := prepare(a, b)
	if err != nil {
		return Tensor{}, err
	}
	blocks(z.Shape, a, b, func(at, _, _ int, x, y []float64, _ *plan) { flat[op](z.Data[at:at+len(x)], x, y) })
	return z, nil
}

func Zip(f func(x, y float64) float64, a, b Tensor) (Tensor, error) {
	z, err := prepare(a, b)
	if err != nil {
		return Tensor{}, err
	}
	blocks(z.Shape, a, b, func(at, _, _ int, x, y []float64, _ *plan) {
		for i := range x {
			z.Data[at+i] = f(x[i], y[i])
		}
	})
	return z, nil
}

// SumTo sums one dimension after the other, the first one first.
func SumTo(t Tensor, shape []int) (Tensor, error) {
	if err := right(t); err != nil {
		return Tensor{}, err
	}
	for _, n := range shape {
		if n < 0 {
			return Tensor{}, ErrTensor
		}
	}
	for d := 1; d <= len(shape); d++ {
		n := shape[len(shape)-d]
		if d > len(t.Shape) {
			return Tensor{}, &ShapeError{-d, [2]int{0, 1}, [2]int{0, n}}
		}
		if m := t.Shape[len(t.Shape)-d]; n != 1 && n != m {
			return Tensor{}, &ShapeError{-d, [2]int{0, 1}, [2]int{m, n}}
		}
	}
	to := pad(shape, len(t.Shape))
	n, _ := size(to)
	if len(t.Data) == 0 {
		return Tensor{slices.Clone(shape), make([]float64, n)}, nil
	}
	data, sizes := t.Data, slices.Clone(t.Shape)
	for d := range sizes {
		if to[d] == sizes[d] {
			continue
		}
		outer, _ := size(sizes[:d])
		inner, _ := size(sizes[d+1:])
		data = reduce(data, outer, sizes[d], inner)
		sizes[d] = 1
	}
	return Tensor{slices.Clone(shape), append([]float64(nil), data...)}, nil
}

func reduce(data []float64, outer, n, inner int) []float64 {
	sum := make([]float64, outer*inner)
	for o := range outer {
		part := data[o*n*inner : (o+1)*n*inner]
		if inner == 1 {
			s := 0.0
			for _, x := range part {
				s += x
			}
			sum[o] = s
			continue
		}
		row := sum[o*inner : (o+1)*inner]
		for len(part) > 0 {
			for i, x := range part[:inner] {
				row[i] += x
			}
			part = part[inner:]
		}
	}
	return sum
}

func (op Op) Grad(a, b, grad Tensor) (da, db Tensor, err error) {
	if !op.exists() {
		return da, db, ErrOp
	}
	if err := right(a, b, grad); err != nil {
		return da, db, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	switch {
	case err != nil:
		return da, db, err
	case !slices.Equal(shape, grad.Shape):
		return da, db, ErrGrad
	}
	da = Tensor{slices.Clone(a.Shape), make([]float64, len(a.Data))}
	db = Tensor{slices.Clone(b.Shape), make([]float64, len(b.Data))}
	var u, v [block]float64
	blocks(shape, a, b, func(at, i, j int, x, y []float64, p *plan) {
		g := grad.Data[at : at+len(x)]
		u, v := u[:len(g)], v[:len(g)]
		x, y = x[:len(g)], y[:len(g)]
		op.terms(u, v, g, x, y)
		collect(da.Data[i:], u, p.repeated[0])
		collect(db.Data[j:], v, p.repeated[1])
	})
	return da, db, nil
}

func (op Op) terms(u, v, g, x, y []float64) {
	for i, g := range g {
		switch op {
		case Add:
			u[i], v[i] = g, g
		case Sub:
			u[i], v[i] = g, -g
		case Mul:
			u[i], v[i] = g*y[i], g*x[i]
		case Div:
			u[i] = g / y[i]
			v[i] = -(x[i] / y[i]) * u[i]
		case Maximum:
			switch {
			case x[i] > y[i]:
				u[i], v[i] = g, 0
			case x[i] < y[i]:
				u[i], v[i] = 0, g
			case x[i] == y[i]:
				u[i], v[i] = g*0.5, g*0.5
			default:
				u[i], v[i] = math.NaN(), math.NaN()
			}
		}
	}
}

func collect(sum, terms []float64, one bool) {
	if one {
		s := sum[0]
		for _, x := range terms {
			s += x
		}
		sum[0] = s
		return
	}
	sum = sum[:len(terms)]
	for i, x := range terms {
		sum[i] += x
	}
}
