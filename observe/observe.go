// Package observe is the kit that hidden tests are written with. A test feeds
// the submission inputs from [Observer.Rand] and records what comes back; the
// grader holds the record against the one that the same test made of the
// reference, for the same seed. The kit holds no expected value, compares
// nothing and gives no verdict: everything in this process counts as written
// by the student.
//
// A test makes one Observer, for itself and not for a subtest:
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
// Values are recorded in order; a name may occur again. A benchmark has a
// measured window, and records outside it:
//
//	for o.Loop() {
//		g.Backward()
//	}
//
// Under plain go test nothing leaves the process: the test checks that it runs,
// with another seed each time, which is logged when it fails. GRADE_SEED
// repeats it.
//
// Written rules, under every comparison: NaN agrees with NaN and nothing else;
// +Inf and -Inf agree with themselves only; -0 agrees with +0 (record
// [math.Signbit] to tell them apart); a nil list agrees with an empty one
// (record a Bool to tell them apart); strings are compared byte for byte.
package observe

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"grade/observe/wire"
)

// flushAt is how many bytes of the record are kept before they are written.
const flushAt = 64 << 10

// Observer records what one test or benchmark sees. Its methods may be called
// from several goroutines, but the order of the record is graded too, so
// concurrent parts belong into a [Transcript] or behind a join.
type Observer struct {
	*state
	selfReported bool
}

// state is what an Observer and its SelfReported twin share.
type state struct {
	tb   testing.TB
	env  environment
	rand *rand.Rand

	mu      sync.Mutex
	buf     []byte
	size    int // of the whole stream so far, the end included
	records int
	strings int
	ended   bool

	loop loop
}

// New makes the Observer of a test. When the test ends, the end of the record
// is written: that it passed, failed or was skipped. A process that dies before
// leaves a record without an end.
func New(tb testing.TB) *Observer {
	tb.Helper()
	if strings.Contains(tb.Name(), "/") {
		tb.Fatalf("observe: a test has one Observer: make it in the test itself, not in %s", tb.Name())
	}
	env, err := readEnvironment()
	if err != nil {
		tb.Fatalf("observe: %v", err)
	}
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

// Rand returns the test's source of random numbers: always the same one, and
// as little safe for concurrent use as any. The grader seeds it afresh for
// each grading, test and repetition, the same for submission and reference.
func (o *Observer) Rand() *rand.Rand { return o.rand }

// SelfReported returns an Observer of the same record which marks its values as
// self-reported: facts that only this process can know, such as allocations,
// goroutines left over, or an argument left unchanged. They can be forged, so
// a check that rests on them carries few points.
func (o *Observer) SelfReported() *Observer {
	return &Observer{state: o.state, selfReported: true}
}

// active holds the tests that have an Observer now. In the sandbox a process
// runs one test and writes one stream: there, used stays set.
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

// record adds one value. It panics when the test's author is wrong, and fails
// the test when the record grows above the caps of package wire, which a
// submission can bring about. After the end it does nothing: a goroutine that
// outlives its test has nothing to say any more.
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

// add returns what is wrong instead of failing the test itself, because the
// test's end needs the lock.
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
		return "the record is above its limits"
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
