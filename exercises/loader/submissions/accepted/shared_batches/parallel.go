package loader

import (
	"context"
	"sync"
	"sync/atomic"
)

// job is one sample of one batch.
type job[S, B any] struct {
	*open[S, B]
	at int
}

// open is a batch whose samples come in one by one, from any worker. The last one
// makes the batch.
type open[S, B any] struct {
	idx     []int
	want    []int // idx, where Collate cannot write
	samples []S
	errs    []error
	left    atomic.Int64
	done    chan outcome[B]
}

// parallel shares the samples of a batch among the workers.
func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	slots := make(chan struct{}, l.cfg.Prefetch)
	jobs := make(chan job[S, B])
	line := make(chan *open[S, B], min(l.cfg.Prefetch, len(batches)))
	total := 0 // of samples
	for _, idx := range batches {
		total += len(idx)
	}
	wg.Go(func() {
		defer close(jobs)
		for _, idx := range batches {
			b := &open[S, B]{idx: idx, want: append([]int(nil), idx...), samples: make([]S, len(idx)), errs: make([]error, len(idx)), done: make(chan outcome[B], 1)}
			b.left.Store(int64(len(idx)))
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case line <- b:
			case <-ctx.Done():
				return
			}
			for at := range idx {
				select {
				case jobs <- job[S, B]{b, at}:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range min(l.cfg.Workers, total) {
		wg.Go(func() {
			for j := range jobs {
				j.samples[j.at], j.errs[j.at] = l.get(ctx, j.want[j.at])
				if j.left.Add(-1) == 0 {
					j.done <- l.finish(j.open)
				}
			}
		})
	}
	for range batches {
		var o outcome[B]
		select {
		case b := <-line:
			select {
			case o = <-b.done:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		select {
		case <-slots:
		default:
		}
		if !deliver(outer, o, yield) {
			return
		}
	}
}

// finish makes the batch, or tells the first failure in order.
func (l *Loader[S, B]) finish(b *open[S, B]) (o outcome[B]) {
	for at, err := range b.errs {
		if err != nil {
			o.err = &ItemError{b.want[at], err}
			return o
		}
	}
	return l.join(b.idx, b.samples)
}
