package attention

import "math"

// sight is what one query sees: of the first keys, those that mask has true for, or all
// of them if mask is nil.
type sight struct {
	keys int
	mask []bool
}

// sight returns what query i of n keys sees.
func (opt Options) sight(i, n int) sight {
	s := sight{keys: n}
	if opt.Causal {
		s.keys = min(max(i+opt.Offset+1, 0), n)
	}
	if opt.Mask != nil {
		s.mask = opt.Mask[i*n:][:s.keys]
	}
	return s
}

// sees says whether key j, one of the first keys, is seen.
func (s sight) sees(j int) bool { return s.mask == nil || s.mask[j] }

// weigh sets weights[j] to e to the logit of key j, divided by e to the largest logit, so
// that nothing overflows and the largest weight is 1. It returns the sum of them. Keys
// that are not seen are not read; they have weight 0. The keys begin stride numbers apart.
func weigh(weights, query, keys []float64, stride int, scale float64, see sight) (total float64) {
	largest := math.Inf(-1)
	for j := range weights {
		if see.sees(j) {
			weights[j] = scale * dot(query, keys[j*stride:])
			largest = max(largest, weights[j]) // NaN, if there is one
		}
	}
	for j, logit := range weights {
		if !see.sees(j) {
			weights[j] = 0
			continue
		}
		weights[j] = math.Exp(logit - largest)
		total += weights[j]
	}
	return total
}

// dot is the scalar product of a and the numbers that b begins with.
func dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// average adds to out the values, weighted, and divides by total. The values begin stride
// numbers apart. What is not seen is not read: 0 times NaN were NaN.
func average(out, weights, values []float64, stride int, total float64, see sight) {
	for j, w := range weights {
		if !see.sees(j) {
			continue
		}
		for i, x := range values[j*stride:][:len(out)] {
			out[i] += w * x
		}
	}
	for i := range out {
		out[i] = ratio(out[i], total)
	}
}
