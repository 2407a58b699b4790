// Package protocol carries sandbox requests and outcomes between grade and the
// supervisor over two byte streams. It knows no engine and starts no process.
//
// The supervisor opens with a Hello. Then it answers each message from grade
// once: MsgRun with an Outcome, MsgPin and MsgHello with a Hello. The supervisor
// ends when its input does.
//
// The package trusts nothing that comes out of a box: numbers have a fixed size,
// byte strings are read up to the limit that the request set, and anything
// unknown is an error.
package protocol

import (
	"errors"
	"fmt"
	"io"
	"time"

	"grade/sandbox"
)

// version changes with every change of the format. Supervisor and grade are
// built from the same sources, so different versions mean a stale image.
const version = 3

const magic = 0x67726453 // "grdS"

// Message is the kind of a message from grade.
type Message byte

// The messages.
const (
	MsgHello Message = 'H' // send the Hello again
	MsgPin   Message = 'P' // move to one CPU, then send the Hello again
	MsgRun   Message = 'R' // serve a Request
)

// Caps that hold for both sides.
const (
	maxString  = 64 << 10
	maxList    = 4096
	maxPayload = 1 << 30
)

// Hello describes a supervisor and its box.
type Hello struct {
	Dirs   sandbox.Dirs
	CPUs   []int  // CPUs that it may run on, read from the kernel
	Cgroup string // version of the control groups: "v1", "v2" or ""
}

// WriteHello sends h.
func WriteHello(w io.Writer, h Hello) error {
	e := encoder{w: w}
	e.int(magic)
	e.int(version)
	for _, s := range []string{h.Dirs.Work, h.Dirs.Scratch, h.Dirs.GoRoot, h.Dirs.GoCache, h.Cgroup} {
		e.str(s)
	}
	e.int(int64(len(h.CPUs)))
	for _, c := range h.CPUs {
		e.int(int64(c))
	}
	return e.flush()
}

// readHello reads what WriteHello sent.
func readHello(r io.Reader) (Hello, error) {
	d := decoder{r: r}
	if m := d.int(); d.err == nil && m != magic {
		return Hello{}, errors.New("the stream does not start with a supervisor's magic number")
	}
	if v := d.int(); d.err == nil && v != version {
		return Hello{}, fmt.Errorf("supervisor speaks version %d, want %d", v, version)
	}
	var h Hello
	for _, s := range []*string{&h.Dirs.Work, &h.Dirs.Scratch, &h.Dirs.GoRoot, &h.Dirs.GoCache, &h.Cgroup} {
		*s = d.str()
	}
	for range d.count(maxList) {
		h.CPUs = append(h.CPUs, int(d.int()))
	}
	return h, d.err
}

// writeHelloRequest asks for a Hello.
func writeHelloRequest(w io.Writer) error {
	_, err := w.Write([]byte{byte(MsgHello)})
	return err
}

// writePin asks the supervisor to move itself and all it starts to one CPU.
func writePin(w io.Writer, cpu int) error {
	e := encoder{w: w}
	e.byte(byte(MsgPin))
	e.int(int64(cpu))
	return e.flush()
}

// ReadMessage reads the kind of the next message. It returns io.EOF at the end
// of the input.
func ReadMessage(r io.Reader) (Message, error) {
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	return Message(b[0]), nil
}

// ReadPin reads the rest of a MsgPin.
func ReadPin(r io.Reader) (int, error) {
	d := decoder{r: r}
	return int(d.int()), d.err
}

// writeRequest sends a MsgRun.
func writeRequest(w io.Writer, q sandbox.Request) error {
	e := encoder{w: w}
	e.byte(byte(MsgRun))
	e.str(q.Path)
	e.strs(q.Args)
	e.strs(q.Env)
	e.strs(q.Collect)
	e.bool(q.Forks)
	e.bool(q.Dump)
	l := q.Limits
	for _, v := range []int64{int64(l.Wall), int64(l.CPU), int64(l.Idle), l.Memory, l.Stdout, l.Stderr, l.Observations, l.CollectMax} {
		e.int(v)
	}
	e.int(int64(len(q.Files)))
	for _, f := range q.Files {
		e.str(f.Name)
		e.bool(f.Exec)
		e.bytes(f.Data)
	}
	return e.flush()
}

// ReadRequest reads the rest of a MsgRun. It streams the content of each file to
// place instead of keeping it, so that the supervisor stays small.
func ReadRequest(r io.Reader, place func(name string, exec bool, size int64, data io.Reader) error) (sandbox.Request, error) {
	d := decoder{r: r}
	var q sandbox.Request
	q.Path = d.str()
	q.Args, q.Env, q.Collect = d.strs(), d.strs(), d.strs()
	q.Forks, q.Dump = d.bool(), d.bool()
	var wall, cpu, idle int64
	l := &q.Limits
	for _, v := range []*int64{&wall, &cpu, &idle, &l.Memory, &l.Stdout, &l.Stderr, &l.Observations, &l.CollectMax} {
		*v = d.int()
	}
	l.Wall, l.CPU, l.Idle = time.Duration(wall), time.Duration(cpu), time.Duration(idle)
	for range d.count(maxList) {
		name, exec, size := d.str(), d.bool(), d.size(maxPayload)
		if d.err != nil {
			break
		}
		data := &io.LimitedReader{R: r, N: size}
		if err := place(name, exec, size, data); err != nil {
			return q, err
		}
		if _, err := io.Copy(io.Discard, data); err != nil {
			return q, err
		}
	}
	return q, d.err
}
