package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/pkg/stdcopy"

	"grade/sandbox"
	"grade/sandbox/protocol"
)

// box is one container.
type box struct {
	engine *Engine
	id     string
	conn   types.HijackedResponse
	out    *io.PipeReader
	client *protocol.Client
	broken bool // the connection has broken
	ready  bool // its supervisor has answered
	close  sync.Once
}

// Box starts a container and waits for its supervisor.
func (e *Engine) Box(ctx context.Context, s sandbox.Spec) (sandbox.Box, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var b *box
	err := again(ctx, func() (err error) {
		b, err = e.box(ctx, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// box is one attempt of [Engine.Box].
func (e *Engine) box(ctx context.Context, s sandbox.Spec) (*box, error) {
	if err := e.Prepare(ctx, s.Purpose); err != nil {
		return nil, forGood{err}
	}
	config, host := e.hardened(s)
	if s.Purpose.Builds() {
		host.Mounts = toolchainAt(e.images.of(s.Purpose).volume.get(), true)
	}
	b, err := e.start(ctx, config, host)
	if errdefs.IsNotFound(err) {
		e.images.of(s.Purpose).forget()
		return nil, fmt.Errorf("start a container: %w: the image was deleted meanwhile; grade again, and it will be made anew", err)
	}
	if err != nil {
		return nil, fmt.Errorf("start a container: %w", err)
	}
	return b, nil
}

// start creates a container, attaches to it and starts it, in this order, so
// that no byte is missed. After an error nothing is left.
func (e *Engine) start(ctx context.Context, config *container.Config, host *container.HostConfig) (*box, error) {
	return e.startWith(ctx, config, host, nil)
}

// startWith also writes files to the container's root before the start.
func (e *Engine) startWith(ctx context.Context, config *container.Config, host *container.HostConfig, files func(*tar.Writer) error) (*box, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	id, err := e.create(ctx, config, host)
	if err != nil {
		return nil, err
	}
	b := &box{engine: e, id: id}
	if err := b.put(ctx, files); err != nil {
		e.closing.Go(b.remove)
		return nil, err
	}
	b.conn, err = e.client.ContainerAttach(ctx, b.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		e.closing.Go(b.remove)
		return nil, err
	}
	b.connect()
	if err := e.client.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		b.Close()
		return nil, err
	}
	if err := b.client.Handshake(ctx); err != nil {
		b.Close()
		return nil, err
	}
	b.ready = true
	return b, nil
}

// create makes a container. An engine finishes a call although its caller has
// gone, so create waits for that in the background, and removes the container.
func (e *Engine) create(ctx context.Context, config *container.Config, host *container.HostConfig) (string, error) {
	name := "grade-" + rand.Text()
	made, failed := make(chan string), make(chan error, 1)
	e.closing.Go(func() {
		call, cancel := bounded(context.WithoutCancel(ctx))
		defer cancel()
		created, err := e.client.ContainerCreate(call, config, host, nil, nil, name)
		if err != nil {
			failed <- err
		} else {
			select {
			case made <- created.ID:
				return
			case <-ctx.Done():
			}
		}
		(&box{engine: e, id: name}).remove()
	})
	select {
	case id := <-made:
		return id, nil
	case err := <-failed:
		return "", err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// put copies files into the root of a container that has not started.
func (b *box) put(ctx context.Context, files func(*tar.Writer) error) error {
	if files == nil {
		return nil
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := errors.Join(files(w), w.Close()); err != nil {
		return err
	}
	return b.engine.client.CopyToContainer(ctx, b.id, "/", &archive, container.CopyToContainerOptions{})
}

// connect makes a client of the attached stream, which carries the supervisor's
// standard output and standard error.
func (b *box) connect() {
	r, w := io.Pipe()
	b.out = r
	b.client = protocol.NewClient(b.conn.Conn, r, func() {
		b.conn.Conn.SetDeadline(time.Now())
		r.CloseWithError(os.ErrDeadlineExceeded)
	})
	go func() {
		_, err := stdcopy.StdCopy(w, &b.client.Stderr, b.conn.Reader)
		if err == nil {
			err = io.EOF
		}
		w.CloseWithError(err)
	}()
}

func (b *box) Dirs() sandbox.Dirs { return b.client.Dirs() }
func (b *box) CPUs() []int        { return b.client.CPUs() }

// Run sends a request and waits for its outcome. It returns an outcome also when
// the kernel killed the whole box for its memory; after any other break of the
// connection the box is gone.
func (b *box) Run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	if b.broken {
		return sandbox.Outcome{}, fmt.Errorf("container %.12s: %w", b.id, sandbox.ErrGone)
	}
	sent := time.Now()
	o, err := b.client.Run(ctx, q)
	if err == nil {
		return o, nil
	}
	var fault *protocol.Fault
	b.broken = !errors.As(err, &fault) // a working supervisor answers with a fault
	if !b.broken || errors.Is(err, protocol.ErrNoAnswer) {
		err = fmt.Errorf("%w: %w", sandbox.ErrFailed, err)
	}
	if errors.Is(err, sandbox.ErrGone) && b.outOfMemory(ctx, sent) {
		return b.killed(time.Since(sent)), nil
	}
	return sandbox.Outcome{}, fmt.Errorf("container %.12s: %w", b.id, err)
}

// killed returns the outcome of a box that the kernel killed for its memory,
// supervisor included.
func (b *box) killed(wall time.Duration) sandbox.Outcome {
	source := sandbox.SourceCgroupV1
	if b.engine.info.CgroupVersion == "2" {
		source = sandbox.SourceCgroupV2
	}
	return sandbox.Outcome{
		Signal: int(syscall.SIGKILL), Cause: sandbox.CauseMemory, Wall: wall, OOMKills: 1, OOMSource: source,
	}
}

// outOfMemory asks the engine for the container's events, because the engine
// removes the container and its state when it ends.
func (b *box) outOfMemory(ctx context.Context, since time.Time) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	messages, errs := b.engine.client.Events(ctx, events.ListOptions{
		Since: fmt.Sprint(since.Add(b.engine.skew).Unix() - 1), Until: fmt.Sprint(time.Now().Add(b.engine.skew).Unix() + 2),
		Filters: filters.NewArgs(filters.Arg("container", b.id), filters.Arg("event", "oom")),
	})
	select {
	case <-messages:
		return true
	case <-errs:
		return false
	}
}

// Pin has the engine move the container, and checks that with the supervisor. Where
// the engine cannot (a runtime without updates, a rootless engine without the
// cpuset controller) the supervisor moves itself and all its programs, whose filter
// forbids them to undo it.
func (b *box) Pin(ctx context.Context, cpu int) error {
	update := container.UpdateConfig{Resources: container.Resources{CpusetCpus: fmt.Sprint(cpu)}}
	call, cancel := bounded(ctx)
	defer cancel()
	_, err := b.engine.client.ContainerUpdate(call, b.id, update)
	if b.broken || errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return fmt.Errorf("pin to CPU %d: %w", cpu, errors.Join(sandbox.ErrGone, err))
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, cause)
	}
	own, cancel := bounded(ctx)
	defer cancel()
	if err == nil && b.client.CheckPinned(own, cpu) == nil {
		return nil
	}
	return b.client.Pin(own, cpu)
}

// Close ends the supervisor by closing its input. The engine then removes the
// container; remove forces that in the background.
func (b *box) Close() error {
	b.close.Do(func() {
		b.conn.Close()
		b.out.CloseWithError(io.ErrClosedPipe)
		if b.ready && !b.broken {
			b.engine.ending.Go(b.remove)
		} else {
			b.engine.closing.Go(b.remove)
		}
	})
	return nil
}

// remove makes sure that the container is gone. It has a deadline of its own,
// because it must also work when the caller was interrupted.
func (b *box) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	err := again(ctx, func() error {
		err := b.engine.client.ContainerRemove(ctx, b.id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
			return forGood{err}
		}
		return err
	})
	if err == nil || errdefs.IsNotFound(err) || !errdefs.IsConflict(err) {
		return
	}
	// The engine is already removing it: wait for that.
	wait, errs := b.engine.client.ContainerWait(ctx, b.id, container.WaitConditionRemoved)
	select {
	case <-wait:
	case <-errs:
	}
}
