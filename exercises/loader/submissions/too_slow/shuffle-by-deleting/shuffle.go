package loader

import (
	"math/rand/v2"
	"slices"
)

func shuffled(n int, seed uint64, epoch int) []int {
	r := rand.New(rand.NewPCG(seed, uint64(epoch)))
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	var order []int
	for len(left) > 0 {
		k := r.IntN(len(left))
		order = append(order, left[k])
		left = slices.Delete(left, k, k+1)
	}
	return order
}
