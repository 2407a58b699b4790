package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// All similarities of 1024 and 1024 rows of 256 numbers: each row is read in order,
// and nothing is allocated or raised to a power for a pair.
func BenchmarkSimilarity(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x, y := random[float64](r, 1024, 256), random[float64](r, 1024, 256)
	dst := random[float64](r, 1024, 1024)
	var err error
	for o.Loop() {
		err = cosine.Similarity(background, dst, x, y)
	}
	failure(o, "error", err)
	o.Floats("similarities", times(dst, draws(1024, r.NormFloat64)))
}

// All similarities of 512 and 512 rows of 768 numbers of type float32.
func BenchmarkFloat32(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x, y := random[float32](r, 512, 768), random[float32](r, 512, 768)
	dst := random[float32](r, 512, 512)
	var err error
	for o.Loop() {
		err = cosine.Similarity(background, dst, x, y)
	}
	failure(o, "error", err)
	o.Floats("similarities", times(dst, draws(512, r.NormFloat64)), observe.Within(1e-4, 0))
}

// The best 10 of 2400, for each of 2400 rows. Time: not all scores of a row have to be
// sorted. Memory: the scores of all rows are never there together.
func BenchmarkTopK(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x, y := random[float64](r, 2400, 32), random[float64](r, 2400, 32)
	var lists [][]cosine.Neighbor[float64]
	var err error
	for o.Loop() {
		lists, err = cosine.TopK(background, x, y, 10)
	}
	failure(o, "error", err)
	var indices []int
	var scores []float64
	for _, list := range lists {
		index, score := 0, 0.0
		for place, n := range list {
			index += (place + 1) * n.Index
			score += float64(place+1) * n.Score
		}
		indices, scores = append(indices, index), append(scores, score)
	}
	o.Ints("rows", indices)
	o.Floats("scores", scores)
}

// All similarities of 4000 and 4000 rows, 8 MiB at a time: they are never all there
// together.
func BenchmarkBlocks(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x, y := random[float64](r, 4000, 16), random[float64](r, 4000, 16)
	weights := draws(4000, r.NormFloat64)
	sums := make([]float64, 4000)
	var last error
	for o.Loop() {
		clear(sums)
		for block, err := range cosine.Blocks(background, x, y, 8<<20) {
			if last = err; err != nil {
				break
			}
			for i, s := range times(block.Sim, weights[block.Col:]) {
				sums[block.Row+i] += s
			}
		}
	}
	failure(o, "error", last)
	o.Floats("sums", sums)
}

// times is a matrix times a vector.
func times[T cosine.Float](m cosine.Matrix[T], v []float64) []float64 {
	out := make([]float64, m.Rows)
	for i := range out {
		for j, x := range row(m, i) {
			out[i] += float64(x) * v[j]
		}
	}
	return out
}
