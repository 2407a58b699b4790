package broadcast

import "fmt"

// Op is an operation on two numbers.
type Op int

// The operations. Maximum is NaN if one of its numbers is.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Maximum
)

func (op Op) check() error {
	if op < Add || op > Maximum {
		return fmt.Errorf("broadcast: operation %d: %w", op, ErrOp)
	}
	return nil
}

// Apply computes the operation for each element that a and b make together.
func (op Op) Apply(a, b Tensor) (Tensor, error) {
	if err := op.check(); err != nil {
		return Tensor{}, err
	}
	z, err := result(a, b)
	if err != nil || len(z.Data) == 0 {
		return z, err
	}
	list := dims(z.Shape, a.Shape, b.Shape)
	row := list[len(list)-1]
	rest := z.Data
	walk(list, func(i, j int) {
		op.row(rest[:row.size], a.Data[i:], b.Data[j:], row.a, row.b)
		rest = rest[row.size:]
	})
	return z, nil
}

// row computes a row. The steps along it are 1, or 0 for an operand that is repeated.
func (op Op) row(z, x, y []float64, stepX, stepY int) {
	switch i, j := 0, 0; op {
	case Add:
		for k := range z {
			z[k] = x[i] + y[j]
			i, j = i+stepX, j+stepY
		}
	case Sub:
		for k := range z {
			z[k] = x[i] - y[j]
			i, j = i+stepX, j+stepY
		}
	case Mul:
		for k := range z {
			z[k] = x[i] * y[j]
			i, j = i+stepX, j+stepY
		}
	case Div:
		for k := range z {
			z[k] = x[i] / y[j]
			i, j = i+stepX, j+stepY
		}
	case Maximum:
		for k := range z {
			z[k] = max(x[i], y[j])
			i, j = i+stepX, j+stepY
		}
	}
}

// Zip calls f for each element that a and b make together, in the order of the elements.
func Zip(f func(x, y float64) float64, a, b Tensor) (Tensor, error) {
	z, err := result(a, b)
	if err != nil || len(z.Data) == 0 {
		return z, err
	}
	list := dims(z.Shape, a.Shape, b.Shape)
	row := list[len(list)-1]
	at := 0
	walk(list, func(i, j int) {
		for range row.size {
			z.Data[at] = f(a.Data[i], b.Data[j])
			at, i, j = at+1, i+row.a, j+row.b
		}
	})
	return z, nil
}
