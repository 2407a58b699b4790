package hidden

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// The k most similar rows of b, for each row of a, best first, also where scores are close
// together (rules 20 and 21).
func TestTopK(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 10, 100, 500} {
		a, b := random[float64](r, between(r, 3, 9), 12), random[float64](r, n, 12)
		recordTopK(o, "k = 1", a, b, 1)
		recordTopK(o, "some", a, b, min(n, between(r, 2, 20)))
		a32, b32 := apart[float32](r, between(r, 3, 9), n)
		recordTopK(o, "k = 1, float32", a32, b32, 1)
		recordTopK(o, "some, float32", a32, b32, min(n, between(r, 2, 20)))
	}
	// Among many rows, the best come first, last, or in order.
	a, b := random[float64](r, 3, 8), random[float64](r, 300, 8)
	for j := range b.Rows {
		for k := range b.Cols {
			b.Data[j*8+k] += a.Data[k] * float64(j) / 30
		}
	}
	recordTopK(o, "better and better", a, b, 15)
	a, b = apart[float64](r, 2, 1<<16+2000)
	recordTopK(o, "more rows than 16 bits count", a, b, 5)
	first, late := random[float64](r, 1, 4), random[float64](r, 1<<16+2000, 4)
	copy(row(late, 1<<16+between(r, 1, 999)), first.Data)
	recordTopK(o, "the best behind 16 bits", first, late, 1)
	a32, b32 := apart[float32](r, 2, 1<<15+between(r, 1, 999))
	recordTopK(o, "very many rows, float32", a32, b32, 5)
	recordTopK(o, "long lists", random[float64](r, 2, 8), random[float64](r, 2500, 8), between(r, 1000, 2000))
	// All but a few: whatever is kept too long or dropped too early is seen.
	for _, left := range []int{1, between(r, 2, 3), between(r, 4, 6)} {
		recordTopK(o, "all but a few", random[float64](r, 8, 12), random[float64](r, 40, 12), 40-left)
		a32, b32 := apart[float32](r, 8, 40)
		recordTopK(o, "all but a few, float32", a32, b32, 40-left)
	}
	for _, n := range []int{40, between(r, 300, 400)} {
		recordClose[float64](o, "", n, 1e-5, 1e-8, 1e-10, 1e-12)
		recordClose[float32](o, ", float32", n, 1e-5)
	}
	for _, k := range []int{10, 120} { // and what is left to rounding
		for _, off := range []float64{1e-8, 1e-7, 1e-6} {
			a, b := bundle[float64](r, 120, off)
			recordDescending(o, "all but equal", a, b, k)
		}
		a32, b32 := bundle[float32](r, 120, 1e-3)
		recordDescending(o, "all but equal, float32", a32, b32, k)
	}
}

// recordClose records the lists of n rows of b whose scores lie one of the gaps apart: near 1,
// near 0, between, and the same below 0.
func recordClose[T cosine.Float](o *observe.Observer, name string, n int, gaps ...float64) {
	r := o.Rand()
	for _, gap := range gaps {
		for _, highest := range []float64{1, 0.5, gap * float64(n/2)} {
			a, b := evenly[T](r, n, highest, gap)
			for _, k := range []int{1, between(r, 5, 20), n - 1, n} {
				recordTopK(o, "close together"+name, a, b, k)
			}
		}
	}
}

// evenly makes two rows of a, which are opposite, and rows of b, in any order, whose scores
// for the first of them go down from the highest by steps of more than half a gap.
func evenly[T cosine.Float](r *rand.Rand, others int, highest, gap float64) (a, b cosine.Matrix[T]) {
	a, b = random[T](r, 2, 4), random[T](r, others, 4)
	clear(a.Data)
	clear(b.Data)
	axis := r.IntN(4)
	row(a, 0)[axis] = T(0.2 + r.Float64())
	row(a, 1)[axis] = -T(0.2 + r.Float64())
	for j, place := range r.Perm(others) {
		score := highest - gap*(float64(place)+0.25+0.25*r.Float64())
		row(b, j)[axis] = T(score)
		row(b, j)[(axis+1+r.IntN(3))%4] = T(math.Sqrt((1 - score) * (1 + score)))
		scale(b, j, 0.1+10*r.Float64())
	}
	return a, b
}

// recordDescending records how many neighbors have a higher score than the one before them:
// whatever the scores are, none.
func recordDescending[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], k int) {
	lists, err := cosine.TopK(background, a, b, k)
	failure(o, byTopK+"error, "+name, err)
	higher, neighbors := 0, 0
	for _, list := range lists {
		neighbors += len(list)
		for i := range list {
			if i > 0 && list[i].Score > list[i-1].Score {
				higher++
			}
		}
	}
	o.Ints(byTopK+"neighbors, and those with a higher score than the one before, "+name, []int{neighbors, higher})
}

