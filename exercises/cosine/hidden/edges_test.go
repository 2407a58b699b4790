package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// A NaN or an infinity makes the similarities of its row NaN, also those to rows of
// zeros, and no others.
func TestNaN(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a, b := random[float64](r, between(r, 9, 14), 9), random[float64](r, between(r, 9, 14), 9)
		for _, i := range pick(r, 2, a.Rows) {
			row(a, i)[r.IntN(9)] = bad
		}
		for _, j := range pick(r, 2, b.Rows) {
			row(b, j)[r.IntN(9)] = bad
			clear(row(b, (j+1)%b.Rows)) // one of them may be bad: then there is one
		}
		record(o, "similarity", a, b)
		record(o, "other way round", b, a)
		c := collect(t, cosine.Blocks(background, a, b, 8*between(r, 5, 50)), a.Rows, b.Rows)
		o.Matrix("blocks", a.Rows, b.Rows, c.sum.Data)
	}
	a, b := random[float32](r, 9, 3), random[float32](r, 10, 3)
	row(a, r.IntN(9))[r.IntN(3)] = float32(math.NaN())
	row(b, r.IntN(10))[r.IntN(3)] = float32(math.Inf(-1))
	record(o, "float32", a, b)
	// All of a row, and infinities that cancel each other.
	c := random[float64](r, 5, 2)
	c.Data[0], c.Data[1] = math.Inf(1), math.Inf(-1)
	c.Data[8], c.Data[9] = math.NaN(), math.NaN()
	record(o, "all of a row", c, random[float64](r, 3, 2))
}

// The length of a row does not matter, for float64 from 1e-300 to 1e300: squares
// must not overflow or vanish, nor products of lengths, and nothing is added to a
// denominator.
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	exponents := []int{-299, -250, -200, -170, -155, -100, -20, -9, 0, 9, 100, 153, 160, 200, 250, 299}
	a, b := sized(o, exponents), sized(o, exponents)
	record(o, "similarity", a, b)
	c := collect(t, cosine.Blocks(background, a, b, 8*between(r, 20, 60)), a.Rows, b.Rows)
	o.Matrix("blocks", a.Rows, b.Rows, c.sum.Data)
	recordTopK(o, "best", a, b, 4)
	// Large and small numbers in one row: the small ones count for nothing.
	for i := range a.Rows {
		row(a, i)[r.IntN(7)] *= 1e-5
		row(b, i)[i%7] = 0 // of the first row the first: it is not the largest of any
	}
	record(o, "mixed", a, b)
}

// sized makes rows of 7 numbers with largest ones of those powers of ten.
func sized(o *observe.Observer, exponents []int) matrix64 {
	m := matrix64{Rows: len(exponents), Cols: 7, Stride: 7, Data: draws(7*len(exponents), func() float64 { return away(o.Rand()) })}
	for i, e := range exponents {
		row(m, i)[o.Rand().IntN(7)] = 1
		scale(m, i, math.Pow10(e))
	}
	return m
}

// The same for float32, from 1e-37 to 1e38.
func TestMagnitudes32(t *testing.T) {
	o := observe.New(t)
	exponents := []int{-36, -30, -25, -20, -10, 0, 10, 18, 25, 30, 38}
	record(o, "similarity", narrow(sized(o, exponents)), narrow(sized(o, exponents)))
}

func narrow(m matrix64) matrix32 {
	out := matrix32{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride}
	for _, x := range m.Data {
		out.Data = append(out.Data, float32(x))
	}
	return out
}

// float32 rows are multiplied and added up in float64: in float32, a long sum
// stops growing when what is added is small beside it.
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
	record(o, "one large number and many small ones", a, a)
	for i := range a.Data {
		a.Data[i] = float32(r.Float64())
	}
	dst := record(o, "positive", a, a)
	var self []float64
	for i := range dst.Rows {
		self = append(self, float64(dst.Data[i*dst.Stride+i]))
	}
	o.Floats("with themselves", self, observe.Within(4*0x1p-24, 0))
}

