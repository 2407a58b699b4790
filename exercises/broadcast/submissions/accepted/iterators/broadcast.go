// Package broadcast ranges over rows.
package broadcast

import (
	"errors"
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"
)

type Tensor struct {
	Shape []int
	Data  []float64
}

var (
	ErrShape   = errors.New("sizes differ")
	ErrTensor  = errors.New("no tensor")
	ErrGrad    = errors.New("no gradient of this result")
	ErrOp      = errors.New("unknown operation")
	ErrPicture = errors.New("cannot be drawn")
)

type ShapeError struct {
	Dim      int
	Operands [2]int
	Sizes    [2]int
}

func (e *ShapeError) Error() string {
	return "sizes " + strconv.Itoa(e.Sizes[0]) + " and " + strconv.Itoa(e.Sizes[1]) + " in dimension " + strconv.Itoa(e.Dim)
}

func (e *ShapeError) Unwrap() error { return ErrShape }

// fromEnd ranges over the sizes of a shape, the last one first, and then over ones.
func fromEnd(shape []int, rank int) iter.Seq2[int, int] {
	return func(yield func(dim, size int) bool) {
		for dim := 1; dim <= rank; dim++ {
			size := 1
			if dim <= len(shape) {
				size = shape[len(shape)-dim]
			}
			if !yield(-dim, size) {
				return
			}
		}
	}
}

// Shapes folds the operands into a result, and comes back for the reason if it cannot.
func Shapes(shapes ...[]int) ([]int, error) {
	var result []int
	failed := false
	for _, shape := range shapes {
		if len(shape) > 0 && slices.Min(shape) < 0 {
			return nil, ErrTensor
		}
		if len(shape) > len(result) {
			result = append(slices.Repeat([]int{1}, len(shape)-len(result)), result...)
		}
		for dim, n := range fromEnd(shape, len(shape)) {
			at := len(result) + dim
			if result[at] == 1 {
				result[at] = n
			}
			failed = failed || n != 1 && n != result[at]
		}
	}
	if !failed {
		return result, nil
	}
	for dim := range fromEnd(nil, len(result)) {
		first, size := 0, 1
		for k, shape := range shapes {
			if -dim > len(shape) || shape[len(shape)+dim] == 1 {
				continue
			}
			n := shape[len(shape)+dim]
			if size == 1 {
				first, size = k, n
			}
			if n != size {
				return nil, &ShapeError{Dim: dim, Operands: [2]int{first, k}, Sizes: [2]int{size, n}}
			}
		}
	}
	return nil, ErrShape
}

// numel multiplies without overflow.
func numel(shape []int) (int, bool) {
	n := big.NewInt(1)
	for _, size := range shape {
		if size < 0 {
			return 0, false
		}
		n.Mul(n, big.NewInt(int64(size)))
	}
	return int(n.Int64()), n.IsInt64()
}

func fault(list ...Tensor) error {
	for _, t := range list {
		simple := true
		n := 1
		for _, size := range t.Shape {
			if simple = simple && 0 <= size && size < 1<<20 && n < 1<<40; simple {
				n *= size
			}
		}
		if !simple {
			if n, simple = numel(t.Shape); !simple {
				return ErrTensor
			}
		}
		if n != len(t.Data) {
			return ErrTensor
		}
	}
	return nil
}

func blank(shape []int) Tensor {
	n, _ := numel(shape)
	return Tensor{Shape: slices.Clone(shape), Data: make([]float64, n)}
}

// span is a part of a row: where it begins in the result and in the operands.
type span struct{ z, x, y int }

// counter knows how to get from one row to the next.
type counter struct {
	sizes    []int
	jumps    [2][]int // in the operands, when a dimension grows by one and all behind it go back to 0
	length   int
	stepX    int
	stepY    int
	elements int
}

func newCounter(shape, a, b []int) *counter {
	c := &counter{length: 1, elements: 1}
	type dimension struct{ size, x, y int }
	var dims []dimension
	nextX, nextY := 1, 1
	for d := 1; d <= len(shape); d++ {
		now := dimension{size: shape[len(shape)-d]}
		c.elements *= now.size
		if d <= len(a) && a[len(a)-d] != 1 {
			now.x = nextX
			nextX *= now.size
		}
		if d <= len(b) && b[len(b)-d] != 1 {
			now.y = nextY
			nextY *= now.size
		}
		if now.size == 1 {
			continue
		}
		if k := len(dims) - 1; k >= 0 && now.x == dims[k].x*dims[k].size && now.y == dims[k].y*dims[k].size {
			dims[k].size *= now.size
			continue
		}
		dims = append(dims, now)
	}
	if len(dims) > 0 {
		c.length, c.stepX, c.stepY = dims[0].size, dims[0].x, dims[0].y
		dims = dims[1:]
	}
	backX, backY := 0, 0
	for _, d := range dims { // the inner ones first
		c.sizes = append(c.sizes, d.size)
		c.jumps[0] = append(c.jumps[0], d.x-backX)
		c.jumps[1] = append(c.jumps[1], d.y-backY)
		backX += d.x * (d.size - 1)
		backY += d.y * (d.size - 1)
	}
	return c
}

