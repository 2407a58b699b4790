package hidden

import (
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
		d := 4 * between(r, 3, 5)
		a, b := ordinary[float64](r, d+4, d), ordinary[float64](r, d+4, d)
		places := r.Perm(d + 4)
		for k := range d { // at each place in some row
			row(a, places[k])[k] = bad
		}
		clear(row(b, places[0]))
		row(b, places[1])[0] = bad
		row(b, places[d])[d-1] = bad
		row(b, places[d+1])[r.IntN(d)] = bad
		clear(row(a, places[d+2]))
		recordEach(t, o, "rows that are not finite", a, b)
		recordEach(t, o, "rows that are not finite, other way round", b, a)
	}
	a, b := ordinary[float32](r, 12, 3), ordinary[float32](r, 12, 3)
	row(a, r.IntN(12))[r.IntN(3)] = float32(math.NaN())
	row(b, r.IntN(12))[r.IntN(3)] = float32(math.Inf(-1))
	recordEach(t, o, "rows that are not finite, float32", a, b)
	// All of a row, and infinities that cancel each other.
	c := ordinary[float64](r, 4, 4)
	copy(row(c, 0), []float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)})
	copy(row(c, 2), []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()})
	recordEach(t, o, "rows that are not finite anywhere", c, ordinary[float64](r, 4, 4))
	besideZeros[float64](t, o, "")
	besideZeros[float32](t, o, ", float32")
	recordMany(t, o, "rows that are not finite", func(row []float64) {
		row[r.IntN(len(row))] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
	})
	recordMany(t, o, "rows that are not finite, float32", func(row []float32) {
		row[r.IntN(len(row))] = float32([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)])
	})
}

// besideZeros records the similarities of rows of which none is finite and rows of which all
// are zeros, or many that follow each other: who works on several rows at a time may find
// nothing in them.
func besideZeros[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	bad := func(rows, d int) cosine.Matrix[T] {
		m := ordinary[T](r, rows, d)
		for i := range rows {
			row(m, i)[r.IntN(d)] = T([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)])
		}
		return m
	}
	few, n := ordinary[T](r, 36, 4), between(r, 15, 24)
	clear(few.Data[4*r.IntN(36-n):][:4*n])
	none := ordinary[T](r, 4*between(r, 3, 6), 4)
	clear(none.Data)
	for _, m := range []cosine.Matrix[T]{few, none} {
		other := bad(m.Rows, 4)
		recordEach(t, o, "rows that are not finite, many rows of zeros"+name, m, other)
		recordEach(t, o, "rows that are not finite, many rows of zeros, other way round"+name, other, m)
	}
	// And so many that they are worth a loop of their own.
	many, other := ordinary[T](r, 512, 8), bad(512, 8)
	clear(many.Data[8*r.IntN(60):][:8*128])
	recordPlaces(t, o, "rows that are not finite, many rows of zeros"+name, many, other, somePlaces(r, 192, 320))
	recordPlaces(t, o, "rows that are not finite, many rows of zeros, other way round"+name, other, many, somePlaces(r, 256, 192))
}

// The length of a row does not matter, for float64 from 1e-300 to 1e300: squares
// must not overflow or vanish, nor lose digits, nor may products of lengths, nothing
// is added to a denominator, and a row of almost length 1 is scaled as others are
// (rules 1 and 5).
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	recordExactly(t, o, "rows of any magnitude", sized(r, -300, 300, 40), sized(r, -300, 300, 40))
	recordExactly(t, o, "rows of the least and the largest magnitude", sized(r, -300, -297, 1), sized(r, 297, 300, 1))
	// Large and small numbers in one row: the small ones count for little.
	mixed := sized(r, -280, 300, 38) // nothing becomes denormal
	for i := range mixed.Rows {
		row(mixed, i)[1+i%6] *= math.Pow(10, -15*r.Float64())
		row(mixed, i)[1+(i+1)%6] = 0
	}
	recordExactly(t, o, "large and small numbers in a row", mixed, sized(r, -280, 300, 38))
	recordExactly(t, o, "the largest and the least number in a row", uneven[float64](r, -300, 300), uneven[float64](r, -300, 300))
	for _, d := range lengths {
		for _, e := range []float64{-300, -154, -45, -37, 0, 37, 38, 154, 300} {
			recordExactly(t, o, "long rows of one magnitude", even[float64](r, d, e), even[float64](r, d, e))
		}
		recordExactly(t, o, "long rows of the least and the largest magnitude", even[float64](r, d, -300), even[float64](r, d, 300))
	}
	for e := -13; e < 0; e++ {
		recordExactly(t, o, "rows of almost length 1", almostUnit[float64](r, e), almostUnit[float64](r, e))
	}
	// A row for each decade: squares that are denormal lose digits in few of them.
	every, some := sized(r, -299, 300, 1), sized(r, -300, 300, 40)
	recordDecades(t, o, "a row of each decade", every, sized(r, -299, 300, 1))
	recordDecades(t, o, "a row of each decade", reversed(every), sized(r, -299, 300, 1))
	scores, err := scoresOfTopK(some, every)
	failure(o, byTopK+"error", err)
	o.Float(byTopK+"all together, a row of each decade", fingerprint(r, scores))
	for _, sign := range []float64{-1, 1} {
		recordMany(t, o, "large or small rows", func(row []float64) {
			factor := math.Pow(10, sign*(180+100*r.Float64()))
			for k := range row {
				row[k] *= factor
			}
		})
	}
}

