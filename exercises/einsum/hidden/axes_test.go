package hidden

import (
	"slices"

	"grade/observe"
	"grade/reference/einsum"
)

// table adds up the results of products of two operands, which have few axes that are not of
// size 1: their labels are all that tells these axes apart.
type table struct {
	o       *observe.Observer
	weights []float64
	sum     float64
	axes    int
	refused int
}

func newTable(o *observe.Observer) *table {
	return &table{o: o, weights: tensorOf(o.Rand(), dyadic, 257).Data}
}

// multiply adds one result to the others.
func (t *table) multiply(equation string, a, b []int) {
	got, err := einsum.Einsum(equation, random(t.o.Rand(), a...), random(t.o.Rand(), b...))
	if err != nil {
		t.refused++
	}
	t.sum += fingerprint(t.weights, got.Data)
	t.axes += len(got.Shape)
}

// told records what came of some products.
func (t *table) told(name string) {
	t.o.Int(name+": refused", t.refused)
	t.o.Int(name+": axes of the results", t.axes)
	t.o.Float(name+": numbers, weighted and added up", t.sum)
	t.sum, t.axes, t.refused = 0, 0, 0
}

// longest is an ellipsis beside a letter in an operand of 80 axes.
const longest = 79

// onesBut are sizes of 1 but for some axes from one on.
func onesBut(from, n, size int) []int {
	shape := slices.Repeat([]int{1}, longest)
	for i := from; i < min(from+n, longest); i++ {
		shape[i] = size
	}
	return shape
}

// allAxes multiplies axes of all kinds: each letter by each other one, and by all axes of an
// ellipsis; axes of two ellipses that are any number apart, and the same axis of both.
func (t *table) allAxes() {
	for i, c := range alphabet {
		for _, d := range alphabet[:i] {
			t.multiply(string(c)+","+string(d)+"->"+string(d)+string(c), []int{2}, []int{3})
		}
	}
	t.told("each two letters")
	for _, c := range alphabet {
		for from := 0; from < longest; from += 7 {
			t.multiply("...,"+string(c)+"->..."+string(c), onesBut(from, 7, 2), []int{2})
		}
	}
	t.told("ellipsis: each letter beside each axis of a long one")
	for apart := range longest {
		from := t.o.Rand().IntN(longest - apart)
		one, other := onesBut(from, 1, 2), onesBut(from+apart, 1, 2)
		t.multiply("...,...->...", one, other)
		t.multiply("...,...->...", other, one)
		t.multiply("...,...->...", onesBut(apart, 1, 3), onesBut(apart, 1, 3))
	}
	t.told("ellipsis: axes of two long ones")
}
