package loader

import (
	"cmp"
	"slices"
)

// permutation sorts the indices by keys that are hashes of seed, epoch and index.
func permutation(n int, seed uint64, epoch int) []int {
	type entry struct {
		key uint64
		i   int
	}
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = entry{mix(mix(mix(seed)+uint64(epoch)) + uint64(i)), i}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.i, b.i)) })
	order := make([]int, n)
	for k, e := range entries {
		order[k] = e.i
	}
	return order
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
