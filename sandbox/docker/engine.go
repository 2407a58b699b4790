// Package docker implements a sandbox with a Docker engine. Its boxes are
// single-use containers with a read-only root and the supervisor as process 1,
// without network and without dangerous capabilities. It uses the Engine API and
// mounts nothing of the machine (the toolchain lies in a volume of the engine), so
// a remote engine works as well. It knows neither exercises nor verdicts.
//
// Open connects and removes the containers of dead owners; Box starts a container;
// Close waits until every container is gone.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// Deadlines of calls to the engine, generous for a loaded machine. Missing one is
// an error of the sandbox, never a verdict.
const (
	pingTimeout  = 10 * time.Second
	callTimeout  = 60 * time.Second
	imageTimeout = 15 * time.Minute
	closeTimeout = 10 * time.Second
	// removeTimeout is longer, because a container that never started stays if it is missed.
	removeTimeout = 2 * time.Minute
)

// Config configures an engine. The zero value of a field means its default.
type Config struct {
	// Sources is the tree that the supervisor is compiled from.
	Sources fs.FS
	// Warm fills the build image's cache, with exactly the flags of later builds.
	Warm sandbox.Warm
	// Race fills the cache of builds for the race detector, likewise.
	Race sandbox.Warm
	// BuildImage names an image with a Go toolchain at /usr/local/go, which is
	// pulled if it is missing; empty: make an image of this machine's toolchain.
	BuildImage string
	// Runtime is the OCI runtime, as "runsc"; empty: the engine's default.
	Runtime string
	// Progress is called during long work, such as making an image. total is 0 if
	// it is unknown.
	Progress func(what string, current, total int64)
}

// Engine is a connection to a Docker engine.
type Engine struct {
	config  Config
	client  *client.Client
	info    system.Info
	skew    time.Duration // of the engine's clock, before this machine's
	arch    string
	runtime string
	owner   string

	users   users
	images  images
	closing sync.WaitGroup // what has to be removed
	ending  sync.WaitGroup // what the engine removes by itself as well
}

// Open connects to the engine that the environment or the docker command's context names, or
// else to the machine's own, and removes the containers of dead owners. If it cannot reach the engine,
// the error is sandbox.ErrUnavailable.
func Open(ctx context.Context, config Config) (*Engine, error) {
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if host := contextHost(); host != "" {
		options = append(options, client.WithHost(host))
	}
	c, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
	}
	e := &Engine{config: config, client: c, users: newUsers()}
	if e.config.Progress == nil {
		e.config.Progress = func(string, int64, int64) {}
	}
	if err := e.identify(ctx); err != nil {
		c.Close()
		return nil, err
	}
	if e.owner, err = owner(); err != nil {
		c.Close()
		return nil, err
	}
	if err := e.sweep(ctx); ctx.Err() != nil {
		c.Close()
		return nil, err
	}
	return e, nil
}

// identify learns what the engine is.
func (e *Engine) identify(ctx context.Context) error {
	var info system.Info
	var skew time.Duration
	err := again(ctx, func() (err error) {
		call, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		info, err = e.client.Info(call)
		if now := clock(info); !now.IsZero() {
			skew = time.Until(now)
		}
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			return forGood{err} // nothing listens there
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: docker engine at %s: %w", sandbox.ErrUnavailable, e.client.DaemonHost(), err)
	}
	if e.arch, err = examine(info); err != nil {
		return fmt.Errorf("%w: docker engine %w", sandbox.ErrUnavailable, err)
	}
	if info.CgroupVersion == "" { // engines before 20.10 know version 1 only and do not report it
		info.CgroupVersion = "1"
	}
	call, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if v, err := e.client.ServerVersion(call); err == nil && podman(v) {
		return fmt.Errorf("%w: at %s is Podman, which reads filters of system calls from its own files alone: start a Docker engine, and name it with DOCKER_HOST", sandbox.ErrUnavailable, e.client.DaemonHost())
	}
	e.info, e.skew = info, skew
	if e.runtime = e.config.Runtime; e.runtime == "" {
		e.runtime = info.DefaultRuntime
	}
	if _, ok := info.Runtimes[e.runtime]; !ok && e.config.Runtime != "" {
		return fmt.Errorf("docker engine has no runtime %q: install it, or leave the runtime unset", e.runtime)
	}
	return nil
}

// podman reports whether the engine is one that only speaks like Docker's.
func podman(v types.Version) bool {
	return slices.ContainsFunc(v.Components, func(c types.ComponentVersion) bool { return strings.HasPrefix(c.Name, "Podman") })
}

// examine returns the architecture of the engine's machine, or the reason why it
// cannot run boxes.
func examine(info system.Info) (arch string, err error) {
	if info.OSType != "linux" {
		return "", fmt.Errorf("runs %s containers, want linux", info.OSType)
	}
	// An engine that cannot enforce a limit (a rootless one with control groups of
	// version 1, for instance) starts containers without it, and only warns.
	if !info.MemoryLimit || !info.PidsLimit {
		return "", errors.New("cannot limit memory and processes: see the warnings of docker info")
	}
	switch info.Architecture {
	case "x86_64", "amd64":
		return "amd64", nil
	case "aarch64", "arm64":
		return "arm64", nil
	}
	return "", fmt.Errorf("on %s, want amd64 or arm64", info.Architecture)
}

// Info describes the sandbox. The images have names after Prepare.
func (e *Engine) Info() sandbox.Info {
	return sandbox.Info{
		Kind: "docker", Official: true, Runtime: e.runtime,
		Image: e.images.run.name(), Build: e.images.build.name(), Cgroup: "v" + e.info.CgroupVersion, GoArch: e.arch,
	}
}

// Version returns the engine's version, for a report on the machine.
func (e *Engine) Version() string { return e.info.ServerVersion }

// LimitsSwap reports whether the engine can keep boxes from swapping.
func (e *Engine) LimitsSwap() bool { return e.info.SwapLimit }

// Host returns the address of the engine.
func (e *Engine) Host() string { return e.client.DaemonHost() }

// Close waits until all containers of this process are removed.
func (e *Engine) Close() error {
	e.settle()
	// The engine may have made a container for a killed owner after the sweep of Open, or
	// for this one after its call was given up. If this sweep fails, the Open of another
	// process repeats it.
	ctx, cancel := bounded(context.Background())
	defer cancel()
	_ = e.sweep(ctx)
	return e.client.Close()
}

func (e *Engine) settle() {
	e.closing.Wait()
	e.ending.Wait()
}

// Leave is Close for a process that is about to end, and does not wait for closed boxes: a
// supervisor ends with its input, and the engine removes a container that has ended. That takes
// it some 80 ms, and the next Open removes what is left for any other reason.
func (e *Engine) Leave() error {
	e.closing.Wait()
	return e.client.Close()
}

// bounded returns a context with the deadline of one call to the engine.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// supervisor compiles the supervisor and returns its path.
func (e *Engine) supervisor(ctx context.Context) (string, error) {
	g, err := toolchain.Find(ctx)
	if err != nil {
		return "", err
	}
	return g.Compile(ctx, e.config.Sources, "sandbox/supervisor", e.arch)
}
