package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
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

// Labels are of any type that can be compared: integers of any size and sign, texts,
// structs. They are left as they are, no labels have no weights, and the weights are the
// caller's (rule 2).
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
	before := slices.Clone(of)
	balance(o, "again", of, q)
	o.Ints("labels", of)
	o.Bool("labels as they were", slices.Equal(of, before))
	of[r.IntN(len(of))] = 5 + r.IntN(9) // a class of its own
	balance(o, "after a change", of, q)
	own, _ := sampler.Balance(of, q)
	clear(own)
	balance(o, "after the result was changed", of, q)
	balance(o, "nil", []string(nil), q)
	balance(o, "none", []int{}, q)
	balance(o, "no pairs, q 0", []pair{}, 0)
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
