// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"grade/observe"
	"grade/reference/einsum"
)

type tensor = einsum.Tensor

// tensors is a list of operands, as a call takes them.
type tensors = []tensor

// dyadic draws k/16 with a small k that is not 0. Sums and products of those are exact in
// any order, so right solutions agree to the last bit.
func dyadic(r *rand.Rand) float64 {
	return float64((1-2*r.IntN(2))*(1+r.IntN(63))) / 16
}

// positive draws a number whose sums do not cancel.
func positive(r *rand.Rand) float64 { return 0.5 + r.Float64() }

// sign draws 1 or -1: products of any number of those are exact.
func sign(r *rand.Rand) float64 { return float64(1 - 2*r.IntN(2)) }

// tensorOf draws a tensor with numbers from draw.
func tensorOf(r *rand.Rand, draw func(*rand.Rand) float64, shape ...int) tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	t := tensor{Shape: shape, Data: make([]float64, n)}
	for i := range t.Data {
		t.Data[i] = draw(r)
	}
	return t
}

// random draws a tensor of dyadic numbers.
func random(r *rand.Rand, shape ...int) tensor { return tensorOf(r, dyadic, shape...) }

const (
	small    = "abcdefghijklmnopqrstuvwxyz"
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + small
)

// rename replaces every letter of an equation by another one, the same by the same.
// Capitals are left to the tests that are about them.
func rename(r *rand.Rand, equation string) string {
	other := r.Perm(len(small))
	return strings.Map(func(c rune) rune {
		if i := strings.IndexRune(small, c); i >= 0 {
			return rune(small[other[i]])
		}
		return c
	}, equation)
}

// terms are the terms of an equation in front of its arrow.
func terms(equation string) []string {
	inputs, _, _ := strings.Cut(equation, "->")
	return strings.Split(strings.ReplaceAll(inputs, " ", ""), ",")
}

// sizesOf gives each letter of an equation the size that draw says.
func sizesOf(equation string, draw func() int) map[rune]int {
	size := map[rune]int{}
	for _, c := range equation {
		if _, ok := size[c]; !ok && strings.ContainsRune(alphabet, c) {
			size[c] = draw()
		}
	}
	return size
}

// shapeOf is the shape of the operand of a term, in which the ellipsis has these sizes.
func shapeOf(term string, size map[rune]int, ellipsis []int) (shape []int) {
	before, after, found := strings.Cut(term, "...")
	for _, c := range before {
		shape = append(shape, size[c])
	}
	if found {
		shape = append(shape, ellipsis...)
	}
	for _, c := range after {
		shape = append(shape, size[c])
	}
	return shape
}

// operandsOf draws operands for an equation. An ellipsis in term i has the sizes ellipsis[i].
func operandsOf(r *rand.Rand, equation string, size map[rune]int, ellipsis ...[]int) (operands tensors) {
	for i, term := range terms(equation) {
		var own []int
		if i < len(ellipsis) {
			own = ellipsis[i]
		}
		operands = append(operands, random(r, shapeOf(term, size, own)...))
	}
	return operands
}

// upTo draws sizes of 2 to n, and again the same ones all over.
func upTo(r *rand.Rand, n int) func() int {
	return func() int { return 2 + r.IntN(n-1) }
}

// same is one size for all.
func same(n int) func() int { return func() int { return n } }

// distinct draws sizes that are all different, the smallest of them 2.
func distinct(r *rand.Rand) func() int {
	order := r.Perm(6)
	next := -1
	return func() int {
		next++
		return 2 + order[next%len(order)]
	}
}

// ask calls Einsum and records all that it answers.
func ask(o *observe.Observer, name, equation string, operands ...tensor) {
	got, err := einsum.Einsum(equation, operands...)
	record(o, kind(equation)+name, got, err)
}

// record writes down a result.
func record(o *observe.Observer, name string, got tensor, err error) {
	o.Error(name+": error", err, kinds...)
	o.Ints(name+": shape", got.Shape)
	o.Floats(name+": numbers", got.Data)
}

// kind begins the names of observations: it says on which other rules an equation rests.
// What rests on a rule whose own test has failed does not count again (exercise.yaml).
func kind(equation string) string {
	var rests []string
	if strings.Contains(equation, "...") {
		rests = append(rests, "ellipsis")
	}
	for _, term := range terms(equation) {
		if !slices.Contains(rests, "diagonal") && repeats(term) {
			rests = append(rests, "diagonal")
		}
	}
	if !strings.Contains(equation, "->") {
		rests = append(rests, "implicit")
	}
	if rests == nil {
		return ""
	}
	return strings.Join(rests, ", ") + ": "
}

// repeats reports whether a letter stands twice in a term.
func repeats(term string) bool {
	for i, c := range term {
		if c != '.' && strings.ContainsRune(term[i+1:], c) {
			return true
		}
	}
	return false
}

// each asks for an equation with letters that are new each time, with sizes that are all
// different, and with sizes that are all equal.
func each(o *observe.Observer, name string, equations ...string) {
	r := o.Rand()
	for _, equation := range equations {
		for _, draw := range []func() int{distinct(r), upTo(r, 4), same(2 + r.IntN(2))} {
			equation := rename(r, equation)
			ask(o, name, equation, operandsOf(r, equation, sizesOf(equation, draw))...)
		}
	}
}

var kinds = []error{einsum.ErrSyntax, einsum.ErrOperands, einsum.ErrShape}

// refused asks for what is an error, and records of which kind it is and the place that it
// names. Which of Pos and Operand counts depends on the kind; it is -1 where none is named.
func refused(o *observe.Observer, name, equation string, operands ...tensor) {
	_, err := einsum.Einsum(equation, operands...)
	o.Error(name+": error", err, kinds...)
	var e *einsum.Error
	named := errors.As(err, &e) && e != nil
	pos, operand := -1, -1
	if named && !errors.Is(err, einsum.ErrOperands) {
		pos = e.Pos
	}
	if named && !errors.Is(err, einsum.ErrSyntax) {
		operand = e.Operand
	}
	o.Bool(name+": it is an *Error", named)
	o.Int(name+": Pos", pos)
	o.Int(name+": Operand", operand)
}

// fingerprint is one number for many, in which each has a weight of its own.
func fingerprint(weights, xs []float64) (sum float64) {
	for i, x := range xs {
		sum += weights[i%len(weights)] * x
	}
	return sum
}

// shuffled is the letters in any order.
func shuffled(r *rand.Rand, letters string) string {
	b := []byte(letters)
	r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return string(b)
}

// letters are n different small ones.
func letters(r *rand.Rand, n int) string { return shuffled(r, small)[:n] }

// sorted are letters in the order of their codes, capitals first.
func sorted(letters string) string {
	b := []byte(letters)
	slices.Sort(b)
	return string(b)
}
