// Package sandboxtest provides a sandbox that runs nothing: its boxes answer
// requests from a script and keep what they were asked. With it, tests of code
// that drives boxes need no engine and can produce faults that no engine has on
// demand.
package sandboxtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"grade/sandbox"
)

// Answer is a box's answer to one request.
type Answer struct {
	Outcome sandbox.Outcome
	Err     error
	// Takes is how long the program runs, and Pauses how long the engine is silent besides. In a
	// bubble of testing/synctest neither takes time.
	Takes, Pauses time.Duration
}

// Sandbox is a scripted sandbox. Set its fields before the first box is opened.
type Sandbox struct {
	SandboxInfo sandbox.Info
	CPUs        []int // CPUs of a box whose Spec names none
	// Name names a request; the name is the key of its answers in Script.
	Name func(b *Box, q sandbox.Request) string
	// Script holds the answers to the requests of each name, in order. The last
	// answer repeats.
	Script map[string][]Answer
	// Opening can refuse to open the nth box, counted from 1; nil: all open.
	Opening func(n int, s sandbox.Spec) error
	// Pinning can refuse to move a box to a CPU; nil: all are moved.
	Pinning func(b *Box, cpu int) error
	// Preparing can refuse to prepare boxes of a purpose; nil: all succeed.
	Preparing func(p sandbox.Purpose) error

	mu    sync.Mutex
	log   []string
	given map[string]int // answers given so far, by name
	boxes []*Box
}

// Box is a scripted box.
type Box struct {
	Spec   sandbox.Spec
	Number int // counts the sandbox's boxes, from 1

	sandbox  *Sandbox
	mu       sync.Mutex
	files    map[string]sandbox.File
	requests []sandbox.Request
	pinned   []int
	closed   int
}

// Info returns SandboxInfo.
func (s *Sandbox) Info() sandbox.Info { return s.SandboxInfo }

// Prepare asks Preparing and makes nothing.
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

// Boxes lists the boxes opened so far, in order.
func (s *Sandbox) Boxes() []*Box {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.boxes)
}

// Log lists the names of all requests, in the order of their answers.
func (s *Sandbox) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Open counts the boxes that are still open.
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

// Dirs returns made-up paths.
func (b *Box) Dirs() sandbox.Dirs {
	return sandbox.Dirs{Work: "/work", Scratch: "/scratch", GoRoot: "/goroot", GoCache: "/gocache"}
}

// CPUs returns the CPUs of the spec, or else the sandbox's.
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
	case <-time.After(a.Takes + a.Pauses):
		a.Outcome.Wall = max(a.Outcome.Wall, a.Takes)
		return a.Outcome, a.Err
	case <-ctx.Done():
		return sandbox.Outcome{}, ctx.Err()
	}
}

// Pin records the CPU.
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

// Close records that the box was closed.
func (b *Box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
	return nil
}

// File returns the content of a file that came with a request, or nil.
func (b *Box) File(name string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[name].Data
}

// Requests lists the requests that the box has received.
func (b *Box) Requests() []sandbox.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Pinned lists the CPUs that the box was moved to.
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
