package gradcheck

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// passed applies f to leaves, and returns the output and the gradients for a seed of ones.
func passed(t *testing.T, f Function, in ...[]float64) (out []float64, grads [][]float64) {
	t.Helper()
	tape := NewTape()
	vars := make([]*Var, len(in))
	for i, x := range in {
		vars[i] = tape.Leaf(x)
	}
	v, err := Apply(f, vars...)
	require.NoError(t, err)
	seed := make([]float64, len(v.Data))
	for i := range seed {
		seed[i] = 1
	}
	require.NoError(t, tape.Backward(v, seed))
	assert.ErrorIs(t, tape.Backward(v, seed), ErrFreed)
	for _, x := range vars {
		grads = append(grads, x.Grad())
	}
	return v.Data, grads
}

func TestFunctions(t *testing.T) {
	out, grads := passed(t, Mul{}, []float64{1, 2}, []float64{3, 4})
	assert.Equal(t, []float64{3, 8}, out)
	assert.Equal(t, [][]float64{{3, 4}, {1, 2}}, grads)
	out, grads = passed(t, ReLU{}, []float64{-1, 0, 2})
	assert.Equal(t, []float64{0, 0, 2}, out)
	assert.Equal(t, [][]float64{{0, 0, 1}}, grads)
	out, grads = passed(t, Softplus{}, []float64{-1000, 0, 1000})
	assert.InDeltaSlice(t, []float64{0, math.Ln2, 1000}, out, 1e-12)
	assert.Equal(t, [][]float64{{0, 0.5, 1}}, grads)
	out, grads = passed(t, Softmax{}, []float64{1000, 1000})
	assert.Equal(t, []float64{0.5, 0.5}, out)
	assert.Equal(t, [][]float64{{0, 0}}, grads)
}

// The four Functions pass the checker, with a kink where there is one.
func TestFunctionsAreRight(t *testing.T) {
	for _, scale := range []float64{1e-6, 1, 30} {
		x := []float64{-scale, 0, scale / 3, scale / 2}
		for _, f := range []Function{Softplus{}, ReLU{}, Softmax{}} {
			r, err := Check(f, x)
			require.NoError(t, err)
			assert.Empty(t, r.Wrong, "%T", f)
		}
		r, err := Check(Mul{}, x, []float64{1e8, 2e8, 3e8, -1e8})
		require.NoError(t, err)
		assert.Equal(t, &Report{}, r)
	}
	r, err := Check(ReLU{}, []float64{0, 1, 0})
	require.NoError(t, err)
	assert.Equal(t, &Report{Kinks: []Place{{0, 0}, {0, 2}}}, r)
}
