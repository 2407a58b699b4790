package loader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Dataset is a list of samples. The loader calls Get from several goroutines.
type Dataset[S any] interface {
	Len() int
	Get(ctx context.Context, i int) (S, error)
}

// Sampler decides which samples an epoch has, and in which order: a list of
// indices into a dataset of n samples. The loader copies it.
type Sampler interface {
	Order(epoch, n int) []int
}

// Collate makes a batch of samples and their indices, both in order. The slices
// are its own.
type Collate[S, B any] func(idx []int, samples []S) (B, error)

// Config is how a Loader goes over its dataset.
type Config struct {
	BatchSize int
	Workers   int // Gets at the same time; 0: the loop's own goroutine does it all
	Prefetch  int // batches begun beyond the one in use; 0: twice the Workers
	Shuffle   bool
	DropLast  bool // leave out a last batch that is not full
	Seed      uint64
	Sampler   Sampler // instead of Shuffle; may be nil
}

// ErrConfig is what a bad configuration is reported as.
var ErrConfig = errors.New("loader: bad configuration")

// ItemError says which sample ended an epoch.
type ItemError struct {
	Index int // in the dataset; -1 if Collate failed
	Err   error
}

func (e *ItemError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("loader: collate: %v", e.Err)
	}
	return fmt.Sprintf("loader: sample %d: %v", e.Index, e.Err)
}

// Unwrap returns what Get or Collate failed with.
func (e *ItemError) Unwrap() error { return e.Err }

// Loader makes batches of a dataset. It holds no state of a pass, so that any
// number of them may be under way.
type Loader[S, B any] struct {
	data    Dataset[S]
	collate Collate[S, B]
	cfg     Config
}

// New returns a Loader. It asks nothing of the dataset yet.
func New[S, B any](ds Dataset[S], c Collate[S, B], cfg Config) (*Loader[S, B], error) {
	bad := func(what string) (*Loader[S, B], error) { return nil, fmt.Errorf("%w: %s", ErrConfig, what) }
	switch {
	case ds == nil:
		return bad("no dataset")
	case c == nil:
		return bad("no collate function")
	case cfg.BatchSize < 1:
		return bad("BatchSize is below 1")
	case cfg.Workers < 0:
		return bad("Workers is below 0")
	case cfg.Prefetch < 0:
		return bad("Prefetch is below 0")
	case cfg.Shuffle && cfg.Sampler != nil:
		return bad("Shuffle and Sampler exclude each other")
	}
	if cfg.Prefetch == 0 {
		cfg.Prefetch = 2 * min(cfg.Workers, math.MaxInt/2)
	}
	return &Loader[S, B]{ds, c, cfg}, nil
}

// Len returns how many batches an epoch has, by the dataset's length now; with a
// Sampler it is that of epoch 0.
func (l *Loader[S, B]) Len() int {
	n := l.data.Len()
	if l.cfg.Sampler != nil {
		n = len(l.cfg.Sampler.Order(0, n))
	}
	return l.batches(n)
}

// batches is how many batches n samples make.
func (l *Loader[S, B]) batches(n int) int {
	full := n / l.cfg.BatchSize
	if n%l.cfg.BatchSize == 0 || l.cfg.DropLast {
		return full
	}
	return full + 1
}

// Epoch returns the batches of one epoch. Nothing happens until they are ranged
// over, and nothing goes on when the loop has ended, however it does. The last
// pair has an error instead of a batch if there was one.
func (l *Loader[S, B]) Epoch(ctx context.Context, epoch int) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		order := l.order(epoch)
		p := pass[S, B]{Loader: l, outer: ctx, order: order, count: l.batches(len(order))}
		if l.cfg.Workers == 0 {
			p.inTurn(yield)
		} else {
			p.ahead(yield)
		}
	}
}

// order returns the indices of an epoch.
func (l *Loader[S, B]) order(epoch int) []int {
	n := l.data.Len()
	switch {
	case l.cfg.Sampler != nil:
		return slices.Clone(l.cfg.Sampler.Order(epoch, n))
	case l.cfg.Shuffle:
		return shuffled(n, l.cfg.Seed, epoch)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}
