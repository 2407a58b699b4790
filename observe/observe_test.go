package observe_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"grade/observe"
)

// Under plain go test every method works and nothing leaves the process.
func TestPlain(t *testing.T) {
	o := observe.New(t)
	if x := o.Rand().Float64(); x < 0 || x >= 1 {
		t.Errorf("Rand gave %v", x)
	}
	if o.Rand() != o.SelfReported().Rand() {
		t.Error("Rand returns different sources")
	}
	o.Int("x", 1)
	o.Floats("y", nil, observe.Multiset())
	n := 0
	for o.Loop() {
		n++
	}
	if n != 1 {
		t.Errorf("a test's window ran %d times", n)
	}
}

func TestSeedIsFresh(t *testing.T) {
	var a, b uint64
	atb, btb := newFake("TestX"), newFake("TestX")
	atb.run(func() { a = observe.New(atb).Rand().Uint64() })
	btb.run(func() { b = observe.New(btb).Rand().Uint64() })
	if a == b {
		t.Error("two runs had the same random numbers")
	}
}

// The seed that a failed test logs gives the same numbers again.
func TestSeedIsLogged(t *testing.T) {
	var a, b uint64
	tb := newFake("TestX")
	tb.run(func() { a = observe.New(tb).Rand().Uint64(); tb.Fail() })
	_, seed, ok := strings.Cut(tb.log.String(), "GRADE_SEED=")
	if !ok {
		t.Fatalf("no seed in %q", tb.log.String())
	}
	t.Setenv("GRADE_SEED", strings.TrimSpace(seed))
	tb = newFake("TestX")
	tb.run(func() { b = observe.New(tb).Rand().Uint64() })
	if a != b {
		t.Error("the logged seed gave other numbers")
	}
	if tb.log.Len() > 0 {
		t.Errorf("a test that passes logs %q", tb.log.String())
	}
}

func TestPlainBenchmarkUsesItsOwnLoop(t *testing.T) {
	tb := &fakeB{fakeTB: newFake("BenchmarkX"), rounds: 7}
	n := 0
	tb.run(func() {
		o := observe.New(tb)
		for o.Loop() {
			n++
		}
	})
	if n != 7 || tb.failed {
		t.Errorf("%d rounds, failed: %v", n, tb.failed)
	}
}

func TestMisuseFailsTheTest(t *testing.T) {
	tests := map[string]struct {
		name string
		use  func(tb testing.TB)
	}{
		"one Observer: make it in the test itself": {"TestX/sub", func(tb testing.TB) { observe.New(tb) }},
		"a test has one Observer":                  {"TestX", func(tb testing.TB) { observe.New(tb); observe.New(tb) }},
		"window was left before":                   {"TestX", func(tb testing.TB) { observe.New(tb).Loop() }},
		"has one measured window": {"TestX", func(tb testing.TB) {
			o := observe.New(tb)
			for o.Loop() {
			}
			for o.Loop() {
			}
		}},
		"m: a matrix of 2 rows and 3 columns has 0 elements": {"TestX", func(tb testing.TB) {
			observe.New(tb).Matrix("m", 2, 3, nil)
		}},
		"x: the record exceeds its limits": {"TestX", func(tb testing.TB) {
			observe.New(tb).String("x", strings.Repeat("x", 17<<20))
		}},
		"s: the record exceeds its limits": {"TestX", func(tb testing.TB) {
			observe.New(tb).Strings("s", make([]string, 1<<20+1))
		}},
	}
	for say, tt := range tests {
		tb := newFake(tt.name)
		tb.run(func() { tt.use(tb) })
		if !tb.failed || !strings.Contains(tb.log.String(), say) {
			t.Errorf("failed: %v, no %q in %q", tb.failed, say, tb.log.String())
		}
	}
}

func TestAuthorsMistakesPanic(t *testing.T) {
	o := observe.New(t)
	for say, f := range map[string]func(){
		"more than one comparison":         func() { o.Int("x", 1, observe.Exact(), observe.Exact()) },
		"a multiset of multisets":          func() { observe.Multiset(observe.Multiset()) },
		"within does not compare a string": func() { o.Strings("x", nil, observe.Within(1, 0)) },
		"ulps does not compare a int":      func() { o.Int("x", 1, observe.ULPs(1)) },
		"a int cannot be a multiset":       func() { o.Int("x", 1, observe.Multiset()) },
		"out of range":                     func() { o.Float("x", 1, observe.Within(-1, 0)) },
		"a name has 1 to 200 bytes, not 0": func() { o.Bool("", true) },
		"a name must be valid UTF-8":       func() { o.Bool("\xff", true) },
		"a name has 1 to 200 bytes, not 201": func() {
			o.Bool(strings.Repeat("x", 201), true)
		},
	} {
		if got := fmt.Sprint(panicOf(f)); !strings.Contains(got, say) {
			t.Errorf("panic %q, want one with %q", got, say)
		}
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// A goroutine that outlives its test may still record, without effect.
func TestRecordAfterTheEnd(t *testing.T) {
	tb := newFake("TestX")
	var o *observe.Observer
	tb.run(func() { o = observe.New(tb) })
	o.Int("too late", 1)
	if tb.failed {
		t.Errorf("failed: %s", tb.log.String())
	}
}

func TestConcurrentUse(t *testing.T) {
	o := observe.New(t)
	var tr observe.Transcript
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				tr.Add("%d", i)
				o.Int("x", i)
				o.SelfReported().Transcript("so far", &tr)
			}
		})
	}
	wg.Wait()
	o.Transcript("all", &tr)
}

// Panics lets a Goexit through, with which tb.Fatal ends a test.
func TestPanicsLetsFatalThrough(t *testing.T) {
	tb := newFake("TestX")
	reached := false
	tb.run(func() {
		observe.New(tb).Panics("x", func() { tb.FailNow() })
		reached = true
	})
	if !tb.failed || reached {
		t.Errorf("failed: %v, went on: %v", tb.failed, reached)
	}
}
