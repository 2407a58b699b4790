package verdict

// Kind names what a check measures. The zero value is invalid.
type Kind string

// The kinds.
const (
	Correctness Kind = "correctness" // a test
	Memory      Kind = "memory"      // a benchmark's peak above the baseline
	Speed       Kind = "speed"       // a benchmark's CPU time
	Race        Kind = "race"        // tests under the race detector
)

// Kinds are the valid kinds, in the order of a report.
var Kinds = []Kind{Correctness, Race, Memory, Speed}

// Measured reports whether a check of this kind compares figures, which scatter.
func (k Kind) Measured() bool { return k == Memory || k == Speed }
