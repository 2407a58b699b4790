package loader

import (
	"math/rand/v2"
)

func shuffled(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed, 1)).Perm(n)
}
