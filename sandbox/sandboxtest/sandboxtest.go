// Package sandboxtest is a sandbox that runs nothing: its boxes answer requests from
// a script, and what was asked of them can be read afterwards. Tests of what acts
// on boxes need no engine with it, and see faults that no engine has on demand.
package sandboxtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"grade/sandbox"
)

// Answer is what a box answers to one request.
type Answer struct {
	Outcome sandbox.Outcome
	Err     error
	// Takes is how long the answer takes. A test that is in a hurry runs in a bubble
	// of testing/synctest.
	Takes time.Duration
}

// Sandbox is a scripted sandbox. Its fields are set before its first box is opened.
type Sandbox struct {
	SandboxInfo sandbox.Info
	CPUs        []int // of a box that is not confined
	// Name names a request. Answers are looked up by it.
	Name func(b *Box, q sandbox.Request) string
	// Script holds the answers to the requests of a name, in order; the last one
	// answers all further ones too.
	Script map[string][]Answer
	// Opening is asked before the nth box, from 1 on, is opened; nil: all open.
	Opening func(n int, s sandbox.Spec) error
	// Pinning is asked before a box is moved to a CPU; nil: all are moved.
	Pinning func(b *Box, cpu int) error
	// Preparing is asked when boxes of a purpose are prepared; nil: that is done.
	Preparing func(p sandbox.Purpose) error

	mu    sync.Mutex
	log   []string
	given map[string]int // answers, by name
	boxes []*Box
}

// Box is a scripted box.
type Box struct {
	Spec   sandbox.Spec
	Number int // of the sandbox's boxes, from 1 on

	sandbox  *Sandbox
	mu       sync.Mutex
	files    map[string]sandbox.File
	requests []sandbox.Request
	pinned   []int
	closed   int
}

// Info describes the sandbox.
func (s *Sandbox) Info() sandbox.Info { return s.SandboxInfo }

// Prepare makes nothing.
func (s *Sandbox) Prepare(_ context.Context, p sandbox.Purpose) error {
	if s.Preparing != nil {
		return s.Preparing(p)
	}
	return nil
}

// Box opens a box.
func (s *Sandbox) Box(ctx context.Context, spec sandbox.Spec) (sandbox.Box, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &Box{Spec: spec, Number: len(s.boxes) + 1, sandbox: s, files: map[string]sandbox.File{}}
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Opening != nil {
		if err := s.Opening(b.Number, spec); err != nil {
			return nil, err
		}
	}
	s.boxes = append(s.boxes, b)
	return b, nil
}

// Boxes are those that have been opened, in order.
func (s *Sandbox) Boxes() []*Box {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.boxes)
}

// Log names the requests, in the order in which they were answered.
func (s *Sandbox) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Open counts the boxes that are not closed.
func (s *Sandbox) Open() (n int) {
	for _, b := range s.Boxes() {
		if b.Closed() == 0 {
			n++
		}
	}
	return n
}

// answer takes the next answer to the requests of a name.
func (s *Sandbox) answer(name string) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, name)
	answers := s.Script[name]
	if len(answers) == 0 {
		return Answer{}, fmt.Errorf("the script has no answer to %q", name)
	}
	if s.given == nil {
		s.given = map[string]int{}
	}
	n := s.given[name]
	s.given[name]++
	return answers[min(n, len(answers)-1)], nil
}

// Dirs are paths of no machine.
func (b *Box) Dirs() sandbox.Dirs {
	return sandbox.Dirs{Work: "/work", Scratch: "/scratch", GoRoot: "/goroot", GoCache: "/gocache"}
}

// CPUs are those of the spec, or the sandbox's.
func (b *Box) CPUs() []int {
	if len(b.Spec.CPUs) > 0 {
		return b.Spec.CPUs
	}
	return b.sandbox.CPUs
}

// Run answers from the script.
func (b *Box) Run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	b.mu.Lock()
	for _, f := range q.Files {
		b.files[f.Name] = f
	}
	b.requests = append(b.requests, q)
	b.mu.Unlock()
	a, err := b.sandbox.answer(b.sandbox.Name(b, q))
	if err != nil {
		return sandbox.Outcome{}, err
	}
	select {
	case <-time.After(a.Takes):
		return a.Outcome, a.Err
	case <-ctx.Done():
		return sandbox.Outcome{}, ctx.Err()
	}
}

// Pin notes the CPU.
func (b *Box) Pin(_ context.Context, cpu int) error {
	if b.sandbox.Pinning != nil {
		if err := b.sandbox.Pinning(b, cpu); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pinned = append(b.pinned, cpu)
	return nil
}

// Close notes that the box was closed.
func (b *Box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
	return nil
}

// File is the content of a file that came with a request, or nil.
func (b *Box) File(name string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[name].Data
}

// Requests are all that the box was asked.
func (b *Box) Requests() []sandbox.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Pinned are the CPUs that the box was moved to.
func (b *Box) Pinned() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.pinned)
}

// Closed counts how often the box was closed.
func (b *Box) Closed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
