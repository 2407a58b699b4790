package hidden

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/sampler"
)

// labelled draws the classes of samples, some of them rare, in any order.
func labelled(r *rand.Rand, classes int) (of []int) {
	for class := range classes {
		of = append(of, slices.Repeat([]int{class}, 1+r.IntN(2)+int(40*math.Pow(r.Float64(), 3)))...)
	}
	r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}

// total is the sum of all numbers.
func total(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x
	}
	return sum
}

// balance records what Balance makes of labels.
func balance[L comparable](o *observe.Observer, name string, labels []L, q float64) {
	weights, err := sampler.Balance(labels, q)
	o.Int("number of weights: "+name, len(weights))
	o.Floats("weights: "+name, weights, observe.Within(0, 1e-9))
	o.Error("error: "+name, err, sampler.ErrPower)
}

// The samples of a class share its part, n^q of the sum over all classes, equally among
// them, and all weights add up to 1 (rule 1).
func TestBalance(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		for _, q := range []float64{0, 0.5, 1, r.Float64()} {
			balance(o, "some classes", labelled(r, below(r, 2, 9)), q)
		}
	}
	balance(o, "one class", slices.Repeat([]int{below(r, 0, 5)}, below(r, 2, 9)), r.Float64())
	balance(o, "one sample", []int{r.IntN(9)}, r.Float64())
	balance(o, "every sample a class of its own", r.Perm(below(r, 3, 20)), r.Float64())
	large := make([]int, below(r, 66_000, 80_000))
	for range 20 {
		large[r.IntN(len(large))] = 1 + r.IntN(3)
	}
	unique := r.Perm(below(r, 66_000, 70_000)) // more classes than 16 bits have numbers
	unique = append(unique, unique[0], unique[len(unique)-1], unique[len(unique)-1])
	weights, err := sampler.Balance(unique, 0.5)
	o.Error("error: many classes", err)
	if n := len(weights); n == len(unique) {
		o.Floats("weights: many classes", []float64{weights[0], weights[1], weights[n-5], weights[n-4], weights[n-3], weights[n-1]}, observe.Within(0, 1e-9))
		o.Float("sum of the weights: many classes", total(weights), observe.Within(0, 1e-9))
	}
	weights, err = sampler.Balance(large, 0.25)
	o.Error("error: a large class", err)
	o.Float("weights: a large class", weights[0], observe.Within(0, 1e-9))
	o.Float("weights: a rare class", weights[slices.IndexFunc(large, func(x int) bool { return x > 0 })], observe.Within(0, 1e-9))
}

// pair is a label of two parts.
type pair struct {
	name string
	n    int
}

// named turns classes into labels of another type.
func named[L comparable](of []int, label func(class int) L) []L {
	labels := make([]L, len(of))
	for i, class := range of {
		labels[i] = label(class)
	}
	return labels
}

// A hushed, a terse and a plain label print as one text each, whatever they hold.
type hushed struct{ n int }

func (hushed) String() string   { return "hushed" }
func (hushed) GoString() string { return "hushed" }

type terse int

func (terse) Format(f fmt.State, _ rune) { io.WriteString(f, "terse") }

type plain string

func (plain) Error() string                { return "plain" }
func (plain) MarshalText() ([]byte, error) { return []byte("plain"), nil }

// node is a label that refers to another one.
type node struct {
	next *node
	n    int
}

// twins are of two types of one name.
func twins(c int) any {
	if c == 0 {
		type twin struct{ n int }
		return twin{1}
	}
	type twin struct{ n int }
	return twin{c}
}

