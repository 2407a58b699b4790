package cosine

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var background = context.Background()

func random[T Float](rows, cols, stride int) Matrix[T] {
	m := Matrix[T]{rows, cols, stride, make([]T, rows*stride)}
	for i := range m.Data {
		m.Data[i] = T(rand.NormFloat64())
	}
	return m
}

// exact computes one similarity with 200 bits.
func exact[T Float](x, y []T) float64 {
	dot, xx, yy := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
	for k := range x {
		p, q := new(big.Float).SetPrec(200).SetFloat64(float64(x[k])), new(big.Float).SetPrec(200).SetFloat64(float64(y[k]))
		dot.Add(dot, new(big.Float).Mul(p, q))
		xx.Add(xx, new(big.Float).Mul(p, p))
		yy.Add(yy, new(big.Float).Mul(q, q))
	}
	norms := new(big.Float).SetPrec(200).Mul(xx, yy)
	if norms.Sign() == 0 {
		return 0
	}
	got, _ := dot.Quo(dot, norms.Sqrt(norms)).Float64()
	return got
}

func similarity[T Float](t *testing.T, a, b Matrix[T]) Matrix[T] {
	t.Helper()
	dst := Matrix[T]{a.Rows, b.Rows, b.Rows, make([]T, a.Rows*b.Rows)}
	require.NoError(t, Similarity(background, dst, a, b))
	return dst
}

// Every shape around the sizes of tiles and turns of the loop, with gaps between rows.
func TestShapes(t *testing.T) {
	for rows := range 10 {
		for cols := range 6 {
			for _, d := range []int{0, 1, 2, 7, 8, 9, 17} {
				testShape[float64](t, rows, cols, d, 1e-14)
				testShape[float32](t, rows, cols, d, 1e-6)
			}
		}
	}
	testShape[float64](t, 70, 150, 40, 1e-14)
}

func testShape[T Float](t *testing.T, rows, cols, d int, tolerance float64) {
	t.Helper()
	a, b := random[T](rows, d, d+2), random[T](cols, d, d)
	dst := random[T](rows, cols, cols+3)
	before := slices.Clone(dst.Data)
	require.NoError(t, Similarity(background, dst, a, b))
	for i := range dst.Data {
		if i%dst.Stride >= cols {
			require.Equal(t, before[i], dst.Data[i])
		} else {
			require.InDelta(t, exact(a.row(i/dst.Stride), b.row(i%dst.Stride)), float64(dst.Data[i]), tolerance)
		}
	}
}

func TestScales(t *testing.T) {
	a := random[float64](12, 5, 5)
	b := Matrix[float64]{12, 5, 5, slices.Clone(a.Data)}
	for i, scale := range []float64{1e300, 1e200, 1e160, 1e100, 1, 1e-100, 1e-150, 1e-160, 1e-200, 1e-290, 1e-300, 0} {
		for k := range a.Cols {
			b.row(i)[k] *= scale
		}
	}
	want, got := similarity(t, a, a), similarity(t, a, b)
	for i := range 12 {
		for j := range 11 {
			require.InDelta(t, want.row(i)[j], got.row(i)[j], 1e-14)
		}
		require.Zero(t, got.row(i)[11])
	}
	denormal := Matrix[float64]{1, 2, 2, []float64{3 * math.SmallestNonzeroFloat64, 4 * math.SmallestNonzeroFloat64}}
	require.InDelta(t, 0.6, similarity(t, denormal, Matrix[float64]{1, 2, 2, []float64{1, 0}}).Data[0], 1e-15)
}

func TestNaNStaysInItsRow(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a, b := random[float64](9, 10, 10), random[float64](9, 10, 10)
		a.row(3)[7], b.row(4)[0] = bad, bad
		clear(a.row(5))
		for i, s := range similarity(t, a, b).Data {
			require.Equal(t, i/9 == 3 || i%9 == 4, math.IsNaN(s))
		}
	}
}

func TestNeverBeyondOne(t *testing.T) {
	for d := range 20 {
		a := random[float64](40, d, d)
		for _, s := range similarity(t, a, a).Data {
			require.LessOrEqual(t, math.Abs(s), 1.0)
		}
	}
}

