package hidden

import (
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/broadcast"
)

// guarded is a copy of a tensor, with more behind the ends of its slices.
func guarded(t tensor) tensor {
	shape := append(slices.Clone(t.Shape), 7, 7)
	data := append(slices.Clone(t.Data), math.Pi, math.Pi)
	return numbers(shape[:len(t.Shape)], data[:len(t.Data)])
}

// intact says whether a guarded tensor is as it was.
func intact(t, before tensor) bool {
	t, before = numbers(t.Shape[:len(t.Shape)+2], t.Data[:len(t.Data)+2]), guarded(before)
	return slices.Equal(t.Shape, before.Shape[:len(t.Shape)]) && slices.Equal(t.Data, before.Data[:len(t.Data)])
}

// No function writes to its arguments, nor behind their ends (rule 13).
func TestUnchanged(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range pairs(r) {
		a, b, g := tensorOf(r, positive, p[0]), tensorOf(r, positive, p[1]), tensorOf(r, positive, together(p[0], p[1]))
		x, y, z := guarded(a), guarded(b), guarded(g)
		same := func(name string) {
			o.SelfReported().Bool(name+": arguments are as before", intact(x, a) && intact(y, b) && intact(z, g))
		}
		shapes := [][]int{x.Shape, y.Shape}
		got, _ := broadcast.Shapes(shapes...)
		o.Ints("the shape", got)
		same("shapes")
		o.SelfReported().Bool("the list of shapes is as before", slices.Equal(shapes[0], a.Shape) && slices.Equal(shapes[1], b.Shape))
		for _, op := range operations {
			got, err := op.Apply(x, y)
			record(o, op.name, got, err)
			same(op.name)
			da, db, err := op.Grad(x, y, z)
			record(o, op.name+" gradient: a", da, err)
			record(o, op.name+" gradient: b", db, err)
			same(op.name + " gradient")
			if len(g.Shape) <= 2 {
				text, _ := op.SVG(broadcast.Operand{Name: "x", Tensor: x}, broadcast.Operand{Name: "y", Tensor: y})
				o.Bool("a picture", text != "")
				same("picture")
			}
		}
		broadcast.Zip(mix, x, y)
		same("zip")
		broadcast.SumTo(z, x.Shape)
		broadcast.SumTo(z, y.Shape)
		broadcast.SumTo(z, z.Shape)
		same("sum")
	}
}

// scribble writes all over a tensor that was returned, and behind its ends, as append does.
func scribble(t tensor) {
	for i := range cap(t.Data) - len(t.Data) {
		_ = append(t.Data[:len(t.Data)+i], 1000)
	}
	for i := range cap(t.Shape) - len(t.Shape) {
		_ = append(t.Shape[:len(t.Shape)+i], 1000)
	}
	for i := range t.Data {
		t.Data[i] += 1000
	}
	for i := range t.Shape {
		t.Shape[i] += 1000
	}
}

// rooms makes calls, writes to one result after the other, also behind their ends, and records
// those that are left.
func rooms(o *observe.Observer, name string, call func() []tensor) {
	for k := range 2 {
		all := append(call(), call()...)
		if k > 0 {
			slices.Reverse(all) // from the last one on
		}
		for i, t := range all {
			scribble(t)
			for _, other := range all[i+1:] {
				record(o, name, other, nil)
			}
		}
	}
}

