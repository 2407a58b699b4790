package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/logsumexp"
)

// Accumulators of the parts of a list, merged in any order, are one of the whole list;
// what was merged is as it was, and both go on, whenever they are asked (rule 8).
func TestMerge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 21 {
		base, spread, name := 0.0, 2.0, ""
		if i%3 > 0 {
			base, spread, name = []float64{-3000, 3000}[i%3-1], 500, large
		}
		parts := make([]logsumexp.Acc, 1+r.IntN(6))
		for i := range parts {
			// Parts differ in size and in magnitude, and some are empty.
			parts[i] = holding(draw(r, r.IntN(5), base+spread*r.NormFloat64(), 2))
		}
		var whole logsumexp.Acc
		for _, i := range r.Perm(len(parts)) {
			whole.Merge(parts[i])
			record(o, name+"merged", &whole)
			record(o, name+"part", &parts[i])
		}
		x := base + spread*r.NormFloat64()
		whole.Add(x)
		record(o, name+"after one more", &whole)
		parts[0].Add(x)
		record(o, name+"part after one more", &parts[0])
		whole.Merge(whole)
		record(o, name+"twice", &whole)
	}
	for _, n := range lengths(r) {
		whole, part := holding(draw(r, n, 0, 1)), holding(draw(r, n+r.IntN(9), 0, 1))
		for range 2 {
			whole.Merge(part)
			record(o, many+"merged", &whole)
			record(o, many+"part", &part)
			whole.Add(5 + math.Log(float64(n)))
			record(o, many+"after one more", &whole)
			record(o, many+"part after one more in the other", &part)
			part.Add(4 + math.Log(float64(n)))
			record(o, many+"after one more in the part", &whole)
		}
		whole.Merge(whole)
		record(o, many+"twice", &whole)
		var empty logsumexp.Acc
		empty.Merge(part)
		empty.Add(6 + math.Log(float64(n)))
		record(o, many+"part that was merged into an empty one", &part)
	}
	// Doubled so often that a length in 8, 16 or 32 bits comes round, and that of an odd
	// length the last digit is lost in a float64.
	center := 100 * r.NormFloat64()
	a := holding(draw(r, 1+r.IntN(3), center, 1))
	for range 60 {
		a.Merge(a)
		record(o, "doubled", &a)
		a.Add(center)
		record(o, "doubled, and one more", &a)
	}
	// Far below the other side, and so many that they count.
	for _, gap := range []float64{25, 40, 45, 60, 200, 700} {
		crowd := holding([]float64{-gap - r.Float64()})
		for range int(gap/math.Ln2) - 12 + r.IntN(9) {
			crowd.Merge(crowd)
		}
		if gap > 41 { // more than 2^60 numbers are more than Len counts
			crowd = holding([]float64{-41 - r.Float64()})
			for range 52 + r.IntN(7) {
				crowd.Merge(crowd)
			}
		}
		one := holding([]float64{r.Float64() / 8})
		up, down := one, crowd
		up.Merge(crowd)
		down.Merge(one)
		record(o, "merged with very many far smaller ones", &up)
		record(o, "very many, merged with a far larger one", &down)
	}
	// Far above the other side, and so many that their exponentials overflow together.
	for range 8 {
		gap := 670 + 39*r.Float64()
		low, crowd := holding([]float64{r.NormFloat64()}), holding([]float64{gap + r.NormFloat64()/9})
		for range 4 + int((710-gap)/math.Ln2) {
			crowd.Merge(crowd)
		}
		up := low
		up.Merge(crowd)
		up.Merge(low)
		crowd.Merge(low)
		record(o, large+"merged with very many far larger ones", &up)
		record(o, large+"very many, merged with a far smaller one", &crowd)
	}
	// So many that they count, however far below the other side.
	for _, gap := range []float64{45, 50, 60} {
		crowd, one := holding([]float64{-gap - r.Float64()}), holding([]float64{r.Float64() / 8})
		for range 62 {
			crowd.Merge(crowd)
		}
		up, down := one, crowd
		up.Merge(crowd)
		down.Merge(one)
		record(o, "merged with as many as Len counts", &up)
		record(o, "as many as Len counts, merged", &down)
	}
	// Far above the first, and doubled until their exponentials overflow at its scale.
	for _, span := range []float64{20, 20, 29, 29} {
		gap := 668 + span*r.Float64()
		a := holding([]float64{0, gap, gap - 1})
		for range 60 {
			a.Merge(a)
			record(o, large+"doubled, far above the first", &a)
		}
	}
	for _, size := range []float64{600, 709, 709.7, 745, math.Pow(10, 3+304*r.Float64())} {
		high, low := holding(draw(r, 5, size, 0.1)), holding(draw(r, 5, 0, 0.1))
		up, down := low, high
		up.Merge(high)
		up.Merge(high)
		down.Merge(low)
		record(o, large+"merged with a far larger one", &up)
		record(o, large+"merged with a far smaller one", &down)
	}
	for _, n := range [][2]int{{0, 1}, {1, 0}, {1, 1}, {0, 40}, {2, 40}, {40, 2}} {
		for _, above := range []float64{-1, 0, 1} {
			for sides := range 4 {
				x := r.NormFloat64()
				a, b := holding(draw(r, n[0], x, above/100)), holding(draw(r, n[1], x+above, above/100))
				recordAsked(o, a, b, sides)
			}
		}
	}
}

