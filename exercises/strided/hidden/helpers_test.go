// Package hidden records what a package of strided tensors does. Package observe says who
// compares it.
package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

type tensor = strided.Tensor

// all ends of an axis that are left open.
const open = strided.Open

// kinds are the errors of the package, in the order in which they are recorded.
var kinds = []error{strided.ErrShape, strided.ErrAxis, strided.ErrIndex, strided.ErrStep, strided.ErrLayout, strided.ErrReadOnly}

// between draws a number from low to high.
func between(r *rand.Rand, low, high int) int { return low + r.IntN(high-low+1) }

// values draws n numbers.
func values(r *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1 + 99*r.Float64()
	}
	return list
}

// count is how many elements a shape has.
func count(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// sizes draws n sizes from low to high.
func sizes(r *rand.Rand, n, low, high int) []int {
	shape := make([]int, n)
	for k := range shape {
		shape[k] = between(r, low, high)
	}
	return shape
}

// large draws a shape of three axes that has 75,000 elements and more.
func large(r *rand.Rand) []int {
	return []int{between(r, 40, 43), between(r, 42, 44), between(r, 46, 48)}
}

// huge draws a number of elements that is beyond a million.
func huge(r *rand.Rand) int { return 1<<20 + 2*r.IntN(99) + 1 }

// apart draws n numbers that are larger than all of values.
func apart(r *rand.Rand, n int) []float64 {
	list := values(r, n)
	for i := range list {
		list[i] += 1000
	}
	return list
}

// signs records which numbers have the sign bit, which tells -0 from 0.
func signs(o *observe.Observer, name string, list []float64) {
	bits := make([]int, len(list))
	for i, x := range list {
		if math.Signbit(x) {
			bits[i] = 1
		}
	}
	o.Ints(name+": signs", bits)
}

// get ends the test if a call failed that has to succeed.
func get(t testing.TB) func(x *tensor, err error) *tensor {
	return func(x *tensor, err error) *tensor {
		t.Helper()
		if err != nil || x == nil {
			t.Fatalf("a call that is right returned %v, %v", x != nil, err)
		}
		return x
	}
}

// random is a tensor of random numbers.
func random(t testing.TB, r *rand.Rand, shape ...int) *tensor {
	t.Helper()
	return get(t)(strided.FromSlice(values(r, count(shape)), shape...))
}

// fingerprint is one number of many, which depends on the place of each.
func fingerprint(list []float64) float64 {
	sum := 0.0
	for i, x := range list {
		_, part := math.Modf(float64(i%1_000_003) * 0.6180339887498949)
		sum += x * (1 + part)
	}
	return sum
}

// numbers records a list: all of it, or a fingerprint where it is long.
func numbers(o *observe.Observer, name string, list []float64) {
	o.Int(name+": how many", len(list))
	if len(list) <= 3000 {
		o.Floats(name+": values", list, observe.Exact())
	} else {
		o.Float(name+": many values, weighted and added up", fingerprint(list), observe.Within(0, 1e-9))
	}
}

// record writes down what a call returned: its error, or shape and values of a tensor.
func record(o *observe.Observer, name string, x *tensor, err error) {
	o.Error(name+": error", err, kinds...)
	o.Bool(name+": a tensor", x != nil)
	if x != nil && err == nil {
		o.Ints(name+": shape", x.Shape())
		numbers(o, name, x.Values())
	}
}

// refused records the error of a call that cannot succeed.
func refused(o *observe.Observer, name string, x *tensor, err error) {
	o.Error(name+": error", err, kinds...)
	o.Bool(name+": a tensor", x != nil)
}

// index draws the indices of an element.
func index(r *rand.Rand, shape []int) []int {
	list := make([]int, len(shape))
	for k, n := range shape {
		list[k] = r.IntN(n)
	}
	return list
}

// named is a tensor, and what was done to get it.
type named struct {
	name string
	x    *tensor
}

// layouts are views of another shape and order each, of some thousand elements or of
// many.
func layouts(t testing.TB, r *rand.Rand, shape []int) []named {
	get := get(t)
	x := random(t, r, shape...)
	wide := random(t, r, append([]int{3}, shape...)...)
	wide = get(wide.Select(0, 1))
	last := shape[len(shape)-1]
	return []named{
		{"contiguous", x},
		{"Transpose", get(random(t, r, shape...).Transpose(0, -1))},
		{"Permute", get(random(t, r, shape...).Permute(1, 2, 0))},
		{"Slice, a part", get(random(t, r, shape...).Slice(-1, 1, last-1, 1))},
		{"Slice, every other", get(random(t, r, shape...).Slice(1, 0, shape[1], 2))},
		{"Slice, backwards", get(random(t, r, shape...).Slice(2, open, open, -1))},
		{"Slice, backwards, first axis", get(random(t, r, shape...).Slice(0, open, open, -1))},
		{"Select", wide},
		{"Unsqueeze", get(random(t, r, shape...).Unsqueeze(1))},
		{"Expand", get(random(t, r, shape[0], 1, shape[2]).Expand(shape[0], 3, shape[2]))},
	}
}
