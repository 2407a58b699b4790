package measure

import (
	"fmt"
	"time"

	"grade/grader/verdict"
	"grade/sandbox"
)

const (
	// StopAt is the multiple of the limit at which a run is stopped, though not before
	// LeastCap of CPU time: a slower run could not pass.
	StopAt   = 3
	LeastCap = time.Second
	// sure is the multiple at which a stopped run proves that it is too slow.
	sure = 2
)

// Capped limits a run of the submission by the reference's last one, given how many
// times its CPU time the exercise allows.
func Capped(l sandbox.Limits, ref sandbox.Outcome, limit float64) sandbox.Limits {
	l.CPU = min(l.CPU, max(StopAt*allowed(ref, limit), LeastCap))
	l.Wall = min(l.Wall, wallCap(ref.Wall, limit))
	return l
}

func allowed(ref sandbox.Outcome, limit float64) time.Duration {
	return time.Duration(limit * float64(ref.CPU))
}

// Stopped decides on a run of the submission that was stopped for its time, beside the
// reference's run on the same inputs; cappedBy is the run that set the cap. ok reports that
// the submission took [sure] times what the limit allows: it is too slow, and not only
// beyond the exercise's limit on every run.
func Stopped(cappedBy, ref, sub sandbox.Outcome, limit float64) (v verdict.Verdict, ratio float64, detail string, ok bool) {
	if sub.CPU < sure*allowed(cappedBy, limit) {
		return "", 0, "", false
	}
	ratio = float64(sub.CPU) / float64(max(ref.CPU, 1))
	return verdict.TooSlow, ratio, fmt.Sprintf("stopped after %.0f times the reference's CPU time", ratio), true
}

// wallCap bounds the wall time of a submission's measured run, by what the reference took.
// It stops programs that sleep and use no CPU time. The CPU limit stops a program that
// computes first, even if other programs want the same CPU.
func wallCap(reference time.Duration, limit float64) time.Duration {
	const slack, others = 2 * time.Second, 3
	const factor = StopAt * (1 + others)
	return slack + time.Duration(factor*max(1, limit)*float64(reference))
}
