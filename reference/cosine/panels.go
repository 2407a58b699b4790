package cosine

import "math"

// panels are the normalised rows of a matrix, width rows to a panel, column by
// column: element k of row i is data[(i/width*cols+k)*width+i%width]. The last
// panel is filled up with rows of zeros. Numbers are float64 whatever they
// were: a sum of float32 loses what is below 6e-8 of it.
type panels struct {
	rows, cols, width int
	data              []float64
}

func pack[T Float](m Matrix[T], width int) panels {
	p := panels{m.Rows, m.Cols, width, make([]float64, (m.Rows+width-1)/width*width*m.Cols)}
	unit := make([]float64, m.Cols)
	for i := range m.Rows {
		normalise(unit, m.row(i))
		panel := p.panel(i / width)
		for k, x := range unit {
			panel[k*width+i%width] = x
		}
	}
	return p
}

// panel is the i-th group of width rows.
func (p panels) panel(i int) []float64 {
	size := p.width * p.cols
	return p.data[i*size:][:size]
}

// normalise sets unit to row, scaled to length 1. A row of zeros stays as it is;
// one with a NaN or an infinity becomes NaN, where it is not 0: Inf/Inf is NaN.
//
// The squares of a row may overflow, or vanish, where the row does neither.
// Between the bounds they do not: what vanishes there is 2^-170 of the sum.
func normalise[T Float](unit []float64, row []T) {
	const low, high = 0x1p-900, 0x1p1000
	unit = unit[:len(row)]
	for i, x := range row {
		unit[i] = float64(x)
	}
	sum := squares(unit)
	if sum < low || sum > high {
		largest := 0.0
		for _, x := range unit {
			largest = max(largest, math.Abs(x))
		}
		if largest == 0 {
			return
		}
		for i := range unit {
			unit[i] /= largest // and not times 1/largest, which may be infinite
		}
		sum = squares(unit)
	}
	length := math.Sqrt(sum)
	for i := range unit {
		unit[i] /= length
	}
}

// squares is the sum of the squares of x: of four sums, so that an addition need
// not wait for the one before.
func squares(x []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += x[0] * x[0]
		s1 += x[1] * x[1]
		s2 += x[2] * x[2]
		s3 += x[3] * x[3]
		x = x[4:]
	}
	for _, v := range x {
		s0 += v * v
	}
	return s0 + s1 + (s2 + s3)
}
