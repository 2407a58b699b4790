package autograd

// double twice(double x) { return 2 * x; }
import "C"

func twice(x float64) float64 { return float64(C.twice(C.double(x))) }
