package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// decoder reads, and keeps the first error. It takes no length at its word: what it
// allocates is in proportion to what it has read.
type decoder struct {
	r    *bufio.Reader
	sum  uint32
	err  error
	skip bool // numbers are read and forgotten
}

func (d *decoder) state(s *State) {
	d.header()
	for _, n := range []*int{&s.Step, &s.Epoch, &s.Position} {
		*n = int(d.uint64())
	}
	s.Rate = math.Float64frombits(d.uint64())
	s.Metric = math.Float64frombits(d.uint64())
	s.RNG = d.bytes()
	s.Model = d.tensors(s.Model)
	s.Optimizer = d.tensors(s.Optimizer)
}

// header says what is not a checkpoint, and what is one of another version.
func (d *decoder) header() {
	got := d.next(len(header))
	switch {
	case d.err != nil:
	case !bytes.Equal(got[:magicSize], header[:magicSize]):
		d.err = ErrFormat
	case !bytes.Equal(got, header):
		d.err = fmt.Errorf("%w: %d", ErrVersion, binary.LittleEndian.Uint32(got[magicSize:]))
	}
}

// end finds out whether all was read, and is what was written.
func (d *decoder) end() error {
	want := d.sum
	got := d.next(crc32.Size)
	if d.err == nil && binary.LittleEndian.Uint32(got) != want {
		d.err = fmt.Errorf("%w: the checksum is another one", ErrDamaged)
	}
	if d.err != nil {
		return d.err
	}
	switch _, err := d.r.ReadByte(); err {
	case nil:
		return fmt.Errorf("%w: bytes behind its end", ErrDamaged)
	case io.EOF:
		return nil
	default:
		return err
	}
}

// tensors reads into the memory of old where it fits.
func (d *decoder) tensors(old []Tensor) (list []Tensor) {
	for n := d.uint64(); n > 0 && d.err == nil; n-- {
		t := Tensor{Name: string(d.bytes())}
		var into []float64
		if len(list) < len(old) {
			into = old[len(list)].Data
		}
		t.Data = d.floats(into)
		list = append(list, t)
	}
	return list
}

// floats reads numbers into xs if they are as many.
func (d *decoder) floats(xs []float64) []float64 {
	n := d.uint64()
	if n != uint64(len(xs)) || d.skip {
		xs = nil
	}
	for at := 0; n > 0 && d.err == nil; {
		piece := d.next(8 * int(min(n, bufferSize/8)))
		n -= uint64(len(piece) / 8)
		if d.skip {
			continue
		}
		if at == len(xs) {
			xs = slices.Grow(xs, len(piece)/8)[:at+len(piece)/8]
		}
		for i := 0; i+8 <= len(piece); i += 8 {
			xs[at] = math.Float64frombits(binary.LittleEndian.Uint64(piece[i:]))
			at++
		}
	}
	return xs
}

// bytes reads a length and so many bytes.
func (d *decoder) bytes() (p []byte) {
	for n := d.uint64(); n > 0 && d.err == nil; {
		piece := d.next(int(min(n, bufferSize)))
		p = append(p, piece...)
		n -= uint64(len(piece))
	}
	return p
}

func (d *decoder) uint64() uint64 {
	if p := d.next(8); d.err == nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// next returns the next n bytes, which are good until the next call, or sets the error.
// They are at most bufferSize.
func (d *decoder) next(n int) []byte {
	if d.err != nil {
		return nil
	}
	p, err := d.r.Peek(n)
	if err == io.EOF {
		err = fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	if err != nil {
		d.err = err
		return nil
	}
	d.sum = crc32.Update(d.sum, castagnoli, p)
	_, d.err = d.r.Discard(n)
	return p
}
