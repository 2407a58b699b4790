package gotest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"grade"
	"grade/exercises/course"
	"grade/grader/lang/golang"
	"grade/sandbox"
	"grade/sandbox/docker"
)

const (
	// removeTimeout bounds the removal of a container that did not go by itself.
	removeTimeout = 10 * time.Second
	// drainTimeout is for what a container said and the engine has not passed on yet.
	drainTimeout = 5 * time.Second
	// outputMax is how much of what a container says is kept, in bytes.
	outputMax = 64 << 10
)

// Engine runs go test in containers of the grader's own toolchain image.
type Engine struct {
	client  *client.Client
	version string
	driver  string // of the engine's storage, which an empty cache is written to
	image   string
	dirs    sandbox.Dirs
	warm    sandbox.Request // the build that has filled the image's cache
	kit     []sandbox.File
}

// Open has the sandbox make its build image, or find it, and asks a box of it where
// things are. Without an engine the error is sandbox.ErrUnavailable.
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

// Close ends the connection.
func (g *Engine) Close() { g.client.Close() }

// String says which engine and image.
func (g *Engine) String() string {
	return fmt.Sprintf("docker %s on %s, %s", g.version, g.driver, g.image)
}

// Run is one go test. The zero values of Memory and Pids mean no limit.
type Run struct {
	Tree []byte   // a tar archive, as Tree makes it
	Args []string // of the go command
	Env  []string
	Memory,
	Pids int64
}

// Filled is go test with the cache that the image brings, which answers for builds of
// the grader's own flags and environment only.
func (g *Engine) Filled(e *course.Exercise, more ...string) Run {
	return Run{Args: slices.Concat(flagsOf(g.warm), []string{"-count=1", "-run=" + Pattern(e)}, more, []string{Hidden(e)}), Env: g.warm.Env}
}

// Empty is go test as anyone would type it, in an image such as golang, which brings no
// cache: none of the grader's flags, and the standard library has to be compiled.
func (g *Engine) Empty(e *course.Exercise, more ...string) Run {
	return Run{
		Args: slices.Concat([]string{"test", "-count=1", "-run=" + Pattern(e)}, more, []string{Hidden(e)}),
		Env:  []string{"HOME=/root", "GOTOOLCHAIN=local", "GOPROXY=off", "CGO_ENABLED=0", "PATH=" + g.dirs.GoRoot + "/bin"},
	}
}

// Tree is the module with a solution of one exercise, and a /tmp, which the image is
// without and every other has.
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

// Do is what docker run --rm does, with the tree copied in. The container has no
// network, which spares it the making of one.
func (g *Engine) Do(ctx context.Context, r Run) (o Outcome, err error) {
	started := time.Now()
	created, err := g.create(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	defer func() {
		if err != nil { // else it is gone
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

// Outcome is what came of one.
type Outcome struct {
	Status int64
	Output []byte // its beginning
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

// wait starts a container and waits until the engine has removed it. The stream of what
// it says need not end by then, nor ever: some engines lose that.
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
		_, _ = stdcopy.StdCopy(&b, &b, stream.Reader) // what is lost of it is no fault of the run
	}()
	select {
	case r := <-removed:
		o.Status = r.StatusCode
	case err := <-errs:
		return err
	}
	defer time.AfterFunc(drainTimeout, stream.Close).Stop()
	<-drained
	o.Output = b.Bytes()
	return nil
}

// beginning keeps the first of what is written: a submission may write without end.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), outputMax-b.Len())])
	return len(p), nil
}
