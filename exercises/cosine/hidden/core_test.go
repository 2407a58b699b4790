package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// The similarity of two rows is their product, divided by both lengths, and all of them are
// there when Similarity returns (rules 1, 9 and 25).
func TestSimilarity(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, d := range []int{3, 10, 100, 1000} {
		record(o, "similarity", random[float64](r, 4*between(r, 1, 2), d), random[float64](r, between(r, 4, 9), d))
	}
	// Rows that nearly agree: the numbers are not all near 0.
	a := random[float64](r, 8, 30)
	b := random[float64](r, 8, 30)
	for i := range b.Data {
		b.Data[i] = 3*a.Data[i] + b.Data[i]/float64(1+i)
	}
	record(o, "alike", a, b)
	// All but parallel, opposite and orthogonal: near 1, -1 and 0, and not there.
	for e := 1.0; e < 9; e++ {
		a, b := random[float64](r, 4, 2), random[float64](r, 12, 2)
		for i := range a.Rows {
			x, off := row(a, i), math.Pow(10, -e-r.Float64())
			turned := []float64{x[0] - off*x[1], x[1] + off*x[0]}
			copy(b.Data[6*i:], []float64{turned[0], turned[1], -turned[0], -turned[1], -turned[1], turned[0]})
		}
		record(o, "all but parallel or orthogonal", a, b)
	}
	long := between(r, 8500, 12_000)
	dst := random[float64](r, 4, 3)
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, random[float64](r, 4, long), random[float64](r, 3, long)))
	o.Matrix(bySimilarity+"long rows", dst.Rows, dst.Cols, dst.Data)
}

// The same for float32, within 1e-6 (rule 1).
func TestFloat32(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, d := range []int{4, 12, 100, 1000} {
		a, b := random[float32](r, 8, d), random[float32](r, 8, d)
		positive := make([]float32, len(a.Data))
		for i := range positive {
			positive[i] = float32(r.Float64())
		}
		for _, name := range []string{"similarity", "positive"} {
			o.Floats(bySimilarity+name, pairs(similarity(t, o, a, b)), accurate[float32](d))
			o.Floats(bySimilarity+name+", other way round", pairs(similarity(t, o, b, shifted(a))), accurate[float32](d))
			copy(a.Data, positive)
		}
	}
}

// shifted is the same rows, each one place further on.
func shifted[T cosine.Float](m cosine.Matrix[T]) cosine.Matrix[T] {
	out := m
	out.Data = append(append([]T(nil), m.Data[m.Stride:]...), m.Data[:m.Stride]...)
	return out
}

// Sizes that are no multiple of anything: no row, column or block may be
// forgotten, and none be written to twice with something else (rule 9).
func TestOddSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for n := 1; n <= 20; n++ {
		shape[float64](t, o, "", n, between(r, 1, 20), between(r, 1, 20))
		shape[float64](t, o, "", between(r, 1, 20), n, between(r, 1, 20))
		shape[float64](t, o, "", between(r, 1, 20), between(r, 1, 20), n)
	}
	for _, n := range []int{31, 33, 63, 65, 127, 129, 255, 257, 1<<10 + 1} {
		shapes[float64](t, o, "", n)
		shapes[float32](t, o, ", float32", n)
	}
	shape[float32](t, o, ", float32", 131, 261, 67)
	recordOthers(t, o, ordinary[float64](r, 259, 7), ordinary[float64](r, 133, 7))
	shape[float64](t, o, "", 131, 261, 67)
	shape[float64](t, o, "", 259, 133, 35)
	shape[float64](t, o, "", 1, 1<<16+between(r, 1, 9), 2) // more than 16 bits count
	shape[float64](t, o, "", 1<<16+between(r, 1, 9), 1, 2)
	long := between(r, 8500, 12_000)
	rough := observe.Within(1e-4, 0)
	recordWithin(t, o, "long rows", ordinary[float64](r, 4, long), ordinary[float64](r, 4, long), rough)
	recordWithin(t, o, "long rows, float32", ordinary[float32](r, 4, long), ordinary[float32](r, 4, long), rough)
}

// shapes have n rows, n other rows, or n columns.
func shapes[T cosine.Float](t *testing.T, o *observe.Observer, name string, n int) {
	t.Helper()
	r := o.Rand()
	shape[T](t, o, name, n, between(r, 1, 5), 3)
	shape[T](t, o, name, between(r, 1, 5), n, 3)
	shape[T](t, o, name, 3, between(r, 1, 5), n)
}

