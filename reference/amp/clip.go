package amp

import (
	"fmt"
	"math"
)

// Clip scales all gradients by one factor, in place, so that their norm is at most max,
// and returns the norm that they had before. The norm is of all numbers together: for p =
// 2 the square root of the sum of their squares, for p = +Inf the largest absolute value.
//
// The factor is max / (norm + 1e-6), and not above 1, as in PyTorch's
// torch.nn.utils.clip_grad_norm_. If a gradient is not finite, nothing is changed and the
// error is [ErrNonFinite], as there with error_if_nonfinite=True; the norm is then NaN if
// one of them is NaN, and +Inf otherwise.
func Clip(grads [][]float64, max, p float64) (norm float64, err error) {
	if err := validLimit(max, p); err != nil {
		return 0, err
	}
	norm = normOf(grads, p)
	if !finite(norm) {
		return norm, ErrNonFinite
	}
	if factor := max / (norm + 1e-6); factor < 1 {
		multiply(grads, factor)
	}
	return norm, nil
}

// validLimit returns an error unless max and p are what Clip takes.
func validLimit(max, p float64) error {
	if !(max >= 0) {
		return fmt.Errorf("amp: the largest norm is %v, want 0 or more", max)
	}
	if p != 2 && !math.IsInf(p, 1) {
		return fmt.Errorf("amp: p is %v, want 2 or +Inf", p)
	}
	return nil
}

func normOf(grads [][]float64, p float64) float64 {
	if p == 2 {
		return euclidean(grads)
	}
	return largest(grads)
}

// euclidean is the square root of the sum of all squares. Most often the sum as it is
// written is in range, and its numbers are read once. Where it overflows, or is so small
// that squares may have vanished, the numbers are divided by the largest of them.
func euclidean(grads [][]float64) float64 {
	const tiny = 1e-250 // a square that vanishes is below 1e-307: 10^50 of them are nothing
	if sum := squares(grads, 1); tiny <= sum && sum <= math.MaxFloat64 {
		return math.Sqrt(sum)
	}
	m := largest(grads)
	if m == 0 || !finite(m) {
		return m
	}
	return m * math.Sqrt(squares(grads, 1/m))
}

// squares is the sum of the squares of all numbers times unit.
func squares(grads [][]float64, unit float64) float64 {
	sum := 0.0
	for _, g := range grads {
		for _, x := range g {
			x *= unit
			sum += x * x
		}
	}
	return sum
}

// largest is the largest absolute value: NaN if there is a NaN, 0 without numbers.
func largest(grads [][]float64) float64 {
	m := 0.0
	for _, g := range grads {
		for _, x := range g {
			m = max(m, math.Abs(x))
		}
	}
	return m
}

func multiply(grads [][]float64, factor float64) {
	for _, g := range grads {
		for i := range g {
			g[i] *= factor
		}
	}
}

// finite says whether x is neither NaN nor infinite.
func finite(x float64) bool { return x-x == 0 }