// recordAsked merges accumulators one, both or none of which was asked for its value before:
// what it was then is not the value of more numbers.
func recordAsked(o *observe.Observer, a, b logsumexp.Acc, sides int) {
	if sides&1 != 0 {
		a.Value()
	}
	if sides&2 != 0 {
		b.Value()
	}
	left, right, twice := a, b, b
	left.Merge(b)
	record(o, "merged, asked before", &left)
	right.Merge(a)
	record(o, "merged the other way, asked before", &right)
	twice.Merge(twice)
	record(o, "twice, asked before", &twice)
	left.Merge(right)
	record(o, "merged again, asked before", &left)
	record(o, "part, asked before", &right)
}

// Parts of similar weight, so that each of them shows in the value (rule 8).
func TestMergeBalanced(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 20 {
		center := 3 * r.NormFloat64()
		a := holding(draw(r, 1+r.IntN(20), center, 2))
		b := holding(draw(r, 1+r.IntN(20), center, 2))
		sum := a
		sum.Merge(b)
		record(o, "a and b", &sum, roughly)
		b.Merge(a)
		record(o, "b and a", &b, roughly)
	}
	for range 5 { // the largest number is in both
		top := 3 + r.Float64()
		a := holding(append(draw(r, 1+r.IntN(5), 0, 1), top))
		b := holding(append(draw(r, 1+r.IntN(5), 0, 1), top))
		a.Merge(b)
		record(o, "a and b with the same largest number", &a, roughly)
	}
}

// Either side of Merge may be empty, or hold nothing but -Inf, or +Inf, or NaN
// (rule 8, with rules 2 and 3).
func TestMergeSpecial(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	sides := func(sign float64) [][]float64 {
		x := sign * (800 + 1000*r.Float64()) // whose exponential is 0 or +Inf
		return [][]float64{
			nil, {-inf}, {-inf, -inf},
			{x}, {x, -inf}, {-inf, x - 1},
			{inf}, {x, inf}, {inf, inf},
			{math.NaN()}, {x, math.NaN()}, {inf, math.NaN()},
		}
	}
	for _, sign := range []float64{-1, 1} {
		for i := range sides(sign) {
			for j := range sides(sign) {
				left, right := sides(sign), sides(sign)
				a, b := holding(left[i]), holding(right[j])
				a.Merge(b)
				record(o, "merged", &a)
				record(o, "merged from", &b)
				a.Add(left[3][0])
				record(o, "after one more", &a)
				a.Merge(a)
				record(o, "twice", &a)
			}
		}
	}
	for _, special := range []float64{inf, math.NaN(), -inf} { // doubled until counts of them come round
		a := holding([]float64{r.NormFloat64(), special})
		for range 60 {
			a.Merge(a)
			record(o, "doubled", &a)
		}
	}
	for _, specials := range append(spoiled, []float64{-inf, -inf}) {
		for xs := range scattered(r, specials...) {
			mergeParts(o, xs)
		}
	}
}

// mergeParts merges accumulators of the parts of a long list, in any order.
func mergeParts(o *observe.Observer, xs []float64) {
	r := o.Rand()
	cut, second := r.IntN(len(xs)/2), len(xs)/2+r.IntN(len(xs)/2)
	parts := []logsumexp.Acc{holding(xs[:cut]), holding(xs[cut:second]), holding(xs[second:])}
	var whole logsumexp.Acc
	for _, i := range r.Perm(len(parts)) {
		whole.Merge(parts[i])
		record(o, many+"parts merged", &whole, roughly)
		record(o, many+"part", &parts[i], roughly)
	}
}
