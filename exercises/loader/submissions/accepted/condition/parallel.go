package loader

import (
	"context"
	"sync"
)

// board is what loop and workers share, under one lock.
type board[B any] struct {
	mu      sync.Mutex
	changed *sync.Cond
	begun   int // batches
	handed  int // to the loop
	ended   bool
	ready   map[int]outcome[B]
}

// parallel lets workers help themselves to the next batch as long as it is not too
// far ahead, and the loop wait for its own.
func (l *Loader[S, B]) parallel(outer, ctx context.Context, cancel func(), batches [][]int, yield func(B, error) bool) {
	b := &board[B]{ready: map[int]outcome[B]{}}
	b.changed = sync.NewCond(&b.mu)
	end := func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended = true
		b.changed.Broadcast()
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, end)
	defer stop()
	defer end()
	for range min(l.cfg.Workers, len(batches)) {
		wg.Go(func() {
			for {
				k, ok := b.next(len(batches), l.cfg.Prefetch)
				if !ok {
					return
				}
				b.put(k, l.load(ctx, batches[k]))
			}
		})
	}
	for k := range batches {
		if !deliver(outer, b.take(k), yield) {
			return
		}
	}
}

func (b *board[B]) next(n, ahead int) (k int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && b.begun < n && b.begun-b.handed >= ahead {
		b.changed.Wait()
	}
	if b.ended || b.begun == n {
		return 0, false
	}
	b.begun++
	return b.begun - 1, true
}

func (b *board[B]) put(k int, o outcome[B]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready[k] = o
	b.changed.Broadcast()
}

func (b *board[B]) take(k int) outcome[B] {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended {
		if o, ok := b.ready[k]; ok {
			delete(b.ready, k)
			b.handed++
			b.changed.Broadcast()
			return o
		}
		b.changed.Wait()
	}
	return outcome[B]{}
}
