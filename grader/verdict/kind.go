package verdict

// Kind names what a check measures. The zero value is invalid.
type Kind string

// The kinds.
const (
	Correctness Kind = "correctness" // a test
	Memory      Kind = "memory"      // a benchmark's peak above the baseline
	Speed       Kind = "speed"       // a benchmark's CPU time
)
