package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"grade/sandbox"
	"grade/sandbox/protocol"
)

// box is one supervisor.
type box struct {
	sandbox *Sandbox
	spec    sandbox.Spec
	client  *protocol.Client
	cmd     *exec.Cmd
	in, out *os.File // grade's ends of the pipes
	dir     string   // the supervisor's directory; empty before its Hello
	ended   chan struct{}
	close   sync.Once
}

// Box starts a supervisor and waits for its Hello.
func (s *Sandbox) Box(ctx context.Context, spec sandbox.Spec) (sandbox.Box, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx, spec.Purpose); err != nil {
		return nil, err
	}
	s.prepare.Lock()
	cache := s.cache
	s.prepare.Unlock()
	b, err := s.start(ctx, spec, cache)
	if err != nil {
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	return b, nil
}

// start runs a supervisor in a session of its own, so that an interrupt typed at
// grade's terminal does not reach it; it ends when its input does. After an error
// nothing is left.
func (s *Sandbox) start(ctx context.Context, spec sandbox.Spec, cache string) (*box, error) {
	args := []string{"-private", os.TempDir(), "-cgroup", "", "-filesize", fmt.Sprint(spec.Scratch)}
	if spec.Purpose.Builds() {
		args = append(args, "-goroot", s.toolchain.Root, "-gocache", cache)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer theirOut.Close()
	b := &box{sandbox: s, spec: spec, in: in, out: out, ended: make(chan struct{})}
	b.client = protocol.NewClient(in, out, b.hangUp)
	b.cmd = exec.Command(s.supervisor, args...)
	b.cmd.Dir, b.cmd.Env = "/", []string{}
	b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = theirIn, theirOut, &b.client.Stderr
	b.cmd.SysProcAttr = ownSession()
	b.cmd.WaitDelay = time.Second
	if err := b.cmd.Start(); err != nil {
		b.hangUp()
		return nil, err
	}
	go func() {
		defer close(b.ended)
		_ = b.cmd.Wait() // errors are on the supervisor's standard error
	}()
	if err := b.client.Handshake(ctx); err != nil {
		b.Close()
		return nil, err
	}
	b.dir = filepath.Dir(b.client.Dirs().Work)
	return b, nil
}

func (b *box) Dirs() sandbox.Dirs { return b.client.Dirs() }
func (b *box) CPUs() []int        { return b.client.CPUs() }

// Run sends a request and waits for its outcome. Only the supervisor's sampling
// limits memory here, so the box's limit is applied to each request.
func (b *box) Run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	if q.Limits.Memory == 0 || b.spec.Memory > 0 && b.spec.Memory < q.Limits.Memory {
		q.Limits.Memory = b.spec.Memory
	}
	o, err := b.client.Run(ctx, q)
	if fault := (*protocol.Fault)(nil); errors.As(err, &fault) || errors.Is(err, protocol.ErrNoAnswer) {
		err = fmt.Errorf("%w: %w", sandbox.ErrFailed, err)
	}
	if err != nil {
		return sandbox.Outcome{}, fmt.Errorf("supervisor %d: %w", b.cmd.Process.Pid, err)
	}
	return o, nil
}

// Pin has the supervisor move itself and all its programs.
func (b *box) Pin(ctx context.Context, cpu int) error { return b.client.Pin(ctx, cpu) }

// hangUp closes the connection, which ends the supervisor. It closes the output
// first, so that no outcome of a program killed for that arrives.
func (b *box) hangUp() {
	b.out.Close()
	b.in.Close()
}

// Close hangs up. The supervisor ends its program, removes its directory and ends
// in the background; Sandbox.Close waits for that.
func (b *box) Close() error {
	b.close.Do(func() {
		b.hangUp()
		b.sandbox.closing.Go(b.reap)
	})
	return nil
}

// reap makes sure that a supervisor and its directory are gone, even if the
// supervisor was killed and could not remove the directory itself.
func (b *box) reap() {
	wake(b.cmd.Process)
	select {
	case <-b.ended:
	case <-time.After(closeTimeout):
		_ = b.cmd.Process.Kill()
		<-b.ended
	}
	if _, err := os.Lstat(b.dir); err != nil { // already removed
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	wipe := exec.CommandContext(ctx, b.sandbox.supervisor, "wipe", b.dir)
	wipe.Dir, wipe.Env = "/", []string{}
	_ = wipe.Run()
	_ = os.Remove(b.dir)
}
