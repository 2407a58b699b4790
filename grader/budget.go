package grader

import (
	"time"

	"grade/sandbox"
)

const (
	// timeBudget is the wall time that the tests of one submission may take together,
	// and again its measuring, beyond budgetFactor times what the reference took: a
	// submission that hangs in every test shall not hold up the next one.
	timeBudget   = 60 * time.Second
	budgetFactor = 20

	// lastRun is what a measured run may take though the budget is used up.
	lastRun = 10 * time.Second
)

// budget is the wall time that some runs of a submission may take together.
type budget struct {
	spent func() time.Duration // by the submission
	began time.Duration        // of that, before the budget
	extra time.Duration        // for what the reference took
	over  bool
}

// newBudget starts a budget on what the submission has spent.
func newBudget(spent func() time.Duration) *budget { return &budget{spent: spent, began: spent()} }

// credit gives the submission time for a run of the reference.
func (b *budget) credit(ref sandbox.Outcome) { b.allow(budgetFactor * ref.Wall) }

// allow gives the submission more time.
func (b *budget) allow(more time.Duration) { b.extra += more }

func (b *budget) left() time.Duration { return timeBudget + b.extra - (b.spent() - b.began) }

// exceeded reports whether the submission has used up its time. Once exceeded it stays so,
// though it is given more.
func (b *budget) exceeded() bool {
	b.over = b.over || b.left() < 0
	return b.over
}

// bound limits the wall time of a run by what is left, and some more: it may be the last one.
func (b *budget) bound(l sandbox.Limits, more time.Duration) (_ sandbox.Limits, lower bool) {
	most := max(b.left(), 0) + more
	lower = most < l.Wall
	l.Wall = min(l.Wall, most)
	return l, lower
}
