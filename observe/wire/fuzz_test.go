package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// Decode never panics and returns one of three errors. A stream that it accepts has
// one encoding: encoding it again gives the same bytes.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(Magic))
	f.Add(encode(Stream{Status: Passed}))
	f.Add(encode(Stream{Records: every(), Status: Failed}))
	for _, r := range every() {
		f.Add(encode(Stream{Records: []Record{r}, Status: Skipped}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrNoEnd) && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrFormat) {
				t.Fatalf("untyped error %v", err)
			}
			if s.Status != 0 || len(s.Records) > 0 && !errors.Is(err, ErrNoEnd) {
				t.Fatalf("error %v, but stream %+v", err, s)
			}
			return
		}
		if again := encode(s); !bytes.Equal(again, b) {
			t.Fatalf("another encoding:\n%x\n%x", b, again)
		}
	})
}

// Decode returns records that pass Check unchanged.
func FuzzRoundTrip(f *testing.F) {
	f.Add("x", true, uint8(Floats), uint8(Within), true, 1e-9, 1e-9, uint64(0), []byte("12345678"), 0, 0)
	f.Add("m", false, uint8(Matrix), uint8(ULPs), false, 0., 0., uint64(4), []byte("1234567812345678"), 1, 2)
	f.Add("s", false, uint8(Strings), uint8(Exact), true, 0., 0., uint64(0), []byte("a\x00b\x00"), 0, 0)
	f.Fuzz(func(t *testing.T, name string, self bool, kind, op uint8, multiset bool, a, b float64, n uint64, data []byte, rows, cols int) {
		r := Record{
			Name:         name,
			SelfReported: self,
			Comparison:   Comparison{Op: Op(op), A: a, B: b, N: n, Multiset: multiset},
			Value:        valueOf(Kind(kind), data, rows, cols),
		}
		want := Stream{Records: []Record{r, r}, Status: Passed}
		got, err := Decode(encode(want))
		if r.Check() != nil {
			// Decode cannot see operands that are not encoded.
			if err == nil && r.Comparison.checkOperands() == nil {
				t.Fatalf("read a record that Check refuses: %+v: %v", r, r.Check())
			}
			return
		}
		if err != nil || !reflect.DeepEqual(bits(got), bits(want)) {
			t.Fatalf("wrote %+v, read %+v, %v", want, got, err)
		}
	})
}

func valueOf(k Kind, data []byte, rows, cols int) Value {
	v := Value{Kind: k}
	switch k {
	case Bool:
		v.Bool = len(data) > 0
	case Int:
		v.Int = int64(rows)
	case Ints:
		for ; len(data) >= 8; data = data[8:] {
			v.Ints = append(v.Ints, int64(binary.LittleEndian.Uint64(data)))
		}
	case Float:
		v.Float = math.Float64frombits(uint64(rows))
	case Floats, Matrix:
		for ; len(data) >= 8; data = data[8:] {
			v.Floats = append(v.Floats, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		if k == Matrix {
			v.Rows, v.Cols = rows, cols
		}
	case String, Error:
		v.String = string(data)
	case Strings:
		v.Strings = strings.Split(string(data), "\x00")
	}
	return v
}

// bits replaces floats by their bits, so that NaN equals itself.
func bits(s Stream) []any {
	var l []any
	for _, r := range s.Records {
		l = append(l, math.Float64bits(r.Value.Float))
		for _, x := range r.Value.Floats {
			l = append(l, math.Float64bits(x))
		}
		r.Value.Float, r.Value.Floats = 0, nil
		l = append(l, r)
	}
	return append(l, s.Status)
}
