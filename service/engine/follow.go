package engine

import (
	"context"
	"slices"
	"sync"

	"grade/service"
)

// hub holds the followers of each cell.
type hub map[cellID][]*follower

// follower is one reader of progress. It never makes the engine wait: what a slow reader
// has not taken is kept up to a number, and then the oldest events go. Stages come after
// them, so that the reader still learns where things stand.
type follower struct {
	out chan service.Progress

	mu    sync.Mutex
	todo  []service.Progress
	ended bool
	more  chan struct{} // holds one token while there is something to do
}

// maxBehind is how many values a slow reader may be behind.
const maxBehind = 256

func (f *follower) tell(p service.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.todo) >= maxBehind {
		f.todo = f.todo[1:]
	}
	// Of two values without an event that nobody has read, the newer one says it all.
	if n := len(f.todo); n > 0 && p.Event == nil && f.todo[n-1].Event == nil && f.todo[n-1].Number == p.Number && f.todo[n-1].Stage == p.Stage {
		f.todo = f.todo[:n-1]
	}
	f.todo = append(f.todo, p)
	f.wake()
}

func (f *follower) wake() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

func (f *follower) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.wake()
}

func (f *follower) take() (list []service.Progress, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, f.todo = f.todo, nil
	return list, f.ended
}

// run passes values on until the context or the engine ends.
func (f *follower) run(ctx context.Context) {
	defer close(f.out)
	for {
		list, ended := f.take()
		for _, p := range list {
			select {
			case f.out <- p:
			case <-ctx.Done():
				return
			}
		}
		if ended {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-f.more:
		}
	}
}

func (h hub) tell(id cellID, p service.Progress) {
	for _, f := range h[id] {
		f.tell(p)
	}
}

// endFollowers ends all channels that [Engine.Follow] has returned.
func (s *state) endFollowers() {
	for _, list := range s.hub {
		for _, f := range list {
			f.end()
		}
	}
}

// Follow tells how a student's work at an exercise goes, until the context ends. The first
// value says where the last attempt stands, with the number 0 if there is none; the events so
// far of those that are being graded come next. A change of the queue before a waiting attempt
// comes as the same stage with another number ahead. The channel is closed when the context
// or the engine ends.
func (e *Engine) Follow(ctx context.Context, student, exercise string) <-chan service.Progress {
	id := cellID{student, exercise}
	f := &follower{out: make(chan service.Progress), more: make(chan struct{}, 1)}
	e.mu.Lock()
	f.todo = append(f.todo, e.state.standing(id)...)
	f.wake()
	e.state.hub[id] = append(e.state.hub[id], f)
	e.mu.Unlock()
	go func() {
		f.run(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		list := e.state.hub[id]
		if list = slices.DeleteFunc(slices.Clone(list), func(g *follower) bool { return g == f }); len(list) == 0 {
			delete(e.state.hub, id)
		} else {
			e.state.hub[id] = list
		}
	}()
	return f.out
}

// standing is what a new follower of a cell is told first.
func (s *state) standing(id cellID) []service.Progress {
	c := s.cells[id]
	if c == nil || len(c.handed) == 0 {
		return []service.Progress{{Student: id.student, Exercise: id.exercise, At: s.now().UTC()}}
	}
	list := []service.Progress{s.progress(c, c.handed[len(c.handed)-1], nil)}
	for _, h := range c.handed {
		if h.busy == nil {
			continue
		}
		for i := range h.busy.events {
			list = append(list, s.progress(c, h, &h.busy.events[i]))
		}
	}
	return list
}
