package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// Wrong arguments give an error that wraps ErrShape (some error, where maxBytes or
// k is wrong), without a panic, and dst is not written to. Right ones give none (rules
// 11, 18 and 23).
func TestWrongArguments(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	good := random[float64](r, 4, 3)
	other := random[float64](r, 5, 3)
	operands := []matrix64{
		good,
		{Rows: 4, Cols: 3, Stride: 2, Data: good.Data},
		{Rows: 4, Cols: 3, Stride: 3, Data: good.Data[:11]},
		{Rows: 3, Cols: 3, Stride: 3, Data: good.Data[:9]},
		{Rows: 4, Cols: 3, Stride: 4, Data: good.Data},
		{Rows: 3, Cols: 3, Stride: 4, Data: good.Data[:11]},
		{Rows: -1, Cols: 3, Stride: 3, Data: good.Data},
		{Rows: 4, Cols: -3, Stride: 3, Data: good.Data},
		{Rows: 3, Cols: 4, Stride: 4, Data: good.Data},
		{Rows: 6, Cols: 2, Stride: 2, Data: good.Data},
		{Rows: 4, Cols: 3, Stride: 3},
		{Rows: 1<<62 + 1, Cols: 3, Stride: 4, Data: good.Data},
		{Rows: 2, Cols: 3, Stride: math.MaxInt, Data: good.Data},
		{Rows: 1, Cols: 3, Stride: math.MaxInt, Data: good.Data},
		{Rows: 2, Cols: 3, Stride: 5, Data: good.Data},
		{Rows: math.MaxInt, Cols: 3, Stride: 3, Data: good.Data},
		{Rows: math.MinInt, Cols: 3, Stride: 3, Data: good.Data},
		{Rows: 4, Cols: math.MaxInt, Stride: math.MaxInt, Data: good.Data},
		{Rows: 4, Cols: math.MinInt, Stride: 3, Data: good.Data},
		{Rows: 4, Cols: 3, Stride: math.MinInt, Data: good.Data},
		{Rows: 4, Cols: 3, Stride: 1 << 62, Data: good.Data},
		{Rows: 1<<63/3 + 2, Cols: 3, Stride: 3, Data: good.Data},
	}
	for _, i := range r.Perm(len(operands)) {
		a := operands[i]
		rows := 4
		if a.Rows >= 0 && a.Rows < 4 {
			rows = a.Rows
		}
		for range 2 {
			a, b := a, other
			dst := random[float64](r, rows, 5)
			if r.IntN(2) == 0 {
				a, b = b, a
				dst = random[float64](r, 5, rows)
			}
			failure(o, "error of Similarity, of a or b", cosine.Similarity(background, dst, a, b))
			o.Floats(bySimilarity+"dst", dst.Data)
			_, err := cosine.TopK(background, a, b, 2)
			failure(o, "error of TopK, of a or b", err)
			failure(o, "error of Blocks, of a or b", blocksError(t, a, b, 80))
			a32, b32, dst32 := narrow(a), narrow(b), narrow(dst)
			failure(o, "error of Similarity, of a or b, float32", cosine.Similarity(background, dst32, a32, b32))
			o.Floats(bySimilarity+"dst, float32", floats(dst32.Data), accurate[float32](3))
			_, err = cosine.TopK(background, a32, b32, 2)
			failure(o, "error of TopK, of a or b, float32", err)
			failure(o, "error of Blocks, of a or b, float32", blocksError(t, a32, b32, 40))
		}
	}
	destinations := []matrix64{
		random[float64](r, 4, 5), random[float64](r, 5, 4), random[float64](r, 4, 6), random[float64](r, 3, 5), random[float64](r, 1, 20),
		random[float64](r, 2, 10), random[float64](r, 0, 0), random[float64](r, 20, 1),
	}
	for _, d := range destinations[:4] {
		d.Stride--
		destinations = append(destinations, d)
		d.Stride += 2
		destinations = append(destinations, d)
		d.Stride, d.Data = d.Cols, d.Data[:len(d.Data)-1]
		destinations = append(destinations, d)
		d.Data = nil
		destinations = append(destinations, d)
	}
	for _, i := range r.Perm(len(destinations)) {
		dst := destinations[i]
		dst.Data = slices.Clone(dst.Data)
		failure(o, "error of dst", cosine.Similarity(background, dst, good, other))
		o.Floats(bySimilarity+"dst that may be wrong itself", dst.Data)
		dst32 := narrow(destinations[i])
		failure(o, "error of dst, float32", cosine.Similarity(background, dst32, narrow(good), narrow(other)))
		o.Floats(bySimilarity+"dst that may be wrong itself, float32", floats(dst32.Data), accurate[float32](3))
	}
	for _, i := range r.Perm(12) {
		recordNumbers(t, o, good, other, i-6, i)
	}
	recordNumbers(t, o, good, other, math.MinInt, math.MinInt)
	recordTogether(t, o, good, other)
}