// rows ranges over all rows of a result that is not empty.
func (c *counter) rows() iter.Seq[span] {
	return func(yield func(span) bool) {
		if c.elements == 0 {
			return
		}
		at := make([]int, len(c.sizes))
		var s span
		for {
			if !yield(s) {
				return
			}
			s.z += c.length
			k := 0
			for k < len(at) && at[k] == c.sizes[k]-1 {
				at[k] = 0
				k++
			}
			if k == len(at) {
				return
			}
			at[k]++
			s.x += c.jumps[0][k]
			s.y += c.jumps[1][k]
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

func (op Op) Apply(a, b Tensor) (Tensor, error) {
	if op < Add || Maximum < op {
		return Tensor{}, ErrOp
	}
	z, c, err := begin(a, b)
	if err != nil {
		return Tensor{}, err
	}
	for s := range c.rows() {
		z := z.Data[s.z : s.z+c.length]
		switch x, y := a.Data[s.x:], b.Data[s.y:]; {
		case c.stepX == 1 && c.stepY == 1:
			op.both(z, x[:len(z)], y[:len(z)])
		case c.stepX == 1:
			op.right(z, x[:len(z)], y[0])
		case c.stepY == 1:
			op.left(z, x[0], y[:len(z)])
		default:
			op.both(z[:1], x[:1], y[:1])
			for i := range z {
				z[i] = z[0]
			}
		}
	}
	return z, nil
}

func begin(a, b Tensor) (Tensor, *counter, error) {
	if err := fault(a, b); err != nil {
		return Tensor{}, nil, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return Tensor{}, nil, err
	}
	return blank(shape), newCounter(shape, a.Shape, b.Shape), nil
}

func (op Op) both(z, x, y []float64) {
	switch op {
	case Add:
		for i, v := range x {
			z[i] = v + y[i]
		}
	case Sub:
		for i, v := range x {
			z[i] = v - y[i]
		}
	case Mul:
		for i, v := range x {
			z[i] = v * y[i]
		}
	case Div:
		for i, v := range x {
			z[i] = v / y[i]
		}
	case Maximum:
		for i, v := range x {
			z[i] = max(v, y[i])
		}
	}
}

func (op Op) right(z, x []float64, y float64) {
	switch op {
	case Add:
		for i, v := range x {
			z[i] = v + y
		}
	case Sub:
		for i, v := range x {
			z[i] = v - y
		}
	case Mul:
		for i, v := range x {
			z[i] = v * y
		}
	case Div:
		for i, v := range x {
			z[i] = v / y
		}
	case Maximum:
		for i, v := range x {
			z[i] = max(v, y)
		}
	}
}

func (op Op) left(z []float64, x float64, y []float64) {
	switch op {
	case Sub:
		for i, v := range y {
			z[i] = x - v
		}
	case Div:
		for i, v := range y {
			z[i] = x / v
		}
	default:
		op.right(z, y, x)
	}
}

func Zip(f func(x, y float64) float64, a, b Tensor) (Tensor, error) {
	z, c, err := begin(a, b)
	if err != nil {
		return Tensor{}, err
	}
	for s := range c.rows() {
		for i := range c.length {
			z.Data[s.z+i] = f(a.Data[s.x+i*c.stepX], b.Data[s.y+i*c.stepY])
		}
	}
	return z, nil
}

func SumTo(t Tensor, shape []int) (Tensor, error) {
	if err := fault(t); err != nil {
		return Tensor{}, err
	}
	if len(shape) > 0 && slices.Min(shape) < 0 {
		return Tensor{}, ErrTensor
	}
	for dim, n := range fromEnd(shape, len(shape)) {
		switch {
		case -dim > len(t.Shape):
			return Tensor{}, &ShapeError{dim, [2]int{0, 1}, [2]int{0, n}}
		case n != 1 && n != t.Shape[len(t.Shape)+dim]:
			return Tensor{}, &ShapeError{dim, [2]int{0, 1}, [2]int{t.Shape[len(t.Shape)+dim], n}}
		}
	}
	sum := blank(shape)
	c := newCounter(t.Shape, shape, nil)
	for s := range c.rows() {
		add(sum.Data[s.x:], t.Data[s.z:s.z+c.length], c.stepX)
	}
	return sum, nil
}

// add adds numbers to places that are a step apart.
func add(sum, numbers []float64, step int) {
	if step == 1 {
		sum = sum[:len(numbers)]
		for i, x := range numbers {
			sum[i] += x
		}
		return
	}
	var s [4]float64 // four sums at a time
	for len(numbers) >= 4 {
		s[0] += numbers[0]
		s[1] += numbers[1]
		s[2] += numbers[2]
		s[3] += numbers[3]
		numbers = numbers[4:]
	}
	for _, x := range numbers {
		s[0] += x
	}
	sum[0] += s[0] + s[1] + (s[2] + s[3])
}

// factors are the derivatives of an operation towards its operands, times g.
func (op Op) factors(g, x, y float64) (float64, float64) {
	switch op {
	case Add:
		return g, g
	case Sub:
		return g, -g
	case Mul:
		return g * y, g * x
	case Div:
		return g / y, -g / y * (x / y)
	}
	if x != x || y != y {
		return math.NaN(), math.NaN()
	}
	if x == y {
		return g / 2, g / 2
	}
	if x > y {
		return g, 0
	}
	return 0, g
}

func (op Op) Grad(a, b, grad Tensor) (da, db Tensor, err error) {
	if op < Add || Maximum < op {
		return da, db, ErrOp
	}
	if err = fault(a, b, grad); err != nil {
		return da, db, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return da, db, err
	}
	if !slices.Equal(shape, grad.Shape) {
		return da, db, ErrGrad
	}
	da, db = blank(a.Shape), blank(b.Shape)
	c := newCounter(shape, a.Shape, b.Shape)
	for s := range c.rows() {
		x, y := s.x, s.y
		for _, g := range grad.Data[s.z : s.z+c.length] {
			u, v := op.factors(g, a.Data[x], b.Data[y])
			da.Data[x] += u
			db.Data[y] += v
			x += c.stepX
			y += c.stepY
		}
	}
	return da, db, nil
}
