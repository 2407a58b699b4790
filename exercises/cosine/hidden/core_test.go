package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// The similarity of two rows is their product, divided by both lengths (rule 1).
func TestSimilarity(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, d := range []int{3, 10, 100, 1000} {
		record(o, "similarity", random[float64](r, between(r, 4, 9), d), random[float64](r, between(r, 4, 9), d))
	}
	// Rows that nearly agree: the numbers are not all near 0.
	a := random[float64](r, 6, 30)
	b := random[float64](r, 6, 30)
	for i := range b.Data {
		b.Data[i] = 3*a.Data[i] + b.Data[i]/float64(1+i)
	}
	record(o, "alike", a, b)
	// All but parallel, opposite and orthogonal: near 1, -1 and 0, and not there.
	for e := 1.0; e < 9; e++ {
		x := random[float64](r, 1, 2).Data
		off := math.Pow(10, -e-r.Float64())
		turned := []float64{x[0] - off*x[1], x[1] + off*x[0]}
		a, b := matrix64{Rows: 1, Cols: 2, Stride: 2, Data: x}, matrix64{Rows: 3, Cols: 2, Stride: 2}
		b.Data = append(b.Data, turned[0], turned[1], -turned[0], -turned[1], -turned[1], turned[0])
		record(o, "all but parallel or orthogonal", a, b)
	}
}

// The same for float32, within 1e-6 (rule 1).
func TestFloat32(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, d := range []int{3, 10, 100, 1000} {
		a, b := random[float32](r, between(r, 4, 9), d), random[float32](r, between(r, 4, 9), d)
		record(o, "similarity", a, b)
		for i := range a.Data {
			a.Data[i] = float32(r.Float64())
		}
		record(o, "positive", a, b)
	}
}

// Sizes that are no multiple of anything: no row, column or block may be
// forgotten, and none be written to twice with something else (rule 9).
func TestOddSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	shape := func(m, n, d int) {
		dst := similarity(o, random[float64](r, m, d), random[float64](r, n, d))
		o.Float(bySimilarity+"all together", fingerprint(r, dst))
	}
	shape32 := func(m, n, d int) {
		dst := similarity(o, random[float32](r, m, d), random[float32](r, n, d))
		o.Float(bySimilarity+"all together, float32", fingerprint(r, dst), together[float32](m*n))
	}
	for n := 1; n <= 20; n++ {
		shape(n, between(r, 1, 20), between(r, 1, 20))
		shape(between(r, 1, 20), n, between(r, 1, 20))
		shape(between(r, 1, 20), between(r, 1, 20), n)
	}
	for _, n := range []int{31, 33, 63, 65, 127, 129, 255, 257, 1<<10 + 1} {
		shape(n, between(r, 1, 5), 3)
		shape(between(r, 1, 5), n, 3)
		shape(3, between(r, 1, 5), n)
		shape32(n, between(r, 1, 5), 3)
		shape32(between(r, 1, 5), n, 3)
		shape32(3, between(r, 1, 5), n)
	}
	shape32(131, 261, 67)
	recordOthers(t, o, random[float64](r, 259, 7), random[float64](r, 133, 7))
	shape(131, 261, 67)
	shape(259, 133, 35)
	shape(1, 1<<16+between(r, 1, 9), 2) // more than 16 bits count
	shape(1<<16+between(r, 1, 9), 1, 2)
	long := between(r, 8500, 12_000)
	dst := similarity(o, random[float64](r, 5, long), random[float64](r, 3, long))
	o.Matrix(bySimilarity+"long rows", dst.Rows, dst.Cols, dst.Data)
}

// recordOthers records of a large matrix of similarities what Blocks and TopK make of it.
func recordOthers(t *testing.T, o *observe.Observer, a, b matrix64) {
	t.Helper()
	r := o.Rand()
	for _, maxBytes := range []int{8 * between(r, 20, 100), 8 * between(r, 2000, 20_000), 1 << 30} {
		c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
		failure(o, byBlocks+"error", c.err)
		o.Float(byBlocks+"all together", fingerprint(r, c.sum))
	}
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Float(byTopK+"all together", fingerprint(r, scores))
}

