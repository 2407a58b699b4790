package loader

import (
	"encoding/binary"
	"math/rand/v2"
)

// shuffled returns a uniform permutation of 0 to n-1 that depends on the seed and
// the epoch alone. The two are parts of one key: a sum or a product of them would
// give epoch 1 of one seed the order of epoch 0 of another.
func shuffled(n int, seed uint64, epoch int) []int {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(epoch))
	return rand.New(rand.NewChaCha8(key)).Perm(n)
}