// Labels are of any type that can be compared: integers of any size and sign, texts,
// structs. Two are of one class if they are equal by ==, and only then. They are left as they
// are, no labels have no weights, and the weights are the caller's (rule 2).
func TestLabels(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	of, q := labelled(r, 5), r.Float64()
	texts := []string{"", "cat", "Cat", "cat ", "lynx"}
	numbers := []int{math.MaxInt - r.IntN(9), math.MinInt + r.IntN(9), -1 - r.IntN(9), 0, 1<<32 + r.IntN(9)}
	balance(o, "texts", named(of, func(c int) string { return texts[c] }), q)
	balance(o, "numbers", named(of, func(c int) int { return numbers[c] }), q)
	balance(o, "bytes", named(of, func(c int) byte { return byte(255 - c) }), q)
	balance(o, "bools", named(of, func(c int) bool { return c > 2 }), q)
	balance(o, "floats", named(of, func(c int) float64 { return float64(c) / 64 }), q)
	balance(o, "structs", named(of, func(c int) pair { return pair{texts[c/2], c % 2} }), q)
	balance(o, "arrays", named(of, func(c int) [2]int { return [2]int{c % 2, c / 2} }), q)
	balance(o, "mixed", named(of, func(c int) any {
		if c < 3 {
			return c
		}
		return []string{"0", "1"}[c-3]
	}), q)
	// Equal is what == says, however a label looks when it is printed.
	balance(o, "with a String", named(of, func(c int) hushed { return hushed{c} }), q)
	balance(o, "with a Format", named(of, func(c int) terse { return terse(c) }), q)
	balance(o, "with an Error", named(of, func(c int) plain { return plain(texts[c]) }), q)
	balance(o, "with a String, within", named(of, func(c int) [2]hushed { return [2]hushed{{c % 2}, {c / 2}} }), q)
	balance(o, "with a String, mixed", named(of, func(c int) any { return []any{hushed{0}, hushed{1}, terse(0), terse(1), "hushed"}[c] }), q)
	zero := math.Copysign(0, -1)
	zeros := []float64{0, zero, 1, -1, math.SmallestNonzeroFloat64}
	balance(o, "zeros of either sign", named(of, func(c int) float64 { return zeros[c] }), q)
	balance(o, "zeros of either sign, short", named(of, func(c int) float32 { return float32([]float64{zero, 0, 2, -2, 3}[c]) }), q)
	balance(o, "zeros of either sign, complex", named(of, func(c int) complex128 { return complex(zeros[c/2], zeros[c%2]) }), q)
	balance(o, "zeros of either sign, within", named(of, func(c int) [2]any { return [2]any{zeros[c%2], [1]float64{zeros[c/2]}} }), q)
	balance(o, "zeros of several types", named(of, func(c int) any { return []any{0.0, zero, 0, float32(zero), uint8(0)}[c] }), q)
	seven := r.IntN(90)
	balance(o, "equal numbers of several types", named(of, func(c int) any { return []any{seven, int64(seven), uint(seven), byte(seven), terse(seven)}[c] }), q)
	balance(o, "nil of several types", named(of, func(c int) any { return []any{nil, (*int)(nil), (*node)(nil), error(nil), "<nil>"}[c] }), q)
	balance(o, "two types of one name", named(of, func(c int) any { return twins(c / 2) }), q)
	ints, nodes, channels := make([]*int, 5), make([]*node, 5), make([]chan int, 5)
	for c := range ints {
		ints[c], nodes[c], channels[c] = new(int), &node{n: seven}, make(chan int)
	}
	balance(o, "pointers", named(of, func(c int) *int { return ints[c] }), q)
	balance(o, "pointers to equal structs", named(of, func(c int) *node { return nodes[c] }), q)
	balance(o, "pointers to equal structs, mixed", named(of, func(c int) any {
		if c == 0 {
			return *nodes[0]
		}
		return nodes[c]
	}), q)
	balance(o, "structs with pointers", named(of, func(c int) node { return node{nodes[c/2], c % 2} }), q)
	balance(o, "channels", named(of, func(c int) chan int { return channels[c] }), q)
	spaced := [][3]string{{"a", "b", "c"}, {"a b", "c", ""}, {"a", "b c", ""}, {"", "a b", "c"}, {"a b c", "", ""}}
	balance(o, "arrays of texts", named(of, func(c int) [3]string { return spaced[c] }), q)
	odd := []string{"\xff", "\xfe", "\ufffd", "\\xff", "\xff\x00"}
	balance(o, "texts of any bytes", named(of, func(c int) string { return odd[c] }), q)
	long := strings.Repeat("cat", 500+r.IntN(99))
	ends := []string{long, long + " ", " " + long, long[:len(long)/2] + "u" + long[len(long)/2+1:], long[:len(long)-1] + "u"}
	balance(o, "long texts", named(of, func(c int) string { return ends[c] }), q)
	near := 1<<53 + uint64(r.IntN(9))
	balance(o, "neighbours", named(of, func(c int) uint64 { return near<<10 + uint64(c) }), q)
	balance(o, "neighbours, floats", named(of, func(c int) float64 { return math.Float64frombits(near<<9 + uint64(c)) }), q)
	balance(o, "all equal", make([]struct{}, len(of)), q)
	before := slices.Clone(of)
	balance(o, "again", of, q)
	o.Ints("labels", of)
	o.Bool("labels as they were", slices.Equal(of, before))
	of[r.IntN(len(of))] = 5 + r.IntN(9) // a class of its own
	balance(o, "after a change", of, q)
	for _, q := range []float64{q, 0, 1, 0.5, zero, r.Float64()} {
		own, _ := sampler.Balance(of, q)
		clear(own)
		balance(o, "after the result was changed", of, q)
		for _, n := range []int{1, 2, below(r, 3, 40), below(r, 300, 600)} {
			ownResults(o, make([]int, n), q) // one class
			ownResults(o, r.Perm(n), q)      // as many as there are labels
			ownResults(o, named(make([]int, n), func(int) string { return texts[r.IntN(5)] }), q)
		}
	}
	balance(o, "nil", []string(nil), q)
	balance(o, "none", []int{}, q)
	balance(o, "no pairs, q 0", []pair{}, 0)
}

