package loader

import "context"

// manager is a pass as the loop and the workers see it: channels to the one
// goroutine that knows how far it is.
type manager[B any] struct {
	ctx   context.Context
	tasks chan int       // to the workers
	made  chan answer[B] // from them
	taken chan answer[B] // to the loop, in order
	done  chan struct{}  // the goroutine and all workers have ended
}

func (l *Loader[S, B]) manage(ctx context.Context, batches [][]int) *manager[B] {
	m := &manager[B]{ctx, make(chan int), make(chan answer[B]), make(chan answer[B]), make(chan struct{})}
	workers := min(l.cfg.Workers, len(batches))
	ahead := min(l.cfg.Prefetch, len(batches))
	if ahead == 0 {
		ahead = min(2*workers, len(batches))
	}
	left := make(chan struct{})
	for range workers {
		go func() {
			defer func() { left <- struct{}{} }()
			for k := range m.tasks {
				m.made <- l.load(ctx, k, batches[k])
			}
		}()
	}
	go func() {
		defer close(m.done)
		m.rule(len(batches), ahead)
		close(m.tasks)
		for running := workers; running > 0; {
			select {
			case <-m.made: // which nobody wants
			case <-left:
				running--
			}
		}
	}()
	return m
}

// rule gives tasks and answers until all are given or ctx is done.
func (m *manager[B]) rule(n, ahead int) {
	ready := map[int]answer[B]{}
	begun, given := 0, 0
	for given < n {
		tasks, taken := m.tasks, m.taken
		if begun == n || begun-given >= ahead {
			tasks = nil
		}
		a, ok := ready[given]
		if !ok {
			taken = nil
		}
		select {
		case tasks <- begun:
			begun++
		case a := <-m.made:
			ready[a.k] = a
		case taken <- a:
			delete(ready, given)
			given++
		case <-m.ctx.Done():
			return
		}
	}
}

func (m *manager[B]) next(int) answer[B] {
	select {
	case a := <-m.taken:
		return a
	case <-m.ctx.Done():
		return answer[B]{}
	}
}

func (m *manager[B]) end(stop func()) {
	stop()
	<-m.done
}
