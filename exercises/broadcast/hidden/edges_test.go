package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/broadcast"
)

// A tensor without dimensions has one number, and meets any shape, in every function (rules
// 1, 6, 9 and 10).
func TestScalars(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	p, q := 2+r.IntN(3), 5+r.IntN(3)
	for _, shape := range [][]int{nil, {}, {1}, {1, 1}, {p}, {p, q}, {p, 1, q}} {
		all(o, pair{shape, nil})
		all(o, pair{{}, shape})
	}
}

// A size of 0 makes a result without numbers, of the right shape; and the sum of no numbers is
// 0 (rules 4, 8 and 9).
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	p, q := 2+r.IntN(3), 5+r.IntN(3)
	huge := 1<<62 + r.IntN(1<<61)
	for _, x := range []pair{
		{{0}, {0}}, {{0}, {1}}, {{0}, nil}, {{p, 0}, {p, 1}}, {{0, q}, {1, q}}, {{0, q}, {q}}, {{p, 0}, {0}}, {{p, 0}, nil},
		{{p, 0, q}, {1, q}}, {{p, 1, q}, {0, 1}}, {{p, 1}, {1, 0}}, {{0, 1}, {1, q}}, {{0, 1}, {1, 0}}, {{0, 0}, {0}},
		{{0, huge}, {0, huge}}, {{huge, 0, huge}, {1}}, {{0, huge}, {0, 1}}, {{huge, huge, 0}, {1, 0}},
	} {
		all(o, x)
		all(o, pair{x[1], x[0]})
	}
	for _, to := range [][]int{{p, 1}, {1, 1}, {1}, nil, {p, 0}, {0}, {1, 0}} {
		sumTo(o, []int{p, 0}, to)
	}
	sumTo(o, []int{p, 0, q}, []int{p, 1, q})
	sumTo(o, []int{0, huge, p}, []int{1, p})
}

// Any number of dimensions: 8, 18 of which none is like the one beside it, and 30 (rule 5).
func TestRanks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, rank := range []int{5, 8, 8, 8, 30} {
		var p pair
		for k := range p {
			p[k] = slices.Repeat([]int{1}, rank)
		}
		wide := r.Perm(rank)[:min(rank, 8)]
		for k, dim := range wide {
			size := 2 + k%2*r.IntN(2)
			switch k % 4 {
			case 0:
				p[0][dim] = size
			case 1:
				p[1][dim] = size
			case 2, 3:
				p[0][dim], p[1][dim] = size, size
			}
		}
		all(o, p)
		all(o, pair{p[0], p[1][rank-rank/2:]})
		all(o, pair{p[0][rank-3:], p[1]})
	}
	// One operand after the other is repeated, so that no two dimensions are one stride.
	turns := pair{slices.Repeat([]int{2, 1}, 9), slices.Repeat([]int{1, 2}, 9)}
	k := r.IntN(2)
	turns[k], turns[1-k] = turns[0], turns[1][1:]
	allLarge(o, weights(r), turns)
}

// Tensors of more than 65,536 numbers, and dimensions that are as long: each number counts, in
// every function (rules 6, 9, 10 and 12).
func TestLarge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	w := weights(r)
	n := 65_537 + r.IntN(200)
	for _, p := range []pair{{{n}, {n}}, {{n, 2}, {2}}, {{2, n}, {n}}, {{n, 2}, {n, 1}}, {{1, n}, {2, 1}}, {{n}, nil}, {{300, 1, 1}, {1, 260, 2}}, {{2, n, 1}, {2, 1, 1}},
		{{1 << 13}, {1 << 13}}, {{2, 1 << 13}, {1 << 13}}, {{1 << 13}, nil}, {{2, 1}, {1 << 13}}} { // whole blocks
		allLarge(o, w, p)
	}
	got, _ := broadcast.Shapes([]int{n, 1}, []int{2, 1, 70_000})
	o.Ints("the shape", got)
}

