package mean

import "testing"

// TestMean checks the example of README.md. The hidden tests check all rules.
func TestMean(t *testing.T) {
	if got := Mean([]float64{1, 2, 6}); got != 3 {
		t.Errorf("Mean(1, 2, 6) = %v, want 3", got)
	}
}
