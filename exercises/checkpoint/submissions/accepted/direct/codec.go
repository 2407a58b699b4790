// Package checkpoint saves trainings. A file is written under its last name at once: as long
// as its checksum is wrong, it is no checkpoint.
package checkpoint

import (
	"bufio"
	"encoding/binary"
	"hash"
	"hash/crc64"
	"io"
	"math"
)

// coder takes 64-bit words and bytes in one direction or the other.
type coder interface {
	word(*uint64)
	text(*[]byte)
	floats(*[]float64)
	failed() bool
}

// walk goes through all that a State has, in one order.
func walk(c coder, s *State) {
	for _, n := range []*int{&s.Step, &s.Epoch, &s.Position} {
		w := uint64(*n)
		c.word(&w)
		*n = int(w)
	}
	for _, x := range []*float64{&s.Rate, &s.Metric} {
		w := math.Float64bits(*x)
		c.word(&w)
		*x = math.Float64frombits(w)
	}
	c.text(&s.RNG)
	for _, list := range []*[]Tensor{&s.Model, &s.Optimizer} {
		n := uint64(len(*list))
		c.word(&n)
		if n < uint64(len(*list)) {
			*list = (*list)[:n]
		}
		for i := uint64(0); i < n && !c.failed(); i++ {
			if i == uint64(len(*list)) {
				*list = append(*list, Tensor{})
			}
			t := &(*list)[i]
			name := []byte(t.Name)
			c.text(&name)
			t.Name = string(name)
			c.floats(&t.Data)
		}
	}
}

var magic = [8]byte{'c', 'k', 'p', 't', 1}

func newHash() hash.Hash64 { return crc64.New(crc64.MakeTable(crc64.ECMA)) }

// out writes through a piece of memory.
type out struct {
	w     io.Writer
	sum   hash.Hash64
	piece []byte
	err   error
}

func Write(w io.Writer, s *State) error {
	o := &out{w: w, sum: newHash(), piece: make([]byte, 0, 16<<10)}
	o.bytes(magic[:])
	same := *s
	walk(o, &same)
	o.flush()
	o.bytes(binary.BigEndian.AppendUint64(nil, o.sum.Sum64()))
	o.flush()
	return o.err
}

func (o *out) failed() bool { return o.err != nil }

func (o *out) flush() {
	if o.err == nil {
		o.sum.Write(o.piece)
		_, o.err = o.w.Write(o.piece)
	}
	o.piece = o.piece[:0]
}

func (o *out) word(w *uint64) {
	if cap(o.piece)-len(o.piece) < 8 {
		o.flush()
	}
	o.piece = binary.BigEndian.AppendUint64(o.piece, *w)
}

func (o *out) bytes(p []byte) {
	for len(p) > 0 {
		if len(o.piece) == cap(o.piece) {
			o.flush()
		}
		n := min(len(p), cap(o.piece)-len(o.piece))
		o.piece = append(o.piece, p[:n]...)
		p = p[n:]
	}
}

func (o *out) text(p *[]byte) {
	n := uint64(len(*p))
	o.word(&n)
	o.bytes(*p)
}

func (o *out) floats(xs *[]float64) {
	n := uint64(len(*xs))
	o.word(&n)
	for _, x := range *xs {
		w := math.Float64bits(x)
		o.word(&w)
	}
}

// in reads through a piece of memory.
type in struct {
	r       io.Reader
	sum     hash.Hash64
	piece   [16 << 10]byte
	forgets bool // numbers are of no interest
	err     error
}

func Read(r io.Reader, s *State) error { return read(r, s, false) }

func read(r io.Reader, s *State, forgets bool) error {
	r = bufio.NewReader(r)
	i := &in{r: r, sum: newHash(), forgets: forgets}
	head := i.next(8)
	if i.err != nil {
		return i.err
	}
	if string(head[:4]) != "ckpt" {
		return ErrFormat
	}
	if [8]byte(head) != magic {
		return ErrVersion
	}
	s.Model, s.Optimizer = append([]Tensor(nil), s.Model...), append([]Tensor(nil), s.Optimizer...)
	walk(i, s)
	want := i.sum.Sum64()
	if got := i.next(8); i.err == nil && binary.BigEndian.Uint64(got) != want {
		return ErrDamaged
	}
	if i.err != nil {
		return i.err
	}
	switch _, err := io.ReadFull(r, i.piece[:1]); err {
	case nil:
		return ErrDamaged
	case io.EOF:
		return nil
	default:
		return err
	}
}

func (i *in) failed() bool { return i.err != nil }

// next returns n bytes; n is not more than a piece.
func (i *in) next(n int) []byte {
	p := i.piece[:n]
	if i.err == nil {
		for at := 0; at < n && i.err == nil; {
			var m int
			m, i.err = i.r.Read(p[at:])
			at += m
		}
		if i.err == io.EOF {
			i.err = ErrDamaged
		}
		i.sum.Write(p)
	}
	return p
}

func (i *in) word(w *uint64) {
	if p := i.next(8); i.err == nil {
		*w = binary.BigEndian.Uint64(p)
	} else {
		*w = 0
	}
}

func (i *in) text(p *[]byte) {
	var n uint64
	i.word(&n)
	*p = nil
	for n > 0 && i.err == nil {
		part := i.next(int(min(n, uint64(len(i.piece)))))
		*p = append(*p, part...)
		n -= uint64(len(part))
	}
}

func (i *in) floats(xs *[]float64) {
	var n uint64
	i.word(&n)
	to := *xs
	if i.forgets || uint64(len(to)) != n {
		to = make([]float64, min(n, 1000))
	}
	at := 0
	for left := n; left > 0 && i.err == nil; {
		part := i.next(int(min(8*min(left, 1<<32), uint64(len(i.piece)))))
		left -= uint64(len(part) / 8)
		if i.forgets {
			continue
		}
		for ; len(part) > 0; part = part[8:] {
			if at == len(to) {
				to = append(to, 0)
			}
			to[at] = math.Float64frombits(binary.BigEndian.Uint64(part))
			at++
		}
	}
	*xs = to
	if i.forgets {
		*xs = nil
	}
}
