package loader

import (
	"math/rand/v2"
)

func shuffled(n int, seed uint64, epoch int) []int {
	r := rand.New(rand.NewPCG(seed, uint64(epoch)))
	order := make([]int, n)
	for i := range order {
		order[i] = r.IntN(n)
	}
	return order
}
