// Package broadcast goes down one dimension after the other.
package broadcast

import (
	"errors"
	"fmt"
	"math"
)

type Tensor struct {
	Shape []int
	Data  []float64
}

var (
	ErrShape   = errors.New("shape")
	ErrTensor  = errors.New("tensor")
	ErrGrad    = errors.New("grad")
	ErrOp      = errors.New("op")
	ErrPicture = errors.New("picture")
)

type ShapeError struct {
	Dim      int
	Operands [2]int
	Sizes    [2]int
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("dimension %d: operand %d has %d, operand %d has %d", e.Dim, e.Operands[0], e.Sizes[0], e.Operands[1], e.Sizes[1])
}

func (e *ShapeError) Unwrap() error { return ErrShape }

// Shapes keeps for each dimension, the last one first, which operand has said its size.
func Shapes(shapes ...[]int) ([]int, error) {
	var sizes, owners []int // in reverse
	var worst *ShapeError
	for k, shape := range shapes {
		for i := range shape {
			n := shape[len(shape)-1-i]
			if n < 0 {
				return nil, ErrTensor
			}
			if i == len(sizes) {
				sizes, owners = append(sizes, 1), append(owners, 0)
			}
			switch {
			case n == 1 || n == sizes[i]:
			case sizes[i] == 1:
				sizes[i], owners[i] = n, k
			case worst == nil || -1-i > worst.Dim:
				worst = &ShapeError{-1 - i, [2]int{owners[i], k}, [2]int{sizes[i], n}}
			}
		}
	}
	if worst != nil {
		return nil, worst
	}
	result := []int{}
	for i := len(sizes) - 1; i >= 0; i-- {
		result = append(result, sizes[i])
	}
	return result, nil
}

// elements is -1 for what is no shape.
func elements(shape []int) int {
	n := 1
	zero := false
	for _, s := range shape {
		if s < 0 {
			return -1
		}
		if s == 0 {
			zero = true
		}
	}
	if zero {
		return 0
	}
	for _, s := range shape {
		if n > math.MaxInt/s {
			return -1
		}
		n *= s
	}
	return n
}

func valid(list ...Tensor) error {
	for _, t := range list {
		if n := elements(t.Shape); n < 0 || n != len(t.Data) {
			return ErrTensor
		}
	}
	return nil
}

func empty(shape []int) Tensor {
	t := Tensor{Shape: append([]int{}, shape...)}
	t.Data = make([]float64, elements(shape))
	return t
}

func joined(a, b Tensor) (Tensor, error) {
	if err := valid(a, b); err != nil {
		return Tensor{}, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return Tensor{}, err
	}
	return empty(shape), nil
}

// aligned puts sizes of 1 in front.
func aligned(shape []int, rank int) []int {
	list := make([]int, 0, rank)
	for range rank - len(shape) {
		list = append(list, 1)
	}
	return append(list, shape...)
}

// row gets rows of the result and of both operands. Those of an operand have one number or
// all.
type row func(z, x, y []float64)

// squeeze makes neighbours one dimension, if none or all of both are repeated.
func squeeze(shape, a, b []int) (s, x, y []int) {
	kind := func(n, of int) int {
		switch {
		case of == 1:
			return 0
		case n == 1:
			return 1
		}
		return 2
	}
	for k := range shape {
		if shape[k] == 1 {
			continue
		}
		if n := len(s); n > 0 && kind(x[n-1], s[n-1]) == kind(a[k], shape[k]) && kind(y[n-1], s[n-1]) == kind(b[k], shape[k]) {
			s[n-1] *= shape[k]
			x[n-1] *= a[k]
			y[n-1] *= b[k]
			continue
		}
		s, x, y = append(s, shape[k]), append(x, a[k]), append(y, b[k])
	}
	if len(s) == 0 {
		return []int{1}, []int{1}, []int{1}
	}
	return s, x, y
}

