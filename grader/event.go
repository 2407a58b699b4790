package grader

import (
	"sync"
	"time"

	"grade/grader/verdict"
)

// Phase is a part of a grading with a time of its own. Build and Start overlap.
type Phase string

// The phases, in the order in which they begin.
const (
	Vet     Phase = "vet"     // reading the source
	Build   Phase = "build"   // compiling submission and reference
	Start   Phase = "start"   // opening the boxes
	Test    Phase = "test"    // hidden tests
	Race    Phase = "race"    // tests under the race detector
	Measure Phase = "measure" // benchmarks
)

// Phases are the valid phases.
var Phases = []Phase{Vet, Build, Start, Test, Race, Measure}

// Event is progress of a grading, for a line on a terminal or for a page elsewhere:
// a phase that begins or is over, a wait, or a check that is decided.
type Event struct {
	Phase Phase `json:"phase"`
	Done  bool  `json:"done,omitempty"` // the phase is over
	// Waiting says what the phase waits for; empty: it does not.
	Waiting string               `json:"waiting,omitempty"`
	Check   *verdict.CheckResult `json:"check,omitempty"`   // as decided
	Decided int                  `json:"decided,omitempty"` // checks so far, this one included
	Total   int                  `json:"total,omitempty"`   // checks to decide
}

// announcer tells of a grading's progress, one event at a time, and keeps the times
// of its phases.
type announcer struct {
	onEvent func(Event) // may be nil
	total   int         // checks to decide

	mu      sync.Mutex
	decided int
	took    map[Phase]time.Duration
}

func (a *announcer) tell(e Event) {
	if a.onEvent != nil {
		a.onEvent(e)
	}
}

// phase tells that a phase begins; the function returned tells that it is over.
func (a *announcer) phase(p Phase) (over func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(Event{Phase: p})
	started := time.Now()
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.took[p] = time.Since(started)
		a.tell(Event{Phase: p, Done: true})
	}
}

// waiting tells what a phase waits for.
func (a *announcer) waiting(p Phase, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(Event{Phase: p, Waiting: what})
}

// check tells that a check is decided. Where a submission crashed is its own choice, by what a
// test gave it: the result tells a few places of all checks, an event none.
func (a *announcer) check(p Phase, c verdict.CheckResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decided++
	c.Places = nil
	a.tell(Event{Phase: p, Check: &c, Decided: a.decided, Total: a.total})
}

// phases are the times of a result. A phase that did not come to its end took none.
func (a *announcer) phases(snapshot, total time.Duration) verdict.Phases {
	a.mu.Lock()
	defer a.mu.Unlock()
	ms := verdict.Milliseconds
	return verdict.Phases{
		SnapshotMs: ms(snapshot), VetMs: ms(a.took[Vet]), BuildMs: ms(a.took[Build]), StartMs: ms(a.took[Start]),
		TestMs: ms(a.took[Test]), RaceMs: ms(a.took[Race]), MeasureMs: ms(a.took[Measure]), TotalMs: ms(total),
	}
}
