package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// encoder writes a message. It buffers small parts and writes large ones at once.
// The first error sticks.
type encoder struct {
	w   io.Writer
	buf []byte
	err error
}

func (e *encoder) byte(b byte)  { e.buf = append(e.buf, b) }
func (e *encoder) int(v int64)  { e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(v)) }
func (e *encoder) str(s string) { e.bytes([]byte(s)) }

func (e *encoder) bool(v bool) {
	if v {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

func (e *encoder) bytes(b []byte) {
	e.int(int64(len(b)))
	if len(b) < 64<<10 {
		e.buf = append(e.buf, b...)
		return
	}
	if e.flush() == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *encoder) strs(list []string) {
	e.int(int64(len(list)))
	for _, s := range list {
		e.str(s)
	}
}

func (e *encoder) flush() error {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
	return e.err
}

// decoder reads a message. The first error sticks, and every later value is zero.
type decoder struct {
	r   io.Reader
	err error
}

func (d *decoder) fill(b []byte) {
	if d.err != nil {
		return
	}
	if _, err := io.ReadFull(d.r, b); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		d.err = err
	}
}

func (d *decoder) int() int64 {
	var b [8]byte
	d.fill(b[:])
	if d.err != nil {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

func (d *decoder) bool() bool {
	var b [1]byte
	d.fill(b[:])
	if d.err == nil && b[0] > 1 {
		d.err = fmt.Errorf("invalid boolean %d", b[0])
	}
	return b[0] == 1
}

// size reads a length and refuses one above most.
func (d *decoder) size(most int64) int64 {
	n := d.int()
	if d.err == nil && (n < 0 || n > most) {
		d.err = fmt.Errorf("length %d is out of range, want 0 to %d", n, most)
	}
	if d.err != nil {
		return 0
	}
	return n
}

func (d *decoder) count(most int64) int { return int(d.size(most)) }

func (d *decoder) bytes(most int64) []byte {
	n := d.size(most)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	d.fill(b)
	if d.err != nil {
		return nil
	}
	return b
}

func (d *decoder) str() string { return string(d.bytes(maxString)) }

func (d *decoder) strs() []string {
	var list []string
	for range d.count(maxList) {
		list = append(list, d.str())
		if d.err != nil {
			return nil
		}
	}
	return list
}
