package hidden

import (
	"context"

	"grade/reference/trainer"
)

// Callbacks that hear of one thing each.
type (
	startOnly struct{ c callback }
	batchOnly struct{ c callback }
	stepOnly  struct{ c callback }
	epochOnly struct{ c callback }
	endOnly   struct{ c callback }
)

func (s startOnly) TrainStart(ctx context.Context) error { return s.c.TrainStart(ctx) }
func (b *batchOnly) BatchEnd(ctx context.Context, i trainer.BatchInfo) error {
	return b.c.BatchEnd(ctx, i)
}
func (s stepOnly) StepEnd(ctx context.Context, i trainer.StepInfo) error { return s.c.StepEnd(ctx, i) }
func (e *epochOnly) EpochEnd(ctx context.Context, s trainer.EpochStats) error {
	return e.c.EpochEnd(ctx, s)
}
func (e endOnly) TrainEnd(h trainer.History, err error) error { return e.c.TrainEnd(h, err) }

// singles are callbacks that hear of one thing each, and all of a name together of
// everything: to call each of several methods is the matter of other tests.
func (w *world) singles(names ...string) (list []trainer.Callback) {
	for _, name := range names {
		c := callback{w, name}
		list = append(list, startOnly{c}, &batchOnly{c}, stepOnly{c}, &epochOnly{c}, endOnly{c})
	}
	return list
}

// accompanied gives those of one method another, which hears of nothing.
func accompanied(list []trainer.Callback) (both []trainer.Callback) {
	for _, c := range list {
		switch one := c.(type) {
		case startOnly:
			c = struct {
				startOnly
				deafEpoch
			}{startOnly: one}
		case *batchOnly:
			c = struct {
				*batchOnly
				deafEpoch
			}{batchOnly: one}
		case stepOnly:
			c = struct {
				stepOnly
				deafEpoch
			}{stepOnly: one}
		case *epochOnly:
			c = struct {
				*epochOnly
				deafBatch
			}{epochOnly: one}
		case endOnly:
			c = struct {
				endOnly
				deafBatch
			}{endOnly: one}
		}
		both = append(both, c)
	}
	return both
}

type (
	deafBatch struct{}
	deafEpoch struct{}
)

func (deafBatch) BatchEnd(context.Context, trainer.BatchInfo) error  { return nil }
func (deafEpoch) EpochEnd(context.Context, trainer.EpochStats) error { return nil }
