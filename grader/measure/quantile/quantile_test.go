package quantile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMedian(t *testing.T) {
	assert.Equal(t, 2.0, Median([]float64{1, 2, 3}))
	assert.Equal(t, 2.5, Median([]float64{1, 2, 3, 4}))
	assert.Equal(t, 7.0, Median([]float64{7}))
	assert.Equal(t, 3*time.Millisecond, Median([]time.Duration{1e6, 2e6, 4e6, 9e6}))
	assert.Equal(t, time.Duration(1), Median([]time.Duration{1, 2}), "less than a unit is cut off")
	assert.Panics(t, func() { Median([]float64{}) })
}

func TestOf(t *testing.T) {
	sorted := []float64{10, 20, 40, 80}
	for q, want := range map[float64]float64{0: 10, 0.25: 17.5, 0.5: 30, 0.75: 50, 1: 80} {
		assert.Equal(t, want, Of(sorted, q), "%v", q)
	}
}
