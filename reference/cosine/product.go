package cosine

import "context"

// cached is how many bytes of b are walked again and again, for each panel of a:
// half of a small second-level cache.
const cached = 128 << 10

// product is the matrix of similarities of two sets of rows. It is computed
// where it is asked for.
type product[T Float] struct{ a, b panels }

func newProduct[T Float](a, b Matrix[T]) product[T] {
	return product[T]{pack(a, tileRows), pack(b, tileCols)}
}

// fill computes the part of the product that begins at (row, col) and is as large
// as dst. It looks at ctx before each panel of a and each piece of b.
func (p product[T]) fill(ctx context.Context, dst Matrix[T], row, col int) error {
	if dst.Rows == 0 || dst.Cols == 0 {
		return ctx.Err()
	}
	var tile [tileRows * tileCols]float64
	firstA, endA := row/tileRows, ceil(row+dst.Rows, tileRows)
	firstB, endB := col/tileCols, ceil(col+dst.Cols, tileCols)
	piece := max(1, cached/8/tileCols/max(1, p.b.cols))
	for b := firstB; b < endB; b += piece {
		for i := firstA; i < endA; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			a := p.a.panel(i)
			for j := b; j < min(b+piece, endB); j++ {
				multiply(&tile, a, p.b.panel(j))
				put(dst, &tile, i*tileRows-row, j*tileCols-col)
			}
		}
	}
	return nil
}

// put copies a tile to where it belongs, as far as that is inside dst. Rounding
// may have taken a similarity beyond 1; NaN stays NaN.
func put[T Float](dst Matrix[T], tile *[tileRows * tileCols]float64, row, col int) {
	for k, x := range tile {
		switch {
		case x > 1:
			tile[k] = 1
		case x < -1:
			tile[k] = -1
		}
	}
	if row >= 0 && col >= 0 && row+tileRows <= dst.Rows && col+tileCols <= dst.Cols {
		for i := range tileRows {
			out := dst.Data[(row+i)*dst.Stride+col:][:tileCols]
			out[0], out[1] = T(tile[i*tileCols]), T(tile[i*tileCols+1])
		}
		return
	}
	for i := max(0, -row); i < min(tileRows, dst.Rows-row); i++ {
		for j := max(0, -col); j < min(tileCols, dst.Cols-col); j++ {
			dst.Data[(row+i)*dst.Stride+col+j] = T(tile[i*tileCols+j])
		}
	}
}

// ceil is n/d, rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }
