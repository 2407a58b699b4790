package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Decode reads a whole stream. Every error wraps [ErrNoEnd], [ErrLimit] or
// [ErrFormat]. With ErrNoEnd, and only then, the Stream holds the records that
// came whole before the cut; its Status is invalid.
//
// It allocates in proportion to the length of b, never to a count that b claims: at
// most 30 bytes for each byte of b, and that only for the smallest records, whose
// number is capped.
func Decode(b []byte) (Stream, error) {
	if len(b) > MaxSize {
		return Stream{}, fmt.Errorf("decode observations: %d bytes: %w", len(b), ErrLimit)
	}
	// All names and texts share one copy.
	d := decoder{text: string(b), strings: MaxStrings}
	s, err := d.stream()
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, ErrNoEnd):
		s.Status = 0
	default:
		s = Stream{}
	}
	return s, fmt.Errorf("decode observations: byte %d: %w", d.off, err)
}

// decoder reads fields one after the other. The first error sticks, and later calls
// return zeros.
type decoder struct {
	text    string
	off     int
	strings int // elements of Strings values still allowed
	err     error
}

func (d *decoder) stream() (s Stream, err error) {
	if magic := d.bytes(min(uint64(len(Magic)), uint64(len(d.text)))); magic != Magic[:len(magic)] {
		return s, fmt.Errorf("%w: it does not start with %q", ErrFormat, Magic)
	} else if len(magic) < len(Magic) {
		return s, ErrNoEnd
	}
	for {
		switch tag := d.byte(); {
		case d.err != nil:
			return s, d.err
		case tag == tagEnd:
			s.Status = d.end()
			return s, d.err
		case tag != tagValue:
			return s, fmt.Errorf("%w: unknown tag %d", ErrFormat, tag)
		case len(s.Records) == MaxRecords:
			return s, fmt.Errorf("%w: more than %d records", ErrLimit, MaxRecords)
		}
		r := d.record()
		if d.err != nil {
			return s, d.err
		}
		s.Records = append(s.Records, r)
	}
}

func (d *decoder) end() Status {
	s := Status(d.byte())
	switch {
	case d.err != nil:
	case !s.Valid():
		d.malformed("unknown %v", s)
	case d.off != len(d.text):
		d.malformed("%d bytes after the end", len(d.text)-d.off)
	}
	return s
}

func (d *decoder) record() Record {
	var r Record
	flags := d.byte()
	if flags&^flagSelfReported != 0 {
		d.malformed("unknown flags %#x", flags)
	}
	r.SelfReported = flags&flagSelfReported != 0
	n := d.uvarint()
	if n > MaxName {
		d.malformed("a name of %d bytes", n)
	}
	r.Name = d.bytes(n)
	r.Comparison = d.comparison()
	r.Value = d.value()
	if d.err == nil {
		if err := r.Check(); err != nil {
			d.malformed("%v", err)
		}
	}
	return r
}

func (d *decoder) comparison() Comparison {
	c := Comparison{Op: Op(d.byte()), Multiset: d.bool()}
	switch c.Op {
	case Exact:
	case Within, AtMost:
		c.A, c.B = d.float(), d.float()
	case ULPs:
		c.N = d.uvarint()
	default:
		d.malformed("unknown %v", c.Op)
	}
	return c
}

func (d *decoder) value() Value {
	v := Value{Kind: Kind(d.byte())}
	switch v.Kind {
	case Bool:
		v.Bool = d.bool()
	case Int:
		v.Int = d.int()
	case Ints:
		v.Ints = list(d, d.count(8), d.int)
	case Float:
		v.Float = d.float()
	case Floats:
		v.Floats = list(d, d.count(8), d.float)
	case Matrix:
		v.Rows, v.Cols = d.dim(), d.dim()
		v.Floats = list(d, d.count(8), d.float)
	case String, Error:
		v.String = d.bytes(d.uvarint())
	case Strings:
		v.Strings = d.texts()
	default:
		d.malformed("unknown %v", v.Kind)
	}
	return v
}

func (d *decoder) texts() []string {
	n := d.count(1)
	if n > d.strings {
		d.fail(fmt.Errorf("%w: more than %d strings", ErrLimit, MaxStrings))
		return nil
	}
	d.strings -= n
	return list(d, n, func() string { return d.bytes(d.uvarint()) })
}

// list reads n elements; n must come from count.
func list[T any](d *decoder, n int, element func() T) []T {
	if n == 0 || d.err != nil {
		return nil
	}
	l := make([]T, n)
	for i := range l {
		l[i] = element()
	}
	return l
}

// count reads a number of elements of at least size bytes each. It fails unless the
// stream is long enough for them, so that list allocates only what exists.
func (d *decoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(MaxSize/size) {
		d.fail(fmt.Errorf("%w: a list of %d", ErrLimit, n))
	} else if n > uint64((len(d.text)-d.off)/size) {
		d.fail(ErrNoEnd)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *decoder) dim() int {
	n := d.uvarint()
	if n > MaxDim {
		d.malformed("a dimension of %d", n)
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(n uint64) string {
	if n > MaxSize {
		d.fail(fmt.Errorf("%w: a text of %d bytes", ErrLimit, n))
	} else if n > uint64(len(d.text)-d.off) {
		d.fail(ErrNoEnd)
	}
	if d.err != nil {
		return ""
	}
	s := d.text[d.off : d.off+int(n)]
	d.off += int(n)
	return s
}

func (d *decoder) byte() byte {
	if s := d.bytes(1); s != "" {
		return s[0]
	}
	return 0
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.malformed("invalid boolean %d", b)
	}
	return b == 1
}

func (d *decoder) int() int64     { return int64(d.uint64()) }
func (d *decoder) float() float64 { return math.Float64frombits(d.uint64()) }

func (d *decoder) uint64() uint64 {
	s := d.bytes(8)
	if s == "" {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(s))
}

// uvarint accepts only the shortest form, so that each Stream has one encoding.
func (d *decoder) uvarint() (x uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		if d.err != nil {
			return 0
		}
		if b == 0 && shift > 0 || shift == 63 && b > 1 {
			break
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
	d.malformed("a number is not in its shortest form")
	return 0
}

func (d *decoder) malformed(format string, args ...any) {
	d.fail(fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...)))
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}
