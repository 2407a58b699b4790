// Package hidden holds the hidden tests of the cosine exercise. They feed fresh
// random inputs and record what comes back; package observe says how it is
// judged. The doc comment of a test is what a student is told when it fails, so
// it names the rule and never the input.
package hidden

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"grade/observe"
	"grade/reference/cosine"
)

type (
	matrix64 = cosine.Matrix[float64]
	matrix32 = cosine.Matrix[float32]
)

var background = context.Background()

// accurate is the accuracy of rule 1, and a tenth for what the reference is off.
func accurate[T cosine.Float](d int) observe.Comparison {
	if sizeOf[T]() == 4 {
		return observe.Within(1.1e-6, 0)
	}
	return observe.Within(1.1e-14*math.Sqrt(float64(max(d, 1))), 0)
}

// random makes a matrix without gaps, of standard normal numbers.
func random[T cosine.Float](r *rand.Rand, rows, cols int) cosine.Matrix[T] {
	m := cosine.Matrix[T]{Rows: rows, Cols: cols, Stride: cols, Data: make([]T, rows*cols)}
	for i := range m.Data {
		m.Data[i] = T(r.NormFloat64())
	}
	return m
}

// near is the accuracy of tests whose subject is not how exact a similarity is.
var near = observe.Within(3e-6, 0)

// together is the accuracy of a fingerprint of n similarities that are near.
func together(n int) observe.Comparison { return observe.Within(1e-5*math.Sqrt(float64(n)), 0) }

// ordinary makes rows of length 1 without negative numbers, for tests whose subject is
// neither lengths nor signs.
func ordinary[T cosine.Float](r *rand.Rand, rows, cols int) cosine.Matrix[T] {
	m := random[T](r, rows, cols)
	for i, x := range m.Data {
		m.Data[i] = max(x, -x)
	}
	for i := range rows {
		unit(m, i)
	}
	return m
}

// unit scales row i to length 1.
func unit[T cosine.Float](m cosine.Matrix[T], i int) {
	sum := 0.0
	for _, x := range row(m, i) {
		sum += float64(x) * float64(x)
	}
	scale(m, i, 1/math.Sqrt(sum))
}

// row is the numbers of row i.
func row[T cosine.Float](m cosine.Matrix[T], i int) []T {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride:][:m.Cols]
}

// scale multiplies row i.
func scale[T cosine.Float](m cosine.Matrix[T], i int, factor float64) {
	for k, x := range row(m, i) {
		m.Data[i*m.Stride+k] = T(float64(x) * factor)
	}
}

// floats are numbers as they are recorded.
func floats[T cosine.Float](xs []T) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = float64(x)
	}
	return ys
}

// similarity computes all similarities into a matrix that held random numbers. It reads them
// when goroutines that Similarity has left at work are done, too: that there are none when it
// returns is the subject of TestSimilarity.
func similarity[T cosine.Float](t *testing.T, o *observe.Observer, a, b cosine.Matrix[T]) cosine.Matrix[T] {
	t.Helper()
	dst := random[T](o.Rand(), a.Rows, b.Rows)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		failure(o, bySimilarity+"error", cosine.Similarity(ctx, dst, a, b))
		synctest.Wait()
	})
	return dst
}

// failure records which of the errors of the contract err is.
func failure(o *observe.Observer, name string, err error) {
	o.Error(name, err, cosine.ErrShape, context.Canceled, context.DeadlineExceeded)
}

// Names of observations begin with the function that answered, for checks that need
// TestSimilarity, TestBlocks or TestTopK.
const (
	bySimilarity = "Similarity: "
	byBlocks     = "Blocks: "
	byTopK       = "TopK: "
)

// record computes and records all similarities, as Similarity gives them.
func record[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) cosine.Matrix[T] {
	dst := random[T](o.Rand(), a.Rows, b.Rows)
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
	o.Matrix(bySimilarity+name, dst.Rows, dst.Cols, floats(dst.Data), accurate[T](a.Cols))
	return dst
}

