package observe_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"grade/observe/wire"
)

func TestSandboxWritesEveryKind(t *testing.T) {
	exact := wire.Comparison{Op: wire.Exact}
	floats := wire.Comparison{Op: wire.Within, A: 1e-9, B: 1e-9}
	want := []wire.Record{
		{Name: "bool", Comparison: exact, Value: wire.Value{Kind: wire.Bool, Bool: true}},
		{Name: "int", Comparison: exact, Value: wire.Value{Kind: wire.Int, Int: -7}},
		{Name: "steps", Comparison: wire.Comparison{Op: wire.AtMost, A: 2, B: 1}, Value: wire.Value{Kind: wire.Int, Int: 9}},
		{Name: "ints", Comparison: wire.Comparison{Op: wire.Exact, Multiset: true}, Value: wire.Value{Kind: wire.Ints, Ints: []int64{3, 1}}},
		{Name: "float", Comparison: floats, Value: wire.Value{Kind: wire.Float, Float: math.Inf(1)}},
		{Name: "ulps", Comparison: wire.Comparison{Op: wire.ULPs, N: 4}, Value: wire.Value{Kind: wire.Float, Float: 1.5}},
		{Name: "floats", Comparison: wire.Comparison{Op: wire.Within, A: 0.5, Multiset: true}, Value: wire.Value{Kind: wire.Floats, Floats: []float64{1, 2}}},
		{Name: "matrix", Comparison: exact, Value: wire.Value{Kind: wire.Matrix, Rows: 2, Cols: 1, Floats: []float64{1, 2}}},
		{Name: "string", Comparison: exact, Value: wire.Value{Kind: wire.String, String: "\xff"}},
		{Name: "strings", Comparison: exact, Value: wire.Value{Kind: wire.Strings}},
		{Name: "no error", Comparison: exact, Value: wire.Value{Kind: wire.Error, String: "nil"}},
		{Name: "sentinel", Comparison: exact, Value: wire.Value{Kind: wire.Error, String: "sentinel 1"}},
		{Name: "other", Comparison: exact, Value: wire.Value{Kind: wire.Error, String: "other"}},
		{Name: "allocs", SelfReported: true, Comparison: exact, Value: wire.Value{Kind: wire.Int, Int: 3}},
		{Name: "transcript", Comparison: exact, Value: wire.Value{Kind: wire.Strings, Strings: []string{"called with 7"}}},
		{Name: "panics", Comparison: exact, Value: wire.Value{Kind: wire.Bool, Bool: true}},
		{Name: "no panic", Comparison: exact, Value: wire.Value{Kind: wire.Bool}},
	}
	got := runChild(t, "TestChildEveryKind")
	if got.err != nil || got.exit != 0 || got.stream.Status != wire.Passed {
		t.Fatalf("exit %d, %v, %v", got.exit, got.stream.Status, got.err)
	}
	if len(got.stream.Records) != len(want) {
		t.Fatalf("%d records, want %d", len(got.stream.Records), len(want))
	}
	for i, r := range got.stream.Records {
		if !reflect.DeepEqual(r, want[i]) {
			t.Errorf("record %d:\n got %+v\nwant %+v", i, r, want[i])
		}
	}
}

