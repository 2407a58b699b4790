package loader

import (
	"context"
	"sync"
)

// parallel gives every worker its own batches, k, k+w, k+2w and so on, and its own
// channels: whose turn it is to give is known beforehand.
func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	w := min(l.cfg.Workers, len(batches))
	ahead := min(l.cfg.Prefetch, len(batches))
	asked := make([]chan int, w)
	given := make([]chan outcome[B], w)
	for i := range w {
		asked[i] = make(chan int, ahead)
		given[i] = make(chan outcome[B], ahead)
		wg.Go(func() {
			for {
				select {
				case k := <-asked[i]:
					given[i] <- l.load(ctx, batches[k])
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for k := range ahead {
		asked[k%w] <- k
	}
	for k := range batches {
		var o outcome[B]
		select {
		case o = <-given[k%w]:
		case <-ctx.Done():
		}
		if next := k + ahead; next < len(batches) && ctx.Err() == nil {
			asked[next%w] <- next
		}
		if !deliver(outer, o, yield) {
			return
		}
	}
}
