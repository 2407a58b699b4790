// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"errors"
	"math/rand/v2"
	"slices"

	"grade/observe"
	"grade/reference/broadcast"
)

type tensor = broadcast.Tensor

// relative is how exactly numbers are compared that may be very small.
var relative = observe.Within(0, 1e-9)

// operation is one of the operations, by the name that its observations begin with.
type operation struct {
	broadcast.Op
	name string
}

var operations = []operation{
	{broadcast.Add, "add"}, {broadcast.Sub, "sub"}, {broadcast.Mul, "mul"}, {broadcast.Div, "div"}, {broadcast.Maximum, "maximum"},
}

// kinds are all errors that there are.
var kinds = []error{broadcast.ErrShape, broadcast.ErrTensor, broadcast.ErrGrad, broadcast.ErrOp, broadcast.ErrPicture}

// dyadic draws k/16 with a small k that is not 0. Sums and products of those are exact in
// any order, so right solutions agree to the last bit.
func dyadic(r *rand.Rand) float64 {
	return float64((1-2*r.IntN(2))*(1+r.IntN(63))) / 16
}

// positive draws a number whose sums do not cancel.
func positive(r *rand.Rand) float64 { return 0.5 + r.Float64() }

// numbers is a tensor of these.
func numbers(shape []int, data []float64) tensor { return tensor{Shape: shape, Data: data} }

