package grader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"grade/grader/lang/golang"
	"grade/sandbox"
)

// A station is where one program runs: a box that holds it, and the means to
// get another one when the box has gone, since a submission can take its box
// down with it.
type station struct {
	sandbox Sandbox
	spec    sandbox.Spec
	program []byte

	mu     sync.Mutex
	box    sandbox.Box
	loaded bool         // the box has the program
	cpu    *int         // where the box is pinned, if it is
	spent  atomic.Int64 // nanoseconds in run, as seen from here: boxes opened and wiped included
}

// open starts the box.
func (s *station) open(ctx context.Context) error {
	box, err := s.sandbox.Box(ctx, s.spec)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box, s.loaded = box, false
	if s.cpu != nil {
		return box.Pin(ctx, *s.cpu)
	}
	return nil
}

// pin moves the station to one CPU for good.
func (s *station) pin(ctx context.Context, cpu int) error {
	s.cpu = &cpu
	err := s.box.Pin(ctx, cpu)
	if errors.Is(err, sandbox.ErrGone) {
		return s.reopen(ctx)
	}
	return err
}

// close ends the box, if there is one.
func (s *station) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.box != nil {
		s.box.Close()
	}
}

func (s *station) reopen(ctx context.Context) error {
	s.close()
	return s.open(ctx)
}

// run runs the program once. Where a new box goes down over a request, and then
// another new one, while new ones can be had, the program is what takes them
// down: that is an outcome, or a submission could buy itself an error for a
// grade. A box that was here before may have gone for another reason.
func (s *station) run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	started := time.Now()
	defer func() { s.spent.Add(int64(time.Since(started))) }()
	q.Path = golang.ProgramName
	env := slices.Clip(q.Env)
	for range 3 {
		q.Files = nil
		if !s.loaded {
			q.Files = []sandbox.File{{Name: golang.ProgramName, Exec: true, Data: s.program}}
		}
		q.Env = append(env, "TMPDIR="+s.box.Dirs().Scratch)
		o, err := s.box.Run(ctx, q)
		if err == nil {
			s.loaded = true
			return o, nil
		}
		if !errors.Is(err, sandbox.ErrGone) || ctx.Err() != nil {
			return sandbox.Outcome{}, err
		}
		if err := s.reopen(ctx); err != nil {
			return sandbox.Outcome{}, fmt.Errorf("open a box in place of one that ended: %w", err)
		}
	}
	return sandbox.Outcome{Signal: int(syscall.SIGKILL)}, nil
}
