// Package allreduce has a goroutine for each round, the referee, who alone decides
// what becomes of it. Ranks tell it what has happened and read the verdict. They begin
// their steps when all have come.
package allreduce

import (
	"context"
	"slices"
	"sync"
)

type Ring struct {
	links []Link
	mu    sync.Mutex
	in    map[int]bool
	now   *round
}

// round is one reduction. Once failed, it stays the ring's for ever.
type round struct {
	length     int
	op         Op
	missing    int             // ranks that have not come
	start      chan struct{}   // closed when all have
	ready      chan struct{}   // one for each rank that has finished
	complaints chan *RankError // of ranks, and of Abort
	over       chan struct{}   // closed when err says how it ended
	err        *RankError
}

func New(links []Link) (*Ring, error) {
	if len(links) == 0 || slices.Contains(links, nil) {
		return nil, ErrConfig
	}
	return &Ring{links: slices.Clone(links), in: map[int]bool{}}, nil
}

func (r *Ring) Size() int { return len(r.links) }

func (r *Ring) Abort(rank int, err error) {
	for {
		r.mu.Lock()
		if r.now == nil {
			r.now = r.begin()
		}
		now := r.now
		r.mu.Unlock()
		if now.complain(rank, err) != nil {
			return
		}
	}
}

// begin starts a round, and its referee. The caller holds the mutex.
func (r *Ring) begin() *round {
	d := &round{missing: len(r.links), start: make(chan struct{}), ready: make(chan struct{}), complaints: make(chan *RankError), over: make(chan struct{})}
	go r.judge(d)
	return d
}

func (r *Ring) judge(d *round) {
	defer close(d.over)
	for range r.links {
		select {
		case d.err = <-d.complaints:
			return
		case <-d.ready:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = nil
}

// complain ends the round, if it is not over, and returns its end.
func (d *round) complain(rank int, err error) error {
	select {
	case d.complaints <- &RankError{rank, err}:
		<-d.over
	case <-d.over:
	}
	return d.verdict()
}

func (d *round) verdict() error {
	<-d.over
	if d.err == nil {
		return nil
	}
	return d.err
}

func (r *Ring) AllReduce(ctx context.Context, rank int, data []float64, op Op) error {
	if rank < 0 || rank >= len(r.links) || op < Sum || op > Max {
		return ErrConfig
	}
	d, first, err := r.enter(rank, len(data), op)
	if err != nil {
		return err
	}
	defer r.leave(rank)
	select {
	case <-d.over:
		return d.verdict()
	default:
	}
	if !first && (d.length != len(data) || d.op != op) {
		return d.complain(rank, ErrMismatch)
	}
	if err := ctx.Err(); err != nil {
		return d.complain(rank, err)
	}
	return r.take(ctx, d, rank, data)
}

func (r *Ring) enter(rank, length int, op Op) (d *round, first bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in[rank] {
		return nil, false, ErrBusy
	}
	r.in[rank] = true
	if r.now == nil {
		r.now = r.begin()
	}
	if first = r.now.missing == len(r.links); first {
		r.now.length, r.now.op = length, op
	}
	if r.now.missing--; r.now.missing == 0 {
		close(r.now.start)
	}
	return r.now, first, nil
}

func (r *Ring) leave(rank int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.in, rank)
}

// take plays one rank's part in a round.
func (r *Ring) take(ctx context.Context, d *round, rank int, data []float64) error {
	inner, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
			d.complain(rank, ctx.Err())
		case <-d.over:
		}
		cancel()
	})
	defer watch.Wait()
	select {
	case <-d.start:
	case <-d.over:
		return d.verdict()
	}
	result := append([]float64(nil), data...)
	if err := r.pass(inner, rank, result, d.op); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return d.complain(rank, err)
	}
	select {
	case d.ready <- struct{}{}:
	case <-d.over:
	}
	if err := d.verdict(); err != nil {
		return err
	}
	copy(data, result)
	return nil
}

// pass takes all steps: what was received in one is sent in the next.
func (r *Ring) pass(ctx context.Context, rank int, x []float64, op Op) error {
	n := len(r.links)
	parts := split(x, n)
	scratch := make([]float64, len(parts[0]))
	p := rank
	for step := 1; step <= 2*(n-1); step++ {
		q := (p + n - 1) % n
		in := parts[q]
		if step < n {
			in = scratch[:len(in)]
		}
		if err := r.swap(ctx, rank, parts[p], in); err != nil {
			return err
		}
		if step < n {
			fold(parts[q], in, op)
		}
		if step == n-1 && op == Mean {
			for i := range parts[q] {
				parts[q][i] /= float64(n)
			}
		}
		p = q
	}
	return nil
}

func (r *Ring) swap(ctx context.Context, rank int, out, in []float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	received := make(chan struct{})
	var first error
	var once sync.Once
	fail := func(err error) {
		if err != nil {
			once.Do(func() { first = err; cancel(err) })
		}
	}
	go func() {
		defer close(received)
		n := len(r.links)
		fail(r.links[(rank+n-1)%n].Recv(ctx, in))
	}()
	fail(r.links[rank].Send(ctx, out))
	<-received
	return first
}

func fold(own, in []float64, op Op) {
	for i := range own {
		if op == Max {
			own[i] = max(in[i], own[i])
		} else {
			own[i] = in[i] + own[i]
		}
	}
}

// split cuts x into n parts, the longer ones first.
func split(x []float64, n int) [][]float64 {
	parts := make([][]float64, n)
	for i := range parts {
		k := (len(x) + n - i - 1) / (n - i)
		parts[i], x = x[:k], x[k:]
	}
	return parts
}
