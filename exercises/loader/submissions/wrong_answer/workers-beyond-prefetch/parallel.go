package loader

import (
	"context"
	"sync"
)

func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	type job struct {
		idx  []int
		done chan outcome[B]
	}
	jobs := make(chan job)
	line := make(chan job, min(l.cfg.Prefetch, len(batches)))
	wg.Go(func() {
		defer close(jobs)
		for _, idx := range batches {
			j := job{idx, make(chan outcome[B], 1)}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
			select {
			case line <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for range min(l.cfg.Workers, len(batches)) {
		wg.Go(func() {
			for j := range jobs {
				j.done <- l.load(ctx, j.idx)
			}
		})
	}
	for range batches {
		var o outcome[B]
		select {
		case j := <-line:
			select {
			case o = <-j.done:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		if !deliver(outer, o, yield) {
			return
		}
	}
}
