package batch

import "time"

// pace is how fast a run grades. What was graded before and is known counts for
// nothing: it takes no time.
type pace struct {
	graded  int           // gradings that came to a verdict
	spent   time.Duration // of all of these together
	workers int           // gradings at a time
}

// left estimates how long a run still takes. running are the times that gradings have
// taken which go on, waiting is how many submissions have not been begun with; each of
// those may be known already, so that the estimate is high rather than low. It is 0
// where there is nothing to estimate from.
//
// A grading that goes on counts in the mean as time without an end: those that are over
// first are the short ones, such as those that do not compile.
func (p pace) left(running []time.Duration, waiting int) time.Duration {
	if p.graded == 0 || waiting+len(running) == 0 {
		return 0
	}
	all := p.spent
	for _, so := range running {
		all += so
	}
	each := all / time.Duration(p.graded)
	sum := time.Duration(waiting) * each
	for _, so := range running {
		sum += max(each-so, time.Second)
	}
	return sum / time.Duration(min(p.workers, waiting+len(running)))
}
