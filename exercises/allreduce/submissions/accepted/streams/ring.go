// Package allreduce has two goroutines for each call: one that sends all parts, and the
// caller's, which receives them and says which part may go next.
package allreduce

import (
	"context"
	"errors"
	"slices"
	"sync"
)

type Ring struct {
	links []Link

	dead context.Context // its cause is the RankError
	kill context.CancelCauseFunc

	mu    sync.Mutex
	calls map[int]*meeting
	next  *meeting
}

// meeting is where ranks wait for each other at the end.
type meeting struct {
	length, expected int
	op               Op
	all              chan struct{}
}

func New(links []Link) (*Ring, error) {
	for _, l := range links {
		if l == nil {
			return nil, ErrConfig
		}
	}
	if len(links) < 1 {
		return nil, ErrConfig
	}
	r := &Ring{links: append([]Link{}, links...), calls: map[int]*meeting{}}
	r.dead, r.kill = context.WithCancelCause(context.Background())
	return r, nil
}

func (r *Ring) Size() int { return len(r.links) }

func (r *Ring) Abort(rank int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kill(&RankError{rank, err})
}

func (r *Ring) AllReduce(ctx context.Context, rank int, data []float64, op Op) error {
	if rank < 0 || rank >= r.Size() || op < Sum || op > Max {
		return ErrConfig
	}
	m, err := r.join(rank, len(data), op)
	if err != nil {
		return err
	}
	defer r.quit(rank)
	s := stream{ring: r, rank: rank, work: slices.Clone(data), op: op}
	err = ctx.Err()
	if err == nil {
		err = s.run(ctx)
	}
	if err = r.end(ctx, m, rank, err); err == nil {
		copy(data, s.work)
	}
	return err
}

func (r *Ring) join(rank, length int, op Op) (*meeting, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[rank] != nil {
		return nil, ErrBusy
	}
	if r.next == nil {
		r.next = &meeting{length: length, op: op, expected: r.Size(), all: make(chan struct{})}
	}
	if m := r.next; m.length != length || m.op != op {
		r.kill(&RankError{rank, ErrMismatch})
	}
	r.calls[rank] = r.next
	if err := context.Cause(r.dead); err != nil {
		delete(r.calls, rank)
		return nil, err
	}
	return r.next, nil
}

func (r *Ring) quit(rank int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, rank)
}

// end waits for all ranks, and is where it is decided whether they are through.
func (r *Ring) end(ctx context.Context, m *meeting, rank int, err error) error {
	if err == nil {
		r.arrived(m)
		select {
		case <-m.all:
			return nil
		case <-r.dead.Done():
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.expected == 0 {
		return nil
	}
	r.kill(&RankError{rank, err})
	return context.Cause(r.dead)
}

func (r *Ring) arrived(m *meeting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead.Err() != nil {
		return
	}
	if m.expected--; m.expected == 0 {
		r.next = nil
		close(m.all)
	}
}

type stream struct {
	ring *Ring
	rank int
	work []float64
	op   Op
}

func (s *stream) part(i int) []float64 {
	n := s.ring.Size()
	i = (i + 2*n) % n
	k, more := len(s.work)/n, len(s.work)%n
	if i < more {
		return s.work[i*(k+1) : (i+1)*(k+1)]
	}
	rest := s.work[more*(k+1):]
	return rest[(i-more)*k : (i-more+1)*k]
}

// run starts the sender, receives, and waits for the sender.
func (s *stream) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ring.dead, func() { cancel(errors.New("the ring has failed")) })()
	n := s.ring.Size()
	ready, sent := make(chan int, 2*n), make(chan struct{}, 2*n)
	go func() {
		defer close(sent)
		for p := range ready {
			if ctx.Err() == nil {
				if err := s.ring.links[s.rank].Send(ctx, s.part(p)); err != nil {
					cancel(err)
				}
			}
			sent <- struct{}{}
		}
	}()
	if n > 1 {
		ready <- s.rank
	}
	err := s.receive(ctx, ready, sent)
	if err != nil {
		cancel(err)
	}
	close(ready)
	for range sent {
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.op == Mean {
		for i := range s.work {
			s.work[i] /= float64(n)
		}
	}
	return nil
}

// receive takes what comes. In the second half a part is put in its place only when it has
// been sent as it was before.
func (s *stream) receive(ctx context.Context, ready chan<- int, sent <-chan struct{}) error {
	n := s.ring.Size()
	in := s.ring.links[(s.rank+n-1)%n]
	buf := make([]float64, len(s.part(0)))
	for step := range 2 * (n - 1) {
		p := s.rank - step - 1
		for p < 0 {
			p += n
		}
		own := s.part(p)
		got := own
		if step < n-1 {
			got = buf[:len(own)]
		} else {
			<-sent
		}
		if err := in.Recv(ctx, got); err != nil {
			return err
		}
		if step < n-1 {
			for i, x := range got {
				if s.op == Max {
					own[i] = max(own[i], x)
				} else {
					own[i] += x
				}
			}
		}
		if step < 2*(n-1)-1 {
			ready <- p
		}
	}
	return nil
}
