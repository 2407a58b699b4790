package wire

import (
	"encoding/binary"
	"math"
)

// The tags that start a record, and the bits of a value's flags.
const (
	tagValue = 1
	tagEnd   = 2

	flagSelfReported = 1
)

// Append appends one record to b. It does not check r, because [Decode] refuses all
// that [Record.Check] refuses.
func Append(b []byte, r Record) []byte {
	b = append(b, tagValue)
	if r.SelfReported {
		b = append(b, flagSelfReported)
	} else {
		b = append(b, 0)
	}
	b = appendText(b, r.Name)
	b = appendComparison(b, r.Comparison)
	return appendValue(b, r.Value)
}

// AppendEnd appends the end of a stream to b.
func AppendEnd(b []byte, s Status) []byte { return append(b, tagEnd, byte(s)) }

func appendComparison(b []byte, c Comparison) []byte {
	b = append(b, byte(c.Op))
	b = appendBool(b, c.Multiset)
	switch c.Op {
	case Within, AtMost:
		b = appendFloat(b, c.A)
		b = appendFloat(b, c.B)
	case ULPs:
		b = binary.AppendUvarint(b, c.N)
	}
	return b
}

func appendValue(b []byte, v Value) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case Bool:
		b = appendBool(b, v.Bool)
	case Int:
		b = appendInt(b, v.Int)
	case Ints:
		b = appendList(b, v.Ints, appendInt)
	case Float:
		b = appendFloat(b, v.Float)
	case Floats:
		b = appendList(b, v.Floats, appendFloat)
	case Matrix:
		b = binary.AppendUvarint(b, uint64(v.Rows))
		b = binary.AppendUvarint(b, uint64(v.Cols))
		b = appendList(b, v.Floats, appendFloat)
	case String, Error:
		b = appendText(b, v.String)
	case Strings:
		b = appendList(b, v.Strings, appendText)
	}
	return b
}

func appendList[T any](b []byte, list []T, element func([]byte, T) []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, x := range list {
		b = element(b, x)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendInt(b []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(v))
}

func appendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}
