package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"grade/service"
)

// worker is what is known of a worker.
type worker struct{ service.WorkerState }

// listenToWorkers takes what workers say. None of it is stored: who comes late is told what
// the engine remembers.
func (e *Engine) listenToWorkers() error {
	for subject, hear := range map[string]func(*nats.Msg){
		e.names.all(kindWorker):   e.hearWorker,
		e.names.all(kindProgress): e.hearProgress,
	} {
		if _, err := e.nc.Subscribe(subject, hear); err != nil {
			return err
		}
	}
	return e.nc.Flush()
}

func (e *Engine) hearWorker(m *nats.Msg) {
	var w service.WorkerState
	if err := json.Unmarshal(m.Data, &w); err != nil || w.Name == "" || m.Subject != e.names.subject(kindWorker, token(w.Name)) {
		e.log.Warn("a worker says what cannot be understood", "subject", m.Subject)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state.hearWorker(w)
}

// hearWorker takes a worker's word on itself: which attempts it has, and which no more.
func (s *state) hearWorker(w service.WorkerState) {
	w.Heard = s.now().UTC()
	has := map[service.JobID]bool{}
	for _, j := range w.Grading {
		s.begun(j, w.Name)
		j.Since = time.Time{}
		has[j] = true
	}
	s.workers[w.Name] = &worker{w}
	s.release(w.Name, func(id service.JobID) bool { return has[id] })
}

// begun marks an attempt that a worker has. What a worker has said before the attempt came to
// its end may come after that: it is the log that knows.
func (s *state) begun(j service.JobID, name string) *handed {
	c := s.cells[cellID{j.Student, j.Exercise}]
	if c == nil {
		return nil
	}
	h := c.of(j.Number)
	if h == nil || h.failure != nil || s.stageOf(c, h) == service.Graded {
		return nil
	}
	if h.busy == nil || h.busy.worker != name {
		since := j.Since
		if since.IsZero() {
			since = s.now()
		}
		h.busy, h.kept = &busy{worker: name, since: since}, true
		s.busy[h] = c
		h.unsettle()
		s.refresh(c)
	}
	h.busy.heard = s.now()
	return h
}

// release takes from a worker the attempts that it has not.
func (s *state) release(name string, has func(service.JobID) bool) {
	for h, c := range s.busy {
		id := service.JobID{Student: c.id.student, Exercise: c.id.exercise, Number: h.Number}
		if h.busy.worker == name && !has(id) {
			s.idle(h)
			s.refresh(c)
		}
	}
}

func (e *Engine) hearProgress(m *nats.Msg) {
	var p service.Progress
	id := cellID{}
	err := json.Unmarshal(m.Data, &p)
	if err == nil {
		id = cellID{p.Student, p.Exercise}
	}
	if err != nil || m.Subject != e.names.numbered(kindProgress, id, p.Number) {
		e.log.Warn("progress that cannot be understood", "subject", m.Subject)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state.hearProgress(id, p)
}

func (s *state) hearProgress(id cellID, p service.Progress) {
	c := s.cells[id]
	if c == nil {
		return
	}
	if p.Stage == service.Waiting { // the worker has given it back
		if h := c.of(p.Number); h != nil && h.busy != nil && h.busy.worker == p.Worker {
			s.idle(h)
			s.refresh(c)
		}
		return
	}
	h := s.begun(service.JobID{Student: p.Student, Exercise: p.Exercise, Number: p.Number}, p.Worker)
	if h == nil || p.Event == nil || len(h.busy.events) >= maxBehind {
		return
	}
	h.busy.events = append(h.busy.events, *p.Event)
	s.hub.tell(id, s.progress(c, h, p.Event))
}

// watchWorkers finds out which workers are gone: they have said nothing for some beats.
func (e *Engine) watchWorkers(ctx context.Context) {
	t := time.NewTicker(e.config.Beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			e.mu.Lock()
			e.state.forget()
			e.mu.Unlock()
		}
	}
}

// forget takes silent workers for gone, and gives back what they had. Progress may be heard
// of a worker that has not said anything of itself yet.
func (s *state) forget() {
	limit := s.now().Add(-beatsMissed * s.beat)
	for name, w := range s.workers {
		if w.Heard.Before(limit) {
			delete(s.workers, name)
		}
	}
	for h, c := range s.busy {
		if h.busy.heard.Before(limit) {
			s.idle(h)
			s.refresh(c)
		}
	}
}

// Queue says what waits, and for whom.
func (e *Engine) Queue() service.Queue {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.state
	q := s.staffed(len(s.line.places))
	slices.SortFunc(q.Workers, func(a, b service.WorkerState) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Host, b.Host))
	})
	if cells := s.line.cells(); len(cells) > 0 {
		c := s.cells[cells[0]]
		if h := s.waiting(c); h != nil {
			q.Oldest = h.Submitted
		}
	}
	q.Wait = s.pace.wait(q)
	return q
}

// QueueBehind is the queue as an attempt sees it that has so many before it: Waiting are
// those, and Wait is its own.
func (e *Engine) QueueBehind(ahead int) service.Queue {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.state.staffed(ahead)
	q.Wait = e.state.pace.wait(q)
	return q
}

// staffed is a queue in which so many wait, with what is being graded and the workers, in no order.
func (s *state) staffed(waiting int) service.Queue {
	q := service.Queue{Waiting: waiting, Grading: len(s.busy)}
	for _, w := range s.workers {
		q.Workers = append(q.Workers, w.WorkerState)
	}
	return q
}
