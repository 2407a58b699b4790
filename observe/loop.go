package observe

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// loop is the measured window of a benchmark.
type loop struct {
	phase atomic.Int32
	left  int // rounds still to come; in the sandbox, or without testing.B
}

// The phases of a window.
const (
	notBegun int32 = iota
	open
	closed
)

// Loop is the measured window: `for o.Loop() { work }`. In the sandbox the work
// runs GRADE_LOOPS times (once, unless the grader says otherwise) between two
// readings of the process's clocks from outside, the first of them after a
// garbage collection. Everything before the window is preparation and
// everything after it is recording.
//
// A test has one window: calling Loop after it has returned false fails the
// test, and so does leaving the window early.
//
// Outside the sandbox a benchmark runs as often as testing.B.Loop says, and a
// test once.
func (o *Observer) Loop() bool {
	switch o.loop.phase.Load() {
	case notBegun:
		o.loop.phase.Store(open)
		o.loop.left = o.env.loops
		if o.env.sandbox {
			runtime.GC()
			o.mark()
		}
	case closed:
		o.tb.Helper()
		o.tb.Fatal("observe: a test has one measured window")
	}
	if o.next() {
		return true
	}
	if o.env.sandbox {
		o.mark()
	}
	o.loop.phase.Store(closed)
	return false
}

func (s *state) next() bool {
	// testing.B's own Loop, without naming testing.B: any TB that has one will do.
	if b, ok := s.tb.(interface{ Loop() bool }); ok && !s.env.sandbox {
		return b.Loop()
	}
	s.loop.left--
	return s.loop.left >= 0
}

func (s *state) checkLoop() {
	if s.loop.phase.Load() == open && !s.tb.Failed() && !s.tb.Skipped() && !unwinding() {
		s.tb.Error("observe: the measured window was left before Loop returned false")
	}
}

// mark has the process's clocks read, and waits until they have been.
func (s *state) mark() {
	s.tb.Helper()
	if err := askForMark(); err != nil {
		s.tb.Fatalf("observe: mark: %v", err)
	}
}

func askForMark() error {
	var b [1]byte
	if _, err := pipes.mark.Write(b[:]); err != nil {
		return err
	}
	if _, err := pipes.marked.Read(b[:]); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}
