package protocol

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// scripted is a made-up supervisor at the other end of a client.
type scripted struct {
	in  *bufio.Reader
	out io.Writer
}

// connect connects a client with a supervisor that sends a Hello and then runs
// serve, until the test ends.
func connect(t *testing.T, serve func(s scripted)) *Client {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	hangUp := func() { in.Close(); out.Close() }
	t.Cleanup(hangUp)
	go func() {
		defer theirOut.Close()
		defer theirIn.Close()
		_ = WriteHello(theirOut, Hello{Dirs: sandbox.Dirs{Work: "/w"}, CPUs: []int{0, 1}, Cgroup: "v1"})
		serve(scripted{bufio.NewReader(theirIn), theirOut})
	}()
	c := NewClient(in, out, hangUp)
	require.NoError(t, c.Handshake(t.Context()))
	assert.Equal(t, "/w", c.Dirs().Work)
	assert.Equal(t, []int{0, 1}, c.CPUs())
	assert.Equal(t, "v1", c.Cgroup())
	return c
}

// receive reads the next message, a whole request included.
func (s scripted) receive() {
	if m, _ := ReadMessage(s.in); m == MsgRun {
		_, _ = ReadRequest(s.in, func(string, bool, int64, io.Reader) error { return nil })
	}
}

func TestClientRuns(t *testing.T) {
	c := connect(t, func(s scripted) {
		s.receive()
		_ = WriteOutcome(s.out, sandbox.Outcome{ExitCode: 3}, nil)
		s.receive()
		_ = WriteOutcome(s.out, sandbox.Outcome{}, errors.New("out of luck"))
	})
	o, err := c.Run(t.Context(), sandbox.Request{Path: "x", Files: []sandbox.File{{Name: "x", Data: make([]byte, 200_000)}}})
	require.NoError(t, err)
	assert.Equal(t, 3, o.ExitCode)
	_, err = c.Run(t.Context(), sandbox.Request{Path: "x"})
	var fault *Fault
	require.ErrorAs(t, err, &fault)
	assert.NotErrorIs(t, err, sandbox.ErrGone)
}

// A supervisor that dies before its answer is quoted from its standard error.
func TestClientQuotesStderr(t *testing.T) {
	c := connect(t, func(s scripted) { s.receive() })
	_, _ = io.WriteString(&c.Stderr, "fatal error: "+strings.Repeat("\x1b[31m", 1000))
	_, err := c.Run(t.Context(), sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, `(supervisor's stderr: "fatal error: \x1b[31m`)
	assert.Less(t, len(err.Error()), 20_000)
	assert.NotContains(t, err.Error(), "\x1b")
	_, err = c.Run(t.Context(), sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, sandbox.ErrGone, "the supervisor never received this request")
}

func TestClientTimesOut(t *testing.T) {
	c := connect(t, func(s scripted) { io.Copy(io.Discard, s.in) })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, ErrNoAnswer)
	defer cancel()
	_, err := c.Run(ctx, sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, ErrNoAnswer)
	_, err = c.Run(t.Context(), sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, sandbox.ErrGone)
}

// A supervisor that does not even read cannot block its caller.
func TestClientStopsSending(t *testing.T) {
	quit := make(chan struct{})
	defer close(quit)
	c := connect(t, func(scripted) { <-quit })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := c.Run(ctx, sandbox.Request{Path: "x", Files: []sandbox.File{{Name: "x", Data: make([]byte, 1<<20)}}})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, sandbox.ErrGone)
}

func TestClientPins(t *testing.T) {
	c := connect(t, func(s scripted) {
		_, _ = ReadMessage(s.in)
		cpu, _ := ReadPin(s.in)
		_ = WriteHello(s.out, Hello{CPUs: []int{cpu}})
		s.receive()
		_ = WriteHello(s.out, Hello{CPUs: []int{1, 2}})
	})
	require.NoError(t, c.Pin(t.Context(), 1))
	assert.Equal(t, []int{1}, c.CPUs())
	err := c.CheckPinned(t.Context(), 1)
	require.EqualError(t, err, "pin to CPU 1: the box reports CPUs [1 2]")
}
