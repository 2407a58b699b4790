package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// Wrong arguments give an error that wraps ErrShape (some error, where maxBytes or
// k is wrong), without a panic, and dst is not written to: also where there is nothing
// to do for want of rows or columns. Right ones give none (rules 11, 18 and 23).
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
		{Rows: 1, Cols: 3, Stride: 2, Data: good.Data},
		{Rows: 1, Cols: 3, Stride: 0, Data: good.Data},
		{Rows: 1, Cols: 3, Stride: -1, Data: good.Data},
		{Rows: math.MaxInt, Cols: 3, Stride: 3, Data: good.Data},
		{Rows: math.MinInt, Cols: 3, Stride: 3, Data: good.Data},
		{Rows: 4, Cols: math.MaxInt, Stride: math.MaxInt, Data: good.Data},
		{Rows: 4, Cols: math.MinInt, Stride: 3, Data: good.Data},
		{Rows: 4, Cols: 3, Stride: math.MinInt, Data: good.Data},
		{Rows: 4, Cols: 3, Stride: 1 << 62, Data: good.Data},
		{Rows: 1<<63/3 + 2, Cols: 3, Stride: 3, Data: good.Data},
		{Rows: 1, Cols: 3, Stride: 3, Data: good.Data[:2]}, // one row, which is too short
		{Rows: 1, Cols: 3, Stride: 4, Data: good.Data[:1]},
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
			recordRefused(o, "of a or b", dst, a, b)
			_, err := cosine.TopK(background, a, b, 2)
			failure(o, "error of TopK, of a or b", err)
			failure(o, "error of Blocks, of a or b", blocksError(t, a, b, 80))
			a32, b32 := narrow(a), narrow(b)
			recordRefused(o, "of a or b, float32", narrow(dst), a32, b32)
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
	for _, stride := range []int{1 << 62, math.MaxInt} {
		d := random[float64](r, 4, 5)
		d.Stride = stride
		destinations = append(destinations, d)
	}
	for _, i := range r.Perm(len(destinations)) {
		dst := destinations[i]
		dst.Data = slices.Clone(dst.Data)
		recordRefused(o, "of dst", dst, good, other)
		recordRefused(o, "of dst, float32", narrow(destinations[i]), narrow(good), narrow(other))
	}
	for _, i := range r.Perm(12) {
		recordNumbers(t, o, good, other, i-6, i)
	}
	recordNumbers(t, o, good, other, math.MinInt, math.MinInt)
	recordTogether(t, o, good, other)
	recordNothing[float64](t, o, "", 8)
	recordNothing[float32](t, o, ", float32", 4)
}

// recordRefused records the error of Similarity, and dst where there is one.
func recordRefused[T cosine.Float](o *observe.Observer, name string, dst, a, b cosine.Matrix[T]) {
	err := cosine.Similarity(background, dst, a, b)
	failure(o, "error of Similarity, "+name, err)
	if err != nil {
		o.Floats("dst after an error, "+name, floats(dst.Data))
	}
}

