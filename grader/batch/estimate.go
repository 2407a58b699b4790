package batch

import "time"

// pace is the speed of a run. It leaves out known results, because they take no time.
type pace struct {
	graded  int           // gradings that came to a verdict
	spent   time.Duration // of all of these together
	workers int           // gradings at a time
}

// left estimates how long a run still takes. running are the times that unfinished gradings
// have taken so far, waiting is the number of submissions that have not begun; some of
// those may be known already, so that the estimate is high rather than low. It is 0 if
// there is nothing to estimate from.
//
// An unfinished grading counts in the mean as time without an end: the first ones to end
// are short, such as those that do not compile.
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