// A row of zeros has similarity 0 to every row, also to another row of zeros (rule 2).
func TestZeroRows(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 9, 5), random[float64](r, 11, 5)
	for _, i := range pick(r, 3, a.Rows) {
		clear(row(a, i))
	}
	for _, j := range pick(r, 3, b.Rows) {
		clear(row(b, j))
	}
	recordEach(t, o, "rows of zeros", a, b)
	a32, b32 := random[float32](r, 6, 4), random[float32](r, 7, 4)
	clear(row(a32, r.IntN(6)))
	clear(row(b32, r.IntN(7)))
	recordEach(t, o, "rows of zeros, float32", a32, b32)
}

// Rows are Stride apart. What stands between them has no influence, and what
// stands between and behind the rows of dst is not written to (rules 7 and 8).
func TestStride(t *testing.T) {
	o := observe.New(t)
	strides[float64](t, o, "")
	strides[float32](t, o, ", float32")
}

func strides[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	for _, bad := range []T{0, 1e9, T(math.NaN())} {
		a := spaced(random[T](r, between(r, 3, 9), 7), between(r, 1, 5), bad)
		b := spaced(random[T](r, between(r, 3, 9), 7), between(r, 1, 5), bad)
		space := random[T](r, 1, 200).Data
		dst := cosine.Matrix[T]{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows + between(r, 1, 5), Data: space}
		failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
		o.Floats(bySimilarity+"dst with its gaps"+name, floats(space), accurate[T](7))
		o.Floats("gaps of dst"+name, gaps(dst))
		// As short as it may be: nothing after the last element.
		dst.Data = dst.Data[: (dst.Rows-1)*dst.Stride+dst.Cols : (dst.Rows-1)*dst.Stride+dst.Cols]
		failure(o, bySimilarity+"error", cosine.Similarity(background, dst, flipped(a), flipped(b)))
		o.Floats(bySimilarity+"dst with its gaps, as short as it may be"+name, floats(space), accurate[T](7))
		recordEach(t, o, "rows with gaps"+name, a, b)
	}
}

// gaps is what stands between the rows of m, and behind them.
func gaps[T cosine.Float](m cosine.Matrix[T]) (out []float64) {
	for i, x := range m.Data {
		if i%m.Stride >= m.Cols || i >= m.Rows*m.Stride {
			out = append(out, float64(x))
		}
	}
	return out
}

// spaced copies m into a matrix with gaps, which hold bad.
func spaced[T cosine.Float](m cosine.Matrix[T], gap int, bad T) cosine.Matrix[T] {
	out := cosine.Matrix[T]{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols + gap}
	for i := range m.Rows {
		out.Data = append(out.Data, row(m, i)...)
		for range gap {
			out.Data = append(out.Data, bad)
		}
	}
	out.Data = out.Data[:len(out.Data)-gap]
	return out
}

// flipped turns the signs of m's elements in every other column.
func flipped[T cosine.Float](m cosine.Matrix[T]) cosine.Matrix[T] {
	out := m
	out.Data = append([]T(nil), m.Data...)
	for i := range out.Data {
		if i%m.Stride%2 == 1 {
			out.Data[i] = -out.Data[i]
		}
	}
	return out
}

// a and b may be the same matrix, or overlap: then rows are compared with
// themselves, and with rows that begin in the middle of others. Two matrices that begin
// at the same number are not the same for that (rule 10).
func TestSameMatrix(t *testing.T) {
	o := observe.New(t)
	same[float64](t, o, "")
	same[float32](t, o, ", float32")
}

func same[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	a := random[T](r, between(r, 9, 14), 6)
	recordEach(t, o, "with itself"+name, a, a)
	at := between(r, 1, 17)
	recordEach(t, o, "overlapping"+name, a, view(a.Data[at:], 5, 6, 6))
	recordEach(t, o, "with some of its rows"+name, view(a.Data, 7, 6, 6), a)
	recordEach(t, o, "with rows that are farther apart"+name, view(a.Data, 7, 6, 7), a)
	few := view(a.Data, 7, 6, 6)
	recordEach(t, o, "with as many rows that are farther apart"+name, few, view(a.Data, 7, 6, 7))
	recordEach(t, o, "with as many rows that are nearer"+name, view(a.Data, 7, 6, 7), few)
}

// Every similarity lies in [-1, 1], exactly, whatever rounding does; a row's
// similarity to itself and to its multiples is 1 (rule 4).
func TestNeverBeyondOne(t *testing.T) {
	o := observe.New(t)
	neverBeyondOne[float64](t, o, "")
	neverBeyondOne[float32](t, o, ", float32")
}