// recordNothing tries wrong arguments where a or b has no rows, or both have no columns.
func recordNothing[T cosine.Float](t *testing.T, o *observe.Observer, name string, size int) {
	t.Helper()
	r := o.Rand()
	wrong := func(what string, a, b cosine.Matrix[T]) {
		dst := random[T](r, max(0, a.Rows), max(0, b.Rows))
		failure(o, "error of Similarity, without elements, "+what+name, cosine.Similarity(background, dst, a, b))
		_, err := cosine.TopK(background, a, b, 2)
		failure(o, "error of TopK, without elements, "+what+name, err)
		failure(o, "error of Blocks, without elements, "+what+name, blocksError(t, a, b, 80))
	}
	for _, rows := range []int{0, 4} {
		m := random[T](r, rows, 3)
		none := random[T](r, 4-rows, 3) // one of the two is empty
		few := random[T](r, 4-rows, 2)
		wrong("right", m, none)
		wrong("other columns in b", m, few)
		wrong("other columns in a", few, m)
		short := random[T](r, 5, 3)
		short.Data = short.Data[:14]
		negative := none
		negative.Rows = -1
		empty := random[T](r, 0, 3)
		for _, stride := range []int{2, 0, -1} {
			narrow := empty
			narrow.Stride = stride
			wrong("stride of b", random[T](r, 5, 3), narrow)
			wrong("stride of a", narrow, random[T](r, 5, 3))
		}
		inverted := random[T](r, 2, 3)
		inverted.Cols = -3
		wrong("both below 0 columns", inverted, inverted)
		wrong("b too short", empty, short)
		wrong("a too short", short, empty)
		wrong("b with negative rows", empty, negative)
		wrong("a with negative rows", negative, empty)
		for _, shape := range [][2]int{{m.Rows, none.Rows}, {m.Rows, none.Rows + 1}, {m.Rows + 1, none.Rows}, {none.Rows, m.Rows}, {5, 7}, {0, 0}} {
			dst := random[T](r, shape[0], shape[1])
			before := slices.Clone(dst.Data)
			failure(o, "error of dst, without elements"+name, cosine.Similarity(background, dst, m, none))
			o.Bool("dst is as before, without elements"+name, slices.Equal(dst.Data, before))
		}
	}
	left, right := random[T](r, 3, 0), random[T](r, 5, 0)
	for _, shape := range [][2]int{{3, 5}, {5, 3}, {3, 4}, {4, 5}, {0, 0}} {
		dst := random[T](r, shape[0], shape[1])
		failure(o, "error of dst, without columns"+name, cosine.Similarity(background, dst, left, right))
	}
	for _, shape := range [][3]int{{0, 5, 4}, {0, 5, 0}, {0, 5, -1}, {5, 0, -1}} {
		dst := cosine.Matrix[T]{Rows: shape[0], Cols: shape[1], Stride: shape[2]}
		failure(o, "error of stride of dst, without elements"+name, cosine.Similarity(background, dst, random[T](r, shape[0], 3), random[T](r, shape[1], 3)))
	}
	for _, stride := range []int{6, 4, 0, -1} { // a dst of one row
		dst := random[T](r, 1, 5)
		dst.Stride = stride
		recordRefused(o, "of dst of one row"+name, dst, random[T](r, 1, 3), random[T](r, 5, 3))
	}
	wrong("no columns in a", left, random[T](r, 5, 1))
	wrong("no columns in b", random[T](r, 5, 1), right)
	for _, shape := range [][3]int{{0, 4, 3}, {4, 0, 3}, {0, 0, 3}, {4, 5, 0}, {0, 0, 0}} {
		a, b := random[T](r, shape[0], shape[2]), random[T](r, shape[1], shape[2])
		for _, k := range []int{math.MinInt, -1, 0, 1} {
			_, err := cosine.TopK(background, a, b, k)
			o.Bool("k is wrong, without elements"+name, err != nil)
		}
		for _, maxBytes := range []int{math.MinInt, -1, 0, 1, size - 1, size} {
			o.Bool("maxBytes is wrong, without elements"+name, blocksError(t, a, b, maxBytes) != nil)
		}
	}
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
		if last = err; err != nil && (n > 1 || !zero(block)) {
			t.Fatal("an error of the arguments comes alone, with an empty block")
		}
	}
	return last
}

// zero reports whether block is the zero Block.
func zero[T cosine.Float](block cosine.Block[T]) bool {
	sim := block.Sim
	return block.Row == 0 && block.Col == 0 && sim.Rows == 0 && sim.Cols == 0 && sim.Stride == 0 && sim.Data == nil
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
	// Rows with gaps: of the operand, of dst, of both.
	for _, m := range [][5]int{
		{2, 2, 10, 5, 5}, {2, 1, 3, 1, 1}, {3, 3, 3 + between(r, 3, 5), 4, 4}, {3, 3, 3, 3, 3 + between(r, 2, 6)},
		{4, 2, 2 + between(r, 1, 3), 3, 3 + between(r, 1, 4)}, {2, 3, 3 + between(r, 7, 9), 2, 2 + between(r, 6, 9)},
		{1, 4, 4 + between(r, 1, 9), 3, 3 + between(r, 1, 9)},
	} {
		recordGaps[float64](o, "", m)
		recordGaps[float32](o, ", float32", m)
	}
	for range 2 {
		m := between(r, 1, 5)
		n := m + between(r, 1, 3)
		for _, rows := range [][2]int{{m, n}, {n, m}, {n, n}} {
			recordShared[float64](o, ", of operands in one slice", rows[0], rows[1])
			recordShared[float32](o, ", of operands in one slice, float32", rows[0], rows[1])
		}
	}
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
			o.Floats(bySimilarity+"memory of matrices "+name+about, floats(memory), near)
		}
	}
}

