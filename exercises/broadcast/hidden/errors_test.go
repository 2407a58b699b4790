package hidden

import (
	"errors"
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/broadcast"
)

// unfit are pairs of shapes that don't fit together, either in front.
func unfit(o *observe.Observer) []pair {
	r := o.Rand()
	n := 2 + r.IntN(5)
	m := n + 1 + r.IntN(5)
	list := []pair{
		{{n}, {m}}, {{n}, {0}}, {{0, n}, {2, n}}, {{n, n}, {m, n}}, {{n, m}, {m, m}}, {{n, m}, {n, n}}, {{n, m}, {m, n}},
		{{n}, {n, m}}, {{n, 1}, {m, n, n}}, {{n, 1, 1}, {m, n, n}}, {{n, n, 1, m}, {n, m, 1, m}}, {{n, m, 1, m}, {n, n, 1}},
		{{n, n, n}, {m, m, m}}, {{n, 1, n}, {m, 1, 1}}, {{m, m, n, 1, 1}, {n, 1, m, m}},
	}
	for k := range 8 { // each of eight dimensions
		a, b := slices.Repeat([]int{n}, 8), slices.Repeat([]int{n}, 8)
		a[k] = m
		list = append(list, pair{a, b})
	}
	list = slices.DeleteFunc(list, func(p pair) bool { return fits(p) })
	for _, p := range list {
		list = append(list, pair{p[1], p[0]})
	}
	return list
}

func fits(p pair) bool {
	for k := 1; k <= min(len(p[0]), len(p[1])); k++ {
		x, y := p[0][len(p[0])-k], p[1][len(p[1])-k]
		if x != y && x != 1 && y != 1 {
			return false
		}
	}
	return true
}

// Shapes names the dimension, the operands and the sizes that don't fit (rules 16 and 17).
func TestShapeErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	refused := func(name string, shapes ...[]int) {
		got, err := broadcast.Shapes(slices.Clone(shapes)...)
		place(o, name, err)
		o.Ints("nothing but the error of "+name, got)
	}
	for range 3 {
		for _, p := range unfit(o) {
			refused("two", p[:]...)
		}
		n := 2 + r.IntN(5)
		m := n + 1 + r.IntN(5)
		refused("three", []int{1}, []int{n}, []int{m})
		refused("three", []int{n}, []int{1}, []int{m})
		refused("three", []int{n}, []int{n}, []int{m})
		refused("three", []int{n}, []int{m}, []int{m})
		refused("three", nil, []int{n, 1}, []int{m, 1})
		refused("three", []int{n, m}, []int{m, 1}, []int{n})
		refused("three", []int{n, 1}, []int{1, n}, []int{m, m})
		refused("three", []int{n, 1}, []int{m, 1}, []int{1, m})
		refused("four", []int{1, n}, []int{m, 1}, []int{m, n}, []int{n + m})
		refused("four", []int{1}, []int{n}, []int{m}, []int{m + 1})
		refused("four", []int{n, n}, []int{m, 1}, []int{1, 1}, []int{1, m})
		refused("zero", []int{1}, []int{0}, []int{n})
		refused("zero", []int{n, 0}, []int{0, 1})
		refused("large", []int{math.MaxInt}, []int{math.MaxInt - n})
		refused("large", []int{n}, []int{n + 1<<32})
		shapes := slices.Repeat([][]int{{1, 1}}, 1000)
		late := r.Perm(1000)[:2]
		shapes[late[0]], shapes[late[1]] = []int{n, 1}, []int{m, 1}
		refused("many", shapes...)
	}
}

// Every operation, gradient and Zip says where two shapes don't fit (rules 16 and 17).
func TestOperationErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range unfit(o) {
		a, b := tensorOf(r, positive, p[0]), tensorOf(r, positive, p[1])
		for _, op := range operations {
			got, err := op.Apply(a, b)
			place(o, op.name, err)
			none(o, op.name, got)
			da, db, err := op.Grad(a, b, a)
			place(o, op.name+" gradient", err)
			none(o, op.name+" gradient", da, db)
		}
		got, err := broadcast.Zip(mix, a, b)
		place(o, "zip", err)
		none(o, "zip", got)
	}
}

