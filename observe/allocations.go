package observe

import "testing"

// Allocations returns how many objects a number of calls allocate on the heap, all of
// them together, after a first call that does not count. These are the whole process's,
// its other goroutines' included.
//
// It is a sum, and no mean as that of [testing.AllocsPerRun], which divides as integers
// do: a list that grows now and then is 0 allocations a call there, and 2,000 calls show
// it here. A sum holds the runtime's own, too, of which that division leaves nothing, so
// allow for a few: AtMost(1, 2). A submission can forge it: record it by
// [Observer.SelfReported].
//
// As AllocsPerRun does, it runs the calls on one CPU, and panics in a parallel test.
func Allocations(calls int, call func()) int {
	n := 1 // AllocsPerRun runs its function once before it counts
	return int(testing.AllocsPerRun(1, func() {
		for range n {
			call()
		}
		n = calls
	}))
}
