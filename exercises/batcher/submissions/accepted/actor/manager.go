package batcher

import (
	"context"
	"fmt"
	"time"
)

// manager is the state of the goroutine that decides.
type manager[I, O any] struct {
	*Batcher[I, O]
	queue    []*request[I, O] // in order; some are gone
	live     int              // of the queue
	stopped  bool
	returned chan struct{} // a call has

	busy   bool
	wanted int // requests of the call that were not given up
	cancel context.CancelFunc
}

func (m *manager[I, O]) run() {
	defer close(m.over)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := m.look()
		if m.stopped && !m.busy && m.live == 0 {
			return
		}
		var due <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case r := <-m.submit:
			m.enter(r)
		case r := <-m.forget:
			m.leave(r)
		case <-m.stop:
			m.stopped = true
		case <-m.returned:
			m.busy = false
		case <-due:
		}
	}
}

// look starts a call if one is due, and else returns how long the oldest has to wait.
func (m *manager[I, O]) look() (wait time.Duration) {
	for len(m.queue) > 0 && m.queue[0].gone {
		m.queue[0] = nil
		m.queue = m.queue[1:]
	}
	if m.busy || m.live == 0 {
		return 0
	}
	wait = m.cfg.MaxWait - time.Since(m.queue[0].since)
	if m.live < m.cfg.MaxBatch && wait > 0 && !m.stopped {
		return wait
	}
	m.start()
	return 0
}

func (m *manager[I, O]) enter(r *request[I, O]) {
	if m.stopped {
		r.answer <- result[O]{err: ErrClosed}
		return
	}
	r.since = time.Now()
	m.queue = append(m.queue, r)
	m.live++
}

func (m *manager[I, O]) leave(r *request[I, O]) {
	if !r.running {
		r.gone = true
		m.live--
		return
	}
	// It may be of a call that is over, which has given its answers.
	if len(r.answer) == 0 && m.busy {
		if m.wanted--; m.wanted == 0 {
			m.cancel()
		}
	}
}

// start takes the oldest requests and calls the model with them.
func (m *manager[I, O]) start() {
	var batch []*request[I, O]
	for len(m.queue) > 0 && len(batch) < m.cfg.MaxBatch {
		r := m.queue[0]
		m.queue[0] = nil
		m.queue = m.queue[1:]
		if !r.gone {
			r.running = true
			batch = append(batch, r)
		}
	}
	m.live -= len(batch)
	m.busy, m.wanted = true, len(batch)
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	go func(cancel func()) {
		m.call(ctx, batch)
		cancel()
		m.returned <- struct{}{}
	}(m.cancel)
}

func (m *manager[I, O]) call(ctx context.Context, batch []*request[I, O]) {
	in := make([]I, 0, len(batch))
	for _, r := range batch {
		in = append(in, r.in)
	}
	out, err := m.ask(ctx, in)
	if err == nil && len(out) != len(batch) {
		err = fmt.Errorf("%w: %d", ErrAnswers, len(out))
	}
	for i, r := range batch {
		if err != nil {
			r.answer <- result[O]{err: err}
		} else {
			r.answer <- result[O]{out: out[i]}
		}
	}
}

func (m *manager[I, O]) ask(ctx context.Context, in []I) (out []O, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v}
		}
	}()
	return m.model(ctx, in)
}
