// Package docker makes the words of package sandbox true with a Docker engine:
// single-use containers without network, without capabilities of use, with a
// read-only root, and our supervisor as process 1. It speaks the Engine API and
// mounts nothing of the machine (a toolchain lies in a volume of the engine's),
// so a remote engine serves as well. It knows neither exercises nor verdicts.
//
// Open connects and sweeps what dead owners left; Box starts a container;
// Close waits until every container is gone.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// Deadlines of calls to the engine, generous for a loaded machine: an engine
// that needs longer is an error of ours, never a verdict.
const (
	pingTimeout  = 10 * time.Second
	callTimeout  = 60 * time.Second
	imageTimeout = 15 * time.Minute
	closeTimeout = 10 * time.Second
)

// Config says how boxes are made. The zero value of a field means its default.
type Config struct {
	// Sources is the tree that the supervisor is compiled from.
	Sources fs.FS
	// Warm is a build that fills the build image's cache for exactly the flags
	// that later builds use.
	Warm sandbox.Warm
	// BuildImage names an image with a Go toolchain at /usr/local/go, to use
	// instead of one made of this machine's. It is pulled if need be.
	BuildImage string
	// Runtime is the OCI runtime, as "runsc"; empty: the engine's default.
	Runtime string
	// Progress hears of long work: an image being made. Total is 0 where it is
	// not known.
	Progress func(what string, current, total int64)
}

// Engine is a connection to a Docker engine.
type Engine struct {
	config  Config
	client  *client.Client
	info    system.Info
	arch    string
	runtime string
	owner   string

	images  images
	closing sync.WaitGroup
}

// Open connects to the engine that the environment names, or else to the one of
// the machine, and removes what dead owners left behind. An engine that cannot
// be reached is sandbox.ErrUnavailable.
func Open(ctx context.Context, config Config) (*Engine, error) {
	c, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
	}
	e := &Engine{config: config, client: c}
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
	if err := e.sweep(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return e, nil
}

// identify learns what the engine is.
func (e *Engine) identify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	info, err := e.client.Info(ctx)
	if err != nil {
		return fmt.Errorf("%w: docker engine at %s: %w", sandbox.ErrUnavailable, e.client.DaemonHost(), err)
	}
	if e.arch, err = examine(info); err != nil {
		return fmt.Errorf("%w: docker engine %w", sandbox.ErrUnavailable, err)
	}
	if info.CgroupVersion == "" { // engines before 20.10 know version 1 only, and do not say so
		info.CgroupVersion = "1"
	}
	e.info = info
	if e.runtime = e.config.Runtime; e.runtime == "" {
		e.runtime = info.DefaultRuntime
	}
	if _, ok := info.Runtimes[e.runtime]; !ok && e.config.Runtime != "" {
		return fmt.Errorf("docker engine has no runtime %q: install it, or leave the setting empty", e.runtime)
	}
	return nil
}

// examine says what the engine's machine is, or why nothing can be graded on it.
func examine(info system.Info) (arch string, err error) {
	if info.OSType != "linux" {
		return "", fmt.Errorf("runs %s containers, want linux", info.OSType)
	}
	// An engine that cannot hold a limit starts the container all the same, with
	// a warning: one without root on control groups of version 1, for instance.
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

// Info describes the sandbox. The images have names once Prepare has run.
func (e *Engine) Info() sandbox.Info {
	return sandbox.Info{
		Kind: "docker", Official: true, Runtime: e.runtime,
		Image: e.images.run.name(), Build: e.images.build.name(), Cgroup: "v" + e.info.CgroupVersion, GoArch: e.arch,
	}
}

// Version is the engine's own, for a report on the machine.
func (e *Engine) Version() string { return e.info.ServerVersion }

// Host is where the engine listens.
func (e *Engine) Host() string { return e.client.DaemonHost() }

// Close waits until the engine has removed every container of ours, and
// removes those that would not go.
func (e *Engine) Close() error {
	e.closing.Wait()
	// A container that an engine was still making when its owner was killed may have
	// come after the first look. The next start looks too, if this one cannot.
	ctx, cancel := bounded(context.Background())
	defer cancel()
	_ = e.sweep(ctx)
	return e.client.Close()
}

// bounded gives one call to the engine its deadline.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// supervisor compiles the program that runs inside.
func (e *Engine) supervisor(ctx context.Context) (string, error) {
	g, err := toolchain.Find(ctx)
	if err != nil {
		return "", err
	}
	return g.Compile(ctx, e.config.Sources, "sandbox/supervisor", e.arch)
}
