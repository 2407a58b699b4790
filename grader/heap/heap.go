// Package heap says what code allocates. It is for tests only.
package heap

import "runtime"

// Allocated is how many bytes f allocates, those that were freed meanwhile included.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