// recordDecades records of Similarity what row i of a and row i of b have, of few rows at a time.
func recordDecades[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	t.Helper()
	for i := 0; i < a.Rows; i += 60 {
		n, d := min(60, a.Rows-i), a.Cols
		some := similarity(t, o, view(a.Data[i*d:(i+n)*d], n, d, d), view(b.Data[i*d:(i+n)*d], n, d, d))
		o.Floats(bySimilarity+name, pairs(some), accurate[T](d))
	}
}

// sized makes rows of 8 numbers, of which the first is the largest. It is a power of ten
// for each step between low and high, drawn from within the step, and at last high.
func sized(r *rand.Rand, low, high, step int) matrix64 {
	m := matrix64{Cols: 8, Stride: 8}
	for e := low; e <= high; e += step {
		m.Rows++
		numbers := draws(8, func() float64 { return away(r) })
		numbers[0] = float64(1 - 2*r.IntN(2))
		m.Data = append(m.Data, numbers...)
		scale(m, m.Rows-1, math.Pow(10, min(float64(e)+float64(step)*r.Float64(), float64(high))))
	}
	for i := range m.Rows { // the largest may stand anywhere
		k := r.IntN(8)
		row(m, i)[0], row(m, i)[k] = row(m, i)[k], row(m, i)[0]
	}
	return m
}

// uneven makes rows of 8 numbers of the power of ten high, but for one, which is of the
// power low: in each row another.
func uneven[T cosine.Float](r *rand.Rand, low, high float64) cosine.Matrix[T] {
	m := view(even[T](r, 16, high).Data, 8, 8, 8)
	for i := range m.Rows {
		row(m, i)[i] = T(math.Pow(10, low))
	}
	return m
}

// lengths of rows whose numbers are all of one magnitude: their length is up to 64 times
// as large.
var lengths = []int{12, 100, 4096}

// even makes four rows of d numbers that are all near 10 to the power e, and below it.
func even[T cosine.Float](r *rand.Rand, d int, e float64) cosine.Matrix[T] {
	m := random[T](r, 4, d)
	for i := range m.Data {
		m.Data[i] = T(math.Copysign(0.5+0.5*r.Float64(), float64(m.Data[i])) * math.Pow(10, e))
	}
	return m
}

// almostUnit makes rows of which the first has length 1. The others are shorter and longer by turns, by
// up to 10 to the power e.
func almostUnit[T cosine.Float](r *rand.Rand, e int) cosine.Matrix[T] {
	m := ordinary[T](r, 8, 8)
	for i := 1; i < m.Rows; i++ {
		scale(m, i, 1+float64(1-2*(i%2))*math.Pow(10, float64(e))*(0.5+0.5*r.Float64()))
	}
	return m
}

