package cosine

// A tile is tileRows × tileCols similarities. Its sums stay in registers while
// the columns of two panels go by, which is what makes the product fast: 6
// loads for 8 multiplications, where a dot product needs 16. Tiles of 3×4 and
// 4×4 need fewer loads and more than the 15 registers there are, and were a
// third slower.
const (
	tileRows = 4
	tileCols = 2
	unrolled = 8 // columns for one check of the loop; with 4 it is a tenth slower
)

// multiply sets tile, row by row, to the product of a panel of tileRows rows and
// one of tileCols. Pointers to arrays instead of slices leave one check of
// bounds for each turn of the loop.
func multiply(tile *[tileRows * tileCols]float64, a, b []float64) {
	var c00, c01, c10, c11, c20, c21, c30, c31 float64
	for len(a) >= unrolled*tileRows && len(b) >= unrolled*tileCols {
		x, y := (*[unrolled * tileRows]float64)(a), (*[unrolled * tileCols]float64)(b)

		y0, y1 := y[0], y[1]
		c00 += x[0] * y0
		c01 += x[0] * y1
		c10 += x[1] * y0
		c11 += x[1] * y1
		c20 += x[2] * y0
		c21 += x[2] * y1
		c30 += x[3] * y0
		c31 += x[3] * y1

		y0, y1 = y[2], y[3]
		c00 += x[4] * y0
		c01 += x[4] * y1
		c10 += x[5] * y0
		c11 += x[5] * y1
		c20 += x[6] * y0
		c21 += x[6] * y1
		c30 += x[7] * y0
		c31 += x[7] * y1

		y0, y1 = y[4], y[5]
		c00 += x[8] * y0
		c01 += x[8] * y1
		c10 += x[9] * y0
		c11 += x[9] * y1
		c20 += x[10] * y0
		c21 += x[10] * y1
		c30 += x[11] * y0
		c31 += x[11] * y1

		y0, y1 = y[6], y[7]
		c00 += x[12] * y0
		c01 += x[12] * y1
		c10 += x[13] * y0
		c11 += x[13] * y1
		c20 += x[14] * y0
		c21 += x[14] * y1
		c30 += x[15] * y0
		c31 += x[15] * y1

		y0, y1 = y[8], y[9]
		c00 += x[16] * y0
		c01 += x[16] * y1
		c10 += x[17] * y0
		c11 += x[17] * y1
		c20 += x[18] * y0
		c21 += x[18] * y1
		c30 += x[19] * y0
		c31 += x[19] * y1

		y0, y1 = y[10], y[11]
		c00 += x[20] * y0
		c01 += x[20] * y1
		c10 += x[21] * y0
		c11 += x[21] * y1
		c20 += x[22] * y0
		c21 += x[22] * y1
		c30 += x[23] * y0
		c31 += x[23] * y1

		y0, y1 = y[12], y[13]
		c00 += x[24] * y0
		c01 += x[24] * y1
		c10 += x[25] * y0
		c11 += x[25] * y1
		c20 += x[26] * y0
		c21 += x[26] * y1
		c30 += x[27] * y0
		c31 += x[27] * y1

		y0, y1 = y[14], y[15]
		c00 += x[28] * y0
		c01 += x[28] * y1
		c10 += x[29] * y0
		c11 += x[29] * y1
		c20 += x[30] * y0
		c21 += x[30] * y1
		c30 += x[31] * y0
		c31 += x[31] * y1

		a, b = a[unrolled*tileRows:], b[unrolled*tileCols:]
	}
	for len(a) >= tileRows && len(b) >= tileCols {
		x, y := (*[tileRows]float64)(a), (*[tileCols]float64)(b)
		c00 += x[0] * y[0]
		c01 += x[0] * y[1]
		c10 += x[1] * y[0]
		c11 += x[1] * y[1]
		c20 += x[2] * y[0]
		c21 += x[2] * y[1]
		c30 += x[3] * y[0]
		c31 += x[3] * y[1]
		a, b = a[tileRows:], b[tileCols:]
	}
	*tile = [...]float64{c00, c01, c10, c11, c20, c21, c30, c31}
}