// SumTo says where a shape is none that could have been broadcast to the tensor's (rules 16 and
// 18).
func TestSumToErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		n := 2 + r.IntN(5)
		m := n + 1 + r.IntN(5)
		for _, p := range []pair{
			{{n}, {m}}, {{n, m}, {n, n}}, {{n, m}, {m, 1}}, {{n, m}, {m, n}}, {{n, m}, {n}}, {{n, m, n}, {m, n, 1}}, {{n, m, n}, {m, 1, m}},
			{{1}, {n}}, {{1, n}, {n, n}}, {{1, n}, {n, 1}}, {{n, 1}, {n, m}}, {{n, 1}, {m}}, {{n, 1}, {m, m}}, {{n, 1, n}, {m, m, n}}, {{1, 1}, {n, m}}, {{m, 1, n}, {m, n, 1}},
			{{n}, {1, n}}, {{n}, {1, 1}}, {{n}, {n, n}}, {{n}, {1, 1, n}}, {{n}, {n, m, 1}}, {nil, {1}}, {nil, {n}}, {nil, {n, 1}}, {{n, m}, {1, n, m}},
			{{n}, {1, m}}, {{1}, {m, n}}, {{n, m}, {1, 1, n}}, {{0}, {n}}, {{n}, {0}}, {{1}, {0}}, {{n, 0}, {n, n}}, {{0, n}, {0, m}}, {{0}, {1, 0}}, {nil, {0}},
		} {
			got, err := broadcast.SumTo(tensorOf(r, dyadic, p[0]), p[1])
			place(o, "sum", err)
			none(o, "sum", got)
		}
	}
}

// A size below 0, too few or too many numbers are refused by every function, wherever they are
// (rule 16).
func TestBadTensors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := 2 + r.IntN(3)
	data := func(count int) []float64 { return tensorOf(r, dyadic, []int{count}).Data }
	for _, bad := range []tensor{
		{}, {Shape: []int{}, Data: data(2)},
		{Shape: []int{n}}, {Shape: []int{n}, Data: data(n - 1)}, {Shape: []int{n}, Data: data(n + 1)}, {Shape: []int{n, n}, Data: data(n)}, {Shape: []int{1}},
		{Shape: []int{0}, Data: data(1)}, {Shape: []int{0, n}, Data: data(n)}, {Shape: []int{n, 1}, Data: data(2 * n)},
		{Shape: []int{-1}}, {Shape: []int{-n}, Data: data(n)}, {Shape: []int{-1, -n}, Data: data(n)}, {Shape: []int{n, -1}, Data: data(n)}, {Shape: []int{-1, 0}}, {Shape: []int{0, -n}},
		{Shape: []int{1 << 32, 1 << 32}}, {Shape: []int{1 << 62, 4}}, {Shape: []int{1 << 16, 1 << 16, 1 << 16, 1 << 16}},
		{Shape: []int{1<<63 - 1, 1<<63 - 1}, Data: data(1)}, {Shape: []int{math.MinInt, 2}}, {Shape: []int{math.MinInt}},
		{Shape: []int{1<<32 + 1, 1 << 32}, Data: nil}, {Shape: []int{3, 6148914691236517206}, Data: data(2)},
	} {
		good := numbers(slices.Repeat([]int{1}, len(bad.Shape)), data(1))
		refused := func(name string, err error, got ...tensor) {
			o.Error("error of "+name, err, kinds...)
			none(o, name, got...)
		}
		for _, op := range operations {
			for _, x := range [][2]tensor{{bad, good}, {good, bad}, {bad, bad}} {
				got, err := op.Apply(x[0], x[1])
				refused(op.name, err, got)
			}
			for _, x := range [][3]tensor{{bad, good, good}, {good, bad, good}, {good, good, bad}} {
				da, db, err := op.Grad(x[0], x[1], x[2])
				refused(op.name+" gradient", err, da, db)
			}
		}
		for _, x := range [][2]tensor{{bad, good}, {good, bad}} {
			got, err := broadcast.Zip(mix, x[0], x[1])
			refused("zip", err, got)
		}
		got, err := broadcast.SumTo(bad, good.Shape)
		refused("sum", err, got)
		got, err = broadcast.SumTo(bad, slices.Clone(bad.Shape))
		refused("sum", err, got)
		if slices.ContainsFunc(bad.Shape, func(size int) bool { return size < 0 }) {
			got, err = broadcast.SumTo(good, bad.Shape)
			o.Bool("sum to a shape with a size below 0: ErrTensor or ErrShape", errors.Is(err, broadcast.ErrTensor) || errors.Is(err, broadcast.ErrShape))
			none(o, "sum to a shape", got)
			for _, shapes := range [][][]int{{bad.Shape}, {good.Shape, bad.Shape}, {bad.Shape, good.Shape}, {{1}, {1}, bad.Shape}} {
				shape, err := broadcast.Shapes(slices.Clone(shapes)...)
				o.Error("shapes: error", err, kinds...)
				o.Ints("shapes: nothing but the error", shape)
			}
		}
	}
	for _, shape := range [][]int{{0, 1 << 62, 4}, {1 << 32, 1 << 32, 0}, {math.MaxInt, 0, math.MaxInt}} { // right ones
		all(o, pair{shape, nil})
	}
}

// A gradient of another shape than the result is refused by every operation, also if it has as
// many numbers (rule 16).
func TestGradErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := 2 + r.IntN(3)
	m := n + 1 + r.IntN(3)
	for _, c := range [][3][]int{
		{{n}, {n}, {1, n}}, {{n}, {n}, {n, 1}}, {{n}, {n}, {m}}, {{n}, {n}, {1}}, {{n}, {n}, nil}, {{n}, {n}, {0}},
		{{n, 1}, {m}, {m, n}}, {{n, 1}, {m}, {n, 1}}, {{n, 1}, {m}, {m}}, {{n, 1}, {m}, {n * m}}, {{n, 1}, {m}, {1, n, m}}, {{n, 1}, {m}, nil},
		{nil, nil, {1}}, {{1}, nil, nil}, {{1, 1}, {1}, {1}}, {{1, n}, {n}, {n}}, {{0, n}, {n}, {0, m}}, {{0, n}, {n}, {n, 0}}, {{n, m}, {n, m}, {n, m, 1}}, {{n, m}, {m}, {m, n}},
	} {
		for _, op := range operations {
			da, db, err := op.Grad(random(r, op.Op, c[0]), random(r, op.Op, c[1]), random(r, op.Op, c[2]))
			o.Error("error of "+op.name+" gradient", err, kinds...)
			none(o, op.name+" gradient", da, db)
		}
	}
	for _, op := range operations { // and the right shape is not
		op.grad(o, pair{{n, 1}, {m}})
	}
}

// An operation that does not exist is refused, also if it is one in its last bits, and those
// that exist are not (rule 16).
func TestOps(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := tensorOf(r, positive, []int{3, 1}), tensorOf(r, positive, []int{2})
	grad := tensorOf(r, positive, []int{3, 2})
	for _, op := range []broadcast.Op{-1, broadcast.Maximum + 1, -1 - broadcast.Op(r.IntN(100)), 6 + broadcast.Op(r.IntN(100)), 256, 1 << 32, 1<<32 + 2, math.MinInt, math.MaxInt, broadcast.Maximum, broadcast.Add} {
		got, err := op.Apply(a, b)
		o.Error("apply: error", err, kinds...)
		o.Bool("apply: nothing but the error", err == nil || len(got.Shape) == 0 && len(got.Data) == 0)
		da, db, err := op.Grad(a, b, grad)
		o.Error("gradient: error", err, kinds...)
		o.Bool("gradient: nothing but the error", err == nil || len(da.Shape)+len(da.Data)+len(db.Shape)+len(db.Data) == 0)
	}
}
