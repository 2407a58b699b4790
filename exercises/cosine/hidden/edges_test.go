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

// A NaN or an infinity makes the similarities of its row NaN, also those to rows of
// zeros, and no others, wherever in the row it stands (rule 3).
func TestNaN(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		d := between(r, 9, 19)
		a, b := random[float64](r, d+between(r, 3, 6), d), random[float64](r, between(r, 9, 14), d)
		for k, i := range r.Perm(a.Rows)[:d] { // at each place in some row
			row(a, i)[k] = bad
		}
		places := r.Perm(b.Rows)
		row(b, places[0])[0] = bad
		row(b, places[1])[d-1] = bad
		row(b, places[2])[r.IntN(d)] = bad
		clear(row(b, places[3]))
		recordEach(t, o, "rows that are not finite", a, b)
		record(o, "rows that are not finite, other way round", b, a)
	}
	a, b := random[float32](r, 9, 3), random[float32](r, 10, 3)
	row(a, r.IntN(9))[r.IntN(3)] = float32(math.NaN())
	row(b, r.IntN(10))[r.IntN(3)] = float32(math.Inf(-1))
	recordEach(t, o, "rows that are not finite, float32", a, b)
	// All of a row, and infinities that cancel each other.
	c := random[float64](r, 5, 2)
	c.Data[0], c.Data[1] = math.Inf(1), math.Inf(-1)
	c.Data[8], c.Data[9] = math.NaN(), math.NaN()
	recordEach(t, o, "rows that are not finite anywhere", c, random[float64](r, 3, 2))
}

// The length of a row does not matter, for float64 from 1e-300 to 1e300: squares
// must not overflow or vanish, nor lose digits, nor may products of lengths, and
// nothing is added to a denominator (rule 5).
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	recordEach(t, o, "rows of any magnitude", sized(r, -300, 300, 40), sized(r, -300, 300, 40))
	recordEach(t, o, "rows of the least and the largest magnitude", sized(r, -300, -300, 1), sized(r, 300, 300, 1))
	// Large and small numbers in one row: the small ones count for little.
	mixed := sized(r, -280, 300, 20) // nothing becomes denormal
	for i := range mixed.Rows {
		row(mixed, i)[1+i%6] *= math.Pow(10, -15*r.Float64())
		row(mixed, i)[1+(i+1)%6] = 0
	}
	recordEach(t, o, "large and small numbers in a row", mixed, sized(r, -300, 300, 120))
	// A row for each decade: squares that are denormal lose digits in few of them.
	every, some := sized(r, -300, 300, 1), sized(r, -300, 300, 40)
	for _, d := range lengths {
		for _, e := range []float64{-300, -154, -45, -37, 0, 37, 38, 154, 300} {
			recordEach(t, o, "long rows of one magnitude", even[float64](r, d, e), even[float64](r, d, e))
		}
		recordEach(t, o, "long rows of the least and the largest magnitude", even[float64](r, d, -300), even[float64](r, d, 300))
	}
	dst := similarity(o, every, some)
	o.Float(bySimilarity+"all together, a row of each decade", fingerprint(r, dst))
	scores, err := scoresOfTopK(some, every)
	failure(o, byTopK+"error", err)
	o.Float(byTopK+"all together, a row of each decade", fingerprint(r, scores))
}

// sized makes rows of 7 numbers, of which the first is the largest. It is a power of ten
// for each step between low and high, drawn from within the step, and at last high.
func sized(r *rand.Rand, low, high, step int) matrix64 {
	m := matrix64{Cols: 7, Stride: 7}
	for e := low; e <= high; e += step {
		m.Rows++
		numbers := draws(7, func() float64 { return away(r) })
		numbers[0] = float64(1 - 2*r.IntN(2))
		m.Data = append(m.Data, numbers...)
		scale(m, m.Rows-1, math.Pow(10, min(float64(e)+float64(step)*r.Float64(), float64(high))))
	}
	for i := range m.Rows { // the largest may stand anywhere
		k := r.IntN(7)
		row(m, i)[0], row(m, i)[k] = row(m, i)[k], row(m, i)[0]
	}
	return m
}

// lengths of rows whose numbers are all of one magnitude: their length is up to 64 times
// as large.
var lengths = []int{13, 100, 4096}

// even makes three rows of d numbers that are all near 10 to the power e, and below it.
func even[T cosine.Float](r *rand.Rand, d int, e float64) cosine.Matrix[T] {
	m := random[T](r, 3, d)
	for i := range m.Data {
		m.Data[i] = T(math.Copysign(0.5+0.5*r.Float64(), float64(m.Data[i])) * math.Pow(10, e))
	}
	return m
}

// The same for float32, from 1e-37 to 1e38. Lengths may be beyond that (rule 5).
func TestMagnitudes32(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	recordEach(t, o, "rows of any magnitude, float32", narrow(sized(r, -37, 38, 1)), narrow(sized(r, -37, 38, 5)))
	for _, d := range lengths {
		for _, e := range []float64{-37, -19, 0, 19, 38} {
			recordEach(t, o, "long rows of one magnitude, float32", even[float32](r, d, e), even[float32](r, d, e))
		}
		recordEach(t, o, "long rows of the least and the largest magnitude, float32", even[float32](r, d, -37), even[float32](r, d, 38))
	}
}

func narrow(m matrix64) matrix32 {
	out := matrix32{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride}
	for _, x := range m.Data {
		out.Data = append(out.Data, float32(x))
	}
	return out
}

