package loader

import (
	"math/rand/v2"
	"slices"
)

func shuffled(n int, seed uint64, epoch int) []int {
	r := rand.New(rand.NewPCG(seed, uint64(epoch)))
	var order []int
	for len(order) < n {
		if i := r.IntN(n); !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	return order
}