// What is returned is the caller's: what is written to it, or appended, shows in no argument and in
// no other result, and the other way round (rule 13).
func TestOwnMemory(t *testing.T) {
	o := observe.New(t)
	ownErrors(o)
	r := o.Rand()
	n, m := 2+r.IntN(3), 5+r.IntN(3)
	for _, p := range []pair{{{n, m}, {n, m}}, {{n, m}, {m}}, {{n, m}, nil}, {{n, 1}, {m}}, {{n, m}, {n, 1}}, {nil, nil}, {{1}, nil}, {{1, n}, {n}}, {{0, n}, {0, n}}, {{0, n}, {1}}} {
		for _, p := range []pair{p, {p[1], p[0]}} {
			shape := slices.Clone(together(p[0], p[1]))
			for _, op := range operations {
				a, b, g := random(r, op.Op, p[0]), random(r, op.Op, p[1]), random(r, op.Op, shape)
				if op.Op == broadcast.Maximum { // it is one of its operands, as a whole
					for i := range a.Data {
						a.Data[i] += 100
					}
				}
				arguments := func(name string) {
					for _, x := range []tensor{a, b, g} {
						o.Ints(name+": shape of an argument, the result was written to", x.Shape)
						o.Floats(name+": argument, the result was written to", x.Data)
					}
				}
				for range 2 {
					z, err := op.Apply(a, b)
					record(o, op.name, z, err)
					da, db, err := op.Grad(a, b, g)
					record(o, op.name+" gradient: a", da, err)
					record(o, op.name+" gradient: b", db, err)
					scribble(da)
					record(o, op.name+" gradient: b", db, err)
					scribble(db)
					scribble(z)
					arguments(op.name)
				}
				rooms(o, op.name, func() []tensor { z, _ := op.Apply(a, b); return []tensor{z} })
				rooms(o, op.name+" gradient: either", func() []tensor { da, db, _ := op.Grad(a, b, g); return []tensor{da, db} })
				z, err := op.Apply(a, b)
				da, db, _ := op.Grad(a, b, g)
				scribble(tensor{Data: a.Data})
				scribble(tensor{Data: b.Data})
				scribble(tensor{Data: g.Data})
				record(o, op.name, z, err)
				record(o, op.name+" gradient: a", da, err)
				record(o, op.name+" gradient: b", db, err)
			}
			g := tensorOf(r, dyadic, shape)
			for _, to := range [][]int{p[0], p[1], g.Shape} {
				to = slices.Clone(to)
				rooms(o, "sum", func() []tensor { sum, _ := broadcast.SumTo(g, to); return []tensor{sum} })
				for range 2 {
					sum, err := broadcast.SumTo(g, to)
					record(o, "sum", sum, err)
					scribble(sum)
					o.Ints("sum: the shape, the result was written to", to)
					o.Ints("sum: shape of the argument, the result was written to", g.Shape)
					o.Floats("sum: argument, the result was written to", g.Data)
				}
			}
			a, b := slices.Clone(p[0]), slices.Clone(p[1])
			for _, shapes := range [][][]int{{a}, {a, b}, {b, a}, {a, nil}, {a, a}} {
				rooms(o, "the shape", func() []tensor { got, _ := broadcast.Shapes(shapes...); return []tensor{{Shape: got}} })
				for range 2 {
					got, _ := broadcast.Shapes(slices.Clone(shapes)...)
					o.Ints("the shape", got)
					scribble(tensor{Shape: got})
					o.Ints("shape of an argument, the result was written to", a)
					o.Ints("shape of an argument, the result was written to", b)
				}
			}
			x, y := tensorOf(r, dyadic, p[0]), tensorOf(r, dyadic, p[1])
			rooms(o, "zip", func() []tensor { z, _ := broadcast.Zip(mix, x, y); return []tensor{z} })
			for range 2 {
				z, err := broadcast.Zip(func(x, y float64) float64 { return x }, x, y)
				record(o, "zip", z, err)
				scribble(z)
				o.Ints("zip: shape of an argument, the result was written to", x.Shape)
				o.Floats("zip: argument, the result was written to", x.Data)
			}
		}
	}
}

// What an error says is the caller's, too: who writes to it changes no later one (rule 13).
func ownErrors(o *observe.Observer) {
	r := o.Rand()
	n := 2 + r.IntN(5)
	a, b := tensorOf(r, positive, []int{n, 1}), tensorOf(r, positive, []int{n + 1, 1})
	calls := map[string]func() error{
		"shapes":       func() error { _, err := broadcast.Shapes(a.Shape, b.Shape); return err },
		"add":          func() error { _, err := broadcast.Add.Apply(a, b); return err },
		"add gradient": func() error { _, _, err := broadcast.Add.Grad(a, b, a); return err },
		"zip":          func() error { _, err := broadcast.Zip(mix, a, b); return err },
		"sum":          func() error { _, err := broadcast.SumTo(a, b.Shape); return err },
		"picture":      func() error { _, err := broadcast.Add.SVG(named("x", a), named("y", b)); return err },
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		for range 3 {
			var e *broadcast.ShapeError
			if err := calls[name](); errors.As(err, &e) && e != nil {
				*e = broadcast.ShapeError{}
			}
		}
		place(o, name, calls[name]())
	}
}

