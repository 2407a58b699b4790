package hidden

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/broadcast"
)

// shapesOf records what shapes make. Who writes to the list that Shapes gets, writes to a copy.
func shapesOf(o *observe.Observer, name string, shapes ...[]int) {
	got, err := broadcast.Shapes(slices.Clone(shapes)...)
	o.Error(name+": error", err, kinds...)
	o.Ints(name, got)
}

// Two shapes are aligned at their last dimension, and a size of 1 becomes the other one
// (rules 1 and 2).
func TestShapes(t *testing.T) {
	o := observe.New(t)
	for range 5 {
		for _, p := range pairs(o.Rand()) {
			shapesOf(o, "shape", p[:]...)
		}
	}
	shapesOf(o, "shape", []int{10, 1, 5}, []int{5})
}

// Any number of shapes, also none or one, and sizes of 0 or as large as an int can be (rules
// 1 to 4).
func TestManyShapes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	shapesOf(o, "none")
	for range 3 {
		n, m := 2+r.IntN(7), 1<<62+r.IntN(1<<62)
		for _, shape := range [][]int{{}, {n}, {1}, {1, 1}, {n, m}, {m, m, m}, {0}, {0, m, m}, {m, 1, 0}} {
			shapesOf(o, "one", shape)
			shapesOf(o, "with a scalar", shape, nil)
			shapesOf(o, "with a scalar", []int{}, shape)
			shapesOf(o, "with itself", shape, shape)
			shapesOf(o, "three times", shape, shape, shape)
		}
		shapesOf(o, "zero and one", []int{0}, []int{1})
		shapesOf(o, "zero and one", []int{1, n}, []int{0, 1})
		shapesOf(o, "zero and one", []int{n, 1, n}, []int{0, 1}, []int{1})
		shapesOf(o, "zero and zero", []int{0}, []int{n, 0}, []int{0})
		shapesOf(o, "large sizes", []int{m, 1, n}, []int{m, m - 1, 1})
		shapesOf(o, "three", []int{n, 1, 1}, []int{n + 1, 1}, []int{n + 2})
		shapesOf(o, "three", []int{1}, []int{n, 1, 1}, []int{n + 1, n + 2})
		shapesOf(o, "four", []int{1, 1}, nil, []int{1}, []int{1, 1, n, 1})
	}
	for _, count := range []int{5, 17, 300, 1000} { // the sizes come late, each from another operand
		shapes := make([][]int, count)
		for i := range shapes {
			shapes[i] = slices.Repeat([]int{1}, r.IntN(5))
		}
		whole := []int{2 + r.IntN(5), 2 + r.IntN(5), 2 + r.IntN(5), 2 + r.IntN(5), 2 + r.IntN(5)}
		for dim, i := range r.Perm(min(count, 260))[:5] {
			own := slices.Repeat([]int{1}, 5-dim)
			own[0] = whole[dim]
			shapes[count-1-i] = own
		}
		shapesOf(o, "many", shapes...)
	}
}

// ask goes through all patterns of shapes, and asks for one tensor as both operands.
func ask(t *testing.T, k int) {
	o := observe.New(t)
	for range 2 {
		for _, p := range pairs(o.Rand()) {
			operations[k].apply(o, p)
		}
	}
	same := random(o.Rand(), operations[k].Op, []int{3, 3}) // one tensor for both
	got, err := operations[k].Apply(same, same)
	record(o, operations[k].name, got, err)
}

// a + b, for shapes that differ in all ways (rule 6).
func TestAdd(t *testing.T) { ask(t, 0) }

// a - b and not b - a, for shapes that differ in all ways (rule 6).
func TestSub(t *testing.T) { ask(t, 1) }

// a · b, for shapes that differ in all ways (rule 6).
func TestMul(t *testing.T) { ask(t, 2) }

// a / b and not b / a, for shapes that differ in all ways (rule 6).
func TestDiv(t *testing.T) { ask(t, 3) }

// The larger one of a and b, for shapes that differ in all ways (rule 6).
func TestMaximum(t *testing.T) { ask(t, 4) }

