// Package loader fetches batches of samples ahead of the loop that uses them.
// README.md says what is wanted.
package loader

import (
	"context"
	"errors"
	"iter"
)

// Dataset is a list of samples. Get may be called by several goroutines.
type Dataset[S any] interface {
	Len() int
	Get(ctx context.Context, i int) (S, error)
}

// Sampler decides which samples an epoch has, and in which order: a list of
// indices into a dataset of n samples.
type Sampler interface {
	Order(epoch, n int) []int
}

// Collate makes a batch of samples and their indices, both in order. The slices
// are its own.
type Collate[S, B any] func(idx []int, samples []S) (B, error)

// Config is how a Loader goes over its dataset.
type Config struct {
	BatchSize int
	Workers   int // Gets at the same time; 0: the goroutine of the loop does it all
	Prefetch  int // batches begun beyond the one in use; 0: twice the Workers
	Shuffle   bool
	DropLast  bool // leave out a last batch that is not full
	Seed      uint64
	Sampler   Sampler // instead of Shuffle; may be nil
}

// What the errors of this package are, for errors.Is.
var (
	ErrConfig = errors.New("loader: bad configuration")
	ErrIndex  = errors.New("loader: no such record")
	ErrSize   = errors.New("loader: not a whole number of records")
)

// ItemError says which sample ended an epoch.
type ItemError struct {
	Index int // in the dataset; -1 if Collate failed
	Err   error
}

func (e *ItemError) Error() string { return "" }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return nil }

// Loader makes batches of a dataset.
type Loader[S, B any] struct {
	// TODO: your fields.
}

// New returns a Loader, or ErrConfig.
func New[S, B any](ds Dataset[S], c Collate[S, B], cfg Config) (*Loader[S, B], error) {
	return nil, nil
}

// Len returns how many batches an epoch has.
func (l *Loader[S, B]) Len() int { return 0 }

// Epoch returns the batches of one epoch.
func (l *Loader[S, B]) Epoch(ctx context.Context, epoch int) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {}
}

// Records is a file of records of equal size, as a dataset.
type Records struct {
	// TODO: your fields.
}

// OpenRecords opens a file of records of recordSize bytes each.
func OpenRecords(path string, recordSize int) (*Records, error) { return nil, nil }

// Len returns the number of records.
func (r *Records) Len() int { return 0 }

// Get reads record i.
func (r *Records) Get(ctx context.Context, i int) ([]byte, error) { return nil, nil }

// Close closes the file.
func (r *Records) Close() error { return nil }
