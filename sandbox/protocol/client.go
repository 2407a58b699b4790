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

// answerGrace is the time that a supervisor may take beyond the longest that a program may
// run, to write files, to kill what is left and to wipe.
const answerGrace = 60 * time.Second

// ErrNoAnswer reports that a supervisor was silent for longer than a request may take.
var ErrNoAnswer = errors.New("the sandbox did not answer in time")

// Client is grade's end of the connection to one supervisor. It makes one call
// at a time. A context that ends during a call breaks the connection: that call
// returns, and later ones fail.
type Client struct {
	// Stderr keeps the supervisor's standard error, which errors quote.
	Stderr Head

	in        *bufio.Writer
	out       io.Reader
	interrupt func()
	hello     Hello
}

// NewClient returns a client that writes to in and reads from out. interrupt has
// to make their pending reads and writes return.
func NewClient(in io.Writer, out io.Reader, interrupt func()) *Client {
	return &Client{in: bufio.NewWriterSize(in, 64<<10), out: out, interrupt: interrupt}
}

// Dirs says where things are in the box.
func (c *Client) Dirs() sandbox.Dirs { return c.hello.Dirs }

// CPUs lists the CPUs that the box may use, according to the last Hello.
func (c *Client) CPUs() []int { return c.hello.CPUs }

// Cgroup returns the version of the control groups that the supervisor found.
func (c *Client) Cgroup() string { return c.hello.Cgroup }

// Handshake waits for the supervisor's first Hello.
func (c *Client) Handshake(ctx context.Context) error {
	return c.exchangeHello(ctx, func(io.Writer) error { return nil })
}

// CheckPinned asks the supervisor for its CPUs, after an engine has moved it, and
// fails unless they are this one.
func (c *Client) CheckPinned(ctx context.Context, cpu int) error {
	return c.pinned(cpu, c.exchangeHello(ctx, writeHelloRequest))
}

// Pin has the supervisor move itself to one CPU, and fails unless it arrives.
func (c *Client) Pin(ctx context.Context, cpu int) error {
	return c.pinned(cpu, c.exchangeHello(ctx, func(w io.Writer) error { return writePin(w, cpu) }))
}

func (c *Client) pinned(cpu int, err error) error {
	if err == nil && !slices.Equal(c.hello.CPUs, []int{cpu}) {
		err = fmt.Errorf("the box reports CPUs %v", c.hello.CPUs)
	}
	if err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return nil
}

func (c *Client) exchangeHello(ctx context.Context, send func(io.Writer) error) error {
	hello, err := converse(ctx, c, send, readHello)
	if err == nil {
		c.hello = hello
	}
	return err
}

// Run sends a request and waits for its outcome. An error wraps sandbox.ErrGone
// when the connection has broken, and ErrNoAnswer when the program's time and a
// generous grace have passed. A *Fault means that the supervisor works but could
// not serve the request.
func (c *Client) Run(ctx context.Context, q sandbox.Request) (sandbox.Outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, sandbox.Patience*q.Limits.Wall+answerGrace, ErrNoAnswer)
	defer cancel()
	return converse(ctx, c,
		func(w io.Writer) error { return writeRequest(w, q) },
		func(r io.Reader) (sandbox.Outcome, error) { return readOutcome(r, q) })
}

// converse sends a message and reads its answer, until ctx ends.
func converse[T any](ctx context.Context, c *Client, send func(io.Writer) error, read func(io.Reader) (T, error)) (T, error) {
	var none T
	stop := context.AfterFunc(ctx, c.interrupt)
	defer stop()
	if err := errors.Join(send(c.in), c.in.Flush()); err != nil {
		return none, fmt.Errorf("send a request: %w: %w%s", sandbox.ErrGone, cause(ctx, err), c.Stderr.quoted())
	}
	v, err := read(c.out)
	var fault *Fault
	if err != nil && ctx.Err() == nil && !errors.As(err, &fault) {
		err = errors.Join(sandbox.ErrGone, err)
	}
	if err != nil {
		return none, fmt.Errorf("%w%s", cause(ctx, err), c.Stderr.quoted())
	}
	return v, nil
}

// cause returns the reason why ctx ended, if it did, instead of the read or write
// error that this has led to.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Head keeps the first bytes of a supervisor's standard error.
type Head struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const headMax = 4096

// Write never fails: it drops what does not fit.
func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room := headMax - h.buf.Len(); room > 0 {
		h.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (h *Head) quoted() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.buf.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(" (supervisor's stderr: %q)", strings.TrimSpace(h.buf.String()))
}
