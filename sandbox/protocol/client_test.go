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

// supervisor is a made-up one at the other end of a client.
type supervisor struct {
	in  *bufio.Reader
	out io.Writer
}

// talk connects a client with a supervisor that says hello and then does what
// serve says, until it is hung up.
func talk(t *testing.T, serve func(s supervisor)) *Client {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	hangUp := func() { in.Close(); out.Close() }
	t.Cleanup(hangUp)
	go func() {
		defer theirOut.Close()
		defer theirIn.Close()
		_ = WriteHello(theirOut, Hello{Dirs: sandbox.Dirs{Work: "/w"}, CPUs: []int{0, 1}, Cgroup: "v1"})
		serve(supervisor{bufio.NewReader(theirIn), theirOut})
	}()
	c := NewClient(in, out, hangUp)
	require.NoError(t, c.Greet(t.Context()))
	assert.Equal(t, "/w", c.Dirs().Work)
	assert.Equal(t, []int{0, 1}, c.CPUs())
	assert.Equal(t, "v1", c.Cgroup())
	return c
}

// hears reads the next message and a request's rest.
func (s supervisor) hears() {
	if m, _ := ReadMessage(s.in); m == MsgRun {
		_, _ = ReadRequest(s.in, func(string, bool, int64, io.Reader) error { return nil })
	}
}

func TestClientRuns(t *testing.T) {
	c := talk(t, func(s supervisor) {
		s.hears()
		_ = WriteOutcome(s.out, sandbox.Outcome{ExitCode: 3}, nil)
		s.hears()
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

// Between a request and its answer the supervisor dies, and has said why.
func TestClientQuotesTheDying(t *testing.T) {
	c := talk(t, func(s supervisor) { s.hears() })
	_, _ = io.WriteString(&c.Said, "fatal error: "+strings.Repeat("\x1b[31m", 1000))
	_, err := c.Run(t.Context(), sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.True(t, strings.Contains(err.Error(), `(it said "fatal error: \x1b[31m`))
	assert.Less(t, len(err.Error()), 20_000)
	assert.NotContains(t, err.Error(), "\x1b")
	_, err = c.Run(t.Context(), sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, sandbox.ErrGone, "this one was not received")
}

func TestClientGivesUp(t *testing.T) {
	c := talk(t, func(s supervisor) { io.Copy(io.Discard, s.in) })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, ErrNoAnswer)
	defer cancel()
	_, err := c.Run(ctx, sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, ErrNoAnswer)
	_, err = c.Run(t.Context(), sandbox.Request{Path: "x"})
	require.ErrorIs(t, err, sandbox.ErrGone)
}

// A supervisor that does not even read must not block its caller.
func TestClientGivesUpSending(t *testing.T) {
	quit := make(chan struct{})
	defer close(quit)
	c := talk(t, func(supervisor) { <-quit })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := c.Run(ctx, sandbox.Request{Path: "x", Files: []sandbox.File{{Name: "x", Data: make([]byte, 1<<20)}}})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, sandbox.ErrGone)
}

func TestClientPins(t *testing.T) {
	c := talk(t, func(s supervisor) {
		_, _ = ReadMessage(s.in)
		cpu, _ := ReadPin(s.in)
		_ = WriteHello(s.out, Hello{CPUs: []int{cpu}})
		s.hears()
		_ = WriteHello(s.out, Hello{CPUs: []int{1, 2}})
	})
	require.NoError(t, c.Pin(t.Context(), 1))
	assert.Equal(t, []int{1}, c.CPUs())
	err := c.Moved(t.Context(), 1)
	require.EqualError(t, err, "pin to CPU 1: the box says it is on [1 2]")
}
