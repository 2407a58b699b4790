package wire

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

var exact = Comparison{Op: Exact}

// every returns one record of each kind and each comparison.
func every() []Record {
	return []Record{
		{Name: "bool", Comparison: exact, Value: Value{Kind: Bool, Bool: true}},
		{Name: "int", Comparison: exact, Value: Value{Kind: Int, Int: math.MinInt64}},
		{Name: "ints", Comparison: Comparison{Op: Exact, Multiset: true}, Value: Value{Kind: Ints, Ints: []int64{1, -1}}},
		{Name: "float", Comparison: Comparison{Op: Within, A: 1e-9, B: 1e-9}, Value: Value{Kind: Float, Float: math.Inf(-1)}},
		{Name: "negative zero", Comparison: Comparison{Op: ULPs, N: math.MaxUint64}, Value: Value{Kind: Float, Float: math.Copysign(0, -1)}},
		{Name: "floats", Comparison: Comparison{Op: Within, A: 1, Multiset: true}, Value: Value{Kind: Floats, Floats: []float64{1, 2}}},
		{Name: "matrix", Comparison: exact, Value: Value{Kind: Matrix, Rows: 2, Cols: 1, Floats: []float64{1, 2}}},
		{Name: "flat", Comparison: exact, Value: Value{Kind: Matrix, Rows: MaxDim}},
		{Name: "string", Comparison: exact, Value: Value{Kind: String, String: "\xff\x00"}},
		{Name: "strings", Comparison: exact, Value: Value{Kind: Strings, Strings: []string{"", "é"}}},
		{Name: "none", Comparison: exact, Value: Value{Kind: Strings}},
		{Name: "error", Comparison: exact, Value: Value{Kind: Error, String: "nil"}},
		{Name: "allocs", SelfReported: true, Comparison: Comparison{Op: AtMost, A: 2, B: -1}, Value: Value{Kind: Int, Int: 3}},
	}
}

func encode(s Stream) []byte {
	b := []byte(Magic)
	for _, r := range s.Records {
		b = Append(b, r)
	}
	return AppendEnd(b, s.Status)
}

