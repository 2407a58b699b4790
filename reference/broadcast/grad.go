package broadcast

import (
	"math"
	"slices"
)

// SumTo sums t over the dimensions along which a tensor of the shape is repeated to get the
// shape of t: the adjoint of broadcasting. An error is ErrTensor or a *ShapeError, in which
// t is operand 0 and shape operand 1.
func SumTo(t Tensor, shape []int) (Tensor, error) {
	if err := check(t); err != nil {
		return Tensor{}, err
	}
	if _, err := Shapes(shape); err != nil { // sizes below 0
		return Tensor{}, err
	}
	if err := repeats(shape, t.Shape); err != nil {
		return Tensor{}, err
	}
	sum := zeros(slices.Clone(shape))
	if len(t.Data) == 0 {
		return sum, nil
	}
	list := dims(t.Shape, shape, nil)
	row := list[len(list)-1]
	rest := t.Data
	walk(list, func(i, _ int) {
		accumulate(sum.Data[i:], rest[:row.size], row.a)
		rest = rest[row.size:]
	})
	return sum, nil
}

// repeats returns an error unless a tensor of the shape is repeated to one of the shape to.
func repeats(shape, to []int) error {
	for dim := -1; dim >= -len(shape); dim-- {
		n := size(shape, dim)
		switch {
		case -dim > len(to):
			return &ShapeError{dim, [2]int{0, 1}, [2]int{0, n}}
		case n != 1 && n != size(to, dim):
			return &ShapeError{dim, [2]int{0, 1}, [2]int{size(to, dim), n}}
		}
	}
	return nil
}

// accumulate adds a row to what is there, each number to its own place or, with a step of
// 0, all of them to the first.
func accumulate(sum, row []float64, step int) {
	if step == 0 {
		s := sum[0]
		for _, x := range row {
			s += x
		}
		sum[0] = s
		return
	}
	sum = sum[:len(row)]
	for k, x := range row {
		sum[k] += x
	}
}

// chunk is how much of a row is differentiated at a time: enough for a loop to pay, and
// little beside any result.
const chunk = 256

// Grad returns the gradients towards a and b, in their shapes, from the one towards the
// result of Apply.
func (op Op) Grad(a, b, grad Tensor) (da, db Tensor, err error) {
	if err := op.checkGrad(a, b, grad); err != nil {
		return Tensor{}, Tensor{}, err
	}
	da, db = zeros(slices.Clone(a.Shape)), zeros(slices.Clone(b.Shape))
	if len(grad.Data) == 0 {
		return da, db, nil
	}
	list := dims(grad.Shape, a.Shape, b.Shape)
	row := list[len(list)-1]
	rest := grad.Data
	dx, dy := make([]float64, min(row.size, chunk)), make([]float64, min(row.size, chunk))
	walk(list, func(i, j int) {
		for g := range slices.Chunk(rest[:row.size], chunk) {
			op.differentiate(dx, dy, g, a.Data[i:], b.Data[j:], row.a, row.b)
			accumulate(da.Data[i:], dx[:len(g)], row.a)
			accumulate(db.Data[j:], dy[:len(g)], row.b)
			i, j = i+len(g)*row.a, j+len(g)*row.b
		}
		rest = rest[row.size:]
	})
	return da, db, nil
}

// checkGrad returns what is wrong with the arguments of Grad.
func (op Op) checkGrad(a, b, grad Tensor) error {
	if err := op.check(); err != nil {
		return err
	}
	if err := check(a, b, grad); err != nil {
		return err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err == nil && !slices.Equal(shape, grad.Shape) {
		return ErrGrad
	}
	return err
}

// differentiate computes what each element of a row adds to the two gradients. The
// derivative of x/y towards y is -(x/y)/y, and never by y², which overflows early.
func (op Op) differentiate(dx, dy, g, x, y []float64, stepX, stepY int) {
	dx, dy = dx[:len(g)], dy[:len(g)]
	switch i, j := 0, 0; op {
	case Add:
		copy(dx, g)
		copy(dy, g)
	case Sub:
		copy(dx, g)
		for k, g := range g {
			dy[k] = -g
		}
	case Mul:
		for k, g := range g {
			dx[k], dy[k] = g*y[j], g*x[i]
			i, j = i+stepX, j+stepY
		}
	case Div:
		for k, g := range g {
			q := g / y[j]
			dx[k], dy[k] = q, -q*(x[i]/y[j])
			i, j = i+stepX, j+stepY
		}
	case Maximum:
		for k, g := range g {
			dx[k], dy[k] = share(g, x[i], y[j])
			i, j = i+stepX, j+stepY
		}
	}
}

// share gives the gradient of a maximum to the larger number, and a half to each if they
// are equal, as torch.maximum does. A maximum that is NaN has no gradient but NaN.
func share(g, x, y float64) (dx, dy float64) {
	switch {
	case x > y:
		return g, 0
	case x < y:
		return 0, g
	case x == y:
		return g / 2, g / 2
	}
	return math.NaN(), math.NaN()
}
