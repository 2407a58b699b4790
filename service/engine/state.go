package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/results"
	"grade/service"
)

// state is the log, folded. It changes by fold, and by what workers say of themselves.
type state struct {
	seq     uint64 // of the last message that was folded
	index   results.Index
	cells   map[cellID]*cell
	kept    map[results.PendingID]results.Pending // by [store.UpdatePending]
	line    line
	busy    map[*handed]*cell // the attempts that workers have
	workers map[string]*worker
	jobless map[cellID]bool // whose turn has passed to an attempt that has no job
	wake    chan struct{}   // holds one token while there are any
	pace    pace
	hub     hub
	beat    time.Duration
	now     func() time.Time

	exercises map[string]*course.Exercise // of the course; nil: it has none yet
}

// cell is a student's work at an exercise.
type cell struct {
	id      cellID
	handed  []*handed         // in the order of their numbers
	taker   int               // the largest number of those that take the place of earlier ones
	entered []results.Attempt // by [store.Enter]: numbers without a record, each as often as it was entered
	last    uint64            // sequence of the last message about an attempt
	results map[int]uint64    // sequence of the last record of each attempt
}

// handed is an attempt that was handed in.
type handed struct {
	attemptEntry
	place   uint64 // in the queue: the sequence by which it was queued last
	kept    bool   // a worker has had it, or it is to be graded again: no later one replaces it
	failure *failureEntry
	busy    *busy
	stage   service.Stage // as followers were told; empty: it may have left Replaced
}

// busy is an attempt that a worker has.
type busy struct {
	worker string
	since  time.Time
	heard  time.Time
	events []grader.Event
}

func newState(c Config) *state {
	return &state{
		cells: map[cellID]*cell{}, kept: map[results.PendingID]results.Pending{}, busy: map[*handed]*cell{}, workers: map[string]*worker{},
		jobless: map[cellID]bool{}, wake: make(chan struct{}, 1), hub: hub{}, beat: c.Beat, now: c.Now,
	}
}

// cell returns the cell of a student at an exercise, and begins it.
func (s *state) cell(id cellID) *cell {
	c := s.cells[id]
	if c == nil {
		c = &cell{id: id, results: map[int]uint64{}}
		s.cells[id] = c
	}
	return c
}

// fold takes a message of the log into the state.
func (s *state) fold(subject string, data []byte, seq uint64, at time.Time) error {
	kind, id, number, err := parse(subject)
	if err != nil {
		return err
	}
	c := s.cell(id)
	switch kind {
	case kindAttempt:
		err = s.foldAttempt(c, data, seq)
	case kindResult:
		err = s.foldResult(c, number, data, seq, at)
	case kindFailure:
		err = s.foldFailure(c, number, data, seq)
	case kindPending:
		err = s.foldPending(c, data)
	default:
		err = fmt.Errorf("unknown kind %q", kind)
	}
	s.refresh(c)
	return err
}

func (s *state) foldAttempt(c *cell, data []byte, seq uint64) error {
	c.last = seq
	var a attemptEntry
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	if a.Schema != attemptSchema || a.Student != c.id.student || a.Exercise != c.id.exercise || a.Number < 1 {
		return fmt.Errorf("no attempt of the kind %s", attemptSchema)
	}
	if h := c.of(a.Number); h != nil {
		h.Submitted, h.Source = a.Submitted, a.Source
		return nil
	}
	i, _ := c.find(a.Number)
	c.handed = slices.Insert(c.handed, i, &handed{attemptEntry: a, place: seq, kept: a.Kept, failure: a.Failure})
	for _, number := range a.Keeps {
		if h := c.of(number); h != nil {
			h.kept = true
			h.unsettle()
		}
	}
	delete(s.kept, results.PendingID{Student: a.Student, Exercise: a.Exercise}) // it is the newest now
	if _, graded := s.index.Of(a.Student, a.Exercise, a.Number); graded {
		c.unsettle() // it was an import's, which takes the place of earlier ones
	}
	if !a.Beside {
		c.taker = max(c.taker, a.Number)
	}
	return nil
}

// foldResult takes a record. Its time is the log's where the worker has left it open: the
// clocks of machines differ.
func (s *state) foldResult(c *cell, number int, data []byte, seq uint64, at time.Time) error {
	again := c.results[number] != 0
	c.results[number] = seq
	var r results.Record
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if r.Schema != results.RecordSchema || r.Result == nil || r.Student != c.id.student || r.Exercise != c.id.exercise || r.Attempt != number || number < 1 {
		return fmt.Errorf("no record of the kind %s", results.RecordSchema)
	}
	h := c.of(number)
	if h != nil && h.Content != r.Content {
		return fmt.Errorf("a record of the content %.12s, and attempt %d is %.12s", r.Content, number, h.Content)
	}
	if r.Recorded.IsZero() {
		r.Recorded = at.UTC()
	}
	s.index.Add(r)
	c.entered = slices.DeleteFunc(c.entered, func(a results.Attempt) bool { return a.Number == number })
	if h == nil {
		return nil
	}
	h.unsettle()
	had := h.busy != nil
	if had {
		s.pace.took(s.now().Sub(h.busy.since))
		s.idle(h)
	}
	if !again {
		s.passTurn(c, number, seq, had)
	}
	return nil
}

func (s *state) foldFailure(c *cell, number int, data []byte, seq uint64) error {
	var f failureEntry
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	h := c.of(number)
	if f.Schema != failureSchema || h == nil {
		return fmt.Errorf("no failure of the kind %s of an attempt", failureSchema)
	}
	had := h.busy != nil
	s.idle(h)
	h.unsettle()
	if f.Again {
		h.failure, h.place, h.kept = nil, seq, true
		return nil
	}
	h.failure = &f
	s.passTurn(c, number, seq, had)
	return nil
}

