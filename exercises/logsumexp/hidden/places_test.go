package hidden

import (
	"math/rand/v2"
	"slices"

	"grade/observe"
)

// widths are lengths, all of the short ones among them: loops over several numbers at a time end
// with any rest.
func widths(r *rand.Rand) (list []int) {
	for n := 2; n <= 36; n++ {
		list = append(list, n)
	}
	return append(list, 63, 64, 65, 100+r.IntN(50), 255, 256, 257, 1<<10-1, 1<<10, 1<<10+1, 1<<12+1, 1<<12+3, 1<<16+3)
}

// places are those of n numbers at which one of another kind may be: all of a short list, of a
// long one the first and the last, and those about which blocks end.
func places(n int) (list []int) {
	ends := 16
	if n > 1<<13 {
		ends = 4
	}
	for at := range n {
		block := at&(at-1) == 0 || at&(at+1) == 0
		if at < ends || n-at <= ends || block && n < 1<<13 {
			list = append(list, at)
		}
	}
	return list
}

// placed records the values of numbers about center, one of which is special; half the list
// further on there may be another one.
func placed(o *observe.Observer, name string, value func([]float64) float64, center, special float64, other ...float64) {
	for _, n := range widths(o.Rand()) {
		xs := draw(o.Rand(), n, center, 1)
		var values []float64
		for _, at := range places(n) {
			changed := slices.Clone(xs)
			changed[at] = special
			for _, x := range other {
				changed[(at+n/2)%n] = x
			}
			values = append(values, value(changed))
		}
		o.Floats(name, values)
	}
}