// No rows are no error and nothing to do; without columns all similarities are 0.
// A matrix without elements may have no Data, whatever its Stride.
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	m, d := between(r, 2, 6), between(r, 2, 6)
	for _, shape := range [][3]int{{0, m, d}, {m, 0, d}, {0, 0, d}, {m, m + 1, 0}, {0, 0, 0}} {
		for _, gap := range []int{0, between(r, 1, 4)} {
			a, b := random[float64](r, shape[0], shape[2]), random[float64](r, shape[1], shape[2])
			for _, x := range []*matrix64{&a, &b} {
				if len(x.Data) == 0 {
					x.Stride += gap
					if r.IntN(2) == 0 {
						x.Data = nil
					}
				}
			}
			record(o, "similarity", a, b)
			if shape[0]*shape[1] == 0 {
				dst := matrix64{Rows: shape[0], Cols: shape[1], Stride: shape[1] + gap}
				failure(o, "dst without Data: error", cosine.Similarity(background, dst, a, b))
			}
			c := collect(t, cosine.Blocks(background, a, b, between(r, 8, 100)), a.Rows, b.Rows)
			failure(o, "blocks: error", c.err)
			o.Matrix("blocks", a.Rows, b.Rows, c.sum.Data)
			o.Int("blocks: number", c.blocks, observe.AtMost(4, 16))
			recordTopK(o, "best", a, b, m-1)
		}
	}
}

// maxBytes may be as little as one number, and as much as one likes; the number of
// blocks is not much larger than it has to be.
func TestBlockSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, between(r, 30, 40), 3), random[float64](r, between(r, 50, 60), 3)
	for _, maxBytes := range []int{8, 8 + r.IntN(8), 8 * b.Rows, 8*b.Rows - 1, 8*b.Rows + 1, 8 * b.Rows * 5, 8 * a.Rows * b.Rows, 1 << 40, math.MaxInt} {
		c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
		failure(o, "error", c.err)
		o.Float("all together", fingerprint(r, c.sum))
		o.Int("bytes of the largest", 8*c.largest, observe.AtMost(0, float64(maxBytes)))
		o.Int("number", c.blocks, observe.AtMost(4, 16))
	}
}

// Equal scores are ordered by index, the smaller first.
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
		for _, k := range []int{1, between(r, 5, 30), 150} {
			recordTopK(o, "best", a, b, k)
			recordTopK(o, "best, float32", narrow(a), narrow(b), k)
		}
	}
	b := random[float64](r, 40, 3)
	clear(b.Data[3*between(r, 3, 20):]) // many rows of zeros
	recordTopK(o, "rows of zeros", random[float64](r, 4, 3), b, 35)
}

// NaN is worse than every number, wherever its row stands, and several are
// ordered by index.
func TestNaNIsLast(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []int{1, 3, 10, 17} {
		a, b := random[float64](r, 6, 4), random[float64](r, 20, 4)
		for n, j := range pick(r, bad, b.Rows) {
			row(b, j)[n%4] = math.NaN()
		}
		row(b, r.IntN(3))[0] = math.Inf(1) // among the first that are seen
		row(a, r.IntN(6))[0] = math.NaN()
		for _, k := range []int{1, between(r, 2, 9), 20} {
			recordTopK(o, "best", a, b, k)
		}
	}
}

// With a k larger than the number of rows, however much, a list has all rows.
func TestLargeK(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 3, 4), random[float64](r, between(r, 5, 12), 4)
	for _, k := range []int{b.Rows, b.Rows + 1, 1000, 1 << 40, math.MaxInt} {
		recordTopK(o, "best", a, b, k)
	}
}

type score float32
type precise float64

// The type of the numbers may have a name of its own.
func TestNamedType(t *testing.T) {
	o := observe.New(t)
	named[score](t, o, 4)
	named[precise](t, o, 8)
}

func named[T cosine.Float](t *testing.T, o *observe.Observer, size int) {
	r := o.Rand()
	a, b := random[T](r, between(r, 5, 9), 5), random[T](r, between(r, 5, 9), 5)
	record(o, "similarity", a, b)
	recordBlocks(t, o, a, b, between(r, 30, 100), size)
	lists, err := cosine.TopK(background, a, b, 1)
	failure(o, "error", err)
	for _, list := range lists {
		for _, n := range list {
			o.Float("best score", float64(n.Score), accurate[T](5))
		}
	}
}
