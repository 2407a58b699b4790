// Package observe is the kit for writing hidden tests. A test feeds the submission
// inputs from [Observer.Rand] and records its results; the grader compares the
// record with the one that the same test made of the reference, for the same seed.
// The kit holds no expected value, compares nothing and gives no verdict, because
// the submission runs in the same process and could change all of them.
//
// A test makes one Observer, in the test itself and not in a subtest:
//
//	// A node used twice collects both gradients.
//	func TestSharedNode(t *testing.T) {
//		o := observe.New(t)
//		x := autograd.New(o.Rand().NormFloat64())
//		y := x.Mul(x).Add(x)
//		y.Backward()
//		o.Float("y", y.Data())
//		o.Float("dy/dx", x.Grad())
//	}
//
// The record keeps the order of values; names may repeat. A benchmark has a
// measured window, and records outside it:
//
//	for o.Loop() {
//		g.Backward()
//	}
//
// Under plain go test nothing leaves the process: the test only checks that it
// runs, with another seed each time. A test that fails logs its seed, and
// GRADE_SEED repeats it.
//
// These rules hold for every comparison: NaN agrees only with NaN; +Inf and -Inf
// agree only with themselves; -0 agrees with +0 (record [math.Signbit] to tell them
// apart); a nil list agrees with an empty one (record a Bool to tell them apart);
// strings are compared byte for byte.
package observe

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"grade/observe/wire"
)

// flushAt is the size of the record's buffer, in bytes.
const flushAt = 64 << 10

// Observer records the results of one test or benchmark. Several goroutines may
// call its methods, but the grader compares the order of the record too, so record
// concurrent parts in a [Transcript], or after joining them.
type Observer struct {
	*state
	selfReported bool
}

// state is shared by an Observer and its SelfReported copy.
type state struct {
	tb   testing.TB
	env  environment
	rand *rand.Rand

	mu      sync.Mutex
	buf     []byte
	size    int // bytes of the whole stream so far, the end included
	records int
	strings int
	ended   bool

	loop loop
}

// New makes the Observer of a test. When the test ends, the Observer writes the end
// of the record: passed, failed or skipped. A process that dies before that leaves
// a record without an end.
func New(tb testing.TB) *Observer {
	tb.Helper()
	if strings.Contains(tb.Name(), "/") {
		tb.Fatalf("observe: a test has one Observer: make it in the test itself, not in %s", tb.Name())
	}
	env, err := readEnvironment()
	if err != nil {
		tb.Fatalf("observe: %v", err)
	}
	env.limitStack()
	if !begin(tb.Name(), env.sandbox) {
		tb.Fatal("observe: a test has one Observer, and in the sandbox a process has one test")
	}
	s := &state{
		tb:   tb,
		env:  env,
		rand: newRand(env.seed, tb.Name()),
		buf:  []byte(wire.Magic),
		size: len(wire.AppendEnd([]byte(wire.Magic), wire.Passed)),
	}
	tb.Cleanup(s.end)
	return &Observer{state: s}
}

// Rand returns the test's source of random numbers, the same one in every call. It
// is not safe for concurrent use. The grader gives it a new seed for each grading,
// test and repetition, the same for submission and reference.
func (o *Observer) Rand() *rand.Rand { return o.rand }

// SelfReported returns an Observer of the same record that marks its values as
// self-reported: facts that only this process can know, such as allocations,
// goroutines left over, or an argument left unchanged. A submission can forge them,
// so give few points to a check that relies on them.
func (o *Observer) SelfReported() *Observer {
	return &Observer{state: o.state, selfReported: true}
}

// active holds the tests that have an Observer now. In the sandbox a process runs
// one test and writes one stream, so used stays set there.
var active = struct {
	sync.Mutex
	tests map[string]bool
	used  bool
}{tests: map[string]bool{}}

func begin(test string, sandbox bool) bool {
	active.Lock()
	defer active.Unlock()
	if active.tests[test] || sandbox && active.used {
		return false
	}
	active.tests[test] = true
	active.used = active.used || sandbox
	return true
}

func finish(test string) {
	active.Lock()
	defer active.Unlock()
	delete(active.tests, test)
}

// record adds one value. It panics on mistakes of the test's author, and fails the
// test when the record exceeds the caps of package wire, which a submission can
// cause. It does nothing after the end of the test, because a submission's goroutine
// may outlive it.
func (o *Observer) record(name string, v wire.Value, c wire.Comparison) {
	o.tb.Helper()
	r := wire.Record{Name: name, SelfReported: o.selfReported, Comparison: c, Value: v}
	if err := r.Check(); err != nil {
		panic("observe: " + name + ": " + err.Error())
	}
	if problem := o.add(r); problem != "" {
		o.tb.Fatalf("observe: %s: %s", name, problem)
	}
}

// add adds a record, or returns what is wrong with it. It does not fail the test
// itself, because the test's end needs the lock.
func (s *state) add(r wire.Record) (problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return ""
	}
	before := len(s.buf)
	s.buf = wire.Append(s.buf, r)
	s.size += len(s.buf) - before
	s.records++
	s.strings += len(r.Value.Strings)
	if s.size > wire.MaxSize || s.records > wire.MaxRecords || s.strings > wire.MaxStrings {
		s.buf = s.buf[:before]
		return "the record exceeds its limits"
	}
	if len(s.buf) > flushAt {
		if err := s.flush(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// end runs as the test's Cleanup.
func (s *state) end() {
	defer finish(s.tb.Name())
	s.checkLoop()
	status := statusOf(s.tb)
	if s.tb.Failed() && !s.env.sandbox {
		s.tb.Logf("observe: repeat with GRADE_SEED=%x", s.env.seed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.buf = wire.AppendEnd(s.buf, status)
	if err := s.flush(); err != nil {
		s.tb.Errorf("observe: %v", err)
	}
}

func (s *state) flush() error {
	b := s.buf
	s.buf = s.buf[:0]
	if !s.env.sandbox {
		return nil
	}
	_, err := pipes.observations.Write(b)
	return err
}