// recordNumbers records whether k and maxBytes are wrong.
func recordNumbers(t *testing.T, o *observe.Observer, a, b matrix64, k, maxBytes int) {
	t.Helper()
	_, err := cosine.TopK(background, a, b, k)
	o.Bool("k is wrong", err != nil)
	_, err = cosine.TopK(background, narrow(a), narrow(b), k)
	o.Bool("k is wrong, float32", err != nil)
	o.Bool("maxBytes is wrong", blocksError(t, a, b, maxBytes) != nil)
	o.Bool("maxBytes is wrong, float32", blocksError(t, narrow(a), narrow(b), maxBytes-2) != nil)
}

// recordTogether tries several mistakes at a time: which error comes first is left open,
// but one comes.
func recordTogether(t *testing.T, o *observe.Observer, a, b matrix64) {
	t.Helper()
	short := a
	short.Data = short.Data[:5]
	for _, ctx := range ended(o) {
		dst := random[float64](o.Rand(), 4, 4)
		o.Bool("an error of Similarity where much is wrong", cosine.Similarity(ctx, dst, short, b) != nil)
		_, err := cosine.TopK(ctx, short, b, 0)
		o.Bool("an error of TopK where much is wrong", err != nil)
		for _, err := range cosine.Blocks(ctx, short, b, 0) {
			o.Bool("an error of Blocks where much is wrong", err != nil)
		}
	}
}

// blocksError is the error that comes last, without a block before it.
func blocksError[T cosine.Float](t *testing.T, a, b cosine.Matrix[T], maxBytes int) error {
	t.Helper()
	var last error
	n := 0
	for block, err := range cosine.Blocks(background, a, b, maxBytes) {
		if last != nil || n > 100 {
			t.Fatal("an error is the last thing that is yielded")
		}
		n++
		if last = err; err != nil && (n > 1 || block.Sim.Data != nil || block.Sim.Rows != 0) {
			t.Fatal("an error of the arguments comes alone, with an empty block")
		}
	}
	return last
}

// A dst that has an element in common with a or b is an error that wraps ErrShape,
// and is not written to. Matrices beside each other in one slice are right (rule 12).
func TestOverlap(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// The rows of both operands, and their columns: also where a matrix has one
	// row, one column or one element.
	shapes := [][3]int{{1, 4, 3}, {4, 1, 3}, {4, 5, 1}, {1, 1, 3}, {1, 4, 1}, {4, 1, 1}, {1, 1, 1}}
	for range 6 {
		shapes = append(shapes, [3]int{4, 4, 3})
	}
	for _, i := range r.Perm(len(shapes)) {
		recordNeighbors[float64](o, "", shapes[i][0], shapes[i][1], shapes[i][2])
		recordNeighbors[float32](o, ", float32", shapes[i][0], shapes[i][1], shapes[i][2])
	}
	recordNeighbors[float64](o, ", of many", 20, 25, 30)
	// Without elements there are none in common.
	memory := random[float64](r, 1, 40).Data
	n := between(r, 3, 5)
	for _, m := range []struct{ dst, a, b matrix64 }{
		{view(memory, 4, n, n), view(memory, 4, 0, between(r, 0, 3)), view(memory, n, 0, between(r, 1, 3))},
		{view(memory, 4, 0, 2), view(memory, 4, 3, 4), view(memory, 0, 3, between(r, 3, 5))},
		{view(memory, 0, n, n+1), view(memory, 0, 3, 4), view(memory, n, 3, 3)},
	} {
		failure(o, "error where there are no elements", cosine.Similarity(background, m.dst, m.a, m.b))
		o.Floats(bySimilarity+"memory where there are no elements", memory)
	}
}

// recordNeighbors tries a dst in one slice with a, of rows × cols numbers, and one with
// b of that size: beside it, one too far, inside, around, and from where it begins.
func recordNeighbors[T cosine.Float](o *observe.Observer, about string, rows, others, cols int) {
	r := o.Rand()
	size, space := rows*cols, rows*others
	before := random[T](r, 1, 50+size+2*space).Data
	at := space + between(r, 10, 20)
	other := random[T](r, others, cols)
	starts := []int{at - space, at - space + 1, at + size, at + size - 1, at + r.IntN(size), at - r.IntN(space), at, at - space - r.IntN(4), at + size + r.IntN(9)}
	for _, i := range r.Perm(2 * len(starts)) {
		start := starts[i/2]
		memory := slices.Clone(before)
		a, b := view(memory[at:], rows, cols, cols), other
		dst := view(memory[start:], rows, others, others)
		if r.IntN(2) == 0 {
			a.Data = a.Data[:size:size]
		}
		if r.IntN(2) == 0 {
			dst.Data = dst.Data[:space:space]
		}
		if i%2 == 0 {
			a, b = b, a
			dst.Rows, dst.Cols, dst.Stride = others, rows, rows
		}
		common := start < at+size && at < start+space
		name := map[bool]string{false: "beside each other", true: "with elements in common"}[common]
		failure(o, "error of matrices "+name+about, cosine.Similarity(background, dst, a, b))
		if common {
			o.Floats("memory of matrices "+name+about, floats(memory))
		} else {
			o.Floats(bySimilarity+"memory of matrices "+name+about, floats(memory), accurate[T](cols))
		}
	}
}

// view is a matrix that begins where data does.
func view[T cosine.Float](data []T, rows, cols, stride int) cosine.Matrix[T] {
	return cosine.Matrix[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
}
