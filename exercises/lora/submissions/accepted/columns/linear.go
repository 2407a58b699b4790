package lora

// Linear is a layer y = W·x + b, for each row x of a batch. It is the caller's; this file
// is given.
//
// A matrix is a slice with its rows one after the other: number c of row r of a matrix with
// n columns is at r·n + c. W has Out rows and In columns, as the weight of PyTorch's
// nn.Linear has.
type Linear struct {
	In, Out int
	W       []float64 // Out×In
	B       []float64 // Out, or nil for no bias

	// GradW and GradB are the gradients for those who train the layer itself: Backward adds
	// to them. They may be nil until then.
	GradW, GradB []float64
}

// Forward returns y, a row of Out for each row of In in x.
func (l *Linear) Forward(x []float64) []float64 {
	n := len(x) / l.In
	y := make([]float64, n*l.Out)
	for o := range l.Out {
		w := row(l.W, o, l.In)
		for i := range n {
			sum := dot(w, row(x, i, l.In))
			if l.B != nil {
				sum += l.B[o]
			}
			y[i*l.Out+o] = sum
		}
	}
	return y
}

// InputGrad returns the gradient of x, for the gradient dy of Forward's result.
func (l *Linear) InputGrad(dy []float64) []float64 {
	n := len(dy) / l.Out
	dx := make([]float64, n*l.In)
	for o := range l.Out {
		w := row(l.W, o, l.In)
		for i := range n {
			axpy(row(dx, i, l.In), dy[i*l.Out+o], w)
		}
	}
	return dx
}

// Backward is for training the layer itself: it adds to GradW and GradB, and returns what
// InputGrad returns.
func (l *Linear) Backward(x, dy []float64) []float64 {
	if l.GradW == nil {
		l.GradW, l.GradB = make([]float64, len(l.W)), make([]float64, len(l.B))
	}
	for i := range len(dy) / l.Out {
		for o, d := range row(dy, i, l.Out) {
			axpy(row(l.GradW, o, l.In), d, row(x, i, l.In))
		}
		if l.B != nil {
			axpy(l.GradB, 1, row(dy, i, l.Out))
		}
	}
	return l.InputGrad(dy)
}

// row is row i of a matrix with n columns. What is written into it is in the matrix.
func row(m []float64, i, n int) []float64 { return m[i*n : (i+1)*n : (i+1)*n] }

// dot is the sum of the products of two rows of the same length.
func dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// axpy adds c·x to dst, which has the same length.
func axpy(dst []float64, c float64, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += c * v
	}
}
