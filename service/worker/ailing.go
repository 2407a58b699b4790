package worker

import (
	"fmt"
	"time"

	"grade/service"
)

// ailing are the jobs that have failed here, one after another, by a fault of ours. A worker
// whose bench passes its check and grades nothing, as on a full disk, is idle more often than
// the others and would take each job's tries from them: it rests the longer, the more have failed.
type ailing struct {
	jobs    int // different ones; one that fails each time is at fault itself
	last    service.JobID
	because error
	until   time.Time // it rests
}

// longestRest bounds a rest.
const longestRest = time.Minute

// failed counts a job that has failed, and begins a rest from the second one on.
func (a *ailing) failed(id service.JobID, because error, now time.Time, pause time.Duration) {
	if id.Since = (time.Time{}); id == a.last {
		return
	}
	a.jobs, a.last, a.because = a.jobs+1, id, because
	if a.jobs > 1 {
		a.until = now.Add(min(pause<<min(a.jobs-2, 16), longestRest))
	}
}

// why says why the worker rests; "": it does not.
func (a *ailing) why(now time.Time) string {
	if !now.Before(a.until) {
		return ""
	}
	return fmt.Sprintf("the last %d gradings have failed here, so that others have their turn: %v", a.jobs, a.because)
}
