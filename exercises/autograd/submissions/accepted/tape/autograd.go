// Package autograd writes a tape for each Backward: the results in an order in
// which they can be undone, found with a stack of its own. Nodes say by a mark
// which call saw them last.
package autograd

import (
	"math"
	"sync/atomic"
)

type kind uint8

const (
	leaf kind = iota
	add
	sub
	mul
	div
	shift
	scale
	neg
	pow
	exp
	log
	tanh
	sigmoid
	relu
	sum
)

type Value struct {
	data, grad, acc float64
	c               float64
	a, b            *Value
	terms           []*Value
	mark            uint64
	op              kind
}

// calls numbers the Backward calls.
var calls atomic.Uint64

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64 { return v.data }
func (v *Value) Grad() float64 { return v.grad }
func (v *Value) ZeroGrad()     { v.grad = 0 }

func (v *Value) SetData(x float64) {
	if v.op != leaf {
		panic("autograd: not a leaf")
	}
	v.data = x
}

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func (v *Value) Add(o *Value) *Value { return &Value{op: add, data: v.data + o.data, a: v, b: o} }
func (v *Value) Sub(o *Value) *Value { return &Value{op: sub, data: v.data - o.data, a: v, b: o} }
func (v *Value) Mul(o *Value) *Value { return &Value{op: mul, data: v.data * o.data, a: v, b: o} }
func (v *Value) Div(o *Value) *Value { return &Value{op: div, data: v.data / o.data, a: v, b: o} }

func (v *Value) AddScalar(c float64) *Value { return &Value{op: shift, data: v.data + c, a: v} }
func (v *Value) MulScalar(c float64) *Value { return &Value{op: scale, data: v.data * c, a: v, c: c} }
func (v *Value) Neg() *Value                { return &Value{op: neg, data: -v.data, a: v} }
func (v *Value) Exp() *Value                { return &Value{op: exp, data: math.Exp(v.data), a: v} }
func (v *Value) Log() *Value                { return &Value{op: log, data: math.Log(v.data), a: v} }
func (v *Value) Tanh() *Value               { return &Value{op: tanh, data: math.Tanh(v.data), a: v} }

func (v *Value) Pow(p float64) *Value {
	return &Value{op: pow, data: math.Pow(v.data, p), a: v, c: p}
}

func (v *Value) Sigmoid() *Value {
	s := 0.0
	if v.data >= 0 {
		s = 1 / (1 + math.Exp(-v.data))
	} else {
		e := math.Exp(v.data)
		s = e / (1 + e)
	}
	return &Value{op: sigmoid, data: s, a: v}
}

func (v *Value) ReLU() *Value {
	return &Value{op: relu, data: math.Max(v.data, 0), a: v}
}

func Sum(vs ...*Value) *Value {
	s := &Value{op: sum, terms: make([]*Value, len(vs))}
	for i, v := range vs {
		s.data += v.data
		s.terms[i] = v
	}
	return s
}

func (v *Value) Backward() {
	tape := v.record(calls.Add(1))
	v.acc = 1
	for i := len(tape) - 1; i >= 0; i-- {
		tape[i].undo()
	}
}

// record puts operands before results. An entry of the stack is a node to look
// at, or, the second time it comes up, one whose operands are all on the tape.
func (v *Value) record(call uint64) (tape []*Value) {
	type entry struct {
		v    *Value
		done bool
	}
	stack := []entry{{v: v}}
	push := func(n *Value) {
		if n != nil && n.mark != call {
			stack = append(stack, entry{v: n})
		}
	}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch {
		case e.done:
			tape = append(tape, e.v)
		case e.v.mark != call:
			e.v.mark = call
			e.v.acc = 0
			stack = append(stack, entry{e.v, true})
			push(e.v.a)
			push(e.v.b)
			for _, t := range e.v.terms {
				push(t)
			}
		}
	}
	return tape
}

func (v *Value) undo() {
	g, a, b := v.acc, v.a, v.b
	v.grad += g
	switch v.op {
	case add:
		a.acc += g
		b.acc += g
	case sub:
		a.acc += g
		b.acc -= g
	case mul:
		x, y := a.data, b.data
		a.acc += g * y
		b.acc += g * x
	case div:
		a.acc += g / b.data
		b.acc -= g * v.data / b.data
	case shift:
		a.acc += g
	case scale:
		a.acc += g * v.c
	case neg:
		a.acc -= g
	case pow:
		if v.c != 0 {
			a.acc += g * v.c * math.Pow(a.data, v.c-1)
		}
	case exp:
		a.acc += g * v.data
	case log:
		a.acc += g / a.data
	case tanh:
		a.acc += g * (1 - v.data*v.data)
	case sigmoid:
		a.acc += g * v.data * (1 - v.data)
	case relu:
		if a.data > 0 {
			a.acc += g
		}
	case sum:
		for _, t := range v.terms {
			t.acc += g
		}
	}
}
