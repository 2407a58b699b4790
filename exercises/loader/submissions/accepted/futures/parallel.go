package loader

import (
	"context"
	"sync"
)

// future is a batch that will be there.
type future[B any] struct {
	idx  []int
	done chan outcome[B]
}

// parallel has a dispatcher that makes futures: each goes to the workers and, in
// order, to the loop. A slot is taken before a batch may begin, and given back
// when the loop has the batch.
func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	slots := make(chan struct{}, l.cfg.Prefetch)
	work := make(chan future[B])
	line := make(chan future[B], min(l.cfg.Prefetch, len(batches)))
	wg.Go(func() {
		defer close(work)
		for _, idx := range batches {
			f := future[B]{idx, make(chan outcome[B], 1)}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case line <- f:
			case <-ctx.Done():
				return
			}
			select {
			case work <- f:
			case <-ctx.Done():
				return
			}
		}
	})
	for range min(l.cfg.Workers, len(batches)) {
		wg.Go(func() {
			for f := range work {
				f.done <- l.load(ctx, f.idx)
			}
		})
	}
	for range batches {
		var o outcome[B]
		select {
		case f := <-line:
			select {
			case o = <-f.done:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		select {
		case <-slots:
		default: // it ended before the batch began
		}
		if !deliver(outer, o, yield) {
			return
		}
	}
}