// Equal scores are ordered by index, the smaller first. A score may be exactly 1, -1
// or 0 (rules 20 and 21).
func TestEqualScores(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// Four elements of 1 or -1: lengths are 2, and every similarity is exact in
	// whatever order it is computed.
	ones := func(rows, n int) matrix64 {
		m := matrix64{Rows: rows, Cols: 16, Stride: 16, Data: make([]float64, rows*16)}
		for i := range rows {
			for _, k := range pick(r, n, 16) {
				row(m, i)[k] = float64(1 - 2*r.IntN(2))
			}
		}
		return m
	}
	for _, n := range []int{1, 4, 16} {
		a, b := ones(5, n), ones(150, 4)
		for _, k := range []int{1, between(r, 5, 30), 149} {
			recordTopK(o, "equal scores", a, b, k)
			recordTopK(o, "equal scores, float32", narrow(a), narrow(b), k)
		}
		recordTies(o, "equal scores", a, b)
		recordTies(o, "equal scores, float32", narrow(a), narrow(b))
	}
	a, b := ones(3, 4), ones(1100, 4)
	for _, j := range pick(r, 400, b.Rows) { // the same direction, or the other one
		copy(row(b, j), row(a, r.IntN(3)))
		scale(b, j, float64(1-2*r.IntN(2)))
	}
	recordTopK(o, "equal scores of very many rows", a, b, between(r, 600, 1000))
	recordTies(o, "equal scores of very many rows", a, b)
	recordTies(o, "equal scores of very many rows, float32", narrow(a), narrow(b))
	b = random[float64](r, 40, 4)
	clear(b.Data[4*between(r, 3, 20):]) // many rows of zeros
	recordTopK(o, "rows of zeros", random[float64](r, 4, 4), b, 35)
	recordTies(o, "rows of zeros", random[float64](r, 4, 4), b)
	lines := matrix64{Rows: 30, Cols: 1, Stride: 1, Data: draws(30, func() float64 { return float64(between(r, -1, 1)) })}
	recordTopK(o, "one column", lines, lines, between(r, 3, 28))
	recordTies(o, "one column", lines, lines)
	for _, k := range []int{10, 90, 120} {
		a32, b32 := bundle[float32](r, 120, 2e-4)
		recordOrder(o, "rounded to float32", a32, b32, k)
		named, others := bundle[score](r, 120, 2e-4)
		recordOrder(o, "rounded to a float32 with a name", named, others, k)
		a, b := bundle[float64](r, 120, 1e-8)
		recordOrder(o, "rounded to float64", a, b, k)
	}
}

// recordTies records all rows of b in the order of TopK's lists, but moved together by
// their scores: what is left of the order is that of equal scores.
func recordTies[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	lists, err := cosine.TopK(background, a, b, b.Rows)
	failure(o, "error, "+name, err)
	var indices []int
	for _, list := range lists {
		sorted := slices.Clone(list)
		slices.SortStableFunc(sorted, func(x, y cosine.Neighbor[T]) int { return cmp.Compare(y.Score, x.Score) })
		for _, n := range sorted {
			indices = append(indices, n.Index)
		}
	}
	o.Ints("order among "+name, indices)
}

// recordOrder records how many neighbors with the score of the one before them have a
// smaller index: whatever the scores are, none.
func recordOrder[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], k int) {
	lists, err := cosine.TopK(background, a, b, k)
	failure(o, "error, "+name, err)
	wrong := 0
	for _, list := range lists {
		for i := range list {
			if i > 0 && list[i].Score == list[i-1].Score && list[i].Index < list[i-1].Index {
				wrong++
			}
		}
	}
	o.Int("equal scores in another order, "+name, wrong)
}

// bundle makes rows that all but point the same way: many of their scores are equal
// when they are rounded to T.
func bundle[T cosine.Float](r *rand.Rand, rows int, off float64) (a, b cosine.Matrix[T]) {
	a, b = ordinary[T](r, 3, 4), random[T](r, rows, 4)
	for j := range b.Rows {
		for k, x := range row(b, j) {
			row(b, j)[k] = row(a, 0)[k] + T(off*float64(x))
		}
	}
	return a, b
}

