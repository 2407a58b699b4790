package variance

import "testing"

// TestVariance checks the example of README.md. The hidden tests check all rules.
func TestVariance(t *testing.T) {
	if got := Variance([]float64{1, 2, 6}); got != 14.0/3 {
		t.Errorf("Variance(1, 2, 6) = %v, want %v", got, 14.0/3)
	}
}