// allLarge records what every function makes of two shapes with many numbers: their sums,
// weighed by w.
func allLarge(o *observe.Observer, w []float64, p pair) {
	r := o.Rand()
	a, b := tensorOf(r, positive, p[0]), tensorOf(r, positive, p[1])
	large := func(name string, got tensor, err error) {
		o.Error(name+": error", err, kinds...)
		o.Ints(name+": shape", got.Shape)
		o.Int(name+": numbers", len(got.Data))
		o.Float(name+": weighted sum", fingerprint(w, got.Data), relative)
	}
	grad := tensorOf(r, positive, together(p[0], p[1]))
	for _, op := range operations {
		got, err := op.Apply(a, b)
		large(op.name, got, err)
		da, db, err := op.Grad(a, b, grad)
		large(op.name+" gradient: a", da, err)
		large(op.name+" gradient: b", db, err)
	}
	met, calls := 0.0, 0
	got, err := broadcast.Zip(func(x, y float64) float64 {
		met += w[calls%len(w)] * (x - y/4)
		calls++
		return mix(x, y)
	}, a, b)
	large("zip", got, err)
	o.Int("zip: calls", calls)
	o.Float("zip: weighted sum of what f met, in its order", met, relative)
	for _, to := range [][]int{p[0], p[1], nil} {
		got, err = broadcast.SumTo(grad, to)
		large("sum", got, err)
	}
}

// special numbers meet each other, each with each.
func special(r *rand.Rand, more ...float64) (a, b []float64) {
	list := append([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -2 - r.Float64()}, more...)
	for _, x := range list {
		for _, y := range list {
			a, b = append(a, x), append(b, y)
		}
	}
	return a, b
}

// NaN, infinities and -0 are numbers as float64 has them, in every operation and gradient, and
// change no element beside them (rules 7 and 11).
func TestNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, y := special(r, math.MaxFloat64, math.SmallestNonzeroFloat64)
	column, row := numbers([]int{len(x), 1}, x), numbers([]int{len(y)}, y)
	plain, plainY := special(r)
	n, count := len(plain), 0
	for _, op := range operations {
		got, err := op.Apply(numbers([]int{len(x)}, x), numbers([]int{len(y)}, y))
		record(o, op.name, got, err, relative)
		o.Ints(op.name+": zeros that are negative", negativeZeros(got.Data))
		got, err = op.Apply(column, row)
		record(o, op.name, got, err, relative)
		count += len(got.Data)
		o.Ints(op.name+": zeros that are negative", negativeZeros(got.Data))
		for _, g := range []float64{1.5, -r.Float64(), 0, math.NaN(), math.Inf(1)} {
			grad := numbers([]int{n}, slices.Repeat([]float64{g}, n))
			if op.Op == broadcast.Div && (g < 0 || math.IsInf(g, 1)) {
				continue // its formula can be arranged in many ways
			}
			da, db, err := op.Grad(numbers([]int{n}, plain), numbers([]int{n}, plainY), grad)
			record(o, op.name+" gradient: a", da, err)
			record(o, op.name+" gradient: b", db, err)
		}
		// One that is not finite is summed into one element alone.
		a, b, grad := random(r, op.Op, []int{3, 1}), random(r, op.Op, []int{4}), random(r, op.Op, []int{3, 4})
		grad.Data[r.IntN(12)] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
		da, db, err := op.Grad(a, b, grad)
		record(o, op.name+" gradient: a", da, err)
		record(o, op.name+" gradient: b", db, err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		grad := tensorOf(r, dyadic, []int{3, 4})
		grad.Data[r.IntN(12)] = bad
		for _, to := range [][]int{{4}, {3, 1}, {3, 4}, nil} {
			got, err := broadcast.SumTo(grad, to)
			record(o, "sum", got, err)
		}
	}
	// Each beside one number, which may have dimensions, and beside a row or a column of it.
	for _, op := range operations {
		for _, other := range []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, math.NaN(), math.Inf(1), math.Inf(-1)} {
			for k, shape := range [][]int{nil, {1}, {1, 1}, {3}, {3, 1}} {
				list, repeated := numbers([]int{len(plain) / n, n}, plain), numbers(shape, slices.Repeat([]float64{other}, product(shape)))
				switch k {
				case 3:
					list.Shape, list.Data = []int{n, 1}, plainY[:n]
				case 4:
					list.Shape, list.Data = []int{n}, plainY[:n]
				}
				for _, p := range [][2]tensor{{list, repeated}, {repeated, list}} {
					got, err := op.Apply(p[0], p[1])
					record(o, op.name+" beside one number", got, err, relative)
					o.Ints(op.name+" beside one number: zeros that are negative", negativeZeros(got.Data))
					if op.Op == broadcast.Maximum || op.Op == broadcast.Mul {
						da, db, err := op.Grad(p[0], p[1], tensorOf(r, dyadic, together(p[0].Shape, p[1].Shape)))
						record(o, op.name+" gradient: a", da, err)
						record(o, op.name+" gradient: b", db, err)
					}
					if op.Op == broadcast.Maximum { // the 0 of the smaller one is 0 whatever the gradient is
						for _, g := range []float64{math.NaN(), math.Inf(1)} {
							shape := together(p[0].Shape, p[1].Shape)
							da, db, err := op.Grad(p[0], p[1], numbers(shape, slices.Repeat([]float64{g}, product(shape))))
							record(o, op.name+" gradient: a", da, err)
							record(o, op.name+" gradient: b", db, err)
						}
					}
				}
			}
		}
	}
	got, err := broadcast.Zip(func(x, y float64) float64 { return y }, column, row)
	record(o, "zip", got, err, relative)
	o.Int("numbers in tables", count)
}