func neverBeyondOne[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	largest := 1.0 // the reference's is 1: no other may be larger
	for d := 1; d <= 20; d++ {
		a, b := random[T](r, 30, d), random[T](r, 30, d)
		copy(b.Data, a.Data)
		for i := range b.Rows {
			scale(b, i, float64(between(r, -3, 3)))
		}
		for _, other := range []cosine.Matrix[T]{a, b} {
			dst := cosine.Matrix[T]{Rows: a.Rows, Cols: other.Rows, Stride: other.Rows, Data: make([]T, a.Rows*other.Rows)}
			failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, other))
			o.Matrix(bySimilarity+"rows and their multiples"+name, dst.Rows, dst.Cols, floats(dst.Data), accurate[T](d))
			for _, s := range dst.Data {
				largest = max(largest, math.Abs(float64(s)))
			}
		}
		lists, err := cosine.TopK(background, a, a, 1)
		failure(o, byTopK+"error", err)
		for _, list := range lists {
			for _, n := range list {
				largest = max(largest, math.Abs(float64(n.Score)))
			}
		}
		c := collect(t, cosine.Blocks(background, a, b, 1000), a.Rows, b.Rows)
		failure(o, byBlocks+"error", c.err)
		o.Matrix(byBlocks+"rows and their multiples"+name, a.Rows, b.Rows, c.sum.Data, accurate[T](d))
		for _, s := range c.sum.Data {
			largest = max(largest, math.Abs(float64(s)))
		}
	}
	o.Float("largest magnitude of a similarity"+name, largest, observe.AtMost(1, 0))
}

// The blocks have every pair exactly once, in order, and none is larger than
// maxBytes. The loop body may write into a block, which changes no other (rules 13, 14,
// 15 and 17).
func TestBlocks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 12 {
		a, b := random[float64](r, between(r, 1, 25), 4), random[float64](r, between(r, 1, 25), 4)
		maxBytes := between(r, 8, 8*a.Rows*b.Rows+100)
		recordBlocks(t, o, a, b, maxBytes, 8)
	}
	// Blocks smaller than a row, and many of them.
	for range 4 {
		a, b := random[float64](r, between(r, 5, 25), 4), random[float64](r, between(r, 5, 25), 4)
		recordBlocks(t, o, a, b, between(r, 8, 8*b.Rows-8), 8)
	}
	for range 4 {
		a, b := random[float32](r, between(r, 1, 25), 4), random[float32](r, between(r, 1, 25), 4)
		recordBlocks(t, o, a, b, between(r, 4, 4*a.Rows*b.Rows+100), 4)
	}
}

func recordBlocks[T cosine.Float](t *testing.T, o *observe.Observer, a, b cosine.Matrix[T], maxBytes, size int) {
	t.Helper()
	c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
	failure(o, byBlocks+"error", c.err)
	o.Matrix(byBlocks+"all together", a.Rows, b.Rows, c.sum.Data, accurate[T](a.Cols))
	o.Int(byBlocks+"bytes of the largest", size*c.largest, observe.AtMost(0, float64(maxBytes)))
	o.Int(byBlocks+"how many come too early", c.disordered*between(o.Rand(), 1, 1000))
}

// The k most similar rows of b, for each row of a, best first (rule 20).
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
	recordTopK(o, "more rows than 16 bits count", random[float64](r, 2, 3), random[float64](r, 1<<16+2000, 3), 5)
	first, late := random[float64](r, 1, 3), random[float64](r, 1<<16+2000, 3)
	copy(row(late, 1<<16+between(r, 1, 1999)), first.Data)
	recordTopK(o, "the best behind 16 bits", first, late, 1)
	a32, b32 := apart[float32](r, 2, 1<<15+between(r, 1, 1999))
	recordTopK(o, "very many rows, float32", a32, b32, 5)
	recordTopK(o, "long lists", random[float64](r, 2, 8), random[float64](r, 2500, 8), between(r, 1000, 2000))
	// All but a few: whatever is kept too long or dropped too early is seen.
	for _, left := range []int{1, between(r, 2, 3), between(r, 4, 6)} {
		recordTopK(o, "all but a few", random[float64](r, 8, 12), random[float64](r, 40, 12), 40-left)
		a32, b32 := apart[float32](r, 8, 40)
		recordTopK(o, "all but a few, float32", a32, b32, 40-left)
	}
}
