package loader

import (
	"context"
	"sync"
)

func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	outcomes := make([]outcome[B], len(batches))
	next := make(chan int, len(batches))
	for k := range batches {
		next <- k
	}
	close(next)
	var wg sync.WaitGroup
	for range min(l.cfg.Workers, len(batches)) {
		wg.Go(func() {
			for k := range next {
				outcomes[k] = l.load(ctx, batches[k])
			}
		})
	}
	wg.Wait()
	for _, o := range outcomes {
		if !deliver(outer, o, yield) {
			return
		}
	}
}