func visit(shape []int, z []float64, a Tensor, b Tensor, f row) {
	if len(z) == 0 {
		return
	}
	s, x, y := squeeze(shape, aligned(a.Shape, len(shape)), aligned(b.Shape, len(shape)))
	descend(s, x, y, z, a.Data, b.Data, f)
}

func descend(shape, sx, sy []int, z, x, y []float64, f row) {
	if len(shape) == 1 {
		f(z, x, y)
		return
	}
	n := shape[0]
	part, partX, partY := len(z)/n, len(x)/sx[0], len(y)/sy[0]
	for i := range n {
		fromX, fromY := 0, 0
		if sx[0] > 1 {
			fromX = i * partX
		}
		if sy[0] > 1 {
			fromY = i * partY
		}
		descend(shape[1:], sx[1:], sy[1:], z[i*part:][:part], x[fromX:][:partX], y[fromY:][:partY], f)
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

func (op Op) Apply(a, b Tensor) (Tensor, error) {
	f, ok := map[Op]row{Add: add, Sub: sub, Mul: mul, Div: div, Maximum: maximum}[op]
	if !ok {
		return Tensor{}, ErrOp
	}
	z, err := joined(a, b)
	if err == nil {
		visit(z.Shape, z.Data, a, b, f)
	}
	return z, err
}

func add(z, x, y []float64) {
	if len(y) < len(x) {
		x, y = y, x
	}
	if len(x) < len(z) {
		c := x[0]
		if len(y) < len(z) {
			fill(z, c+y[0])
			return
		}
		for i, v := range y {
			z[i] = c + v
		}
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		z[i] = v + y[i]
	}
}

func fill(z []float64, v float64) {
	for i := range z {
		z[i] = v
	}
}

func sub(z, x, y []float64) {
	switch {
	case len(x) < len(z) && len(y) < len(z):
		fill(z, x[0]-y[0])
	case len(x) < len(z):
		c := x[0]
		for i, v := range y {
			z[i] = c - v
		}
	case len(y) < len(z):
		c := y[0]
		for i, v := range x {
			z[i] = v - c
		}
	default:
		y = y[:len(x)]
		for i, v := range x {
			z[i] = v - y[i]
		}
	}
}

func mul(z, x, y []float64) {
	if len(y) < len(x) {
		x, y = y, x
	}
	if len(x) < len(z) {
		c := x[0]
		if len(y) < len(z) {
			fill(z, c*y[0])
			return
		}
		for i, v := range y {
			z[i] = c * v
		}
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		z[i] = v * y[i]
	}
}

func div(z, x, y []float64) {
	switch {
	case len(x) < len(z) && len(y) < len(z):
		fill(z, x[0]/y[0])
	case len(x) < len(z):
		c := x[0]
		for i, v := range y {
			z[i] = c / v
		}
	case len(y) < len(z):
		c := y[0]
		for i, v := range x {
			z[i] = v / c
		}
	default:
		y = y[:len(x)]
		for i, v := range x {
			z[i] = v / y[i]
		}
	}
}

func maximum(z, x, y []float64) {
	if len(y) < len(x) {
		x, y = y, x
	}
	if len(x) < len(z) {
		c := x[0]
		if len(y) < len(z) {
			fill(z, max(c, y[0]))
			return
		}
		for i, v := range y {
			z[i] = max(c, v)
		}
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		z[i] = max(v, y[i])
	}
}

func Zip(f func(x, y float64) float64, a, b Tensor) (Tensor, error) {
	z, err := joined(a, b)
	if err != nil {
		return z, err
	}
	visit(z.Shape, z.Data, a, b, func(z, x, y []float64) {
		for i := range z {
			z[i] = f(x[min(i, len(x)-1)], y[min(i, len(y)-1)])
		}
	})
	return z, nil
}

func SumTo(t Tensor, shape []int) (Tensor, error) {
	if err := valid(t); err != nil {
		return Tensor{}, err
	}
	for _, n := range shape {
		if n < 0 {
			return Tensor{}, ErrTensor
		}
	}
	for i := range shape {
		n, have := shape[len(shape)-1-i], 0
		if i < len(t.Shape) {
			have = t.Shape[len(t.Shape)-1-i]
			if n == 1 || n == have {
				continue
			}
		}
		return Tensor{}, &ShapeError{-1 - i, [2]int{0, 1}, [2]int{have, n}}
	}
	sum := empty(shape)
	visit(t.Shape, t.Data, sum, Tensor{Data: []float64{0}}, func(t, sum, _ []float64) { gather(sum, t) })
	return sum, nil
}

func gather(sum, t []float64) {
	if len(sum) == len(t) {
		for i, x := range t {
			sum[i] += x
		}
		return
	}
	total := 0.0
	for _, x := range t {
		total += x
	}
	sum[0] += total
}

// Grad goes down twice: with gradients in the place of operands.
func (op Op) Grad(a, b, grad Tensor) (da, db Tensor, err error) {
	if op < 0 || op > Maximum {
		return da, db, ErrOp
	}
	if err := valid(a, b, grad); err != nil {
		return da, db, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return da, db, err
	}
	if fmt.Sprint(shape) != fmt.Sprint(append([]int{}, grad.Shape...)) {
		return da, db, ErrGrad
	}
	da, db = empty(a.Shape), empty(b.Shape)
	if len(grad.Data) == 0 {
		return da, db, nil
	}
	s, x, y := squeeze(shape, aligned(a.Shape, len(shape)), aligned(b.Shape, len(shape)))
	w := worker{op: op}
	w.descend(s, x, y, grad.Data, a.Data, b.Data, da.Data, db.Data)
	return da, db, nil
}

type worker struct {
	op  Op
	tmp []float64
}

func (w *worker) descend(shape, sx, sy []int, g, x, y, dx, dy []float64) {
	if len(shape) == 1 {
		w.row(g, x, y, dx, dy)
		return
	}
	n := shape[0]
	part, partX, partY := len(g)/n, len(x)/sx[0], len(y)/sy[0]
	for i := range n {
		fromX, fromY := 0, 0
		if sx[0] > 1 {
			fromX = i * partX
		}
		if sy[0] > 1 {
			fromY = i * partY
		}
		w.descend(shape[1:], sx[1:], sy[1:], g[i*part:][:part], x[fromX:][:partX], y[fromY:][:partY], dx[fromX:][:partX], dy[fromY:][:partY])
	}
}

func (w *worker) row(g, x, y, dx, dy []float64) {
	ix, iy := 0, 0
	stepX, stepY := 1, 1
	if len(x) < len(g) {
		stepX = 0
	}
	if len(y) < len(g) {
		stepY = 0
	}
	switch w.op {
	case Add:
		gather(dx, g)
		gather(dy, g)
	case Sub:
		gather(dx, g)
		if stepY == 1 {
			for i, g := range g {
				dy[i] -= g
			}
			return
		}
		total := 0.0
		for _, g := range g {
			total -= g
		}
		dy[0] += total
	case Mul:
		for _, g := range g {
			dx[ix] += g * y[iy]
			dy[iy] += g * x[ix]
			ix, iy = ix+stepX, iy+stepY
		}
	case Div:
		for _, g := range g {
			q := g / y[iy]
			dx[ix] += q
			dy[iy] -= q * (x[ix] / y[iy])
			ix, iy = ix+stepX, iy+stepY
		}
	case Maximum:
		for _, g := range g {
			switch u, v := x[ix], y[iy]; {
			case u > v:
				dx[ix] += g
			case u < v:
				dy[iy] += g
			case u == v:
				dx[ix] += g / 2
				dy[iy] += g / 2
			default:
				dx[ix] = math.NaN()
				dy[iy] = math.NaN()
			}
			ix, iy = ix+stepX, iy+stepY
		}
	}
}
