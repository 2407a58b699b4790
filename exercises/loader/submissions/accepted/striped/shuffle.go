package loader

import "math/rand"

// permutation uses the old generator, whose seed is one number: the two are put
// through a hash so that their sums and differences do not matter.
func permutation(n int, seed uint64, epoch int) []int {
	h := seed*0x9e3779b97f4a7c15 ^ seed>>29
	h = (h + uint64(epoch)) * 0xbf58476d1ce4e5b9
	h ^= h >> 31
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	r := rand.New(rand.NewSource(int64(h)))
	r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
