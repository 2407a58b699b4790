package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
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
	BatchSize, Workers, Prefetch int
	Shuffle, DropLast            bool
	Seed                         uint64
	Sampler                      Sampler
}

var ErrConfig, ErrIndex, ErrSize = errors.New("bad config"), errors.New("no such record"), errors.New("not whole records")

type ItemError struct {
	Index int
	Err   error
}

func (e *ItemError) Error() string { return fmt.Sprintf("%v (sample %d)", e.Err, e.Index) }

func (e *ItemError) Unwrap() error { return e.Err }

type Loader[S, B any] struct {
	ds  Dataset[S]
	col Collate[S, B]
	cfg Config
}

func New[S, B any](ds Dataset[S], c Collate[S, B], cfg Config) (*Loader[S, B], error) {
	var why string
	switch {
	case ds == nil:
		why = "dataset is nil"
	case c == nil:
		why = "collate is nil"
	case cfg.BatchSize < 1:
		why = "batch size"
	case cfg.Workers < 0:
		why = "workers"
	case cfg.Prefetch < 0:
		why = "prefetch"
	case cfg.Shuffle && cfg.Sampler != nil:
		why = "both shuffle and sampler"
	default:
		return &Loader[S, B]{ds, c, cfg}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrConfig, why)
}

func (l *Loader[S, B]) Len() int { return len(l.cut(0)) }

// cut returns an epoch as a list of batches.
func (l *Loader[S, B]) cut(epoch int) [][]int {
	batches := slices.Collect(slices.Chunk(l.order(epoch), l.cfg.BatchSize))
	if k := len(batches) - 1; k >= 0 && l.cfg.DropLast && len(batches[k]) < l.cfg.BatchSize {
		batches = batches[:k]
	}
	return batches
}

func (l *Loader[S, B]) order(epoch int) []int {
	n := l.ds.Len()
	if l.cfg.Sampler != nil {
		return slices.Clone(l.cfg.Sampler.Order(epoch, n))
	}
	type card struct {
		key uint64
		i   int
	}
	cards := make([]card, n)
	r := rand.NewPCG(l.cfg.Seed, uint64(epoch))
	for i := range cards {
		cards[i].i = i
		if l.cfg.Shuffle {
			cards[i].key = r.Uint64()
		}
	}
	slices.SortStableFunc(cards, func(a, b card) int { return cmp.Compare(a.key, b.key) })
	order := make([]int, n)
	for at, c := range cards {
		order[at] = c.i
	}
	return order
}

// answer is a batch or an error.
type answer[B any] struct {
	k   int
	b   B
	err error
}

func (l *Loader[S, B]) Epoch(ctx context.Context, epoch int) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		batches := l.cut(epoch)
		inner, stop := context.WithCancel(ctx)
		defer stop()
		next := func(k int) answer[B] { return l.load(inner, k, batches[k]) }
		if l.cfg.Workers > 0 {
			m := l.manage(inner, batches)
			defer m.end(stop)
			next = m.next
		}
		for k := range batches {
			a := next(k)
			if err := ctx.Err(); err != nil {
				a = answer[B]{err: err}
			}
			if !yield(a.b, a.err) || a.err != nil {
				return
			}
		}
	}
}

func (l *Loader[S, B]) load(ctx context.Context, k int, idx []int) (a answer[B]) {
	a.k = k
	samples := make([]S, len(idx))
	idx = slices.Clip(idx)
	for j, i := range slices.Clone(idx) {
		if err := guard(func() (err error) {
			if err = ctx.Err(); err == nil {
				samples[j], err = l.ds.Get(ctx, i)
			}
			return err
		}); err != nil {
			a.err = &ItemError{i, err}
			return a
		}
	}
	var b B
	if err := guard(func() (err error) {
		b, err = l.col(idx, samples)
		return err
	}); err != nil {
		a.err = &ItemError{-1, err}
		return a
	}
	a.b = b
	return a
}

// guard makes an error of a panic.
func guard(f func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case error:
			err = v
		default:
			err = fmt.Errorf("%v", v)
		}
	}()
	return f()
}
