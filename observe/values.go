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

// Floats records v, length and order included, each element as Float does.
func (o *Observer) Floats(name string, v []float64, c ...Comparison) {
	o.tb.Helper()
	o.record(name, wire.Value{Kind: wire.Floats, Floats: v}, pick(defaultFloat(), c))
}

// Matrix records v, row by row, with its shape. A v that does not have
// rows*cols elements fails the test.
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

// Error records what kind of error err is: "nil", "sentinel i" for the first of
// the sentinels for which errors.Is holds, or "other". No text is recorded:
// contracts fix sentinels, not wording.
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

// Transcript collects lines, in the order they come, from as many goroutines as
// like: what a fake was called with, token by token, so that behaviour becomes
// an answer. The zero value is empty.
type Transcript struct {
	mu    sync.Mutex
	lines []string
}

// Add adds a line, formatted by fmt.Sprintf. It formats nothing of a type that
// the submission declares: its String method would be called.
func (t *Transcript) Add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

// Transcript records the lines that t holds now, in their order.
func (o *Observer) Transcript(name string, t *Transcript) {
	o.tb.Helper()
	t.mu.Lock()
	lines := t.lines[:len(t.lines):len(t.lines)] // Add only appends
	t.mu.Unlock()
	o.record(name, wire.Value{Kind: wire.Strings, Strings: lines}, pick(Exact(), nil))
}
