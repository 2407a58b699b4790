package autograd

import "testing"

// The contenders, beside this package:
//
//   - naive: what most write at first, and right: a closure and a list of operands
//     in every node, a map of visited nodes, recursion.
//   - tape: all nodes in one slice in the order they were made, operands as places
//     in it, gradients from the back to the front. As fast as it gets, and no
//     answer to the exercise: nothing on a tape is ever garbage.

// closure is a node of the naive contender.
type closure struct {
	data, grad float64
	from       []*closure
	backward   func()
}

func (v *closure) add(o *closure) *closure {
	out := &closure{data: v.data + o.data, from: []*closure{v, o}}
	out.backward = func() {
		v.grad += out.grad
		o.grad += out.grad
	}
	return out
}

func (v *closure) mul(o *closure) *closure {
	out := &closure{data: v.data * o.data, from: []*closure{v, o}}
	out.backward = func() {
		v.grad += o.data * out.grad
		o.grad += v.data * out.grad
	}
	return out
}

func (v *closure) run() {
	var order []*closure
	visited := map[*closure]bool{}
	var visit func(*closure)
	visit = func(n *closure) {
		if visited[n] {
			return
		}
		visited[n] = true
		for _, operand := range n.from {
			visit(operand)
		}
		order = append(order, n)
	}
	visit(v)
	v.grad = 1
	for i := len(order) - 1; i >= 0; i-- {
		if order[i].backward != nil {
			order[i].backward()
		}
	}
}

// entry is a node on the tape.
type entry struct {
	data, grad, da, db float64
	a, b               int32 // 0 for none: the first entry is not used
}

type tape []entry

func (t *tape) put(e entry) int32 {
	*t = append(*t, e)
	return int32(len(*t) - 1)
}

func (t *tape) add(a, b int32) int32 {
	return t.put(entry{data: (*t)[a].data + (*t)[b].data, da: 1, db: 1, a: a, b: b})
}

func (t *tape) mul(a, b int32) int32 {
	return t.put(entry{data: (*t)[a].data * (*t)[b].data, da: (*t)[b].data, db: (*t)[a].data, a: a, b: b})
}

func (t tape) run(root int32) {
	t[root].grad = 1
	for i := root; i > 0; i-- {
		e := t[i]
		t[e.a].grad += e.grad * e.da
		t[e.b].grad += e.grad * e.db
	}
}

// A chain: y = y·c + x, over and over, and one Backward.
func BenchmarkChain(b *testing.B) {
	const n = 100_000
	b.Run("reference", func(b *testing.B) {
		for b.Loop() {
			x, c := New(1), New(0.5)
			y := x
			for range n {
				y = y.Mul(c).Add(x)
			}
			y.Backward()
		}
	})
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			x, c := &closure{data: 1}, &closure{data: 0.5}
			y := x
			for range n {
				y = y.mul(c).add(x)
			}
			y.run()
		}
	})
	b.Run("tape", func(b *testing.B) {
		for b.Loop() {
			t := make(tape, 1)
			x, c := t.put(entry{data: 1}), t.put(entry{data: 0.5})
			y := x
			for range n {
				y = t.add(t.mul(y, c), x)
			}
			t.run(y)
		}
	})
}

// A dot product of 64 terms, 1000 times: many small graphs.
func BenchmarkSmallGraphs(b *testing.B) {
	const terms, rounds = 64, 1000
	b.Run("reference", func(b *testing.B) {
		x, w := New(0.5), New(0.25)
		for b.Loop() {
			for range rounds {
				sum := New(0)
				for range terms {
					sum = sum.Add(x.Mul(w))
				}
				sum.Backward()
			}
		}
	})
	b.Run("naive", func(b *testing.B) {
		x, w := &closure{data: 0.5}, &closure{data: 0.25}
		for b.Loop() {
			for range rounds {
				sum := &closure{}
				for range terms {
					sum = sum.add(x.mul(w))
				}
				sum.run()
			}
		}
	})
	b.Run("tape", func(b *testing.B) {
		for b.Loop() {
			for range rounds {
				t := make(tape, 1)
				x, w := t.put(entry{data: 0.5}), t.put(entry{data: 0.25})
				sum := t.put(entry{})
				for range terms {
					sum = t.add(sum, t.mul(x, w))
				}
				t.run(sum)
			}
		}
	})
}

// The contenders compute what the reference computes.
func TestContendersAgree(t *testing.T) {
	x, w := New(0.5), New(0.25)
	x.Mul(w).Add(x).Mul(x).Backward()
	cx, cw := &closure{data: 0.5}, &closure{data: 0.25}
	cx.mul(cw).add(cx).mul(cx).run()
	tp := make(tape, 1)
	tx, tw := tp.put(entry{data: 0.5}), tp.put(entry{data: 0.25})
	tp.run(tp.mul(tp.add(tp.mul(tx, tw), tx), tx))
	if cx.grad != x.Grad() || tp[tx].grad != x.Grad() || cw.grad != w.Grad() || tp[tw].grad != w.Grad() {
		t.Errorf("gradients %v %v, naive %v %v, tape %v %v", x.Grad(), w.Grad(), cx.grad, cw.grad, tp[tx].grad, tp[tw].grad)
	}
}