// passTurn gives the turn of an attempt that has come to its end to an earlier one that still
// waits. The job of the later one has taken the place of its job, so it is queued anew, behind
// all others; what a worker had before this engine was there, the sweep finds.
func (s *state) passTurn(c *cell, number int, seq uint64, had bool) {
	h := s.waiting(c)
	if h == nil || h.Number > number {
		return
	}
	h.place = seq
	if !had {
		return
	}
	s.jobless[c.id] = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *state) foldPending(c *cell, data []byte) error {
	id := results.PendingID{Student: c.id.student, Exercise: c.id.exercise}
	if len(data) == 0 {
		delete(s.kept, id)
		return nil
	}
	var p results.Pending
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if p.Schema != results.PendingSchema || p.ID() != id {
		return fmt.Errorf("no submission of the kind %s", results.PendingSchema)
	}
	s.kept[id] = p
	return nil
}

// of returns the attempt with a number; nil: it was not handed in here.
func (c *cell) of(number int) *handed {
	if i, ok := c.find(number); ok {
		return c.handed[i]
	}
	return nil
}

// find returns where the attempt with a number is among those handed in, or would be.
func (c *cell) find(number int) (int, bool) {
	return slices.BinarySearchFunc(c.handed, number, func(h *handed, number int) int { return h.Number - number })
}

// idle says that no worker has an attempt.
func (s *state) idle(h *handed) {
	h.busy = nil
	delete(s.busy, h)
}

// stageOf decides where an attempt stands.
func (s *state) stageOf(c *cell, h *handed) service.Stage {
	_, graded := s.index.Of(c.id.student, c.id.exercise, h.Number)
	switch {
	case graded:
		return service.Graded
	case h.busy != nil:
		return service.Grading
	case h.failure != nil:
		return service.NoVerdict
	case !h.kept && s.later(c, h):
		return service.Replaced
	}
	return service.Waiting
}

// later reports whether an attempt has taken the place of an earlier one, or was brought by
// an import.
func (s *state) later(c *cell, h *handed) bool {
	if last, any := s.index.Last(c.id.student, c.id.exercise); any && last.Attempt > h.Number && c.of(last.Attempt) == nil {
		return true
	}
	return c.taker > h.Number
}

// settled reports whether an attempt stays what it was when followers were told of it: what
// makes another of a replaced one clears its stage. A student may have handed in thousands,
// which are not all looked up for each message.
func (h *handed) settled() bool { return h.stage == service.Graded || h.stage == service.Replaced }

// unsettle says that a replaced attempt may be another now.
func (h *handed) unsettle() {
	if h.stage == service.Replaced {
		h.stage = ""
	}
}

func (c *cell) unsettle() {
	for _, h := range c.handed {
		h.unsettle()
	}
}

// waiting returns the last attempt of a cell that waits for a worker; nil: none does. Earlier
// ones have their turn after it.
func (s *state) waiting(c *cell) *handed {
	for _, h := range slices.Backward(c.handed) {
		if !h.settled() && s.stageOf(c, h) == service.Waiting {
			return h
		}
	}
	return nil
}

// placeOf returns the place of an attempt that waits. Beside a later one, which waits or is
// being graded, it is behind all others: that is where it is queued when that one has ended.
func (s *state) placeOf(c *cell, h *handed) uint64 {
	for _, l := range slices.Backward(c.handed) {
		if l == h {
			break
		}
		if !l.settled() && (l.busy != nil || s.stageOf(c, l) == service.Waiting) {
			return math.MaxUint64
		}
	}
	return h.place
}

// refresh finds out what a change means for the attempts of a cell, and tells followers.
func (s *state) refresh(c *cell) {
	for _, h := range c.handed {
		if h.settled() {
			continue
		}
		stage := s.stageOf(c, h)
		if stage != h.stage {
			h.stage = stage
			s.hub.tell(c.id, s.progress(c, h, nil))
		}
	}
	inLine := uint64(0)
	if h := s.waiting(c); h != nil && s.offered(c.id.exercise) {
		inLine = s.placeOf(c, h)
	}
	if s.line.set(c.id, inLine) {
		s.tellLine()
	}
}

// offered reports whether the course has an exercise. What waits at one that was taken out is
// in nobody's way: it waits for the exercise to come back, or ends if it has a job already.
func (s *state) offered(exercise string) bool {
	return s.exercises == nil || s.exercises[exercise] != nil
}

// setExercises sets the exercises of the course.
func (s *state) setExercises(exercises map[string]*course.Exercise) {
	s.exercises = exercises
	for _, c := range s.cells {
		s.refresh(c)
	}
}

// tellLine tells the followers of what waits how many are before it.
func (s *state) tellLine() {
	for id := range s.hub {
		c := s.cells[id]
		if c == nil {
			continue
		}
		if h := s.waiting(c); h != nil {
			s.hub.tell(id, s.progress(c, h, nil))
		}
	}
}

// progress says where an attempt stands.
func (s *state) progress(c *cell, h *handed, event *grader.Event) service.Progress {
	p := service.Progress{Student: c.id.student, Exercise: c.id.exercise, Number: h.Number, Stage: s.stageOf(c, h), Event: event, At: s.now().UTC()}
	if h.busy != nil {
		p.Worker = h.busy.worker
	}
	if p.Stage == service.Waiting {
		p.Ahead = s.line.before(s.placeOf(c, h))
	}
	return p
}
