package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// callbacks are a Config's, by what they want to hear of: who is not interested
// costs nothing at every batch.
type callbacks struct {
	trainStart []TrainStarter
	batchEnd   []BatchEnder
	stepEnd    []StepEnder
	epochEnd   []EpochEnder
	trainEnd   []TrainEnder
}

// sortOut refuses a callback without any of the methods: with a wrong signature
// or a value in place of a pointer it would never be called, in silence.
func sortOut(all []Callback) (c callbacks, err error) {
	for i, callback := range all {
		wanted := []bool{
			add(&c.trainStart, callback), add(&c.batchEnd, callback), add(&c.stepEnd, callback),
			add(&c.epochEnd, callback), add(&c.trainEnd, callback),
		}
		if !slices.Contains(wanted, true) {
			return callbacks{}, fmt.Errorf("callback %d, a %T, has none of the methods", i, callback)
		}
	}
	return c, nil
}

// add takes a callback that has the method of H into the list.
func add[H any](list *[]H, callback Callback) (has bool) {
	h, has := callback.(H)
	if has {
		*list = append(*list, h)
	}
	return has
}

// errStopped reports that a callback has returned ErrStop. ErrStop itself would not
// do, because a model or loader that returns it has failed.
var errStopped = errors.New("stopped by a callback")

// errPanicked is passed to TrainEnd if Fit panics.
var errPanicked = errors.New("trainer: panic")

// tell calls all of one kind, in order. ErrStop is a wish and lets the others
// hear of the event too; any other error ends it at once.
func tell[H any](list []H, call func(H) error) error {
	var stopped error
	for _, h := range list {
		switch err := call(h); {
		case err == nil:
		case errors.Is(err, ErrStop):
			stopped = errStopped
		default:
			return err
		}
	}
	return stopped
}

func (c *callbacks) start(ctx context.Context) error {
	return tell(c.trainStart, func(h TrainStarter) error { return h.TrainStart(ctx) })
}

func (c *callbacks) batch(ctx context.Context, b BatchInfo) error {
	return tell(c.batchEnd, func(h BatchEnder) error { return h.BatchEnd(ctx, b) })
}

func (c *callbacks) step(ctx context.Context, s StepInfo) error {
	return tell(c.stepEnd, func(h StepEnder) error { return h.StepEnd(ctx, s) })
}

func (c *callbacks) epoch(ctx context.Context, e EpochStats) error {
	return tell(c.epochEnd, func(h EpochEnder) error { return h.EpochEnd(ctx, e) })
}

// end tells all that the run is over, whatever they answer, and returns the
// first error there was: the run's, or one of theirs.
func (c *callbacks) end(h History, err error) error {
	first := err
	for _, cb := range c.trainEnd {
		if e := cb.TrainEnd(h, err); first == nil && !errors.Is(e, ErrStop) {
			first = e
		}
	}
	return first
}