// More than 65,536 calls of each function in one process, with operands that change their numbers
// and shapes: each answer depends on its own arguments (rule 14).
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	w := weights(r)
	a, b := tensorOf(r, positive, []int{2, 1}), tensorOf(r, positive, []int{3})
	one := tensorOf(r, positive, nil)
	grads := []tensor{tensorOf(r, positive, []int{2, 3}), one, numbers([]int{1}, one.Data)}
	sums := make([][5]float64, len(operations))
	others := make([]float64, 3)
	for i := range 66_000 {
		weight := w[i%len(w)]
		x, y, g := a, b, grads[0]
		if i >= 300 { // the rest of them in no time
			x, y, g = one, grads[1+i%2], grads[1+i%2]
		}
		x.Data[i%len(x.Data)] = w[i*7%len(w)] // the same memory, other numbers
		for k, op := range operations {
			z, _ := op.Apply(x, y)
			sums[k][0] += weight * fingerprint(w, z.Data)
			sums[k][1] += weight * float64(len(z.Shape))
			if i < 300 && i%3 == 0 {
				text, _ := op.SVG(broadcast.Operand{Name: "x", Tensor: x}, broadcast.Operand{Name: "y", Tensor: y})
				sums[k][4] += weight * parse(text).total(w)
			}
			da, db, _ := op.Grad(x, y, g)
			sums[k][2] += weight * fingerprint(w, da.Data)
			sums[k][3] += weight * fingerprint(w, db.Data)
		}
		shape, _ := broadcast.Shapes(x.Shape, y.Shape)
		others[0] += weight * float64(len(shape))
		z, _ := broadcast.Zip(mix, x, y)
		others[1] += weight * fingerprint(w, z.Data)
		z, _ = broadcast.SumTo(x, nil)
		others[2] += weight * fingerprint(w, z.Data)
	}
	for k, op := range operations {
		o.Float(op.name+": results", sums[k][0], relative)
		o.Float(op.name+": dimensions", sums[k][1], relative)
		o.Float(op.name+" gradient: a", sums[k][2], relative)
		o.Float(op.name+" gradient: b", sums[k][3], relative)
		o.Float(op.name+": pictures", sums[k][4], relative)
	}
	o.Float("the shape: dimensions", others[0], relative)
	o.Float("zip: results", others[1], relative)
	o.Float("sum: results", others[2], relative)
	for n := range 1_000 { // a thousand shapes, once and again
		for range 2 {
			all := pair{{1 + n%10, 1, 1}, {1 + n/10%10, 1 + n/100}}
			got, _ := broadcast.Shapes(all[0], all[1])
			others[0] += w[n] * float64(product(got))
			z, _ := broadcast.Add.Apply(tensorOf(r, positive, all[0]), tensorOf(r, positive, all[1]))
			others[1] += fingerprint(w, z.Data)
		}
	}
	o.Float("the shape: a thousand", others[0], relative)
	o.Float("add: a thousand shapes", others[1], relative)
}

