package allreduce

// part returns part i of n, i modulo n. As in NumPy's array_split the first of them
// have one number more, if the length is no multiple of n.
func part(data []float64, n, i int) []float64 {
	i = (i%n + n) % n
	size, longer := len(data)/n, len(data)%n
	start := i*size + min(i, longer)
	if i < longer {
		size++
	}
	return data[start : start+size]
}

// combine puts x op y into x. For Mean it adds; divide does the rest.
func combine(x, y []float64, op Op) {
	if op == Max {
		for i := range x {
			x[i] = max(x[i], y[i])
		}
		return
	}
	for i := range x {
		x[i] += y[i]
	}
}

// divide makes means of sums over n ranks.
func divide(x []float64, n int) {
	for i := range x {
		x[i] /= float64(n)
	}
}