// The same for float32, from 1e-37 to 1e38. Lengths may be beyond that. Rows of almost length 1
// are as similar to themselves as others are (rules 1, 4 and 5).
func TestMagnitudes32(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	every := narrow(sized(r, -37, 38, 1))
	recordExactly(t, o, "rows of any magnitude, float32", every, narrow(sized(r, -37, 38, 5)))
	other := narrow(sized(r, -37, 38, 1))
	recordDecades(t, o, "a row of each decade, float32", every, other)
	recordExactly(t, o, "the largest and the least number in a row, float32", uneven[float32](r, -37, 38), uneven[float32](r, -37, 38))
	recordDecades(t, o, "a row of each decade, float32", reversed(every), other)
	for e := -7; e < 0; e++ {
		m := almostUnit[float32](r, e)
		recordExactly(t, o, "rows of almost length 1, float32", m, almostUnit[float32](r, e))
		recordSelves(t, o, "rows of almost length 1 with themselves, float32", m)
	}
	for _, d := range lengths {
		for _, e := range []float64{-37, -19, 0, 19, 38} {
			recordExactly(t, o, "long rows of one magnitude, float32", even[float32](r, d, e), even[float32](r, d, e))
		}
		recordExactly(t, o, "long rows of the least and the largest magnitude, float32", even[float32](r, d, -37), even[float32](r, d, 38))
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
	a := oneLarge(r, 8, d)
	recordExactly(t, o, "one large number and many small ones", a, shifted(a))
	for i := range a.Data {
		a.Data[i] = float32(r.Float64())
	}
	for i := range a.Rows {
		unit(a, i)
	}
	recordExactly(t, o, "positive", a, shifted(a))
	for _, rows := range []int{7, 9} { // those that are left over may have a loop of their own
		odd := oneLarge(r, rows, d)
		recordExactly(t, o, "an odd number of rows, one large number and many small ones", odd, shifted(odd))
	}
	for n := 2; n <= 256; n *= 2 { // products that were added up before, so many at a time
		blocks := oneAndLost(r, 8, d, n)
		recordExactly(t, o, "one large number and many that are lost together", blocks, shifted(blocks))
		recordSelves(t, o, "rows with themselves, one large number and many that are lost together", blocks)
	}
	c := collect(t, cosine.Blocks(background, a, shifted(a), 8), a.Rows, a.Rows)
	o.Floats(byBlocks+"positive, parts of rows", c.sum.Data, accurate[float32](d))
	recordSelves(t, o, "rows with themselves", a)
	longSumsOfMany(t, o)
}

// recordSelves records the similarities of rows with themselves, which are at most 4 numbers
// below 1, of Similarity and Blocks. Of TopK it reads those of rows that stand one place further on.
func recordSelves(t *testing.T, o *observe.Observer, name string, a matrix32) {
	t.Helper()
	accuracy := observe.Within(4*0x1p-24, 0)
	b := view(slices.Clone(a.Data), a.Rows, a.Cols, a.Cols)
	o.Floats(bySimilarity+name, pairs(similarity(t, o, a, b)), accuracy)
	c := collect(t, cosine.Blocks(background, a, b, 1<<20), a.Rows, a.Rows)
	o.Floats(byBlocks+name, pairs(c.sum), accuracy)
	scores, err := scoresOfTopK(a, shifted(a))
	failure(o, byTopK+"error", err)
	var places [][2]int
	for i := range a.Rows {
		places = append(places, [2]int{(i + 1) % a.Rows, i})
	}
	o.Floats(byTopK+name, picked(scores, places), accuracy)
}

// oneLarge makes rows of one large number and many small ones, which are lost beside it.
func oneLarge(r *rand.Rand, rows, d int) matrix32 {
	return oneAmong(r, rows, d, 1.3e-4, 1.6e-4)
}

// oneAndLost makes rows of one large number and many so small that the sum of n of their
// squares is lost beside it.
func oneAndLost(r *rand.Rand, rows, d, n int) matrix32 {
	half := 0x1p-25 / float64(n) // of what is between 1 and the number before
	return oneAmong(r, rows, d, math.Sqrt(0.87*half), math.Sqrt(0.97*half))
}

// oneAmong makes rows of one large number and many from least to most.
func oneAmong(r *rand.Rand, rows, d int, least, most float64) matrix32 {
	m := random[float32](r, rows, d)
	for i := range m.Rows {
		sign := float64(1 - 2*(i%2)) // other than in the next row: what is lost is not made up for by lengths
		for k := range d {
			m.Data[i*d+k] = float32(sign * (least + (most-least)*r.Float64()))
		}
		m.Data[i*d] = 1
		unit(m, i)
	}
	return m
}

// longSumsOfMany records some similarities of as many rows as are worth a loop of their own,
// in Similarity as many as in a benchmark. Their numbers are multiples of 64: ends are the
// subject of TestOddSizes.
func longSumsOfMany(t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	d := 64 * between(r, 4, 5)
	a, b := oneLarge(r, 512, d), oneLarge(r, 64*between(r, 8, 9), d)
	const name = "some of many, one large number and many small ones"
	o.Floats(bySimilarity+name, picked(similarity(t, o, a, b), somePlaces(r, a.Rows, b.Rows)), accurate[float32](d))
	a.Rows, b.Rows = 256, 320
	places := somePlaces(r, a.Rows, b.Rows)
	c := collect(t, cosine.Blocks(background, a, b, 1<<30), a.Rows, b.Rows)
	o.Floats(byBlocks+name, picked(c.sum, places), accurate[float32](d))
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Floats(byTopK+name, picked(scores, places), accurate[float32](d))
}

// recordMany records some similarities of as many ordinary rows as are worth a loop of their own,
// of which special has changed some: similarities of these, and of others.
func recordMany[T cosine.Float](t *testing.T, o *observe.Observer, name string, special func(row []T)) {
	t.Helper()
	r := o.Rand()
	a, b := ordinary[T](r, 512, 8), ordinary[T](r, 64*between(r, 8, 9), 8)
	places := somePlaces(r, 256, 320)
	others := pick(r, 20, 320)
	for n, i := range pick(r, 20, 256) {
		j := others[n]
		special(row(a, i))
		special(row(b, j))
		places = append(places, [2]int{i, j}, [2]int{i, r.IntN(320)}, [2]int{r.IntN(256), j})
	}
	recordPlaces(t, o, name, a, b, places)
}

// recordPlaces records some similarities of many rows: in Blocks and TopK, of 256 and 320 of them.
func recordPlaces[T cosine.Float](t *testing.T, o *observe.Observer, name string, a, b cosine.Matrix[T], places [][2]int) {
	t.Helper()
	name = "some of many, " + name
	o.Floats(bySimilarity+name, picked(similarity(t, o, a, b), places), near)
	a.Rows, b.Rows = 256, 320
	c := collect(t, cosine.Blocks(background, a, b, a.Rows*b.Rows*sizeOf[T]()), a.Rows, b.Rows)
	failure(o, byBlocks+"error", c.err)
	o.Floats(byBlocks+name, picked(c.sum, places), near)
	scores, err := scoresOfTopK(a, b)
	failure(o, byTopK+"error", err)
	o.Floats(byTopK+name, picked(scores, places), near)
}

// somePlaces draws places in a matrix.
func somePlaces(r *rand.Rand, rows, cols int) [][2]int {
	places := make([][2]int, 50)
	for i := range places {
		places[i] = [2]int{r.IntN(rows), r.IntN(cols)}
	}
	return places
}

// picked are the numbers of m at places.
func picked[T cosine.Float](m cosine.Matrix[T], places [][2]int) (out []float64) {
	for _, at := range places {
		out = append(out, float64(row(m, at[0])[at[1]]))
	}
	return out
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
	m, d := 4*between(r, 1, 2), 4*between(r, 1, 2)
	for _, shape := range [][3]int{{0, m, d}, {m, 0, d}, {0, 0, d}, {m, m + 1, 0}, {0, 0, 0}} {
		for _, gap := range []int{0, between(r, 1, 4), math.MaxInt - 20} {
			a, b := ordinary[T](r, shape[0], shape[2]), ordinary[T](r, shape[1], shape[2])
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

type score float32
type precise float64

// The type of the numbers may have a name of its own (rule 6).
func TestNamedType(t *testing.T) {
	o := observe.New(t)
	named[score](t, o)
	named[precise](t, o)
	recordClose[score](o, ", a float32 with a name", 40, 1e-5)
	recordClose[precise](o, ", a float64 with a name", 40, 1e-8, 1e-12)
	r := o.Rand()
	recordExactly(t, o, "large and small numbers of a type with a name", even[precise](r, 12, 300), even[precise](r, 12, -300))
	recordExactly(t, o, "large and small numbers of a type with a name", even[score](r, 12, 38), even[score](r, 12, -37))
	long := [2]cosine.Matrix[score]{}
	for i := range long {
		m := oneLarge(r, 4, 4096)
		long[i] = cosine.Matrix[score]{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride}
		for _, x := range m.Data {
			long[i].Data = append(long[i].Data, score(x))
		}
	}
	recordExactly(t, o, "long sums of a type with a name", long[0], long[1])
}

func named[T cosine.Float](t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	a, b := ordinary[T](r, 8, 8), ordinary[T](r, 8, 8)
	recordEach(t, o, "a type with a name", a, b)
	size := sizeOf[T]()
	recordBlocks(t, o, a, b, between(r, 30, 100), size)
	for _, numbers := range []int{1, b.Rows, 2 * b.Rows} { // as many as fit
		c := collect(t, cosine.Blocks(background, a, b, numbers*size), a.Rows, b.Rows)
		failure(o, byBlocks+"error", c.err)
		o.Int(byBlocks+"numbers in the largest", c.largest, observe.AtMost(0, float64(numbers)))
	}
	o.Bool(byBlocks+"less than one number is an error", blocksError(t, a, b, size-1) != nil)
}
