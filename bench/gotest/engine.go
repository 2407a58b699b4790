package gotest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"grade"
	"grade/exercises/course"
	"grade/grader/lang/golang"
	"grade/sandbox"
	"grade/sandbox/docker"
)

const (
	// removeTimeout limits the removal of a container that did not end by itself.
	removeTimeout = 10 * time.Second
	// settlePoll is how often Settle looks.
	settlePoll = 10 * time.Millisecond
	// drainTimeout limits the wait for output that the engine has not delivered yet.
	drainTimeout = 5 * time.Second
	// outputMax limits the kept output of a container, in bytes.
	outputMax = 64 << 10
)

// Engine runs go test in containers of the grader's own toolchain image.
type Engine struct {
	client  *client.Client
	version string
	driver  string // the engine's storage driver, which holds caches that start empty
	image   string
	dirs    sandbox.Dirs
	warm    sandbox.Request // the build that filled the image's cache
	kit     []sandbox.File
}

// Open has the docker sandbox make its build image, unless it exists, and reads the
// paths of a box. Without an engine the error is sandbox.ErrUnavailable.
func Open(ctx context.Context) (*Engine, error) {
	warm := golang.Warm(grade.Sources)
	d, err := docker.Open(ctx, docker.Config{Sources: grade.Sources, Warm: warm})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	box, err := d.Box(ctx, sandbox.Spec{Purpose: sandbox.Build, Memory: 1 << 30, Pids: 512, Scratch: 64 << 20})
	if err != nil {
		return nil, err
	}
	defer box.Close()
	requests, err := warm.Requests(box.Dirs())
	if err != nil {
		return nil, err
	}
	c, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, err
	}
	g := &Engine{client: c, version: d.Version(), image: d.Info().Build, dirs: box.Dirs(), warm: requests[len(requests)-1], kit: requests[0].Files}
	info, err := c.Info(ctx)
	if err != nil {
		c.Close()
		return nil, err
	}
	g.driver = info.Driver
	return g, nil
}

// Close closes the connection.
func (g *Engine) Close() { g.client.Close() }

// Settle waits until no container of grade's is left. The engine removes those of a grading
// after the command has ended, and what is timed next must not pay for that. No other grade may
// run on this engine.
func (g *Engine) Settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for {
		left, err := g.client.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", docker.OwnerLabel))})
		if err != nil || len(left) == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until the containers of the grading before are removed: %w", ctx.Err())
		}
	}
}

// String names the engine and the image.
func (g *Engine) String() string {
	return fmt.Sprintf("docker %s on %s, %s", g.version, g.driver, g.image)
}

// Run is one go test. The zero values of Memory and Pids mean no limit.
type Run struct {
	Tree []byte   // a tar archive made by Engine.Tree
	Args []string // arguments of the go command
	Env  []string
	Memory,
	Pids int64
}

// Filled returns a go test that uses the image's build cache, and with it the grader's
// flags and environment, because the cache holds builds for those only.
func (g *Engine) Filled(e *course.Exercise, more ...string) Run {
	return Run{Args: slices.Concat(flagsOf(g.warm), []string{"-count=1", "-run=" + Pattern(e)}, more, []string{Hidden(e)}), Env: g.warm.Env}
}

// Empty returns a go test as users type it in an image such as golang, which has no
// build cache: without the grader's flags, it compiles the standard library.
func (g *Engine) Empty(e *course.Exercise, more ...string) Run {
	return Run{
		Args: slices.Concat([]string{"test", "-count=1", "-run=" + Pattern(e)}, more, []string{Hidden(e)}),
		Env:  []string{"HOME=/root", "GOTOOLCHAIN=local", "GOPROXY=off", "CGO_ENABLED=0", "PATH=" + g.dirs.GoRoot + "/bin"},
	}
}

// Build returns the arguments of a build with the grader's flags, and how its tools collect
// garbage.
func (g *Engine) Build(output string, e *course.Exercise) (args, env []string) {
	return append(flagsOf(g.warm), "-c", "-o", output, Hidden(e)), runtimeOf(g.warm)
}

// RuntimeOf returns how the grader has the tests of an exercise use threads and collect garbage.
func RuntimeOf(e *course.Exercise) []string {
	return runtimeOf(new(golang.Language).Test(e, course.Check{}, ""))
}

// runtimeOf returns the settings of Go's runtime in a request.
func runtimeOf(q sandbox.Request) (env []string) {
	for _, v := range q.Env {
		if strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, "GOMEMLIMIT=") || strings.HasPrefix(v, "GOMAXPROCS=") {
			env = append(env, v)
		}
	}
	return env
}

// Tree returns a tar archive of the module with a solution of one exercise, and of a
// /tmp, which the image lacks.
func (g *Engine) Tree(e *course.Exercise, solution []course.File) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "/tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, f := range slices.Concat(g.kit, Packages(e, solution)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: g.dirs.Work + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data))}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}

// Do copies the tree into a new container and runs it, like docker run --rm. The
// container has no network, which saves the time to make one.
func (g *Engine) Do(ctx context.Context, r Run) (o Outcome, err error) {
	started := time.Now()
	created, err := g.create(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	defer func() {
		if err != nil { // otherwise the engine has removed it
			err = errors.Join(err, g.remove(ctx, created))
		}
	}()
	if err := g.client.CopyToContainer(ctx, created, "/", bytes.NewReader(r.Tree), container.CopyToContainerOptions{}); err != nil {
		return Outcome{}, err
	}
	if err := g.wait(ctx, created, &o); err != nil {
		return Outcome{}, err
	}
	o.Took = time.Since(started)
	return o, nil
}

// Outcome is the outcome of a Run.
type Outcome struct {
	Status int64
	Output []byte // the beginning of the output
	Took   time.Duration
}

func (g *Engine) create(ctx context.Context, r Run) (id string, err error) {
	config := &container.Config{
		Image: g.image, WorkingDir: g.dirs.Work, Env: r.Env, User: "0:0",
		Entrypoint:   append([]string{g.warm.Path}, r.Args...),
		Cmd:          []string{},
		AttachStdout: true, AttachStderr: true,
	}
	host := &container.HostConfig{AutoRemove: true, NetworkMode: "none", Resources: container.Resources{Memory: r.Memory, MemorySwap: r.Memory}}
	if r.Pids > 0 {
		host.Resources.PidsLimit = &r.Pids
	}
	created, err := g.client.ContainerCreate(ctx, config, host, nil, nil, "")
	return created.ID, err
}

func (g *Engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	err := g.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// wait starts a container and waits until the engine has removed it.
func (g *Engine) wait(ctx context.Context, id string, o *Outcome) error {
	stream, err := g.client.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, stream.Close)()
	removed, errs := g.client.ContainerWait(ctx, id, container.WaitConditionRemoved)
	if err := g.client.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return err
	}
	var b beginning
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = stdcopy.StdCopy(&b, &b, stream.Reader) // lost output does not fail the run
	}()
	select {
	case r := <-removed:
		if o.Status = r.StatusCode; r.Error != nil {
			return errors.New(r.Error.Message)
		}
	case err := <-errs:
		return err
	}
	select {
	case <-drained:
		o.Output = b.Bytes()
		return nil
	case <-time.After(drainTimeout): // no figure: it would have this time in it
		return errors.New("the engine does not end the output of a container that has ended")
	}
}

// beginning keeps the first outputMax bytes, because a submission may write without
// end.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), outputMax-b.Len())])
	return len(p), nil
}
