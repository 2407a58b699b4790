package observe

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// loop is the measured window of a benchmark.
type loop struct {
	phase atomic.Int32
	left  int // remaining rounds; used in the sandbox, or without testing.B
}

// The phases of a window.
const (
	notBegun int32 = iota
	open
	closed
)

// Loop opens the measured window: `for o.Loop() { work }`. In the sandbox the work
// runs GRADE_LOOPS times (once, unless the grader sets another number) between two
// readings of the process's clocks from outside. A garbage collection precedes the
// first reading. Prepare inputs before the window, and record results after it.
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
	// Any TB with a Loop of its own will do, not only testing.B.
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

// mark asks the sandbox to read the process's clocks, and waits until it has.
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