// recordGaps tries an operand, and a dst with as many rows, in one slice and at all distances. m is
// rows, columns and stride of the operand, then columns and stride of dst. Where the rows
// of one lie in the gaps of the other, nothing is recorded: that is not graded.
func recordGaps[T cosine.Float](o *observe.Observer, about string, m [5]int) {
	r := o.Rand()
	rows := m[0]
	extent, space := (rows-1)*m[2]+m[1], (rows-1)*m[4]+m[3]
	at := space + m[4] + 2
	before := random[T](r, 1, at+extent+m[2]+space+m[4]+4).Data
	others := random[T](r, m[3], m[1])
	for start := range at + extent + m[2] + 2 {
		memory := slices.Clone(before)
		a, dst := view(memory[at:], rows, m[1], m[2]), view(memory[start:], rows, m[3], m[4])
		switch r.IntN(3) {
		case 0:
			a.Data, dst.Data = a.Data[:extent:extent], dst.Data[:space:space]
		case 1: // Data has the gap behind the last row
			a.Data, dst.Data = a.Data[:rows*m[2]], dst.Data[:rows*m[4]]
		}
		common := false
		for i := range rows {
			for j := range m[1] {
				off := at + i*m[2] + j - start
				common = common || off >= 0 && off/m[4] < rows && off%m[4] < m[3]
			}
		}
		name := map[bool]string{false: "beside each other", true: "with elements in common"}[common] + ", with gaps" + about
		switch {
		case common:
			failure(o, "error of matrices "+name, cosine.Similarity(background, dst, a, others))
			o.Bool("memory of matrices "+name+", is as before", slices.Equal(memory, before))
		case start+space <= at || start >= at+extent:
			failure(o, "error of matrices "+name, cosine.Similarity(background, dst, a, others))
			o.Floats(bySimilarity+"memory of matrices "+name, floats(memory), near)
		}
		if rows != m[3] {
			continue
		}
		// The operand is b: dst is square.
		memory = slices.Clone(before)
		a, dst = view(memory[at:], rows, m[1], m[2]), view(memory[start:], rows, m[3], m[4])
		if common || start+space <= at || start >= at+extent {
			failure(o, "error of matrices "+name+", the other operand", cosine.Similarity(background, dst, others, a))
		}
	}
}

// recordShared tries operands that lie in one slice themselves: they begin together, end together, overlap,
// or leave room for dst between them. dst begins or ends at each of their edges, or one number off, so that
// it meets both of them, one or none. Where rows lie in gaps, nothing is recorded.
func recordShared[T cosine.Float](o *observe.Observer, about string, m, n int) {
	r := o.Rand()
	cols := between(r, 1, 4)
	stride, width := cols+r.IntN(2)*r.IntN(3), n+r.IntN(2)*r.IntN(3) // of a and dst
	sizeA, sizeB, space := (m-1)*stride+cols, n*cols, (m-1)*width+n
	atA := space + sizeB + space + 4
	before := random[T](r, 1, atA+sizeA+2*space+sizeB+8).Data
	for _, atB := range []int{atA, atA + sizeA - sizeB, atA + r.IntN(sizeA), atA - r.IntN(sizeB), atA + sizeA + space + r.IntN(3), atA - sizeB - space - r.IntN(3)} {
		for _, start := range []int{atA - space, atA - space + 1, atA + sizeA - 1, atA + sizeA, atB - space, atB - space + 1, atB + sizeB - 1, atB + sizeB} {
			memory := slices.Clone(before)
			a, b, dst := view(memory[atA:], m, cols, stride), view(memory[atB:], n, cols, cols), view(memory[start:], m, n, width)
			if r.IntN(2) == 0 {
				a.Data, b.Data, dst.Data = a.Data[:sizeA:sizeA], b.Data[:sizeB:sizeB], dst.Data[:space:space]
			}
			apart := func(at, size int) bool { return start+space <= at || at+size <= start }
			common := false
			for i := range m * n {
				off := start + i/n*width + i%n
				inA, inB := off-atA, off-atB
				common = common || inA >= 0 && inA/stride < m && inA%stride < cols || inB >= 0 && inB < sizeB
			}
			name := map[bool]string{false: "beside each other", true: "with elements in common"}[common] + about
			switch {
			case common:
				failure(o, "error of matrices "+name, cosine.Similarity(background, dst, a, b))
				o.Bool("memory of matrices "+name+", is as before", slices.Equal(memory, before))
			case apart(atA, sizeA) && apart(atB, sizeB):
				failure(o, "error of matrices "+name, cosine.Similarity(background, dst, a, b))
				o.Floats(bySimilarity+"memory of matrices "+name, floats(memory), near)
			}
		}
	}
}

// view is a matrix that begins where data does.
func view[T cosine.Float](data []T, rows, cols, stride int) cosine.Matrix[T] {
	return cosine.Matrix[T]{Rows: rows, Cols: cols, Stride: stride, Data: data}
}