// ownResults writes to the weights of one call, and records those of other calls for as many labels,
// before and after, that are the same or others (rule 2).
func ownResults[L comparable](o *observe.Observer, labels []L, q float64) {
	others := slices.Clone(labels)
	others[0] = labels[len(labels)-1]
	before, _ := sampler.Balance(labels, q)
	beside, _ := sampler.Balance(others, q)
	own, _ := sampler.Balance(labels, q)
	for i := range own {
		own[i] = -1 - float64(i)
	}
	after, _ := sampler.Balance(labels, q)
	behind, _ := sampler.Balance(others, q)
	for _, weights := range [][]float64{before, beside, after, behind} {
		o.Int("number of weights beside a result that was changed", len(weights))
		i := o.Rand().IntN(len(labels))
		o.Floats("a weight beside a result that was changed", weights[min(i, len(weights)):min(i+1, len(weights))], observe.Within(0, 1e-9))
		o.Float("sum of the weights beside a result that was changed", total(weights), observe.Within(0, 1e-9))
	}
}

// q is between 0 and 1, both included; anything else is ErrPower, also when there are
// no labels (rule 3).
func TestPower(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, q := range []float64{
		0, 1, math.Copysign(0, -1), 1. / 64, 63. / 64, math.SmallestNonzeroFloat64, math.Nextafter(1, 0),
	} {
		balance(o, "inside", labelled(r, 4), q)
	}
	for _, q := range []float64{
		-math.SmallestNonzeroFloat64, math.Nextafter(1, 2), -1. / 64, 65. / 64, -1, 2, -r.Float64(), 1.5 + r.Float64(),
		math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
	} {
		for _, labels := range [][]int{labelled(r, 4), {1}, nil} {
			_, err := sampler.Balance(labels, q)
			o.Error("error: outside", err, sampler.ErrPower)
		}
	}
	balance(o, "after that", labelled(r, 4), r.Float64())
}

// Equal labels and equal q give the same weights to the last bit, in every call
// (rule 4).
func TestSameWeights(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, classes := range []int{80, 81, below(r, 90, 120), 3000} {
		of, q := labelled(r, classes), 0.2+0.6*r.Float64()
		weights, err := sampler.Balance(of, q)
		o.Int("number of weights", len(weights))
		o.Floats("weights: many classes", weights, observe.Within(0, 1e-9))
		o.Error("error", err)
		others := 0
		for range 40 {
			if again, _ := sampler.Balance(of, q); !slices.Equal(again, weights) {
				others++
			}
		}
		o.Int("calls that give others", others)
	}
}
