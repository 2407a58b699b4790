package repository

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// maxKept is how many pairs of processes wait for the next reader.
const maxKept = 8

// Broken is the error of a commit whose objects no git makes, or that lack content. Whoever
// made the commit can mend that.
type Broken struct {
	Name string // of the file or folder, as far as it is known
	Why  string

	absent bool // no object is missing: what git has lists no such name
}

func (b *Broken) Error() string { return b.Name + ": " + b.Why }

// objects reads git's objects by their names: one process says what they are, another what
// they hold. A commit can hold a hundred thousand folders: a process for each would take
// longer than all else.
type objects struct{ kinds, contents *batch }

// batch is a git cat-file that answers one request after the other.
type batch struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer // git's standard error
}

// reading calls read with processes that end with ctx.
func (r *Repository) reading(ctx context.Context, read func(*objects) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	o, err := r.take()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, o.kill)
	err = read(o)
	broken := (*Broken)(nil)
	if ended := !stop(); ended || err != nil && !errors.As(err, &broken) {
		o.close() // an answer may be left in its pipe
		if ended && err != nil {
			return context.Cause(ctx)
		}
		return err
	}
	r.give(o)
	return err
}

func (r *Repository) take() (*objects, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.kept); n > 0 {
		o := r.kept[n-1]
		r.kept = r.kept[:n-1]
		return o, nil
	}
	kinds, err := r.openBatch("--batch-check")
	if err != nil {
		return nil, err
	}
	contents, err := r.openBatch("--batch")
	if err != nil {
		kinds.close()
		return nil, err
	}
	return &objects{kinds, contents}, nil
}

func (r *Repository) give(o *objects) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) == maxKept {
		o.close()
		return
	}
	r.kept = append(r.kept, o)
}

// Close ends git's processes. They end with this one in any case.
func (r *Repository) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.kept {
		o.close()
	}
	r.kept = nil
}

func (o *objects) kill() {
	_ = o.kinds.cmd.Process.Kill()
	_ = o.contents.cmd.Process.Kill()
}

func (o *objects) close() {
	o.kinds.close()
	o.contents.close()
}

func (r *Repository) openBatch(how string) (*batch, error) {
	b := &batch{cmd: r.command(context.Background(), "cat-file", how)}
	b.cmd.Stdin, b.cmd.Stderr = nil, &b.said
	in, err := b.cmd.StdinPipe()
	out, outErr := b.cmd.StdoutPipe()
	if err = errors.Join(err, outErr); err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	b.in, b.out = in, bufio.NewReader(out)
	return b, nil
}

// close stops git in whatever state: all answers have been read.
func (b *batch) close() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// ask sends a name, and returns the line that answers it.
func (b *batch) ask(name string) (string, error) {
	_, err := fmt.Fprintln(b.in, name)
	line := ""
	if err == nil {
		line, err = b.out.ReadString('\n')
	}
	if err != nil { // git has ended
		_ = b.in.Close()
		_ = b.cmd.Wait()
		return "", fmt.Errorf("git cat-file: %s: %w", strings.TrimSpace(b.said.String()), err)
	}
	return strings.TrimSpace(line), nil
}

// stat says what an object is. A [*Broken] says that it is not there, or none of that kind.
func (o *objects) stat(name, want string) (id string, size int64, err error) {
	return o.kinds.stat(name, want)
}

// stat asks for an object. It leaves the content, if the process sends it.
func (b *batch) stat(name, want string) (id string, size int64, err error) {
	line, err := b.ask(name)
	if err != nil {
		return "", 0, err
	}
	var kind string
	if _, err := fmt.Sscan(line, &id, &kind, &size); err != nil { // such as: NAME missing
		return "", 0, &Broken{Name: name, Why: "git has no such " + want + " (" + line + ")"}
	}
	if kind != want {
		return id, size, &Broken{Name: name, Why: "this is a " + kind + ", where a " + want + " should be"}
	}
	return id, size, nil
}

// read returns the content of an object of that kind, which has no more than most bytes.
func (o *objects) read(name, want string, most int64) (id string, data []byte, err error) {
	// The process that sends contents unpacks the whole of one before it tells of what size it is.
	id, size, err := o.stat(name, want)
	switch {
	case err != nil:
		return "", nil, err
	case size > most:
		return "", nil, ErrTooMany
	}
	if _, _, err := o.contents.stat(name, want); err != nil {
		return "", nil, fmt.Errorf("git cat-file: %v", err) // and no [*Broken], which leaves git in use
	}
	data = make([]byte, size+1) // and a newline
	if _, err := io.ReadFull(o.contents.out, data); err != nil {
		return "", nil, fmt.Errorf("git cat-file: %w", err)
	}
	return id, data[:size], nil
}

// partial reports whether the clone was made without some objects: then what is missing is
// no fault of a commit's.
func (r *Repository) partial(ctx context.Context) bool {
	_, ok, err := r.lookup(ctx, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	return ok || err != nil
}