// shape compares m and n rows of d numbers.
func shape[T cosine.Float](t *testing.T, o *observe.Observer, name string, m, n, d int) {
	t.Helper()
	r := o.Rand()
	dst := similarity(t, o, ordinary[T](r, m, d), ordinary[T](r, n, d))
	o.Float(bySimilarity+"all together"+name, fingerprint(r, dst), together(m*n))
}

// recordOthers records of a large matrix of similarities what Blocks and TopK make of it.
func recordOthers(t *testing.T, o *observe.Observer, a, b matrix64) {
	t.Helper()
	r := o.Rand()
	accuracy := together(a.Rows * b.Rows)
	for _, maxBytes := range []int{8 * between(r, 20, 100), 8 * between(r, 2000, 20_000), 1 << 30} {
		c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
		failure(o, byBlocks+"error", c.err)
		o.Float(byBlocks+"all together", fingerprint(r, c.sum), accuracy)
	}
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Float(byTopK+"all together", fingerprint(r, scores), accuracy)
}

// A row of zeros has similarity 0 to every row, also to another row of zeros (rule 2).
func TestZeroRows(t *testing.T) {
	o := observe.New(t)
	zeroRows[float64](t, o, "")
	zeroRows[float32](t, o, ", float32")
}

func zeroRows[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	a, b := ordinary[T](r, 12, 4), ordinary[T](r, 12, 4)
	places := r.Perm(12)
	for i := range 3 { // the second and third pair are zeros beside zeros
		clear(row(a, places[i]))
		clear(row(b, places[i+1]))
	}
	recordEach(t, o, "rows of zeros"+name, a, b)
	recordMany(t, o, "rows of zeros"+name, func(row []T) { clear(row) })
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
	for _, bad := range []T{0, 1e9, hugeOf[T](), T(math.Inf(1)), T(math.NaN())} {
		a := spaced(ordinary[T](r, 4*between(r, 1, 2), 8), between(r, 1, 5), bad)
		b := spaced(ordinary[T](r, between(r, 3, 9), 8), between(r, 1, 5), bad)
		space := random[T](r, 1, 200).Data
		dst := cosine.Matrix[T]{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows + between(r, 1, 5), Data: space}
		recordGapsOfDst(o, name, dst, a, b)
		// As short as it may be: nothing after the last element.
		dst.Data = dst.Data[: (dst.Rows-1)*dst.Stride+dst.Cols : (dst.Rows-1)*dst.Stride+dst.Cols]
		recordGapsOfDst(o, name+", as short as it may be", dst, reversed(a), b)
		o.Floats("memory behind dst"+name, floats(space[len(dst.Data):]))
		recordEach(t, o, "rows with gaps"+name, a, b)
	}
	a, b := ordinary[T](r, 4, 8), ordinary[T](r, 5, 8)
	recordGapsOnly(o, name+", without columns", random[T](r, 4, 0), random[T](r, 5, 0))
	clear(a.Data)
	recordGapsOnly(o, name+", of rows of zeros", a, b)
	clear(b.Data)
	recordGapsOnly(o, name+", of nothing but zeros", a, b)
	a.Data[9], b.Data[3] = T(math.NaN()), T(math.Inf(1))
	recordGapsOnly(o, name+", of rows that are not finite", a, b)
	recordManyWithGaps[T](t, o, name)
}

// recordManyWithGaps records so many rows with gaps that they may be prepared in parts, each of
// which begins at a multiple of Stride.
func recordManyWithGaps[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	many := func() cosine.Matrix[T] {
		return spaced(ordinary[T](r, between(r, 260, 300), 4), between(r, 1, 5), T(math.NaN()))
	}
	a, b := many(), many()
	dst := spaced(random[T](r, a.Rows, b.Rows), between(r, 1, 5), T(r.NormFloat64()))
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
	o.Floats("gaps of dst"+name+", of many rows", gaps(dst))
	accuracy := together(a.Rows * b.Rows)
	o.Float(bySimilarity+"many rows with gaps, all together"+name, fingerprint(r, dst), accuracy)
	for _, rows := range []int{between(r, 70, 130), a.Rows} {
		c := collect(t, cosine.Blocks(background, a, b, rows*b.Rows*sizeOf[T]()), a.Rows, b.Rows)
		failure(o, byBlocks+"error", c.err)
		o.Float(byBlocks+"many rows with gaps, all together"+name, fingerprint(r, c.sum), accuracy)
	}
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Float(byTopK+"many rows with gaps, all together"+name, fingerprint(r, scores), accuracy)
}

