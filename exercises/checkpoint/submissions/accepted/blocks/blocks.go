package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// After the header a file has blocks: the number of the block, the length of its content and
// the checksum of these and of the content; then the content. An empty one is the last.
const (
	blockHead = 12
	blockSize = 32 << 10
)

var header = []byte("ckpt\x01\x00\x00\x00")

// blockWriter makes a block of each Write.
type blockWriter struct {
	w      io.Writer
	number uint32
	buf    []byte
}

func (b *blockWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), blockSize)]
		if err := b.block(part); err != nil {
			return n, err
		}
		n += len(part)
		p = p[len(part):]
	}
	return n, nil
}

func (b *blockWriter) block(p []byte) error {
	b.buf = binary.LittleEndian.AppendUint32(b.buf[:0], b.number)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(len(p)))
	b.buf = binary.LittleEndian.AppendUint32(b.buf, checksum(b.buf, p))
	b.buf = append(b.buf, p...)
	b.number++
	_, err := b.w.Write(b.buf)
	return err
}

func checksum(head, p []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, p)
}

// blockReader reads the contents of blocks, each of which it has checked.
type blockReader struct {
	r      *bufio.Reader
	number uint32
	rest   []byte
	buf    [blockSize]byte
	ended  bool
}

func (b *blockReader) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if err := b.block(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *blockReader) block() error {
	if b.ended {
		return io.EOF
	}
	var head [blockHead]byte
	if err := full(b.r, head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if n > blockSize || binary.LittleEndian.Uint32(head[:]) != b.number {
		return ErrDamaged
	}
	if err := full(b.r, b.buf[:n]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(head[8:]) != checksum(head[:8], b.buf[:n]) {
		return ErrDamaged
	}
	b.number++
	b.rest = b.buf[:n]
	if b.ended = n == 0; b.ended {
		return io.EOF
	}
	return nil
}

// full fills p. An end that comes too early is damage.
func full(r io.Reader, p []byte) error {
	for len(p) > 0 {
		n, err := r.Read(p)
		if p = p[n:]; err == io.EOF && len(p) > 0 {
			return ErrDamaged
		}
		if err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

// readHeader looks at the first bytes.
func readHeader(r io.Reader) error {
	var got [8]byte
	if err := full(r, got[:]); err != nil {
		return err
	}
	if !bytes.Equal(got[:4], header[:4]) {
		return ErrFormat
	}
	if !bytes.Equal(got[:], header) {
		return ErrVersion
	}
	return nil
}