// After a call that was refused, or that a panic in f has ended, the next one is as ever, in every
// function (rule 14).
func TestAfterErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	good := pair{{3, 1}, {4}}
	a, b := tensorOf(r, positive, []int{2, 3}), tensorOf(r, positive, []int{4, 3})
	bad := tensor{Shape: []int{3, 3}, Data: []float64{1, 2}}
	for range 2 {
		for _, op := range operations {
			for _, x := range [][2]tensor{{a, b}, {bad, a}, {b, bad}} {
				_, err := op.Apply(x[0], x[1])
				o.Bool("refused", err != nil)
				op.apply(o, good)
				_, _, err = op.Grad(x[0], x[1], a)
				o.Bool("refused", err != nil)
				op.grad(o, good)
			}
			_, _, err := op.Grad(a, a, b)
			o.Bool("refused", err != nil)
			op.grad(o, good)
		}
		_, err := broadcast.Zip(mix, a, b)
		o.Bool("refused", err != nil)
		zip(o, good)
		o.Panics("zip: a panic", func() { broadcast.Zip(func(x, y float64) float64 { panic(x) }, a, a) })
		zip(o, good)
		_, err = broadcast.SumTo(a, []int{2})
		o.Bool("refused", err != nil)
		sumTo(o, []int{3, 4}, []int{4})
		_, err = broadcast.Shapes(a.Shape, b.Shape)
		o.Bool("refused", err != nil)
		shapesOf(o, "the shape", good[:]...)
	}
	p, q, s := 2+r.IntN(2), 4+r.IntN(2), 6
	for _, x := range []pair{{{p, q}, {p, q}}, {{q, 1}, {s}}, {{p, 1, s}, {q, 1}}, {{p, q, 1}, {p, 1, s}}, {{p, 1, q, 1}, {s, 1, p}}} {
		n := product(together(x[0], x[1]))
		for k, last := range []int{n - 1, r.IntN(n), n - 1 - r.IntN(n/p)} { // f has a panic there
			a, b := tensorOf(r, dyadic, x[0]), tensorOf(r, dyadic, x[1])
			calls := 0
			o.Panics("zip: a panic", func() {
				broadcast.Zip(func(x, y float64) float64 {
					if calls == last {
						panic(x)
					}
					calls++
					return mix(x, y)
				}, a, b)
			})
			o.Int("zip: calls before a panic", calls)
			if k == 0 {
				zip(o, good)
			}
			all(o, x)
			all(o, pair{x[1], x[0]})
		}
	}
}

// Calls of all functions at the same time, with the same operands and with others, do not disturb
// each other (rule 15).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const workers = 6
	w := weights(r)
	column, row, table := tensorOf(r, positive, []int{20, 1}), tensorOf(r, positive, []int{30}), tensorOf(r, positive, []int{20, 30})
	large, long := tensorOf(r, positive, []int{300, 300}), tensorOf(r, positive, []int{300})
	own := make([]tensor, workers)
	sums := make([][]float64, workers)
	others := newOthers(r)
	others.firsts()
	for i := range own {
		own[i] = tensorOf(r, positive, []int{20, 30})
		sums[i] = make([]float64, 2*len(operations)+4)
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			others.call()
			add := func(k int, t tensor, err error) {
				if err == nil {
					sums[i][k] += fingerprint(w, t.Data)
				}
			}
			for range 10 {
				for k, op := range operations {
					z, err := op.Apply(column, row)
					add(k, z, err)
					z, err = op.Apply(own[i], row)
					add(k, z, err)
					da, db, err := op.Grad(column, row, own[i])
					add(len(operations)+k, da, err)
					add(len(operations)+k, db, err)
				}
				z, err := broadcast.Zip(mix, own[i], column)
				add(2*len(operations), z, err)
				z, err = broadcast.SumTo(own[i], row.Shape)
				add(2*len(operations)+1, z, err)
				shape, err := broadcast.Shapes(column.Shape, row.Shape, table.Shape)
				add(2*len(operations)+2, tensor{Data: []float64{float64(product(shape))}}, err)
			}
			z, err := broadcast.Add.Apply(large, long)
			add(0, z, err)
			text, err := broadcast.Mul.SVG(broadcast.Operand{Name: "x", Tensor: column}, broadcast.Operand{Name: "y", Tensor: numbers([]int{5}, row.Data[i:i+5])})
			if err == nil && text != "" {
				sums[i][2*len(operations)+3]++
			}
		})
	}
	wg.Wait()
	for i := range sums {
		for k, op := range operations {
			o.Float(op.name+": results", sums[i][k], relative)
			o.Float(op.name+" gradient: results", sums[i][len(operations)+k], relative)
		}
		rest := sums[i][2*len(operations):]
		o.Float("zip: results", rest[0], relative)
		o.Float("sum: results", rest[1], relative)
		o.Float("the shape: results", rest[2], relative)
		o.Float("pictures", rest[3], relative)
	}
}