func product(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// tensorOf draws a tensor with numbers from draw.
func tensorOf(r *rand.Rand, draw func(*rand.Rand) float64, shape []int) tensor {
	t := tensor{Shape: slices.Clone(shape), Data: make([]float64, product(shape))}
	for i := range t.Data {
		t.Data[i] = draw(r)
	}
	return t
}

// random draws numbers for an operation: dyadic ones, or for a quotient positive ones.
func random(r *rand.Rand, op broadcast.Op, shape []int) tensor {
	if op == broadcast.Div {
		return tensorOf(r, positive, shape)
	}
	return tensorOf(r, dyadic, shape)
}

// together is the shape that two shapes make, for those that fit.
func together(a, b []int) []int {
	n := max(len(a), len(b))
	shape := make([]int, n)
	for k := 1; k <= n; k++ {
		x, y := 1, 1
		if k <= len(a) {
			x = a[len(a)-k]
		}
		if k <= len(b) {
			y = b[len(b)-k]
		}
		if shape[n-k] = x; x == 1 {
			shape[n-k] = y
		}
	}
	return shape
}

// pair is two shapes that fit together.
type pair [2][]int

// pairs are shapes of all patterns, with sizes that are new each time, either in front.
func pairs(r *rand.Rand) []pair {
	perm := r.Perm(4)
	p, q, s := 2+perm[0], 2+perm[1], 2+perm[2] // all different
	list := []pair{
		{{q}, {q}}, {{q, s}, {q, s}}, {{p, q, s}, {p, q, s}},
		{{q, s}, {s}}, {{q, s}, {1, s}}, {{q, s}, {q, 1}}, {{q, s}, {1, 1}}, {{q, s}, {1}},
		{{q, 1}, {1, s}}, {{q, 1}, {s}}, {{q}, {1}}, {{1, q}, {q}}, {{1}, {1, 1}},
		{{p, q, s}, {q, s}}, {{p, q, s}, {s}}, {{p, q, s}, {q, 1}}, {{p, q, s}, {p, 1, s}}, {{p, q, s}, {p, 1, 1}}, {{p, q, s}, {1, q, 1}}, {{p, q, s}, {p, q, 1}},
		{{p, 1, s}, {q, 1}}, {{p, 1, s}, {1, q, s}}, {{p, 1, 1}, {q, s}}, {{1, q, 1}, {p, 1, s}}, {{p, 1, s}, {s}}, {{p, q, 1}, {p, 1, s}},
		{{q, q}, {q}}, {{q, q}, {q, 1}}, {{q, 1}, {1, q}}, {{q, q, q}, {q, 1, q}}, {{q, q, q}, {q, q}}, {{q, q, q}, {q, 1}},
		{{p, 1, q, 1}, {s, 1, p}}, {{p, q, 1, s}, {1, 1, p, s}},
	}
	for _, x := range list {
		list = append(list, pair{x[1], x[0]})
	}
	return list
}

// record writes down a result.
func record(o *observe.Observer, name string, got tensor, err error, c ...observe.Comparison) {
	o.Error(name+": error", err, kinds...)
	o.Ints(name+": shape", got.Shape)
	o.Floats(name+": numbers", got.Data, c...)
}

// apply draws operands, and records what an operation makes of them.
func (op operation) apply(o *observe.Observer, shapes pair) {
	r := o.Rand()
	got, err := op.Apply(tensorOf(r, (*rand.Rand).NormFloat64, shapes[0]), tensorOf(r, (*rand.Rand).NormFloat64, shapes[1]))
	record(o, op.name, got, err, relative)
}

// grad draws operands and a gradient, and records the gradients towards the operands.
func (op operation) grad(o *observe.Observer, shapes pair) {
	r := o.Rand()
	a, b := random(r, op.Op, shapes[0]), random(r, op.Op, shapes[1])
	da, db, err := op.Grad(a, b, random(r, op.Op, together(shapes[0], shapes[1])))
	record(o, op.name+" gradient: a", da, err)
	record(o, op.name+" gradient: b", db, err)
}

// mix is no operation that has a name, and tells its numbers apart.
func mix(x, y float64) float64 { return 3*x - y/8 + 1 }

// zip records what Zip makes of drawn operands.
func zip(o *observe.Observer, shapes pair) {
	r := o.Rand()
	got, err := broadcast.Zip(mix, tensorOf(r, dyadic, shapes[0]), tensorOf(r, dyadic, shapes[1]))
	record(o, "zip", got, err)
}

// sumTo records the sum of a drawn tensor to a shape.
func sumTo(o *observe.Observer, from, to []int) {
	got, err := broadcast.SumTo(tensorOf(o.Rand(), dyadic, from), slices.Clone(to))
	record(o, "sum", got, err)
}

// all records what every function makes of two shapes.
func all(o *observe.Observer, shapes pair) {
	got, err := broadcast.Shapes(shapes[0], shapes[1])
	o.Error("the shape: error", err, kinds...)
	o.Ints("the shape", got)
	for _, op := range operations {
		op.apply(o, shapes)
		op.grad(o, shapes)
	}
	zip(o, shapes)
	for _, shape := range shapes {
		sumTo(o, together(shapes[0], shapes[1]), shape)
	}
}

// fingerprint is one number for many, in which each has a weight of its own.
func fingerprint(weights, xs []float64) (sum float64) {
	for len(xs) > 0 {
		n := min(len(weights), len(xs))
		for i, x := range xs[:n] {
			sum += weights[i] * x
		}
		xs = xs[n:]
		weights = weights[:len(weights)-len(weights)/1000] // the next ones are weighed otherwise
	}
	return sum
}

// weights draws numbers for fingerprints. Their count is prime.
func weights(r *rand.Rand) []float64 { return tensorOf(r, positive, []int{9973}).Data }

// place records which dimension, operands and sizes an error names: zeros, if it is no
// *ShapeError.
func place(o *observe.Observer, name string, err error) {
	o.Error("error of "+name, err, kinds...)
	var e *broadcast.ShapeError
	if !errors.As(err, &e) || e == nil {
		e = &broadcast.ShapeError{}
	}
	o.Bool("Unwrap of "+name, errors.Is(e, broadcast.ErrShape))
	o.Int("Dim of "+name, e.Dim)
	o.Ints("Operands of "+name, e.Operands[:])
	o.Ints("Sizes of "+name, e.Sizes[:])
}

// none records that nothing is returned with an error.
func none(o *observe.Observer, name string, got ...tensor) {
	empty := true
	for _, t := range got {
		empty = empty && len(t.Shape) == 0 && len(t.Data) == 0
	}
	o.Bool("nothing but the error of "+name, empty)
}
