package loader

import (
	"context"
	"sync"
)

func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	for lo := 0; lo < len(batches); lo += l.cfg.Workers {
		wave := batches[lo:min(lo+l.cfg.Workers, lo+l.cfg.Prefetch, len(batches))]
		if l.cfg.Prefetch < l.cfg.Workers {
			wave = batches[lo:min(lo+l.cfg.Workers, len(batches))]
		}
		outcomes := make([]outcome[B], len(wave))
		var wg sync.WaitGroup
		for i, idx := range wave {
			wg.Go(func() { outcomes[i] = l.load(ctx, idx) })
		}
		wg.Wait()
		for _, o := range outcomes {
			if !deliver(outer, o, yield) {
				return
			}
		}
	}
}