func TestRoundTrip(t *testing.T) {
	want := Stream{Records: every(), Status: Passed}
	for _, r := range want.Records {
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	got, err := Decode(encode(want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if !math.Signbit(got.Records[4].Value.Float) {
		t.Error("the sign of zero was lost")
	}
	for _, s := range []Status{Passed, Failed, Skipped} {
		got, err := Decode(encode(Stream{Status: s}))
		if err != nil || got.Status != s || got.Records != nil {
			t.Errorf("%v: got %+v, %v", s, got, err)
		}
	}
}

func TestNaNKeepsItsBits(t *testing.T) {
	nan := math.Float64frombits(0x7ff8_0000_dead_beef)
	b := encode(Stream{Records: []Record{{Name: "x", Comparison: exact, Value: Value{Kind: Float, Float: nan}}}, Status: Passed})
	got, err := Decode(b)
	if err != nil || math.Float64bits(got.Records[0].Value.Float) != math.Float64bits(nan) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

// A truncated stream is not malformed, and keeps its whole records.
func TestTruncatedStream(t *testing.T) {
	whole := Stream{Records: every(), Status: Passed}
	b := encode(whole)
	for n := range len(b) {
		got, err := Decode(b[:n])
		if !errors.Is(err, ErrNoEnd) || errors.Is(err, ErrFormat) || errors.Is(err, ErrLimit) {
			t.Fatalf("cut at %d of %d: %v", n, len(b), err)
		}
		if got.Status != 0 || len(got.Records) > len(whole.Records) {
			t.Fatalf("cut at %d: %+v", n, got)
		}
		for i, r := range got.Records {
			if !reflect.DeepEqual(r, whole.Records[i]) {
				t.Fatalf("cut at %d: record %d: %+v", n, i, r)
			}
		}
	}
	if got, _ := Decode(b[:len(b)-2]); len(got.Records) != len(whole.Records) {
		t.Errorf("without its end: %d records", len(got.Records))
	}
}

func TestDecodeRefuses(t *testing.T) {
	one := func(r Record) string { return string(encode(Stream{Records: []Record{r}, Status: Passed})) }
	rec := func(v Value, c Comparison) string { return one(Record{Name: "x", Comparison: c, Value: v}) }
	const end = "\x02\x01"
	const x = Magic + "\x01\x00\x01x" // up to the comparison of a record x
	tests := []struct {
		name, stream string
		want         error
		say          string
	}{
		{"magic", "grd2" + end, ErrFormat, `does not start with "grd1"`},
		{"part of another magic", "GR", ErrFormat, "does not start"},
		{"tag", Magic + "\x03", ErrFormat, "unknown tag 3"},
		{"tag zero", Magic + "\x00" + end, ErrFormat, "unknown tag 0"},
		{"status", Magic + "\x02\x04", ErrFormat, "unknown status 4"},
		{"status zero", Magic + "\x02\x00", ErrFormat, "unknown status 0"},
		{"trailing byte", Magic + end + "\x00", ErrFormat, "1 bytes after the end"},
		{"record after the end", Magic + end + one(Record{})[4:], ErrFormat, "after the end"},
		{"flags", Magic + "\x01\x02\x01x\x01\x00\x01\x01" + end, ErrFormat, "unknown flags 0x2"},
		{"no name", Magic + "\x01\x00\x00\x01\x00\x01\x01" + end, ErrFormat, "1 to 200 bytes"},
		{"long name", one(Record{Name: strings.Repeat("x", MaxName+1)}), ErrFormat, "a name of 201 bytes"},
		{"name not UTF-8", one(Record{Name: "\xff", Comparison: exact, Value: Value{Kind: Bool}}), ErrFormat, "UTF-8"},
		{"op zero", x + "\x00\x00\x01\x01" + end, ErrFormat, "unknown op 0"},
		{"op", x + "\x05\x00\x01\x01" + end, ErrFormat, "unknown op 5"},
		{"multiset byte", x + "\x01\x02\x01\x01" + end, ErrFormat, "invalid boolean 2"},
		{"kind zero", x + "\x01\x00\x00\x01" + end, ErrFormat, "unknown kind 0"},
		{"kind", x + "\x01\x00\x0a\x01" + end, ErrFormat, "unknown kind 10"},
		{"bool byte", x + "\x01\x00\x01\x02" + end, ErrFormat, "invalid boolean 2"},
		{"long uvarint", x + "\x01\x00\x07\x80\x00" + end, ErrFormat, "shortest"},
		{"uvarint of 65 bits", x + "\x03\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x04", ErrFormat, "shortest"},
		{"count of ints", x + "\x01\x00\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ErrLimit, "a list of"},
		{"count of bytes", x + "\x01\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ErrLimit, "a text of"},
		{"shape", rec(Value{Kind: Matrix, Rows: 2, Cols: 2, Floats: []float64{1, 2, 3}}, exact), ErrFormat, "2 rows and 2 columns"},
		{"negative shape", rec(Value{Kind: Matrix, Rows: -1, Cols: -1, Floats: []float64{1}}, exact), ErrFormat, "dimension"},
		{"within a bool", rec(Value{Kind: Bool}, Comparison{Op: Within}), ErrFormat, "within does not compare a bool"},
		{"ulps of ints", rec(Value{Kind: Ints}, Comparison{Op: ULPs}), ErrFormat, "ulps does not compare a ints"},
		{"at most a string", rec(Value{Kind: String}, Comparison{Op: AtMost}), ErrFormat, "at most does not"},
		{"multiset of one", rec(Value{Kind: Int}, Comparison{Op: Exact, Multiset: true}), ErrFormat, "cannot be a multiset"},
		{"multiset of a matrix", rec(Value{Kind: Matrix}, Comparison{Op: Exact, Multiset: true}), ErrFormat, "cannot be a multiset"},
		{"tolerance NaN", rec(Value{Kind: Float}, Comparison{Op: Within, A: math.NaN()}), ErrFormat, "out of range"},
		{"tolerance Inf", rec(Value{Kind: Float}, Comparison{Op: Within, B: math.Inf(1)}), ErrFormat, "out of range"},
		{"tolerance negative", rec(Value{Kind: Float}, Comparison{Op: Within, A: -1}), ErrFormat, "out of range"},
		{"factor negative", rec(Value{Kind: Float}, Comparison{Op: AtMost, A: -1}), ErrFormat, "out of range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.stream))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.say) {
				t.Fatalf("got %v, want %v with %q", err, tt.want, tt.say)
			}
			if !reflect.DeepEqual(got, Stream{}) {
				t.Errorf("a refused stream gave %+v", got)
			}
			if errors.Is(err, ErrNoEnd) {
				t.Error("a refused stream counts as truncated")
			}
		})
	}
}

func TestUnusedOperandsAreRefusedByCheck(t *testing.T) {
	for _, c := range []Comparison{{Op: Exact, A: 1}, {Op: Within, N: 1}, {Op: ULPs, B: 1}, {Op: AtMost, N: 1}} {
		if c.Check(Float) == nil {
			t.Errorf("%+v passes, but would not survive a round trip", c)
		}
	}
}

func TestCaps(t *testing.T) {
	small := Append(nil, Record{Name: "x", Comparison: exact, Value: Value{Kind: Bool}})
	full := []byte(Magic + strings.Repeat(string(small), MaxRecords))
	if _, err := Decode(AppendEnd(full, Passed)); err != nil {
		t.Errorf("as many records as allowed: %v", err)
	}
	if _, err := Decode(AppendEnd(append(full, small...), Passed)); !errors.Is(err, ErrLimit) {
		t.Errorf("a record too many: %v", err)
	}
	if _, err := Decode(make([]byte, MaxSize+1)); !errors.Is(err, ErrLimit) {
		t.Errorf("a byte too many: %v", err)
	}
	half := Record{Name: "x", Comparison: exact, Value: Value{Kind: Strings, Strings: make([]string, MaxStrings/2)}}
	two := Stream{Records: []Record{half, half}, Status: Passed}
	if _, err := Decode(encode(two)); err != nil {
		t.Errorf("as many strings as allowed: %v", err)
	}
	two.Records = append(two.Records, Record{Name: "x", Comparison: exact, Value: Value{Kind: Strings, Strings: []string{""}}})
	if _, err := Decode(encode(two)); !errors.Is(err, ErrLimit) {
		t.Errorf("a string too many: %v", err)
	}
}

// A short stream that claims a long list allocates nothing for it.
func TestDecodeAllocatesNothingForClaims(t *testing.T) {
	for _, kind := range []Kind{Ints, Floats, Strings, String, Matrix} {
		b := append([]byte(Magic), "\x01\x00\x01x\x01\x00"...)
		b = append(b, byte(kind))
		if kind == Matrix {
			b = append(b, "\x80\x80\x40\x01"...)
		}
		b = append(b, "\x80\x80\x40"...) // 1 Mi elements
		if _, err := Decode(b); !errors.Is(err, ErrNoEnd) {
			t.Fatalf("%v: %v", kind, err)
		}
		if n := allocated(func() { Decode(b) }); n > 4096 {
			t.Errorf("%v: %d bytes allocated for a stream of %d", kind, n, len(b))
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Matrix.String(), "matrix"}, {Error.String(), "error"}, {Kind(99).String(), "kind 99"}, {Kind(0).String(), "kind 0"},
		{ULPs.String(), "ulps"}, {Op(0).String(), "op 0"}, {Skipped.String(), "skipped"}, {Status(9).String(), "status 9"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
