// Package checkpoint saves the State of a training in blocks, each with a checksum.
package checkpoint

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
)

// head is what a State has of fixed size.
type head struct {
	Step, Epoch, Position, RNG, Model, Optimizer int64
	Rate, Metric                                 uint64
}

var order = binary.LittleEndian

func Write(w io.Writer, s *State) error {
	if _, err := w.Write(header); err != nil {
		return err
	}
	blocks := &blockWriter{w: w}
	b := bufio.NewWriterSize(blocks, blockSize)
	h := head{
		int64(s.Step), int64(s.Epoch), int64(s.Position), int64(len(s.RNG)), int64(len(s.Model)), int64(len(s.Optimizer)),
		math.Float64bits(s.Rate), math.Float64bits(s.Metric),
	}
	if err := binary.Write(b, order, h); err != nil {
		return err
	}
	b.Write(s.RNG)
	var sizes [16]byte
	for _, list := range [][]Tensor{s.Model, s.Optimizer} {
		for _, t := range list {
			order.PutUint64(sizes[:], uint64(len(t.Name)))
			order.PutUint64(sizes[8:], uint64(len(t.Data)))
			b.Write(sizes[:])
			b.WriteString(t.Name)
			if err := writeFloats(b, t.Data); err != nil {
				return err
			}
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return blocks.block(nil)
}

func writeFloats(b *bufio.Writer, xs []float64) (err error) {
	var piece [4096]byte
	for len(xs) > 0 && err == nil {
		n := min(len(xs), len(piece)/8)
		for i, x := range xs[:n] {
			order.PutUint64(piece[8*i:], math.Float64bits(x))
		}
		_, err = b.Write(piece[:8*n])
		xs = xs[n:]
	}
	return err
}

// Read reads a State. A damaged length cannot come here: its block is refused.
func Read(r io.Reader, s *State) error {
	in := bufio.NewReaderSize(r, blockSize)
	if err := readHeader(in); err != nil {
		return err
	}
	blocks := &blockReader{r: in}
	var h head
	fixed := make([]byte, binary.Size(h))
	if err := full(blocks, fixed); err != nil {
		return err
	}
	if _, err := binary.Decode(fixed, order, &h); err != nil {
		return err
	}
	s.Step, s.Epoch, s.Position = int(h.Step), int(h.Epoch), int(h.Position)
	s.Rate, s.Metric = math.Float64frombits(h.Rate), math.Float64frombits(h.Metric)
	s.RNG = make([]byte, h.RNG)
	if err := full(blocks, s.RNG); err != nil {
		return err
	}
	var err error
	if s.Model, err = readTensors(blocks, int(h.Model), s.Model); err != nil {
		return err
	}
	if s.Optimizer, err = readTensors(blocks, int(h.Optimizer), s.Optimizer); err != nil {
		return err
	}
	return atEnd(blocks)
}

func atEnd(blocks *blockReader) error {
	if err := blocks.block(); err != io.EOF {
		if err == nil {
			err = ErrDamaged
		}
		return err
	}
	_, err := blocks.r.ReadByte()
	if err == nil {
		return ErrDamaged
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func readTensors(r io.Reader, n int, old []Tensor) ([]Tensor, error) {
	list := make([]Tensor, n)
	piece := make([]byte, 4096)
	for i := range list {
		var sizes [16]byte
		if err := full(r, sizes[:]); err != nil {
			return nil, err
		}
		name := make([]byte, order.Uint64(sizes[:]))
		if err := full(r, name); err != nil {
			return nil, err
		}
		list[i].Name = string(name)
		if size := int(order.Uint64(sizes[8:])); i < len(old) && len(old[i].Data) == size {
			list[i].Data = old[i].Data
		} else {
			list[i].Data = make([]float64, size)
		}
		if err := readFloats(r, list[i].Data, piece); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func readFloats(r io.Reader, xs []float64, piece []byte) error {
	for len(xs) > 0 {
		n := min(len(xs), len(piece)/8)
		if err := full(r, piece[:8*n]); err != nil {
			return err
		}
		for i := range xs[:n] {
			xs[i] = math.Float64frombits(order.Uint64(piece[8*i:]))
		}
		xs = xs[n:]
	}
	return nil
}

// verify reads a file to its end, and holds a block of it at a time.
func verify(r io.Reader) error {
	in := bufio.NewReaderSize(r, blockSize)
	if err := readHeader(in); err != nil {
		return err
	}
	blocks := &blockReader{r: in}
	for {
		switch err := blocks.block(); err {
		case nil:
		case io.EOF:
			blocks.ended = true
			if _, err := in.ReadByte(); err != io.EOF {
				if err == nil {
					err = ErrDamaged
				}
				return err
			}
			return nil
		default:
			return err
		}
	}
}
