package strided

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawn is a view of a small buffer, by some random operations.
func drawn(t *testing.T, r *rand.Rand) *Tensor {
	shape := make([]int, r.IntN(5))
	for k := range shape {
		shape[k] = []int{0, 1, 1, 2, 2, 3, 4, 4, 6}[r.IntN(9)]
	}
	x, err := New(shape...)
	require.NoError(t, err)
	for i := range x.buffer {
		x.buffer[i] = float64(i)
	}
	for range r.IntN(4) {
		n := len(x.shape)
		next, err := x, error(nil)
		switch r.IntN(5) {
		case 0:
			next, err = x.Permute(r.Perm(n)...)
		case 1:
			if n > 0 {
				next, err = x.Slice(r.IntN(n), r.IntN(9)-4, r.IntN(9)-4, []int{-2, -1, 1, 2}[r.IntN(4)])
			}
		case 2:
			next, err = x.Squeeze()
		case 3:
			next, err = x.Unsqueeze(r.IntN(n + 1))
		case 4:
			next, err = x.Expand(slices.Insert(x.Shape(), 0, 2)...)
		}
		require.NoError(t, err)
		x = next
	}
	return x
}

// places are where in the buffer the elements are.
func places(x *Tensor) (list []int) {
	index := make([]int, len(x.shape))
	for range x.size {
		place := x.offset
		for k, i := range index {
			place += i * x.strides[k]
		}
		list = append(list, place)
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < x.shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return list
}

// A view is possible where strides that are tried by themselves do it, and it is the view
// of the same places.
func TestView(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	possible, not := 0, 0
	for range 20_000 {
		x := drawn(t, r)
		if x.size == 0 {
			continue
		}
		shape := []int{}
		for rest := x.size; rest > 1 || r.IntN(3) == 0; {
			n := 1 + r.IntN(rest)
			if rest%n == 0 {
				shape = append(shape, n)
				rest /= n
			}
		}
		want := places(x)
		// The stride of an axis is the distance of its first two elements; then all
		// others have to be where these strides say.
		tried := x.with(len(shape))
		copy(tried.shape, shape)
		step := 1
		for k := len(shape) - 1; k >= 0; k-- {
			if shape[k] > 1 {
				tried.strides[k] = want[step] - want[0]
			}
			step *= shape[k]
		}
		got, err := x.View(shape...)
		if !slices.Equal(places(tried), want) {
			require.ErrorIs(t, err, ErrLayout, "%v %v as %v", x.shape, x.strides, shape)
			not++
			continue
		}
		require.NoError(t, err, "%v %v as %v", x.shape, x.strides, shape)
		require.Equal(t, want, places(got))
		possible++
	}
	require.Greater(t, min(possible, not), 1000)
}

// All elements are copied, from any layout to any other one.
func TestMove(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		x := drawn(t, r)
		var want []float64
		for _, i := range places(x) {
			want = append(want, x.buffer[i])
		}
		require.True(t, slices.Equal(want, x.Values()))
		wide := make([]int, len(x.shape))
		for k, n := range x.shape {
			wide[k] = 2*n + 1
		}
		to, err := New(wide...)
		require.NoError(t, err)
		for k, n := range x.shape {
			if r.IntN(2) == 0 {
				to, err = to.Slice(k, 0, 2*n, 2)
			} else {
				to, err = to.Slice(k, n, 0, -1)
			}
			require.NoError(t, err)
		}
		require.NoError(t, to.CopyFrom(x))
		require.True(t, slices.Equal(want, to.Values()))
	}
}

// The contenders are a loop over the columns of each row, and a copy that transposes nothing.
func BenchmarkTransposed(b *testing.B) {
	for _, n := range []int{2000, 2048, 3000} {
		x, _ := New(n, n)
		y, _ := New(n, n)
		z, _ := x.Transpose(0, 1)
		b.Run(fmt.Sprint(n, "/untransposed"), func(b *testing.B) {
			for b.Loop() {
				y.CopyFrom(x)
			}
		})
		b.Run(fmt.Sprint(n, "/reference"), func(b *testing.B) {
			for b.Loop() {
				y.CopyFrom(z)
			}
		})
		b.Run(fmt.Sprint(n, "/loops"), func(b *testing.B) {
			for b.Loop() {
				for i := range n {
					for j := range n {
						y.buffer[i*n+j] = x.buffer[j*n+i]
					}
				}
			}
		})
	}
}