// Zip calls f once for each element, in the order of the result, and never for nothing; and
// a panic comes out (rule 8).
func TestZip(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 2 {
		for _, p := range pairs(r) {
			zip(o, p)
		}
	}
	for _, p := range pairs(r) { // what f returns is new each time
		var met []float64
		chance := dyadic(r)
		got, err := broadcast.Zip(func(x, y float64) float64 {
			met = append(met, x, y)
			chance = -chance + 1.0/16
			return chance
		}, tensorOf(r, dyadic, p[0]), tensorOf(r, dyadic, p[1]))
		o.Floats("zip: numbers that f met", met)
		record(o, "zip", got, err)
	}
	for _, p := range pairs(r)[:4] { // f may call what it likes
		inner := tensorOf(r, dyadic, []int{2})
		got, err := broadcast.Zip(func(x, y float64) float64 {
			z, err := broadcast.Zip(mix, inner, numbers(nil, []float64{x}))
			sum, _ := broadcast.SumTo(z, nil)
			if err != nil || len(sum.Data) != 1 {
				return y
			}
			return sum.Data[0] - y
		}, tensorOf(r, dyadic, p[0]), tensorOf(r, dyadic, p[1]))
		record(o, "zip in zip", got, err)
	}
	calls := 0
	count := func(x, y float64) float64 { calls++; return x }
	broadcast.Zip(count, tensorOf(r, dyadic, []int{0, 3}), tensorOf(r, dyadic, []int{3}))
	_, err := broadcast.Zip(count, tensorOf(r, dyadic, []int{2, 3}), tensorOf(r, dyadic, []int{4, 3}))
	o.Bool("refused", err != nil)
	_, err = broadcast.Zip(count, tensorOf(r, dyadic, []int{2, 3}), tensor{Shape: []int{3}, Data: []float64{1, 2}})
	o.Bool("refused", err != nil)
	o.Int("calls where there is nothing", calls)
	last := 3 + r.IntN(3)
	calls = 0
	value, out := any(errors.New("enough")), any(nil) // who panics with its text has another value
	func() {
		defer func() { out = recover() }()
		broadcast.Zip(func(x, y float64) float64 {
			if calls++; calls == last {
				panic(value)
			}
			return x
		}, tensorOf(r, dyadic, []int{3, 1}), tensorOf(r, dyadic, []int{4}))
	}()
	o.Bool("what f panics with comes out of Zip", out == value)
	o.Int("calls before the panic", calls)
}

// What a tensor is repeated for is summed back to it, and what is not is copied (rule 9).
func TestSumTo(t *testing.T) {
	o := observe.New(t)
	for range 2 {
		for _, p := range pairs(o.Rand()) {
			shape := together(p[0], p[1])
			sumTo(o, shape, p[0])
			sumTo(o, shape, shape)
		}
	}
	p, q, s := 2+o.Rand().IntN(3), 5+o.Rand().IntN(3), 8+o.Rand().IntN(3)
	for keep := range 8 { // each dimension is kept or summed, and left out in front
		to := []int{p, q, s}
		for k := range to {
			if keep>>k&1 == 0 {
				to[k] = 1
			}
		}
		for rest := to; ; rest = rest[1:] {
			sumTo(o, []int{p, q, s}, rest)
			if len(rest) == 0 || rest[0] != 1 {
				break
			}
		}
	}
}

// differentiate goes through all patterns of shapes. A gradient of 1 everywhere comes, too: it
// counts how often an element is used.
func differentiate(o *observe.Observer, k int) {
	r := o.Rand()
	op := operations[k]
	for range 2 {
		for _, p := range pairs(r) {
			op.grad(o, p)
		}
	}
	ones := func(shape ...int) tensor {
		return tensorOf(r, func(*rand.Rand) float64 { return 1 }, shape)
	}
	a := random(r, op.Op, []int{3, 3}) // one tensor for both
	da, db, err := op.Grad(a, a, ones(3, 3))
	record(o, op.name+" gradient: a", da, err)
	record(o, op.name+" gradient: b", db, err)
	da, db, err = op.Grad(random(r, op.Op, []int{4}), random(r, op.Op, []int{3, 1}), ones(3, 4))
	record(o, op.name+" gradient: a", da, err)
	record(o, op.name+" gradient: b", db, err)
}

// The gradient of a sum, towards both operands, in their shapes (rule 10).
func TestAddGrad(t *testing.T) { differentiate(observe.New(t), 0) }

// The gradient of a difference, towards both operands, in their shapes (rule 10).
func TestSubGrad(t *testing.T) { differentiate(observe.New(t), 1) }

// The gradient of a product, towards both operands, in their shapes (rule 10).
func TestMulGrad(t *testing.T) { differentiate(observe.New(t), 2) }

// The gradient of a quotient, towards both operands, in their shapes (rule 10).
func TestDivGrad(t *testing.T) { differentiate(observe.New(t), 3) }

// The gradient of a maximum goes to the larger one, and by halves to equal ones (rules 10
// and 11).
func TestMaximumGrad(t *testing.T) {
	o := observe.New(t)
	differentiate(o, 4)
	r := o.Rand()
	level := func(r *rand.Rand) float64 { return float64(r.IntN(3)) } // many are equal
	for _, p := range pairs(r) {
		a, b := tensorOf(r, level, p[0]), tensorOf(r, level, p[1])
		b.Data[0] = a.Data[0] // these surely
		da, db, err := broadcast.Maximum.Grad(a, b, tensorOf(r, dyadic, together(p[0], p[1])))
		record(o, "maximum gradient: a, with equal ones", da, err)
		record(o, "maximum gradient: b, with equal ones", db, err)
	}
}
