package broadcast

// A dim is a dimension of a result. Its steps are how far apart in the data of two operands
// neighbours along it are: 0 where an operand is repeated.
type dim struct{ size, a, b int }

// dims are the dimensions of a result that is not empty, at least one. Those of size 1 are
// left out, and neighbours that both operands go through in one stride are joined: a
// product of equal shapes has one dimension, however many the shapes have.
func dims(shape, a, b []int) []dim {
	stepsA, stepsB := steps(a, len(shape)), steps(b, len(shape))
	list := make([]dim, 0, len(shape)+1)
	for k, size := range shape {
		d := dim{size, stepsA[k], stepsB[k]}
		if size == 1 {
			continue
		}
		if n := len(list); n > 0 && list[n-1].a == size*d.a && list[n-1].b == size*d.b {
			d.size *= list[n-1].size
			list = list[:n-1]
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		list = append(list, dim{size: 1})
	}
	return list
}

// steps are those of an operand along the last dimensions of a result.
func steps(shape []int, rank int) []int {
	steps := make([]int, rank)
	step := 1
	for k := len(shape) - 1; k >= 0; k-- {
		if shape[k] != 1 {
			steps[rank-len(shape)+k] = step
		}
		step *= shape[k]
	}
	return steps
}

// walk goes through a result in the order of its elements. It calls run for one row after
// the other, which is the last of the dimensions, with the places in the operands where the row
// begins.
func walk(dims []dim, run func(a, b int)) {
	outer := dims[:len(dims)-1]
	index := make([]int, len(outer))
	a, b := 0, 0
	for {
		run(a, b)
		k := len(outer) - 1
		for ; k >= 0; k-- {
			d := outer[k]
			index[k]++
			a, b = a+d.a, b+d.b
			if index[k] < d.size {
				break
			}
			index[k] = 0
			a, b = a-d.size*d.a, b-d.size*d.b
		}
		if k < 0 {
			return
		}
	}
}
