// Package hidden holds the hidden tests of the cosine exercise. They feed fresh
// random inputs and record what comes back; package observe says how it is
// judged. The doc comment of a test is what a student is told when it fails, so
// it names the rule and never the input.
package hidden

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"testing"

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
	if one := T(1); one+0x1p-30 == one {
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

// together is the accuracy of a fingerprint of n similarities.
func together[T cosine.Float](n int) observe.Comparison {
	if one := T(1); one+0x1p-30 == one {
		return observe.Within(1e-5*math.Sqrt(float64(n)), 0)
	}
	return observe.Within(1e-9, 1e-9)
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

// similarity computes all similarities into a matrix that held random numbers.
func similarity[T cosine.Float](o *observe.Observer, a, b cosine.Matrix[T]) cosine.Matrix[T] {
	dst := random[T](o.Rand(), a.Rows, b.Rows)
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
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

// record computes and records all similarities.
func record[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) cosine.Matrix[T] {
	dst := similarity(o, a, b)
	o.Matrix(bySimilarity+name, dst.Rows, dst.Cols, floats(dst.Data), accurate[T](a.Cols))
	return dst
}

// recordEach records all similarities three times: as Similarity, Blocks and TopK give
// them. The lists of TopK have all rows, and their order does not show.
func recordEach[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	t.Helper()
	record(o, name, a, b)
	most := max(1, 8*a.Rows*b.Rows)
	c := collect(t, cosine.Blocks(background, a, b, between(o.Rand(), 8, max(8, most))), a.Rows, b.Rows)
	failure(o, byBlocks+"error", c.err)
	o.Matrix(byBlocks+name, a.Rows, b.Rows, c.sum.Data, accurate[T](a.Cols))
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Matrix(byTopK+name, a.Rows, b.Rows, scores.Data, accurate[T](a.Cols))
}

// scoresOfTopK puts the scores of all neighbors where they belong; what is missing is
// more than a score can be.
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

// cover is what the blocks of a sequence make together.
type cover struct {
	sum        matrix64 // the blocks, added up where they belong; 9 where there is none
	blocks     int
	largest    int // numbers in a block
	disordered int // blocks that come too early
	err        error
}

// collect ranges over all blocks, and writes into each when it has read it.
func collect[T cosine.Float](t *testing.T, seq iter.Seq2[cosine.Block[T], error], rows, cols int) cover {
	t.Helper()
	c := cover{sum: matrix64{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}}
	seen := make([]bool, rows*cols)
	defer func() { // also where what comes is cut short
		for i, there := range seen {
			if !there {
				c.sum.Data[i] = 9
			}
		}
	}()
	last := [2]int{-1, -1}
	for block, err := range seq {
		if err != nil {
			if c.err != nil {
				t.Fatal("more than one error")
			}
			c.err = err
			if block.Row != 0 || block.Col != 0 || block.Sim.Rows != 0 || block.Sim.Cols != 0 || block.Sim.Data != nil {
				t.Fatal("an error comes with an empty block")
			}
			continue
		}
		sim := block.Sim
		if c.blocks++; c.blocks > rows*cols || c.err != nil {
			t.Fatal("blocks without an end, or after an error")
		}
		if sim.Rows < 1 || sim.Cols < 1 || block.Row < 0 || block.Col < 0 || block.Row+sim.Rows > rows || block.Col+sim.Cols > cols {
			t.Fatal("a block is empty, or reaches beyond the matrix")
		}
		if block.Row < last[0] || block.Row == last[0] && block.Col <= last[1] {
			c.disordered++
		}
		last = [2]int{block.Row, block.Col}
		c.largest = max(c.largest, sim.Rows*sim.Cols)
		for i := range sim.Rows {
			for j, s := range row(sim, i) {
				c.sum.Data[(block.Row+i)*cols+block.Col+j] += float64(s)
				seen[(block.Row+i)*cols+block.Col+j] = true
				sim.Data[i*sim.Stride+j] = T(77 + i - j)
			}
		}
	}
	return c
}

// recordLists records the lists of TopK: which rows, and their scores.
func recordLists[T cosine.Float](o *observe.Observer, name string, lists [][]cosine.Neighbor[T], d int) {
	o.Int(byTopK+"number of lists, "+name, len(lists))
	for _, list := range lists {
		var indices []int
		var scores []float64
		for _, n := range list {
			indices, scores = append(indices, n.Index), append(scores, float64(n.Score))
		}
		o.Ints(byTopK+"rows, "+name, indices)
		o.Floats(byTopK+"scores, "+name, scores, accurate[T](d))
	}
}

// recordTopK finds and records the best k.
func recordTopK[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], k int) {
	lists, err := cosine.TopK(background, a, b, k)
	failure(o, byTopK+"error, "+name, err)
	recordLists(o, name, lists, a.Cols)
}
