package checkpoint

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"math"
)

// A checkpoint is the header, then the fields of a State in their order, and the checksum
// of all that. Numbers are little-endian and have 64 bits; what has a length begins with it.
var header = []byte{'c', 'k', 'p', 't', 1, 0, 0, 0}

const magicSize = 4 // bytes of the header before the version

// castagnoli is CRC-32C (RFC 3720, appendix B.4), which finds every damage that is not
// longer than 32 bits, and of others all but one of 2^32. Processors have it built in.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encoder writes, and keeps the first error.
type encoder struct {
	w   *bufio.Writer
	sum uint32
	err error
}

func (e *encoder) state(s *State) {
	e.write(header)
	for _, n := range []int{s.Step, s.Epoch, s.Position} {
		e.uint64(uint64(n))
	}
	e.uint64(math.Float64bits(s.Rate))
	e.uint64(math.Float64bits(s.Metric))
	e.uint64(uint64(len(s.RNG)))
	e.write(s.RNG)
	e.tensors(s.Model)
	e.tensors(s.Optimizer)
}

func (e *encoder) tensors(list []Tensor) {
	e.uint64(uint64(len(list)))
	for _, t := range list {
		e.uint64(uint64(len(t.Name)))
		e.write([]byte(t.Name))
		e.uint64(uint64(len(t.Data)))
		e.floats(t.Data)
	}
}

// end writes the checksum and what is in the buffer.
func (e *encoder) end() error {
	e.write(binary.LittleEndian.AppendUint32(nil, e.sum))
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

func (e *encoder) uint64(n uint64) {
	e.write(binary.LittleEndian.AppendUint64(e.w.AvailableBuffer(), n))
}

// floats makes a piece of the bytes at a time, in the buffer that they are written from.
func (e *encoder) floats(xs []float64) {
	for len(xs) > 0 && e.err == nil {
		if e.w.Available() < 8 {
			e.err = e.w.Flush()
		}
		n := min(len(xs), e.w.Available()/8)
		piece := e.w.AvailableBuffer()
		for _, x := range xs[:n] {
			piece = binary.LittleEndian.AppendUint64(piece, math.Float64bits(x))
		}
		e.write(piece)
		xs = xs[n:]
	}
}

func (e *encoder) write(p []byte) {
	if e.err == nil {
		e.sum = crc32.Update(e.sum, castagnoli, p)
		_, e.err = e.w.Write(p)
	}
}