// NaN is worse than every number, wherever its row stands, and several are
// ordered by index (rule 22).
func TestNaNIsLast(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []int{1, 3, 10, 17} {
		a, b := random[float64](r, 6, 4), random[float64](r, 20, 4)
		recordWithNaN(o, "", a, b, bad)
		withNaN[float32](o, ", float32", 6, 20, bad)
		withNaN[score](o, ", a float32 with a name", 3, 20, bad)
		withNaN[precise](o, ", a float64 with a name", 3, 20, bad)
	}
	opposite[float64](o, "")
	opposite[float32](o, ", float32")
	opposite[score](o, ", a float32 with a name")
	opposite[precise](o, ", a float64 with a name")
	for _, bad := range []int{1, between(r, 300, 400), 650} { // among many rows
		withNaN[float64](o, ", of many", 3, 700, bad)
		withNaN[float32](o, ", of many, float32", 3, 700, bad)
	}
}

// withNaN records what TopK makes of rows of any type of numbers, of which some are bad.
func withNaN[T cosine.Float](o *observe.Observer, name string, rows, others, bad int) {
	a, b := apart[T](o.Rand(), rows, others)
	recordWithNaN(o, name, a, b, bad)
}

// recordWithNaN puts a NaN into so many rows of b, and into one of a.
func recordWithNaN[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], bad int) {
	r := o.Rand()
	for n, j := range pick(r, bad, b.Rows) {
		row(b, j)[n%4] = T(math.NaN())
	}
	row(b, r.IntN(3))[0] = T(math.Inf(1)) // among the first that are seen
	row(a, r.IntN(a.Rows))[0] = T(math.NaN())
	n := b.Rows
	for _, k := range []int{1, between(r, 2, 9), n - 1 - bad, n - bad, n + 1 - bad, n} {
		recordTopK(o, "some rows with NaN"+name, a, b, max(1, k))
	}
	recordLast(o, name, a, b)
}

// opposite records where NaN stands among scores of exactly 1 and -1.
func opposite[T cosine.Float](o *observe.Observer, name string) {
	r := o.Rand()
	a, b := random[T](r, 2, 4), random[T](r, 20, 4)
	for _, m := range []cosine.Matrix[T]{a, b} {
		clear(m.Data)
		for i := range m.Rows {
			row(m, i)[0] = T(1 - 2*(i%2))
		}
	}
	for _, j := range pick(r, 5, 16) {
		row(b, j)[j%4] = T(math.NaN())
	}
	recordLast(o, ", among 1 and -1"+name, a, b)
}

// recordLast records the rows of NaN in the order in which they stand, and how many
// neighbors stand behind the first of them.
func recordLast[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	lists, err := cosine.TopK(background, a, b, b.Rows)
	failure(o, "error of TopK with NaN"+name, err)
	for _, list := range lists {
		var indices []int
		behind := 0
		for i, n := range list {
			if n.Score != n.Score {
				indices = append(indices, n.Index)
				behind = max(behind, len(list)-i)
			}
		}
		o.Ints("rows of NaN, in order"+name, indices)
		o.Int("neighbors from the first NaN on"+name, behind)
	}
}

// With a k larger than the number of rows, however much, a list has all rows (rule 20).
func TestLargeK(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 3, 4), random[float64](r, between(r, 5, 12), 4)
	recordLargeK(o, "", a, b)
	a32, b32 := apart[float32](r, 3, between(r, 5, 12))
	recordLargeK(o, ", float32", a32, b32)
	a, b = apart[float64](r, 2, between(r, 1000, 1500))
	recordLargeK(o, ", of many", a, b)
}

func recordLargeK[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	for _, k := range []int{b.Rows, b.Rows + 1, 2000, 1 << 40, math.MaxInt} {
		recordTopK(o, "large k"+name, a, b, k)
		lists, _ := cosine.TopK(background, a, b, k)
		for _, list := range lists {
			o.Int("neighbors in a list"+name, len(list))
		}
	}
}

// recordLists records the lists of TopK: which rows, and their scores.
func recordLists[T cosine.Float](o *observe.Observer, name string, lists [][]cosine.Neighbor[T]) {
	o.Int(byTopK+"number of lists, "+name, len(lists))
	for _, list := range lists {
		var indices []int
		var scores []float64
		for _, n := range list {
			indices, scores = append(indices, n.Index), append(scores, float64(n.Score))
		}
		o.Ints(byTopK+"rows, "+name, indices)
		o.Floats(byTopK+"scores, "+name, scores, near)
	}
}

// recordTopK finds and records the best k.
func recordTopK[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], k int) {
	lists, err := cosine.TopK(background, a, b, k)
	failure(o, byTopK+"error, "+name, err)
	recordLists(o, name, lists)
}
