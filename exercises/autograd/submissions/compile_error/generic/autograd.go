package autograd

import "math"

// Float is the type of the numbers.
type Float interface{ ~float32 | ~float64 }

type Value[T Float] struct {
	data, grad, acc T
	a, b            *Value[T]
	da, db          T
	uses            uint32
}

func unary[T Float](x *Value[T], y, dx T) *Value[T] {
	return &Value[T]{data: y, a: x, da: dx}
}

func binary[T Float](a, b *Value[T], y, da, db T) *Value[T] {
	return &Value[T]{data: y, a: a, b: b, da: da, db: db}
}

func New[T Float](x T) *Value[T] { return &Value[T]{data: x} }

func (v *Value[T]) Data() T { return v.data }

func (v *Value[T]) Grad() T { return v.grad }

func (v *Value[T]) SetData(x T) {
	if v.a != nil {
		panic("autograd: SetData on a result")
	}
	v.data = x
}

func (v *Value[T]) ZeroGrad() { v.grad = 0 }

func ZeroGrad[T Float](vs ...*Value[T]) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func (v *Value[T]) Add(o *Value[T]) *Value[T] { return binary(v, o, v.data+o.data, 1, 1) }

func (v *Value[T]) Sub(o *Value[T]) *Value[T] { return binary(v, o, v.data-o.data, 1, -1) }

func (v *Value[T]) Mul(o *Value[T]) *Value[T] { return binary(v, o, v.data*o.data, o.data, v.data) }

func (v *Value[T]) Div(o *Value[T]) *Value[T] {
	return binary(v, o, v.data/o.data, 1/o.data, -v.data/(o.data*o.data))
}

func (v *Value[T]) AddScalar(c T) *Value[T] { return unary(v, v.data+c, 1) }

func (v *Value[T]) MulScalar(c T) *Value[T] { return unary(v, v.data*c, c) }

func (v *Value[T]) Neg() *Value[T] { return unary(v, -v.data, -1) }

func (v *Value[T]) Pow(p T) *Value[T] {
	if p == 0 {
		return unary(v, 1, 0)
	}
	return unary(v, T(math.Pow(float64(v.data), float64(p))), p*T(math.Pow(float64(v.data), float64(p-1))))
}

func (v *Value[T]) Exp() *Value[T] {
	y := T(math.Exp(float64(v.data)))
	return unary(v, y, y)
}

func (v *Value[T]) Log() *Value[T] { return unary(v, T(math.Log(float64(v.data))), 1/v.data) }

func (v *Value[T]) Tanh() *Value[T] {
	y := T(math.Tanh(float64(v.data)))
	return unary(v, y, 1-y*y)
}

func (v *Value[T]) Sigmoid() *Value[T] {
	y := 1 / (1 + T(math.Exp(float64(-v.data))))
	return unary(v, y, y*(1-y))
}

func (v *Value[T]) ReLU() *Value[T] {
	if v.data <= 0 {
		return unary(v, 0, 0)
	}
	return unary(v, v.data, 1)
}

func Sum[T Float](vs ...*Value[T]) *Value[T] {
	if len(vs) == 0 {
		return New(T(0))
	}
	sum := vs[0].AddScalar(0)
	for _, v := range vs[1:] {
		sum = sum.Add(v)
	}
	return sum
}

func (v *Value[T]) Backward() {
	v.countUses()
	v.acc = 1
	for ready := []*Value[T]{v}; len(ready) > 0; {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if n.a != nil && n.a.receive(n.acc*n.da) {
			ready = append(ready, n.a)
		}
		if n.b != nil && n.b.receive(n.acc*n.db) {
			ready = append(ready, n.b)
		}
		n.grad += n.acc
		n.acc = 0
	}
}

func (v *Value[T]) countUses() {
	for stack := []*Value[T]{v}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, in := range []*Value[T]{n.a, n.b} {
			if in == nil {
				continue
			}
			in.uses++
			if in.uses == 1 {
				stack = append(stack, in)
			}
		}
	}
}

func (v *Value[T]) receive(g T) (last bool) {
	v.acc += g
	v.uses--
	return v.uses == 0
}
