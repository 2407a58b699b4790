package observe

import (
	"errors"
	"fmt"
	"sync"

	"grade/observe/wire"
)

// Bool records v.
func (o *Observer) Bool(name string, v bool) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Bool, Bool: v}, pick(Exact(), nil))
}

// Int records v; it is compared exactly unless c says otherwise.
func (o *Observer) Int(name string, v int, c ...Comparison) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Int, Int: int64(v)}, pick(Exact(), c))
}

// Ints records v, length and order included; exact unless c says otherwise.
func (o *Observer) Ints(name string, v []int, c ...Comparison) {
	o.tb.Helper()
	list := make([]int64, len(v))
	for i, x := range v {
		list[i] = int64(x)
	}
	o.record(name, wire.Value{Kind: wire.Ints, Ints: list}, pick(Exact(), c))
}

// Float records v; it is compared Within(1e-9, 1e-9) unless c says otherwise.
func (o *Observer) Float(name string, v float64, c ...Comparison) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Float, Float: v}, pick(defaultFloat(), c))
}

// Floats records v, length and order included; each element is compared as by Float.
func (o *Observer) Floats(name string, v []float64, c ...Comparison) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Floats, Floats: v}, pick(defaultFloat(), c))
}

// Matrix records v, row by row, with its shape. It fails the test unless v has
// rows*cols elements.
func (o *Observer) Matrix(name string, rows, cols int, v []float64, c ...Comparison) {
	o.tb.Helper()
	if rows < 0 || cols < 0 || rows > wire.MaxDim || cols > wire.MaxDim || int64(rows)*int64(cols) != int64(len(v)) {
		o.tb.Fatalf("observe: %s: a matrix of %d rows and %d columns has %d elements", name, rows, cols, len(v))
	}
	o.record(name, wire.Value{Kind: wire.Matrix, Rows: rows, Cols: cols, Floats: v}, pick(defaultFloat(), c))
}

// String records v, byte for byte.
func (o *Observer) String(name, v string) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.String, String: v}, pick(Exact(), nil))
}

// Strings records v, length and order included, each element byte for byte.
func (o *Observer) Strings(name string, v []string, c ...Comparison) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Strings, Strings: v}, pick(Exact(), c))
}

// Error records the kind of err: "nil", "sentinel i" for the first sentinel that
// errors.Is finds, or "other". It records no text, because exercises specify
// sentinels and not wording.
func (o *Observer) Error(name string, err error, sentinels ...error) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Error, String: classify(err, sentinels)}, pick(Exact(), nil))
}

func classify(err error, sentinels []error) string {
	if err == nil {
		return "nil"
	}
	for i, s := range sentinels {
		if errors.Is(err, s) {
			return fmt.Sprintf("sentinel %d", i)
		}
	}
	return "other"
}

// Panics calls f and records whether it panicked.
func (o *Observer) Panics(name string, f func()) {
	o.tb.Helper()
	o.Bool(name, panics(f))
}

// panics leaves runtime.Goexit alone: a tb.Fatal in f still ends the test.
func panics(f func()) (panicked bool) {
	panicked = true
	defer func() { _ = recover() }()
	f()
	return false
}

// Transcript collects lines in order, from any number of goroutines: the calls of a
// fake, for instance, which turns behaviour into a value to record. The zero value
// is empty.
type Transcript struct {
	mu    sync.Mutex
	lines []string
}

// Add adds a line, formatted by fmt.Sprintf. Do not pass values of types that the
// submission declares: fmt would call their String methods.
func (t *Transcript) Add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

// Transcript records the current lines of t, in order.
func (o *Observer) Transcript(name string, t *Transcript) {
	o.tb.Helper()
	t.mu.Lock()
	lines := t.lines[:len(t.lines):len(t.lines)] // Add only appends
	t.mu.Unlock()
	o.record(name, wire.Value{Kind: wire.Strings, Strings: lines}, pick(Exact(), nil))
}
