package loader

import (
	"context"
	"sync"
)

type numbered[B any] struct {
	outcome[B]
	k int
}

// parallel starts a goroutine for each batch that may begin; those that are early
// wait in a map. A semaphore holds down how many of them get samples.
func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	results := make(chan numbered[B], len(batches)) // nobody ever blocks
	working := make(chan struct{}, l.cfg.Workers)
	next := make(chan int, len(batches)) // to begin, in their order
	begin := func(k int) {
		if k >= len(batches) {
			return
		}
		next <- k
		wg.Go(func() {
			select {
			case working <- struct{}{}:
			case <-ctx.Done():
				return
			}
			defer func() { <-working }()
			k := <-next
			results <- numbered[B]{l.load(ctx, batches[k]), k}
		})
	}
	ahead := min(l.cfg.Prefetch, len(batches))
	for k := range ahead {
		begin(k)
	}
	early := map[int]outcome[B]{}
	for k := range batches {
		for {
			if _, ok := early[k]; ok || ctx.Err() != nil {
				break
			}
			select {
			case r := <-results:
				early[r.k] = r.outcome
			case <-ctx.Done():
			}
		}
		o := early[k]
		delete(early, k)
		if o.err == nil && outer.Err() == nil {
			begin(k + ahead)
		}
		if !deliver(outer, o, yield) {
			return
		}
	}
}