// recordGapsOnly records what stands between the rows of dst where a shorter way to fill it
// suggests itself.
func recordGapsOnly[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	dst := spaced(random[T](o.Rand(), a.Rows, b.Rows), between(o.Rand(), 1, 5), T(o.Rand().NormFloat64()))
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
	o.Floats("gaps of dst"+name, gaps(dst))
}

// hugeOf is nearly the largest number there is.
func hugeOf[T cosine.Float]() T {
	if sizeOf[T]() == 4 {
		return T(1e38)
	}
	huge := 1e300
	return T(huge)
}

// recordGapsOfDst records a dst that may have gaps: what stands in them, and the
// similarities of row i of a and row i of b.
func recordGapsOfDst[T cosine.Float](o *observe.Observer, name string, dst, a, b cosine.Matrix[T]) {
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
	o.Floats("gaps of dst"+name, gaps(dst))
	o.Floats(bySimilarity+"dst with gaps"+name, pairs(dst), near)
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

// reversed turns the order of m's rows round.
func reversed[T cosine.Float](m cosine.Matrix[T]) cosine.Matrix[T] {
	out := m
	out.Data = append([]T(nil), m.Data...)
	for i := range m.Rows {
		copy(row(out, i), row(m, m.Rows-1-i))
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
	a := ordinary[T](r, 4*between(r, 3, 4), 8)
	few := view(a.Data, 8, 8, 8)
	recordSame(t, o, "with itself"+name, a, a)
	recordSame(t, o, "overlapping"+name, a, view(a.Data[between(r, 1, 31):], 8, 8, 8))
	recordSame(t, o, "with some of its rows"+name, few, a)
	recordSame(t, o, "with rows that are farther apart"+name, view(a.Data, 8, 8, 9), a)
	recordSame(t, o, "with as many rows that are farther apart"+name, few, view(a.Data, 8, 8, 9))
	recordSame(t, o, "with as many rows that are nearer"+name, view(a.Data, 8, 8, 9), few)
	for n := 1; n <= 36; n++ {
		recordAnySize[T](t, o, name, n)
	}
	for _, n := range []int{63, 65, between(r, 90, 110), 127, 129, 255, 257, 513} {
		recordAnySize[T](t, o, name, n)
	}
	a.Data = append([]T(nil), a.Data...)
	clear(row(a, r.IntN(a.Rows)))
	recordWithItself(t, o, "zeros: "+name, a)
	a.Data = append([]T(nil), a.Data...)
	row(a, r.IntN(a.Rows))[r.IntN(8)] = T(math.NaN())
	recordWithItself(t, o, "not finite: "+name, a)
}

// recordAnySize records all similarities of n rows with themselves: who computes half of them
// may forget rows that are left over in the other half.
func recordAnySize[T cosine.Float](t *testing.T, o *observe.Observer, name string, n int) {
	t.Helper()
	r := o.Rand()
	a := ordinary[T](r, n, between(r, 1, 9))
	dst := similarity(t, o, a, a)
	o.Float(bySimilarity+"any size: all together, with itself"+name, fingerprint(r, dst), together(n*n))
}

// recordWithItself records the similarities of a's rows with themselves, which are not 1
// where a row is zeros or not finite.
func recordWithItself[T cosine.Float](t *testing.T, o *observe.Observer, name string, a cosine.Matrix[T]) {
	t.Helper()
	o.Floats(name+"Similarity of rows with themselves", pairs(similarity(t, o, a, a)), near)
	for _, maxBytes := range []int{a.Rows * sizeOf[T](), 1 << 20} {
		c := collect(t, cosine.Blocks(background, a, a, maxBytes), a.Rows, a.Rows)
		o.Floats(name+"Blocks of rows with themselves", pairs(c.sum), near)
	}
}

// recordSame records all similarities of Similarity, and what recordEach does.
func recordSame[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	t.Helper()
	dst := similarity(t, o, a, b)
	o.Matrix(bySimilarity+"all, "+name, dst.Rows, dst.Cols, floats(dst.Data), near)
	recordEach(t, o, name, a, b)
}

// Every similarity lies in [-1, 1], exactly, whatever rounding does; a row's
// similarity to itself and to its multiples is 1 (rule 4).
func TestNeverBeyondOne(t *testing.T) {
	o := observe.New(t)
	neverBeyondOne[float64](t, o, "")
	neverBeyondOne[float32](t, o, ", float32")
	neverBeyondOne[precise](t, o, ", a float64 with a name")
	neverBeyondOne[score](t, o, ", a float32 with a name")
}

func neverBeyondOne[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	largest := 1.0 // the reference's is 1: no other may be larger
	for d := 1; d <= 20; d++ {
		a, b := random[T](o.Rand(), 32, d), random[T](o.Rand(), 32, d)
		copy(b.Data, a.Data)
		largest = max(largest, recordMultiples(t, o, name, a, b))
		b.Data = append([]T(nil), b.Data...)
		for i := range b.Rows {
			scale(b, i, float64(between(o.Rand(), 1, 3)*(1-2*o.Rand().IntN(2))))
		}
		largest = max(largest, recordMultiples(t, o, name, a, b))
	}
	for _, n := range []int{1, 3, 5, 7, 9, 15, 17, 31, 33} { // which leave rows, columns and parts of blocks over
		largest = max(largest, largestOfMultiples[T](o.Rand(), n, between(o.Rand(), 2, 20)))
	}
	largest = max(largest, largestOfMany[T](o.Rand(), between(o.Rand(), 3, 12)))
	o.Float("largest magnitude of a similarity"+name, largest, observe.AtMost(1, 0))
}

// recordMultiples records the similarities of rows and multiples of theirs, where nothing but
// rounding can go wrong, and returns the largest magnitude of all similarities.
func recordMultiples[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T]) float64 {
	t.Helper()
	dst := cosine.Matrix[T]{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows, Data: make([]T, a.Rows*b.Rows)}
	failure(o, bySimilarity+"error", cosine.Similarity(background, dst, a, b))
	c := collect(t, cosine.Blocks(background, a, b, 1<<20), a.Rows, b.Rows)
	failure(o, byBlocks+"error", c.err)
	lists, err := cosine.TopK(background, a, b, b.Rows)
	failure(o, byTopK+"error", err)
	if a.Cols%4 == 0 { // the last columns are the subject of TestOddSizes
		o.Floats(bySimilarity+"rows and their multiples"+name, pairs(dst), near)
		o.Floats(byBlocks+"rows and their multiples"+name, pairs(c.sum), near)
	}
	return max(largestOf(floats(dst.Data)), largestOf(c.sum.Data), largestOf(scoresOf(lists)))
}

// largestOfMultiples returns the largest magnitude of the similarities of n multiples of one row,
// in blocks of several sizes too: how they are cut is the subject of TestBlocks.
func largestOfMultiples[T cosine.Float](r *rand.Rand, n, d int) float64 {
	a, dst := multiples[T](r, n, d), cosine.Matrix[T]{Rows: n, Cols: n, Stride: n, Data: make([]T, n*n)}
	_ = cosine.Similarity(background, dst, a, a)
	lists, _ := cosine.TopK(background, a, a, n)
	largest := max(largestOf(floats(dst.Data)), largestOf(scoresOf(lists)))
	for _, maxBytes := range []int{8, 8 * max(1, n/2), 8 * n, 1 << 20} {
		for block := range cosine.Blocks(background, a, a, maxBytes) {
			for i := range block.Sim.Rows {
				largest = max(largest, largestOf(floats(row(block.Sim, i))))
			}
		}
	}
	return largest
}

// largestOfMany returns that of as many multiples of one row as are worth a loop of their own.
func largestOfMany[T cosine.Float](r *rand.Rand, d int) float64 {
	const n = 272
	a, dst := multiples[T](r, n, d), cosine.Matrix[T]{Rows: n, Cols: n, Stride: n, Data: make([]T, n*n)}
	_ = cosine.Similarity(background, dst, a, a)
	lists, _ := cosine.TopK(background, a, a, 5)
	largest := max(largestOf(floats(dst.Data)), largestOf(scoresOf(lists)))
	for block := range cosine.Blocks(background, a, a, n*n*sizeOf[T]()) {
		for i := range block.Sim.Rows {
			largest = max(largest, largestOf(floats(row(block.Sim, i))))
		}
	}
	return largest
}

// multiples are n multiples of a row of d numbers.
func multiples[T cosine.Float](r *rand.Rand, n, d int) cosine.Matrix[T] {
	a := random[T](r, n, d)
	for i := 1; i < n; i++ {
		copy(row(a, i), row(a, 0))
		scale(a, i, away(r))
	}
	return a
}

func largestOf(xs []float64) (largest float64) {
	for _, x := range xs {
		largest = max(largest, math.Abs(x))
	}
	return largest
}

func scoresOf[T cosine.Float](lists [][]cosine.Neighbor[T]) (scores []float64) {
	for _, list := range lists {
		for _, n := range list {
			scores = append(scores, float64(n.Score))
		}
	}
	return scores
}
