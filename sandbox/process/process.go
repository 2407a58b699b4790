// Package process implements a sandbox without an engine: it runs the same
// supervisor as a child process. It lets students check their own work on their
// own machine; its Info says that a grade from it is not official.
//
// It enforces limits on wall time, CPU time, output, the size of a single file
// (Spec.Scratch) and, by the supervisor's sampling, memory. It gives programs a
// clean environment and leaves no process and no file behind. It does not isolate:
// a program has the network, and can read and write whatever its user can. It
// ignores Spec.Pids, because the kernel counts processes for each user instead of
// each program, and not at all for root. Memory is sampled and not limited by a
// control group, so a fast program can overshoot.
//
// Open needs Linux. Box starts a supervisor; Close waits until all supervisors
// have ended.
package process

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"time"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// closeTimeout limits the time that a supervisor takes to end its program and to
// remove its directory.
const closeTimeout = 10 * time.Second

// Config configures a sandbox. The zero value of a field means its default.
type Config struct {
	// Sources is the tree that the supervisor is compiled from.
	Sources fs.FS
	// Warm fills the build cache, with exactly the flags of later builds.
	Warm sandbox.Warm
	// Race fills it for the race detector, likewise.
	Race sandbox.Warm
	// Progress is called during long work, such as filling the cache. total is 0 if
	// it is unknown.
	Progress func(what string, current, total int64)
}

// Sandbox starts boxes.
type Sandbox struct {
	config     Config
	toolchain  toolchain.Go
	supervisor string // the compiled program

	prepare sync.Mutex
	cache   string // the build cache; empty until it is filled
	race    bool   // the cache is filled for the race detector too
	closing sync.WaitGroup
}

// Open finds the machine's toolchain and compiles the supervisor. Without a
// toolchain, and on systems other than Linux, it returns sandbox.ErrUnavailable.
func Open(ctx context.Context, config Config) (*Sandbox, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%w: the process sandbox needs Linux, this is %s: use the docker sandbox", sandbox.ErrUnavailable, runtime.GOOS)
	}
	if config.Progress == nil {
		config.Progress = func(string, int64, int64) {}
	}
	g, err := toolchain.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
	}
	supervisor, err := g.Compile(ctx, config.Sources, "sandbox/supervisor", runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	return &Sandbox{config: config, toolchain: g, supervisor: supervisor}, nil
}

// Info describes the sandbox. A grade from it does not count.
func (s *Sandbox) Info() sandbox.Info {
	return sandbox.Info{Kind: "process", Official: false, Build: s.toolchain.Version, GoArch: runtime.GOARCH}
}

// Prepare fills the build cache, if the purpose needs it.
func (s *Sandbox) Prepare(ctx context.Context, p sandbox.Purpose) error {
	if !p.Builds() {
		return nil
	}
	s.prepare.Lock()
	defer s.prepare.Unlock()
	if s.cache == "" {
		cache, err := s.fillCache(ctx)
		if err != nil {
			return fmt.Errorf("fill the build cache: %w", err)
		}
		s.cache = cache
	}
	if p == sandbox.Build || s.race {
		return nil
	}
	if err := s.fillRaceCache(ctx); err != nil {
		return fmt.Errorf("fill the build cache for the race detector: %w", err)
	}
	s.race = true
	return nil
}

// Close waits until every supervisor has ended.
func (s *Sandbox) Close() error {
	s.closing.Wait()
	return nil
}

// Leave is Close: a supervisor removes its directories, for which it must not be hurried.
func (s *Sandbox) Leave() error { return s.Close() }