func TestRefused(t *testing.T) {
	good := random[float64](4, 3, 3)
	dst := random[float64](4, 4, 4)
	for name, bad := range map[string]Matrix[float64]{
		"rows":     {-1, 3, 3, good.Data},
		"cols":     {4, -1, 3, good.Data},
		"stride":   {4, 3, 2, good.Data},
		"short":    {4, 3, 3, good.Data[:11]},
		"overflow": {1<<62 + 1, 3, 4, good.Data},
		"columns":  {3, 4, 4, good.Data},
		"no data":  {4, 3, 3, nil},
	} {
		require.ErrorIs(t, Similarity(background, dst, bad, good), ErrShape, name)
		require.ErrorIs(t, Similarity(background, dst, good, bad), ErrShape, name)
		_, err := TopK(background, good, bad, 1)
		require.ErrorIs(t, err, ErrShape, name)
		for block, err := range Blocks(background, bad, good, 100) {
			require.ErrorIs(t, err, ErrShape, name)
			require.Zero(t, block)
		}
	}
	for name, bad := range map[string]Matrix[float64]{
		"rows":  {3, 4, 4, dst.Data},
		"cols":  {4, 3, 4, dst.Data},
		"short": {4, 4, 4, dst.Data[:15]},
	} {
		require.ErrorIs(t, Similarity(background, bad, good, good), ErrShape, name)
	}
	_, err := TopK(background, good, good, 0)
	require.ErrorContains(t, err, "best 0 of a row")
	for _, err := range Blocks(background, good, good, 7) {
		require.ErrorContains(t, err, "7 bytes hold no number")
	}
}

// Views into one array, with capacities that end where the views do.
func TestOverlap(t *testing.T) {
	memory := random[float64](1, 40, 40).Data
	a, b := Matrix[float64]{4, 2, 2, memory[16:24:24]}, random[float64](4, 2, 2)
	for offset := range 25 {
		dst := Matrix[float64]{4, 4, 4, memory[offset:][:16]}
		err := Similarity(background, dst, a, b)
		if offset > 0 && offset < 24 {
			require.ErrorIs(t, err, ErrShape)
			require.ErrorIs(t, Similarity(background, dst, b, a), ErrShape)
		} else {
			require.NoError(t, err)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {7, 5, 3}, {13, 29, 4}, {40, 3, 9}, {3, 0, 2}, {0, 3, 2}} {
		a, b := random[float32](shape[0], shape[2], shape[2]), random[float32](shape[1], shape[2], shape[2])
		want := similarity(t, a, b)
		for _, maxBytes := range []int{4, 7, 12, 40, 116, 117, 300, 1 << 20} {
			got := make([]float32, len(want.Data))
			last := [2]int{-1, -1}
			for block, err := range Blocks(background, a, b, maxBytes) {
				require.NoError(t, err)
				require.LessOrEqual(t, 4*block.Sim.Rows*block.Sim.Cols, maxBytes)
				require.Negative(t, slices.Compare(last[:], []int{block.Row, block.Col}))
				last = [2]int{block.Row, block.Col}
				for i := range block.Sim.Rows {
					for j, s := range block.Sim.row(i) {
						got[(block.Row+i)*b.Rows+block.Col+j] += s
					}
				}
				for i := range block.Sim.Data {
					block.Sim.Data[i] = 77
				}
			}
			require.InDeltaSlice(t, want.Data, got, 1e-6, fmt.Sprint(shape, maxBytes))
		}
	}
}

func TestTopK(t *testing.T) {
	a, b := random[float64](150, 6, 6), random[float64](300, 6, 6)
	for i := range 40 {
		copy(b.row(7*i), b.row(3*i)) // ties
	}
	b.row(11)[2], b.row(290)[0], a.row(4)[0] = math.NaN(), math.NaN(), math.NaN()
	sim := similarity(t, a, b)
	for _, k := range []int{1, 2, 10, 299, 300, 301, math.MaxInt} {
		got, err := TopK(background, a, b, k)
		require.NoError(t, err)
		require.Len(t, got, 150)
		for i, list := range got {
			var want []Neighbor[float64]
			for j, s := range sim.row(i) {
				want = append(want, Neighbor[float64]{j, s})
			}
			slices.SortStableFunc(want, func(x, y Neighbor[float64]) int {
				switch {
				case math.IsNaN(x.Score) || math.IsNaN(y.Score):
					if math.IsNaN(x.Score) && math.IsNaN(y.Score) {
						return 0
					} else if math.IsNaN(x.Score) {
						return 1
					}
					return -1
				case x.Score > y.Score:
					return -1
				case x.Score < y.Score:
					return 1
				}
				return 0
			})
			require.Equal(t, fmt.Sprint(want[:min(k, 300)]), fmt.Sprint(list))
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	a := random[float64](8, 3, 3)
	steps := 0
	for _, err := range Blocks(ctx, a, a, 64) {
		if steps++; steps == 3 {
			require.ErrorIs(t, err, context.Canceled)
		}
		if steps == 2 {
			cancel()
		}
	}
	require.Equal(t, 3, steps)
	require.ErrorIs(t, Similarity(ctx, random[float64](8, 8, 8), a, a), context.Canceled)
	_, err := TopK(ctx, a, a, 2)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNamedType(t *testing.T) {
	type half float32
	require.Equal(t, 4, bytesOf[half]())
	require.Equal(t, 8, bytesOf[float64]())
}
