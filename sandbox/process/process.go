// Package process makes the words of package sandbox true without an engine, as
// far as that goes: the same supervisor, as a child process. It is for checking
// one's own work on one's own machine, and its Info says so.
//
// What it holds: wall time, CPU time, output, single files above Spec.Scratch
// and, by the supervisor's own looking, memory; a clean environment; nothing
// left running and no file left behind. What it does not: a program here has
// the network, reads what its user may read, and can write there too. Spec.Pids
// means nothing, because the kernel counts processes for a user and not for a
// program, and not at all for root. Without a control group a program's memory
// is looked at and not limited, so a quick one can get some way beyond.
//
// Open needs Linux. Box starts a supervisor; Close waits until every one has
// ended.
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

// closeTimeout is how long a supervisor may take to end what it runs and to
// remove its directory.
const closeTimeout = 10 * time.Second

// Config says how boxes are made. The zero value of a field means its default.
type Config struct {
	// Sources is the tree that the supervisor is compiled from.
	Sources fs.FS
	// Warm is a build that fills the build cache for exactly the flags that
	// later builds use.
	Warm sandbox.Warm
	// Progress hears of long work: the cache being filled. Total is 0 where it
	// is not known.
	Progress func(what string, current, total int64)
}

// Sandbox starts boxes.
type Sandbox struct {
	config     Config
	toolchain  toolchain.Go
	supervisor string // the compiled program

	prepare sync.Mutex
	cache   string // the build cache; empty until it is filled
	closing sync.WaitGroup
}

// Open finds the machine's toolchain and compiles the supervisor. On a system
// other than Linux it says sandbox.ErrUnavailable.
func Open(ctx context.Context, config Config) (*Sandbox, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%w: the process sandbox needs Linux, this is %s: use --sandbox docker", sandbox.ErrUnavailable, runtime.GOOS)
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

// Prepare makes sure that what a purpose needs is there.
func (s *Sandbox) Prepare(ctx context.Context, p sandbox.Purpose) error {
	if p != sandbox.Build {
		return nil
	}
	s.prepare.Lock()
	defer s.prepare.Unlock()
	if s.cache != "" {
		return nil
	}
	cache, err := s.fillCache(ctx)
	if err != nil {
		return fmt.Errorf("fill the build cache: %w", err)
	}
	s.cache = cache
	return nil
}

// Close waits until every supervisor has ended.
func (s *Sandbox) Close() error {
	s.closing.Wait()
	return nil
}