// recordEach records similarities three times: as Similarity, Blocks and TopK give them.
// Its subject are rows, and neither which rows are compared nor how blocks are cut, so it
// reads of Similarity what row i of a and row i of b have, and of TopK all but these.
func recordEach[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	t.Helper()
	recordWithin(t, o, name, a, b, near)
}

// recordExactly does the same with the accuracy of rule 1.
func recordExactly[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	t.Helper()
	recordWithin(t, o, name, a, b, accurate[T](a.Cols))
}

func recordWithin[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T], accuracy observe.Comparison) {
	t.Helper()
	o.Floats(bySimilarity+name, pairs(similarity(t, o, a, b)), accuracy)
	for _, maxBytes := range []int{8, b.Rows * sizeOf[T](), a.Rows * b.Rows * sizeOf[T]()} {
		if maxBytes < 8 || maxBytes == 8 && sizeOf[T]() == 4 {
			continue // what size a number has is the subject of TestBlocks
		}
		c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
		failure(o, byBlocks+"error", c.err)
		o.Matrix(byBlocks+name, a.Rows, b.Rows, c.sum.Data, accuracy)
	}
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Matrix(byTopK+name, a.Rows, b.Rows, scores.Data, accuracy)
}

// pairs are the elements (i, i) of m.
func pairs[T cosine.Float](m cosine.Matrix[T]) (out []float64) {
	for i := range min(m.Rows, m.Cols) {
		out = append(out, float64(row(m, i)[i]))
	}
	return out
}

// sizeOf is how many bytes a number takes.
func sizeOf[T cosine.Float]() int {
	if one := T(1); one+0x1p-30 == one {
		return 4
	}
	return 8
}

// scoresOfTopK puts the scores of all neighbors where they belong; what is missing is
// more than a score can be. Whether row i is a neighbor of row i is the subject of TestTopK.
func scoresOfTopK[T cosine.Float](a, b cosine.Matrix[T]) (matrix64, error) {
	m := matrix64{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows, Data: make([]float64, a.Rows*b.Rows)}
	for i := range m.Data {
		m.Data[i] = 9
	}
	lists, err := cosine.TopK(background, a, b, max(1, b.Rows))
	for i, list := range lists {
		for _, n := range list {
			if i < m.Rows && 0 <= n.Index && n.Index < m.Cols {
				m.Data[i*m.Stride+n.Index] = float64(n.Score)
			}
		}
	}
	for i := range min(m.Rows, m.Cols) {
		row(m, i)[i] = 0
	}
	return m, err
}

// fingerprint is one number for a matrix, in which every element has its own weight.
func fingerprint[T cosine.Float](r *rand.Rand, m cosine.Matrix[T]) float64 {
	left, right := draws(m.Rows, r.NormFloat64), draws(m.Cols, r.NormFloat64)
	sum := 0.0
	for i := range m.Rows {
		for j, x := range row(m, i) {
			sum += left[i] * right[j] * float64(x)
		}
	}
	return sum
}

func draws(n int, draw func() float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = draw()
	}
	return xs
}

// apart makes rows of a, and rows of b whose scores are far from each other: which of two
// is the larger one does not depend on rounding, also not with float32.
func apart[T cosine.Float](r *rand.Rand, rows, others int) (a, b cosine.Matrix[T]) {
	a, b = random[T](r, rows, 4), random[T](r, others, 4)
	clear(a.Data)
	clear(b.Data)
	axis := r.IntN(4)
	for i := range rows {
		row(a, i)[axis] = T(away(r))
	}
	for j, place := range r.Perm(others) {
		score := 1 - 2*(float64(place)+0.25+0.5*r.Float64())/float64(others)
		row(b, j)[axis] = T(score)
		row(b, j)[(axis+1+r.IntN(3))%4] = T(math.Sqrt(1 - score*score))
		scale(b, j, 0.1+10*r.Float64())
	}
	return a, b
}

// between draws from [lo, hi].
func between(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// away draws a number of either sign between 0.2 and 1.
func away(r *rand.Rand) float64 {
	x := 0.2 + 0.8*r.Float64()
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// pick chooses n of the numbers below limit.
func pick(r *rand.Rand, n, limit int) []int { return r.Perm(limit)[:n] }