// float32 rows are multiplied and added up in float64: in float32, a long sum
// stops growing when what is added is small beside it (rules 1 and 4).
func TestLongSums(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const d = 4096
	a := random[float32](r, 6, d)
	for i := range a.Rows {
		sign := float32(1 - 2*(i%2))
		for k := range d {
			a.Data[i*d+k] = sign * float32(1.3e-4+0.3e-4*r.Float64())
		}
		a.Data[i*d] = 1
	}
	recordEach(t, o, "one large number and many small ones", a, a)
	for i := range a.Data {
		a.Data[i] = float32(r.Float64())
	}
	dst := record(o, "positive", a, a)
	var self []float64
	for i := range dst.Rows {
		self = append(self, float64(dst.Data[i*dst.Stride+i]))
	}
	o.Floats(bySimilarity+"rows with themselves", self, observe.Within(4*0x1p-24, 0))
}

// No rows are no error and nothing to do; without columns all similarities are 0.
// A matrix without elements may have no Data, whatever its Stride (rule 9).
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	empty[float64](t, o, "")
	empty[float32](t, o, ", float32")
}

func empty[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	m, d := between(r, 2, 6), between(r, 2, 6)
	for _, shape := range [][3]int{{0, m, d}, {m, 0, d}, {0, 0, d}, {m, m + 1, 0}, {0, 0, 0}} {
		for _, gap := range []int{0, between(r, 1, 4)} {
			a, b := random[T](r, shape[0], shape[2]), random[T](r, shape[1], shape[2])
			for _, x := range []*cosine.Matrix[T]{&a, &b} {
				if len(x.Data) == 0 {
					x.Stride += gap
					if r.IntN(2) == 0 {
						x.Data = nil
					}
				}
			}
			recordEach(t, o, "nothing in a or b"+name, a, b)
			if shape[0]*shape[1] == 0 {
				dst := cosine.Matrix[T]{Rows: shape[0], Cols: shape[1], Stride: shape[1] + gap}
				failure(o, "error where dst has no Data"+name, cosine.Similarity(background, dst, a, b))
			}
			c := collect(t, cosine.Blocks(background, a, b, between(r, 8, 100)), a.Rows, b.Rows)
			o.Int(byBlocks+"number where there is nothing"+name, c.blocks, observe.AtMost(4, 16))
			lists, err := cosine.TopK(background, a, b, m-1)
			failure(o, "error of TopK"+name, err)
			o.Int("number of lists of TopK"+name, len(lists))
		}
	}
}

// maxBytes may be as little as one number, and as much as one likes; the number of
// blocks is not much larger than it has to be (rules 15 and 16).
func TestBlockSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	blockSizes(t, o, "", random[float64](r, between(r, 30, 40), 3), random[float64](r, between(r, 50, 60), 3), 8)
	blockSizes(t, o, ", float32", random[float32](r, between(r, 30, 40), 3), random[float32](r, between(r, 50, 60), 3), 4)
	manyRows[float64](t, o, "", 8)
	manyRows[float32](t, o, ", float32", 4)
}

// manyRows tries matrices of more rows, columns or numbers than anyone needs a limit for.
func manyRows[T cosine.Float](t *testing.T, o *observe.Observer, name string, size int) {
	t.Helper()
	r := o.Rand()
	for _, shape := range [][2]int{{1300, 1}, {20_000, 2}, {1, 40_000}, {40_000, 1}, {2, 20_000}, {1100, 1200}} {
		a, b := random[T](r, shape[0], 1), random[T](r, shape[1], 1)
		all := size * a.Rows * b.Rows
		for _, maxBytes := range []int{all, all/2 + size, 1 << 40} {
			c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
			failure(o, "error of Blocks"+name, c.err)
			o.Float(byBlocks+"all together, of many rows"+name, fingerprint(r, c.sum), together[T](a.Rows*b.Rows))
			o.Int(byBlocks+"bytes of the largest, of many rows"+name, size*c.largest, observe.AtMost(0, float64(maxBytes)))
			o.Int("number of blocks, of many rows"+name, c.blocks, observe.AtMost(4, 16))
		}
	}
}

func blockSizes[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T], size int) {
	t.Helper()
	r := o.Rand()
	line := size * b.Rows
	for _, maxBytes := range []int{size, size + r.IntN(size), line, line - 1, line + 1, line * 5, line * a.Rows, 1 << 40, math.MaxInt} {
		c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
		failure(o, "error of Blocks"+name, c.err)
		o.Float(byBlocks+"all together"+name, fingerprint(r, c.sum), together[T](a.Rows*b.Rows))
		o.Int(byBlocks+"bytes of the largest"+name, size*c.largest, observe.AtMost(0, float64(maxBytes)))
		o.Int("number of blocks"+name, c.blocks, observe.AtMost(4, 16))
	}
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
	b = random[float64](r, 40, 3)
	clear(b.Data[3*between(r, 3, 20):]) // many rows of zeros
	recordTopK(o, "rows of zeros", random[float64](r, 4, 3), b, 35)
	recordTies(o, "rows of zeros", random[float64](r, 4, 3), b)
	lines := matrix64{Rows: 30, Cols: 1, Stride: 1, Data: draws(30, func() float64 { return float64(between(r, -1, 1)) })}
	recordTopK(o, "one column", lines, lines, between(r, 3, 28))
	recordTies(o, "one column", lines, lines)
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

type score float32
type precise float64

// The type of the numbers may have a name of its own (rule 6).
func TestNamedType(t *testing.T) {
	o := observe.New(t)
	named[score](t, o, 4)
	named[precise](t, o, 8)
}

func named[T cosine.Float](t *testing.T, o *observe.Observer, size int) {
	r := o.Rand()
	a, b := random[T](r, between(r, 5, 9), 5), random[T](r, between(r, 5, 9), 5)
	recordEach(t, o, "a type with a name", a, b)
	recordBlocks(t, o, a, b, between(r, 30, 100), size)
}
