package lora

import "fmt"

// Forward returns a row of Out for each row of In in x: W·x + b, and scale·B·A·x of the
// active adapter.
func (l *Layer) Forward(x []float64) ([]float64, error) {
	n, err := rows(x, l.base.In)
	if err != nil {
		return nil, err
	}
	y := l.base.Forward(x)
	if a := l.apart(); a != nil {
		h := make([]float64, a.Rank)
		for i := range n {
			a.forward(row(y, i, l.base.Out), row(x, i, l.base.In), h)
		}
	}
	return y, nil
}

// Backward returns the gradient of x for the gradient dy of Forward(x), and adds to the
// gradients of the active adapter. The base learns nothing.
func (l *Layer) Backward(x, dy []float64) ([]float64, error) {
	if l.merged {
		return nil, ErrMerged
	}
	n, err := rows(x, l.base.In)
	if err != nil {
		return nil, err
	}
	if m, err := rows(dy, l.base.Out); err != nil || m != n {
		return nil, fmt.Errorf("%w: %d gradients for %d rows of %d", ErrShape, len(dy), n, l.base.Out)
	}
	dx := l.base.InputGrad(dy)
	if a := l.apart(); a != nil {
		l.grads.Lock()
		defer l.grads.Unlock()
		h, g := make([]float64, a.Rank), make([]float64, a.Rank)
		for i := range n {
			a.backward(row(dx, i, l.base.In), row(x, i, l.base.In), row(dy, i, l.base.Out), h, g)
		}
	}
	return dx, nil
}

// rows returns how many rows of n numbers x has.
func rows(x []float64, n int) (int, error) {
	if len(x)%n != 0 {
		return 0, fmt.Errorf("%w: %d numbers in rows of %d", ErrShape, len(x), n)
	}
	return len(x) / n, nil
}

// down sets h to A·x.
func (a *Adapter) down(h, x []float64) {
	for k := range h {
		h[k] = dot(row(a.A, k, len(x)), x)
	}
}

// forward adds scale·B·A·x to y. It leaves A·x in h.
func (a *Adapter) forward(y, x, h []float64) {
	a.down(h, x)
	scale := a.Scale()
	for o := range y {
		y[o] += scale * dot(row(a.B, o, a.Rank), h)
	}
}

// backward adds the gradients of a row to GradA, GradB and dx. With h = A·x and
// g = scale·Bᵀ·dy they are g·xᵀ, scale·dy·hᵀ and Aᵀ·g.
func (a *Adapter) backward(dx, x, dy, h, g []float64) {
	a.down(h, x)
	clear(g)
	scale := a.Scale()
	for o, d := range dy {
		d *= scale
		axpy(g, d, row(a.B, o, a.Rank))
		axpy(row(a.GradB, o, a.Rank), d, h)
	}
	for k, c := range g {
		axpy(row(a.GradA, k, len(x)), c, x)
		axpy(dx, c, row(a.A, k, len(x)))
	}
}
