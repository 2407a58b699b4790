package loader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

type Dataset[S any] interface {
	Len() int
	Get(ctx context.Context, i int) (S, error)
}

type Sampler interface {
	Order(epoch, n int) []int
}

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
	ErrConfig = errors.New("loader: bad configuration")
	ErrIndex  = errors.New("loader: no such record")
	ErrSize   = errors.New("loader: not a whole number of records")
)

type ItemError struct {
	Index int
	Err   error
}

func (e *ItemError) Error() string { return fmt.Sprintf("loader: item %d: %v", e.Index, e.Err) }

func (e *ItemError) Unwrap() error { return e.Err }

type Loader[S, B any] struct {
	ds      Dataset[S]
	collate Collate[S, B]
	cfg     Config
}

func New[S, B any](ds Dataset[S], c Collate[S, B], cfg Config) (*Loader[S, B], error) {
	if ds == nil || c == nil {
		return nil, fmt.Errorf("%w: dataset and collate are needed", ErrConfig)
	}
	if cfg.BatchSize < 1 || cfg.Workers < 0 || cfg.Prefetch < 0 {
		return nil, fmt.Errorf("%w: %d, %d, %d", ErrConfig, cfg.BatchSize, cfg.Workers, cfg.Prefetch)
	}
	if cfg.Shuffle && cfg.Sampler != nil {
		return nil, fmt.Errorf("%w: shuffle and sampler", ErrConfig)
	}
	if cfg.Prefetch == 0 {
		cfg.Prefetch = 2 * min(cfg.Workers, math.MaxInt/2)
	}
	return &Loader[S, B]{ds: ds, collate: c, cfg: cfg}, nil
}

func (l *Loader[S, B]) Len() int { return len(l.plan(0)) }

// plan returns the indices of each batch, in memory of their own.
func (l *Loader[S, B]) plan(epoch int) [][]int {
	var order []int
	n := l.ds.Len()
	switch {
	case l.cfg.Sampler != nil:
		order = append(order, l.cfg.Sampler.Order(epoch, n)...)
	case l.cfg.Shuffle:
		order = permutation(n, l.cfg.Seed, epoch)
	default:
		for i := range n {
			order = append(order, i)
		}
	}
	var batches [][]int
	for len(order) >= l.cfg.BatchSize {
		batches = append(batches, order[:l.cfg.BatchSize:l.cfg.BatchSize])
		order = order[l.cfg.BatchSize:]
	}
	if len(order) > 0 && !l.cfg.DropLast {
		batches = append(batches, order)
	}
	return batches
}

func (l *Loader[S, B]) Epoch(ctx context.Context, epoch int) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		batches := l.plan(epoch)
		if len(batches) == 0 {
			return
		}
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		if l.cfg.Workers == 0 {
			l.inline(ctx, inner, batches, yield)
		} else {
			l.parallel(ctx, inner, cancel, batches, yield)
		}
	}
}

func (l *Loader[S, B]) inline(outer, ctx context.Context, batches [][]int, yield func(B, error) bool) {
	for _, idx := range batches {
		if !deliver(outer, l.load(ctx, idx), yield) {
			return
		}
	}
}

type outcome[B any] struct {
	batch B
	err   error
}

// deliver yields one outcome and reports whether the loop goes on.
func deliver[B any](outer context.Context, o outcome[B], yield func(B, error) bool) bool {
	if err := outer.Err(); err != nil {
		var zero B
		yield(zero, err)
		return false
	}
	return yield(o.batch, o.err) && o.err == nil
}

func (l *Loader[S, B]) load(ctx context.Context, idx []int) (o outcome[B]) {
	samples := make([]S, len(idx))
	for j, i := range idx {
		s, err := l.get(ctx, i)
		if err != nil {
			o.err = &ItemError{i, err}
			return o
		}
		samples[j] = s
	}
	return l.join(idx, samples)
}

func (l *Loader[S, B]) get(ctx context.Context, i int) (s S, err error) {
	if err := ctx.Err(); err != nil {
		return s, err
	}
	defer rescue(&err)
	return l.ds.Get(ctx, i)
}

func (l *Loader[S, B]) join(idx []int, samples []S) (o outcome[B]) {
	batch, err := func() (b B, err error) {
		defer rescue(&err)
		return l.collate(idx, samples)
	}()
	if err != nil {
		o.err = &ItemError{-1, err}
		return o
	}
	o.batch = batch
	return o
}

func rescue(err *error) {
	switch v := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("panic: %w", v)
	default:
		*err = fmt.Errorf("panic: %v", v)
	}
}
