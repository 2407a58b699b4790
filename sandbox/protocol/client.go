package protocol

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"grade/sandbox"
)

// answerGrace is what a supervisor may need beyond a program's own wall time:
// to place files, to end what is left, to wipe.
const answerGrace = 60 * time.Second

// ErrNoAnswer says that a supervisor kept silent for longer than a request may take.
var ErrNoAnswer = errors.New("the sandbox did not answer in time")

// Client is grade's side of the conversation with one supervisor. It has one
// conversation at a time. A context that ends while a call waits makes the call
// return and the client useless.
type Client struct {
	// Said collects what the supervisor says on standard error, for errors.
	Said Tail

	in        *bufio.Writer
	out       io.Reader
	interrupt func()
	hello     Hello
}

// NewClient talks over in and out. Interrupt has to make their pending reads
// and writes return.
func NewClient(in io.Writer, out io.Reader, interrupt func()) *Client {
	return &Client{in: bufio.NewWriterSize(in, 64<<10), out: out, interrupt: interrupt}
}

// Dirs says where things are in the box.
func (c *Client) Dirs() sandbox.Dirs { return c.hello.Dirs }

// CPUs are those that the box may use, as the last Hello told.
func (c *Client) CPUs() []int { return c.hello.CPUs }

// Cgroup is the version of the control groups that the supervisor found.
func (c *Client) Cgroup() string { return c.hello.Cgroup }

// Greet waits for the Hello that a supervisor opens with.
func (c *Client) Greet(ctx context.Context) error {
	return c.learn(ctx, func(io.Writer) error { return nil })
}

// Moved asks the supervisor where it is, after it was moved to one CPU, and
// fails unless it is there.
func (c *Client) Moved(ctx context.Context, cpu int) error {
	return c.pinned(cpu, c.learn(ctx, writeHelloRequest))
}

// Pin has the supervisor move itself to one CPU, and fails unless it is there.
func (c *Client) Pin(ctx context.Context, cpu int) error {
	return c.pinned(cpu, c.learn(ctx, func(w io.Writer) error { return writePin(w, cpu) }))
}

func (c *Client) pinned(cpu int, err error) error {
	if err == nil && !slices.Equal(c.hello.CPUs, []int{cpu}) {
		err = fmt.Errorf("the box says it is on %v", c.hello.CPUs)
	}
	if err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return nil
}

func (c *Client) learn(ctx context.Context, send func(io.Writer) error) error {
	hello, err := converse(ctx, c, send, readHello)
	if err == nil {
		c.hello = hello
	}
	return err
}

// Run sends a request and waits for its outcome. An error that wraps
// sandbox.ErrGone says that the conversation has broken off, one that wraps
// ErrNoAnswer that the program's time and a generous grace have passed, and a
// *Fault that the supervisor is well but could not serve the request.
func (c *Client) Run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, q.Limits.Wall+answerGrace, ErrNoAnswer)
	defer cancel()
	return converse(ctx, c,
		func(w io.Writer) error { return writeRequest(w, q) },
		func(r io.Reader) (sandbox.Outcome, error) { return readOutcome(r, q) })
}

// converse sends a message and reads its answer, for as long as ctx lasts.
func converse[T any](ctx context.Context, c *Client, send func(io.Writer) error, read func(io.Reader) (T, error)) (T, error) {
	var none T
	stop := context.AfterFunc(ctx, c.interrupt)
	defer stop()
	if err := errors.Join(send(c.in), c.in.Flush()); err != nil {
		return none, fmt.Errorf("send a request: %w: %w%s", sandbox.ErrGone, cause(ctx, err), c.Said.quoted())
	}
	v, err := read(c.out)
	var fault *Fault
	if err != nil && ctx.Err() == nil && !errors.As(err, &fault) {
		err = errors.Join(sandbox.ErrGone, err)
	}
	if err != nil {
		return none, fmt.Errorf("%w%s", cause(ctx, err), c.Said.quoted())
	}
	return v, nil
}

// cause prefers the reason why we broke a conversation off to what that did to it.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Tail keeps the first bytes of what a supervisor says on standard error.
type Tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const tailMax = 4096

// Write never fails, whatever is kept.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := tailMax - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *Tail) quoted() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.buf.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(" (it said %q)", strings.TrimSpace(t.buf.String()))
}