// negativeZeros has a 1 for each of xs that is a zero below 0.
func negativeZeros(xs []float64) []int {
	list := make([]int, len(xs))
	for i, x := range xs {
		if x == 0 && math.Signbit(x) {
			list[i] = 1
		}
	}
	return list
}

// Very large and very small numbers: no square and no product overflows or vanishes that need
// not (rule 12).
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	sized := func(exponent float64) func(*rand.Rand) float64 {
		scale := math.Pow(10, exponent)
		return func(r *rand.Rand) float64 { return scale * (1 + r.Float64()) }
	}
	count := 0
	for _, op := range operations {
		for _, e := range []float64{295, 180 + 100*r.Float64(), -180 - 100*r.Float64(), -295} {
			other := e
			if op.Op == broadcast.Mul {
				other = -e + 3
			}
			a, b, grad := tensorOf(r, sized(e), []int{4, 1}), tensorOf(r, sized(other), []int{3}), tensorOf(r, sized(e), []int{4, 3})
			got, err := op.Apply(a, b)
			record(o, op.name, got, err, relative)
			count += len(got.Data)
			if op.Op == broadcast.Mul {
				grad = tensorOf(r, sized(r.Float64()), []int{4, 3})
			}
			da, db, err := op.Grad(a, b, grad)
			record(o, op.name+" gradient: a", da, err, relative)
			record(o, op.name+" gradient: b", db, err, relative)
			got, err = broadcast.SumTo(tensorOf(r, sized(e), []int{5, 6}), []int{6})
			record(o, "sum", got, err, relative)
		}
	}
	// Of a quotient, one operand at a time is far from the others.
	for _, e := range [][3]float64{{200, 200, -50}, {-200, -200, 50}, {10, 200, 200}, {-10, -200, -200}, {160, 160, 160}, {-160, -160, -160}, {30, 20, 299}, {-30, -20, -299}} {
		for _, shapes := range []pair{{{3}, {2, 1}}, {{2, 3}, {2, 3}}, {{2, 3}, nil}, {nil, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {2, 3}}, {{2, 3}, {2, 1}}} {
			da, db, err := broadcast.Div.Grad(tensorOf(r, sized(e[0]), shapes[0]), tensorOf(r, sized(e[1]), shapes[1]), tensorOf(r, sized(e[2]), []int{2, 3}))
			record(o, "div gradient: a", da, err, relative)
			record(o, "div gradient: b", db, err, relative)
		}
	}
	o.Int("numbers in tables", count)
}
