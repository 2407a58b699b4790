package hidden

import (
	"iter"
	"math"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// The blocks have every pair exactly once, in order, and none is larger than
// maxBytes. The loop body may write into a block, which changes no other (rules 13, 14,
// 15 and 17).
func TestBlocks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 12 {
		a, b := ordinary[float64](r, between(r, 1, 25), 4), ordinary[float64](r, between(r, 1, 25), 4)
		maxBytes := between(r, 8, 8*a.Rows*b.Rows+100)
		recordBlocks(t, o, a, b, maxBytes, 8)
	}
	// Blocks smaller than a row, and many of them.
	for range 4 {
		a, b := ordinary[float64](r, between(r, 5, 25), 4), ordinary[float64](r, between(r, 5, 25), 4)
		recordBlocks(t, o, a, b, between(r, 8, 8*b.Rows-8), 8)
	}
	for range 4 {
		a, b := ordinary[float32](r, between(r, 1, 25), 4), ordinary[float32](r, between(r, 1, 25), 4)
		recordBlocks(t, o, a, b, between(r, 4, 4*a.Rows*b.Rows+100), 4)
	}
}

func recordBlocks[T cosine.Float](t *testing.T, o *observe.Observer, a, b cosine.Matrix[T], maxBytes, size int) {
	t.Helper()
	c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
	failure(o, byBlocks+"error", c.err)
	o.Matrix(byBlocks+"all together", a.Rows, b.Rows, c.sum.Data, near)
	o.Int(byBlocks+"bytes of the largest", size*c.largest, observe.AtMost(0, float64(maxBytes)))
	o.Int(byBlocks+"how many come too early", c.disordered*between(o.Rand(), 1, 1000))
}

// maxBytes may be as little as one number, and as much as one likes; the number of
// blocks is not much larger than it has to be (rules 15 and 16).
func TestBlockSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	blockSizes(t, o, "", ordinary[float64](r, between(r, 30, 40), 4), ordinary[float64](r, between(r, 50, 60), 4), 8)
	blockSizes(t, o, ", float32", ordinary[float32](r, between(r, 30, 40), 4), ordinary[float32](r, between(r, 50, 60), 4), 4)
	manyRows[float64](t, o, "", 8)
	manyRows[float32](t, o, ", float32", 4)
}

// manyRows tries matrices of more rows, columns or numbers than anyone needs a limit for.
func manyRows[T cosine.Float](t *testing.T, o *observe.Observer, name string, size int) {
	t.Helper()
	r := o.Rand()
	for _, shape := range [][2]int{{1300, 1}, {20_000, 2}, {1, 40_000}, {40_000, 1}, {2, 20_000}, {1100, 1200}} {
		a, b := ordinary[T](r, shape[0], 4), ordinary[T](r, shape[1], 4)
		all := size * a.Rows * b.Rows
		for _, maxBytes := range []int{all, all/2 + size, 1 << 40} {
			c := collect(t, cosine.Blocks(background, a, b, maxBytes), a.Rows, b.Rows)
			failure(o, "error of Blocks"+name, c.err)
			o.Float(byBlocks+"all together, of many rows"+name, fingerprint(r, c.sum), together(a.Rows*b.Rows))
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
		o.Float(byBlocks+"all together"+name, fingerprint(r, c.sum), together(a.Rows*b.Rows))
		o.Int(byBlocks+"bytes of the largest"+name, size*c.largest, observe.AtMost(0, float64(maxBytes)))
		o.Int("number of blocks"+name, c.blocks, observe.AtMost(4, 16))
	}
}

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
