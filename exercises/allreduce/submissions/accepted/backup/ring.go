// Package allreduce works in the caller's data and puts back what was there if the
// round fails. Rounds are a list: one that was successful has a next one. All
// decisions are made by atomics.
package allreduce

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

type Ring struct {
	links []Link
	in    []atomic.Bool
	last  atomic.Pointer[round]
}

type round struct {
	spec    atomic.Pointer[spec]
	missing atomic.Int64
	end     atomic.Pointer[end]
	over    chan struct{}
}

type spec struct {
	length int
	op     Op
}

type end struct{ err error }

func newRound(n int) *round {
	d := &round{over: make(chan struct{})}
	d.missing.Store(int64(n))
	return d
}

func New(links []Link) (*Ring, error) {
	if len(links) == 0 {
		return nil, ErrConfig
	}
	for _, l := range links {
		if l == nil {
			return nil, ErrConfig
		}
	}
	r := &Ring{links: slices.Clone(links), in: make([]atomic.Bool, len(links))}
	r.last.Store(newRound(len(links)))
	return r, nil
}

func (r *Ring) Size() int { return len(r.links) }

// decide ends a round, if nobody else has, and returns how it ended.
func (r *Ring) decide(d *round, err error) error {
	if d.end.CompareAndSwap(nil, &end{err}) {
		if err == nil {
			r.last.Store(newRound(len(r.links)))
		}
		close(d.over)
	}
	<-d.over
	return d.end.Load().err
}

func (r *Ring) Abort(rank int, err error) {
	for r.decide(r.last.Load(), &RankError{rank, err}) == nil {
	}
}

func (r *Ring) AllReduce(ctx context.Context, rank int, data []float64, op Op) error {
	if rank < 0 || rank >= len(r.links) || op < Sum || op > Max {
		return ErrConfig
	}
	if !r.in[rank].CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer r.in[rank].Store(false)
	d := r.last.Load()
	if e := d.end.Load(); e != nil {
		return e.err
	}
	d.spec.CompareAndSwap(nil, &spec{len(data), op})
	if *d.spec.Load() != (spec{len(data), op}) {
		return r.decide(d, &RankError{rank, ErrMismatch})
	}
	before := slices.Clone(data)
	err := r.round(ctx, d, rank, data, op)
	if err != nil {
		copy(data, before)
	}
	return err
}

func (r *Ring) round(ctx context.Context, d *round, rank int, data []float64, op Op) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	quit := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-d.over:
			cancel()
		case <-quit:
		}
	})
	defer watcher.Wait()
	defer close(quit)
	err := ctx.Err()
	if err == nil {
		err = r.circle(inner, rank, data, op)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return r.decide(d, &RankError{rank, err})
	}
	if d.missing.Add(-1) == 0 {
		return r.decide(d, nil)
	}
	select {
	case <-d.over:
		return d.end.Load().err
	case <-ctx.Done():
		return r.decide(d, &RankError{rank, ctx.Err()})
	}
}

func (r *Ring) circle(ctx context.Context, rank int, data []float64, op Op) error {
	n := len(r.links)
	buf := make([]float64, (len(data)+n-1)/n)
	reduce := func(dst, src []float64) {
		for i, x := range src {
			dst[i] += x
		}
	}
	if op == Max {
		reduce = func(dst, src []float64) {
			for i, x := range src {
				dst[i] = max(dst[i], x)
			}
		}
	}
	part := func(i int) []float64 {
		i = ((i % n) + n) % n
		lo := func(i int) int { return i*(len(data)/n) + min(i, len(data)%n) }
		return data[lo(i):lo(i+1)]
	}
	for s := 0; s < n-1; s++ {
		mine := part(rank - s - 1)
		if err := r.both(ctx, rank, part(rank-s), buf[:len(mine)]); err != nil {
			return err
		}
		reduce(mine, buf[:len(mine)])
	}
	for s := 0; s < n-1; s++ {
		if err := r.both(ctx, rank, part(rank+1-s), part(rank-s)); err != nil {
			return err
		}
	}
	if op == Mean {
		for i := range data {
			data[i] /= float64(n)
		}
	}
	return nil
}

func (r *Ring) both(ctx context.Context, rank int, out, in []float64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := len(r.links)
	errs := make(chan error, 2)
	go func() { errs <- r.links[rank].Send(ctx, out) }()
	go func() { errs <- r.links[(rank+n-1)%n].Recv(ctx, in) }()
	err := <-errs
	if err != nil {
		cancel()
	}
	if second := <-errs; err == nil {
		err = second
	}
	return err
}
