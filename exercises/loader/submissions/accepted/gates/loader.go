// Package loader has everything in one file but Records.
package loader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

type Dataset[S any] interface {
	Len() int
	Get(ctx context.Context, i int) (S, error)
}

type Sampler interface{ Order(epoch, n int) []int }

type Collate[S, B any] func(idx []int, samples []S) (B, error)

type Config struct {
	BatchSize int
	Workers   int
	Prefetch  int
	Shuffle   bool
	DropLast  bool
	Seed      uint64
	Sampler   Sampler
}

var (
	ErrConfig = errors.New("config")
	ErrIndex  = errors.New("index")
	ErrSize   = errors.New("size")
)

type ItemError struct {
	Index int
	Err   error
}

func (e *ItemError) Error() string { return fmt.Sprint("item ", e.Index, ": ", e.Err) }
func (e *ItemError) Unwrap() error { return e.Err }

type Loader[S, B any] struct {
	Config
	ds      Dataset[S]
	collate Collate[S, B]
}

func New[S, B any](ds Dataset[S], c Collate[S, B], cfg Config) (*Loader[S, B], error) {
	if ds == nil || c == nil || cfg.BatchSize <= 0 || min(cfg.Workers, cfg.Prefetch) < 0 || cfg.Shuffle && cfg.Sampler != nil {
		return nil, ErrConfig
	}
	return &Loader[S, B]{cfg, ds, c}, nil
}

func (l *Loader[S, B]) Len() int {
	n := l.ds.Len()
	if l.Sampler != nil {
		n = len(l.Sampler.Order(0, n))
	}
	if l.DropLast || n%l.BatchSize == 0 {
		return n / l.BatchSize
	}
	return n/l.BatchSize + 1
}

func (l *Loader[S, B]) order(epoch int) []int {
	n := l.ds.Len()
	if l.Sampler != nil {
		return append([]int{}, l.Sampler.Order(epoch, n)...)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if l.Shuffle {
		r := rand.New(rand.NewPCG(l.Seed, 0x9e3779b97f4a7c15))
		for range epoch + 1 { // shuffled again for each epoch, as a deck of cards
			r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
	}
	return order
}

// slot is one batch of a pass. Two channels are closed once each: when the batch may
// begin, and when it is done.
type slot[B any] struct {
	idx        []int
	gate, done chan struct{}
	batch      B
	err        error
}

func (l *Loader[S, B]) slots(epoch int) []*slot[B] {
	var slots []*slot[B]
	for order := l.order(epoch); len(order) > 0; {
		n := min(l.BatchSize, len(order))
		if n < l.BatchSize && l.DropLast {
			break
		}
		slots = append(slots, &slot[B]{idx: order[:n:n]})
		order = order[n:]
	}
	return slots
}

func (l *Loader[S, B]) Epoch(ctx context.Context, epoch int) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		slots := l.slots(epoch)
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		wait := func(k int) { l.fill(inner, slots[k]) }
		if l.Workers > 0 && len(slots) > 0 {
			var wg sync.WaitGroup
			defer wg.Wait()
			defer cancel() // before the wait
			wait = l.start(inner, slots, &wg)
		}
		for k, s := range slots {
			wait(k)
			var none B
			slots[k] = nil
			if err := ctx.Err(); err != nil {
				yield(none, err)
				return
			}
			if s.err != nil {
				yield(none, s.err)
				return
			}
			if !yield(s.batch, nil) {
				return
			}
		}
	}
}

// start lets workers fill the slots one after the other, each when its gate is
// open, and returns how the loop waits for one.
func (l *Loader[S, B]) start(ctx context.Context, slots []*slot[B], wg *sync.WaitGroup) func(k int) {
	all := append([]*slot[B]{}, slots...) // the loop clears its own
	ahead := l.Prefetch
	if ahead == 0 {
		ahead = len(all)
		if l.Workers < ahead {
			ahead = 2 * l.Workers
		}
	}
	ahead = min(ahead, len(all))
	for k, s := range all {
		s.gate, s.done = make(chan struct{}), make(chan struct{})
		if k < ahead {
			close(s.gate)
		}
	}
	var next atomic.Int64
	for range min(l.Workers, len(all)) {
		wg.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= len(all) {
					return
				}
				select {
				case <-all[k].gate:
				case <-ctx.Done():
					return
				}
				l.fill(ctx, all[k])
				close(all[k].done)
				all[k] = nil
			}
		})
	}
	opened := append([]*slot[B]{}, slots...)
	return func(k int) {
		s := opened[k]
		opened[k] = nil
		select {
		case <-s.done:
		case <-ctx.Done():
		}
		if k+ahead < len(opened) {
			close(opened[k+ahead].gate)
		}
	}
}

func (l *Loader[S, B]) fill(ctx context.Context, s *slot[B]) {
	at := -1
	defer func() {
		if v := recover(); v != nil {
			err, ok := v.(error)
			if !ok {
				err = fmt.Errorf("panic: %v", v)
			}
			s.err = &ItemError{at, err}
		}
	}()
	samples := make([]S, 0, len(s.idx))
	for _, i := range s.idx {
		at = i
		err := ctx.Err()
		var sample S
		if err == nil {
			sample, err = l.ds.Get(ctx, i)
		}
		if err != nil {
			s.err = &ItemError{i, err}
			return
		}
		samples = append(samples, sample)
	}
	at = -1
	batch, err := l.collate(s.idx, samples)
	if err != nil {
		s.err = &ItemError{-1, err}
		return
	}
	s.batch = batch
}
