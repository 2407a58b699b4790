//go:build linux

package main

import (
	"os"
	"sync"
	"time"

	"grade/sandbox"
)

// capture reads one of a program's pipes, up to a limit.
type capture struct {
	r     *os.File
	limit int64
	data  []byte
	cut   bool
}

// newCapture makes a pipe and adds the program's end to theirs.
func newCapture(limit int64, theirs *[]*os.File) (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	*theirs = append(*theirs, w)
	return &capture{r: r, limit: limit}, nil
}

// buffers are reused: new ones for every program would be garbage that footprint
// then has to collect.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// drain reads until the last writer is gone. It calls over at the first byte above
// the limit, and discards the rest.
func (c *capture) drain(over func()) {
	buf := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := c.r.Read(buf[:])
		keep := min(int64(n), c.limit-int64(len(c.data)))
		c.data = append(c.data, buf[:keep]...)
		if keep < int64(n) && !c.cut {
			c.cut = true
			over()
		}
		if err != nil {
			return
		}
	}
}

// marker records a mark for each byte that a program sends, and answers it.
type marker struct {
	ask   *os.File // the supervisor's reading end
	reply *os.File // its writing end
	marks []sandbox.Mark
}

func newMarker(theirs *[]*os.File) (*marker, error) {
	askR, askW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	replyR, replyW, err := os.Pipe()
	if err != nil {
		askR.Close()
		askW.Close()
		return nil, err
	}
	*theirs = append(*theirs, askW, replyR)
	return &marker{ask: askR, reply: replyW}, nil
}

func (m *marker) close() {
	m.ask.Close()
	m.reply.Close()
}

// answer records clocks and size at every byte before it sends one back.
func (m *marker) answer(pid int, started time.Time, held func() (int64, error)) {
	var buf [64]byte
	for {
		n, err := m.ask.Read(buf[:])
		if err != nil {
			return
		}
		cpu, err := cpuTime(pid)
		if err != nil {
			return
		}
		size, err := held()
		if err != nil {
			return
		}
		for range n {
			if len(m.marks) < sandbox.MaxMarks {
				m.marks = append(m.marks, sandbox.Mark{CPU: cpu, Wall: time.Since(started), Memory: size})
			}
		}
		if _, err := m.reply.Write(buf[:n]); err != nil {
			return
		}
	}
}
