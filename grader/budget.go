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

	// lastRun is what a measured run may take though the budget is used up, if that is more
	// than [patience] times the reference's time.
	lastRun = 10 * time.Second
)

// budget is the wall time that some runs of a submission may take together.
type budget struct {
	submission, reference func() time.Duration
	sub, ref              time.Duration // spent before it began
	over                  bool
}

// newBudget starts a budget on what each side has spent.
func newBudget(submission, reference func() time.Duration) *budget {
	return &budget{submission: submission, reference: reference, sub: submission(), ref: reference()}
}

func (b *budget) left() time.Duration {
	return timeBudget + budgetFactor*(b.reference()-b.ref) - (b.submission() - b.sub)
}

// exceeded reports whether the submission has used up its time. Once exceeded it stays so,
// though what the reference takes meanwhile adds to it.
func (b *budget) exceeded() bool {
	b.over = b.over || b.left() < 0
	return b.over
}

// bound limits the wall time of a run by what is left. Ref is the reference's run.
func (b *budget) bound(l sandbox.Limits, ref sandbox.Outcome) sandbox.Limits {
	l.Wall = min(l.Wall, max(b.left(), 0)+max(lastRun, patience*ref.Wall))
	return l
}
