package measure

import "time"

const (
	// memoryRuns is how often a memory workload runs on each side: the peak of
	// a collected heap is noisy, upwards only.
	MemoryRuns = 3
	// enough is the multiple of the limit at which a run is stopped, though not
	// before leastCap of CPU time: nothing that takes longer could still pass.
	Enough   = 3
	LeastCap = time.Second
	// sure is the multiple at which having been stopped proves it.
	Sure = 2
	// patience is the CPU time that a check may take for a precise figure alone.
	Patience = 1500 * time.Millisecond
)