// The record holds the status of a test, in whatever way it ends.
func TestSandboxStatus(t *testing.T) {
	tests := []struct {
		child   string
		status  wire.Status // 0: a record without an end
		records int
		exit    int
	}{
		{"TestChildPanic", wire.Failed, 1, 2},
		{"TestChildNilPanic", wire.Failed, 1, 2},
		{"TestChildGoexit", wire.Failed, 1, 1},
		{"TestChildPanicInGoroutine", 0, 0, 2},
		{"TestChildFatal", wire.Failed, 1, 1},
		{"TestChildError", wire.Failed, 1, 1},
		{"TestChildSubtestFails", wire.Failed, 1, 1},
		{"TestChildSkip", wire.Skipped, 0, 0},
		{"TestChildExit", 0, 0, 0}, // the exit status says nothing
		{"TestChildTwice", wire.Failed, 1, 1},
		{"TestChildSecondInProcess", wire.Passed, 1, 1},
		{"TestChildShape", wire.Failed, 0, 1},
		{"TestChildTooManyRecords", wire.Failed, wire.MaxRecords, 1},
		{"TestChildTooMuch", wire.Failed, 31, 1},
		{"TestChildCleanup", wire.Passed, 1, 0},
		{"TestChildSynctest", wire.Passed, 1, 0},
		{"BenchmarkChildPanic", wire.Failed, 1, anyExit},
		{"BenchmarkChildFatal", wire.Failed, 0, 1},
		{"BenchmarkChildSkip", wire.Skipped, 0, 0},
		{"BenchmarkChildBreak", wire.Failed, 0, 1},
		{"BenchmarkChildSecondWindow", wire.Failed, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.child, func(t *testing.T) {
			got := runChild(t, tt.child)
			switch {
			case tt.status == 0 && !errors.Is(got.err, wire.ErrNoEnd):
				t.Errorf("got %v, want no end", got.err)
			case tt.status != 0 && got.err != nil:
				t.Error(got.err)
			}
			if got.stream.Status != tt.status || len(got.stream.Records) != tt.records {
				t.Errorf("%v with %d records, want %v with %d", got.stream.Status, len(got.stream.Records), tt.status, tt.records)
			}
			if tt.exit != anyExit && (got.exit == 0) != (tt.exit == 0) {
				t.Errorf("exit %d, want %d", got.exit, tt.exit)
			}
		})
	}
}

// anyExit accepts any exit status of a benchmark that panics: package testing wakes
// its main goroutine while the benchmark's unwinds, and if the main goroutine ends
// the process first, the status is 0. Only the record is reliable.
const anyExit = -1

func TestSandboxExitKeepsWhatWasFlushed(t *testing.T) {
	got := runChild(t, "TestChildExitLate")
	if !errors.Is(got.err, wire.ErrNoEnd) || len(got.stream.Records) == 0 || got.stream.Status == wire.Passed {
		t.Errorf("%d records, %v, %v", len(got.stream.Records), got.stream.Status, got.err)
	}
}

func TestSandboxLoop(t *testing.T) {
	for _, child := range []string{"TestChildLoop", "BenchmarkChildLoop"} {
		for loops, want := range map[string]int64{"": 1, "GRADE_LOOPS=1": 1, "GRADE_LOOPS=5": 5} {
			got := runChild(t, child, strings.Fields(loops)...)
			if got.err != nil || len(got.stream.Records) != 1 {
				t.Fatalf("%s %s: %v", child, loops, got.err)
			}
			if n := got.stream.Records[0].Value.Int; n != want || got.marks != 2 || got.stream.Status != wire.Passed {
				t.Errorf("%s %s: %d rounds, %d marks, %v; want %d rounds and 2 marks", child, loops, n, got.marks, got.stream.Status, want)
			}
		}
	}
}

func TestSandboxSeed(t *testing.T) {
	first := runChild(t, "TestChildRand")
	if first.stream.Status != wire.Passed {
		t.Fatal(first.err)
	}
	if again := runChild(t, "TestChildRand"); !reflect.DeepEqual(again.raw, first.raw) {
		t.Error("the same seed gave other numbers")
	}
	if other := runChild(t, "TestChildRand", "GRADE_SEED="+strings.Repeat("5", 64)); reflect.DeepEqual(other.raw, first.raw) {
		t.Error("another seed gave the same numbers")
	}
	if other := runChild(t, "TestChildRandOther"); reflect.DeepEqual(other.raw, first.raw) {
		t.Error("another test had the same numbers")
	}
}

// New refuses environment variables that no sandbox sets.
func TestInvalidEnvironment(t *testing.T) {
	for env, say := range map[string]string{
		"GRADE_OBSERVE=v2": `GRADE_OBSERVE is "v2"`,
		"GRADE_SEED=":      "GRADE_SEED is not 64 hexadecimal digits",
		"GRADE_SEED=00":    "GRADE_SEED is not 64 hexadecimal digits",
		"GRADE_LOOPS=0":    "GRADE_LOOPS is not a positive number",
	} {
		got := runChild(t, "TestChildLoop", env)
		if got.exit == 0 || !strings.Contains(got.printed, say) || len(got.raw) > 0 {
			t.Errorf("%s: exit %d, %d bytes, no %q", env, got.exit, len(got.raw), say)
		}
	}
}
