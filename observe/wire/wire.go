// Package wire encodes the observations that leave a sandbox: one stream of bytes
// for each test, written by package observe and read by the grader.
//
// It knows neither tests nor verdicts, and it compares nothing. A stream comes from
// a process that may be hostile, so [Decode] accepts exactly the streams that
// [Append] can write.
//
// A stream is [Magic], then records, then an end:
//
//	record     = value | end
//	value      = 1, flags, name, comparison, kind, payload
//	end        = 2, status; nothing follows
//	flags      = one byte, 1: self-reported
//	name       = text, 1 to MaxName bytes of UTF-8
//	comparison = op, multiset (one byte, 0 or 1), operands
//	operands   = nothing (Exact) | float float (Within, AtMost) | uvarint (ULPs)
//	payload    = one byte, 0 or 1 (Bool) | int (Int) | count, ints (Ints)
//	           | float (Float) | count, floats (Floats)
//	           | rows, cols, count, floats (Matrix; count = rows*cols)
//	           | text (String, Error) | count, texts (Strings)
//	text       = count, bytes
//
// Ints are eight bytes in two's complement, floats their eight IEEE 754 bytes,
// both little-endian. Counts, rows and cols are uvarints of the shortest form.
package wire

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Magic starts every stream. Its last digit is the version of the format.
const Magic = "grd1"

// The caps of a stream. A writer stays within them; [Decode] refuses the rest.
const (
	MaxSize    = 16 << 20 // bytes, the magic and the end included
	MaxRecords = 100_000  // values
	MaxStrings = 1 << 20  // elements of all Strings values together: an empty one takes a byte here and sixteen in memory
	MaxName    = 200      // bytes of a name
	MaxDim     = math.MaxInt32
)

// Kind says which field of a [Value] is set.
type Kind uint8

// The kinds. The zero value is invalid.
const (
	_ Kind = iota
	Bool
	Int
	Ints
	Float
	Floats
	Matrix // Rows, Cols and Floats, row by row
	String
	Strings
	Error // String: "nil", which sentinel it is or "other"
	kinds
)

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k > 0 && k < kinds }

func (k Kind) String() string {
	names := [kinds]string{"", "bool", "int", "ints", "float", "floats", "matrix", "string", "strings", "error"}
	if !k.Valid() {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return names[k]
}

func (k Kind) numeric() bool { return k >= Int && k <= Matrix }
func (k Kind) floating() bool {
	return k == Float || k == Floats || k == Matrix
}
func (k Kind) list() bool { return k == Ints || k == Floats || k == Strings }

// Op says how the grader compares a number with the reference's.
type Op uint8

// The ops. The zero value is invalid. Under each of them NaN agrees with NaN
// only, an infinity with itself only, and -0 with +0.
const (
	_      Op = iota
	Exact     // x == y
	Within    // |x-y| <= A + B*max(|x|, |y|)
	ULPs      // at most N representable numbers apart
	AtMost    // x <= A*y + B, where y is the reference's
	ops
)

// Valid reports whether o is one of the ops above.
func (o Op) Valid() bool { return o > 0 && o < ops }

func (o Op) String() string {
	names := [ops]string{"", "exact", "within", "ulps", "at most"}
	if !o.Valid() {
		return fmt.Sprintf("op %d", uint8(o))
	}
	return names[o]
}

// Comparison says how the grader compares a value with the reference's. Fields that
// its Op does not use are zero. Lists of different lengths, and matrices of
// different shapes, never agree; others are compared element by element.
type Comparison struct {
	Op       Op
	A, B     float64
	N        uint64
	Multiset bool // order is free: the sorted lists are compared
}

// Check reports why c cannot compare values of kind k.
func (c Comparison) Check(k Kind) error {
	switch {
	case !k.Valid():
		return fmt.Errorf("unknown %v", k)
	case !c.Op.Valid():
		return fmt.Errorf("unknown %v", c.Op)
	case c.Op != Exact && !k.numeric(), c.Op == ULPs && !k.floating():
		return fmt.Errorf("%v does not compare a %v", c.Op, k)
	case c.Multiset && !k.list():
		return fmt.Errorf("a %v cannot be a multiset", k)
	}
	return c.checkOperands()
}

func (c Comparison) checkOperands() error {
	var ok bool
	switch c.Op {
	case Exact:
		ok = c.A == 0 && c.B == 0 && c.N == 0
	case Within:
		ok = c.A >= 0 && c.B >= 0 && finite(c.A) && finite(c.B) && c.N == 0
	case ULPs:
		ok = c.A == 0 && c.B == 0
	case AtMost:
		ok = c.A >= 0 && finite(c.A) && finite(c.B) && c.N == 0
	}
	if !ok {
		return fmt.Errorf("operands of %v out of range: %v, %v, %d", c.Op, c.A, c.B, c.N)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Value is one observed value. Fields that its Kind does not use are zero; an empty
// list is nil.
type Value struct {
	Kind       Kind
	Bool       bool
	Int        int64
	Ints       []int64
	Float      float64
	Floats     []float64
	Rows, Cols int
	String     string // any bytes, UTF-8 or not
	Strings    []string
}

// Record is one observation.
type Record struct {
	Name         string
	SelfReported bool // cannot be confirmed from outside the sandbox
	Comparison   Comparison
	Value        Value
}

// Check reports why r cannot be written. [Decode] returns a record that passes
// unchanged, if the stream stays within the caps.
func (r Record) Check() error {
	switch {
	case r.Name == "" || len(r.Name) > MaxName:
		return fmt.Errorf("a name has 1 to %d bytes, not %d", MaxName, len(r.Name))
	case !utf8.ValidString(r.Name):
		return errors.New("a name must be valid UTF-8")
	}
	if err := r.Comparison.Check(r.Value.Kind); err != nil {
		return err
	}
	if r.Value.Kind == Matrix {
		return checkShape(r.Value)
	}
	return nil
}

func checkShape(v Value) error {
	// The factors fit 31 bits, so the product cannot overflow.
	if v.Rows < 0 || v.Cols < 0 || v.Rows > MaxDim || v.Cols > MaxDim ||
		int64(v.Rows)*int64(v.Cols) != int64(len(v.Floats)) {
		return fmt.Errorf("a matrix of %d rows and %d columns does not have %d elements", v.Rows, v.Cols, len(v.Floats))
	}
	return nil
}

// Status is the result that a test claims. A submission can forge it, like all of a
// stream.
type Status uint8

// The statuses. The zero value is invalid.
const (
	_ Status = iota
	Passed
	Failed
	Skipped
	statuses
)

// Valid reports whether s is one of the statuses above.
func (s Status) Valid() bool { return s > 0 && s < statuses }

func (s Status) String() string {
	names := [statuses]string{"", "passed", "failed", "skipped"}
	if !s.Valid() {
		return fmt.Sprintf("status %d", uint8(s))
	}
	return names[s]
}

// Stream is the whole record of one test.
type Stream struct {
	Records []Record // in the order of recording
	Status  Status
}

// The errors that [Decode] wraps. A crash leaves a stream without an end; package
// observe never causes the others.
var (
	ErrNoEnd  = errors.New("the stream has no end")
	ErrLimit  = errors.New("the stream exceeds a limit")
	ErrFormat = errors.New("the stream is malformed")
)
