package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"io"
	"math/rand/v2"
	"testing"
)

// large is a State of 4 million numbers.
func large() *State {
	r := rand.New(rand.NewPCG(1, 2))
	s := &State{Model: make([]Tensor, 40)}
	for i := range s.Model {
		s.Model[i].Data = make([]float64, 100_000)
		for j := range s.Model[i].Data {
			s.Model[i].Data[j] = r.NormFloat64()
		}
	}
	return s
}

// The contenders are each number by itself, which most write at first; all numbers of a
// Tensor in one piece, which takes their memory again; and gob, which does so too.
func BenchmarkWrite(b *testing.B) {
	s := large()
	for name, write := range map[string]func(io.Writer) error{
		"reference": func(w io.Writer) error { return Write(w, s) },
		"each":      func(w io.Writer) error { return each(w, s) },
		"tensors":   func(w io.Writer) error { return tensors(w, s) },
		"gob":       func(w io.Writer) error { return gob.NewEncoder(w).Encode(s) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := write(io.MultiWriter(io.Discard)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func each(w io.Writer, s *State) (err error) {
	for _, t := range s.Model {
		for _, x := range t.Data {
			if err = binary.Write(w, binary.LittleEndian, x); err != nil {
				return err
			}
		}
	}
	return nil
}

func tensors(w io.Writer, s *State) (err error) {
	sum := sha256.New()
	for _, t := range s.Model {
		if err = binary.Write(io.MultiWriter(w, sum), binary.LittleEndian, t.Data); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

func BenchmarkRead(b *testing.B) {
	var w bytes.Buffer
	s := large()
	if err := Write(&w, s); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Read(bytes.NewReader(w.Bytes()), s); err != nil {
			b.Fatal(err)
		}
	}
}
