package allreduce

import (
	"context"
	"errors"
	"fmt"
)

type Op int

const (
	Sum Op = iota
	Mean
	Max
)

type Link interface {
	Send(ctx context.Context, part []float64) error
	Recv(ctx context.Context, part []float64) error
}

var (
	ErrConfig   = errors.New("allreduce: bad argument")
	ErrBusy     = errors.New("allreduce: the rank is in a call already")
	ErrMismatch = errors.New("allreduce: ranks disagree")
)

type RankError struct {
	Rank int
	Err  error
}

func (e *RankError) Error() string { return fmt.Sprintf("allreduce: rank %d: %v", e.Rank, e.Err) }

func (e *RankError) Unwrap() error { return e.Err }
