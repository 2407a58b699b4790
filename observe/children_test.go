package observe_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"testing"
	"testing/synctest"

	"grade/observe"
)

func TestChildEveryKind(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	o.Bool("bool", true)
	o.Int("int", -7)
	o.Int("steps", 9, observe.AtMost(2, 1))
	o.Ints("ints", []int{3, 1}, observe.Multiset())
	o.Float("float", math.Inf(1))
	o.Float("ulps", 1.5, observe.ULPs(4))
	o.Floats("floats", []float64{1, 2}, observe.Multiset(observe.Within(0.5, 0)))
	o.Matrix("matrix", 2, 1, []float64{1, 2}, observe.Exact())
	o.String("string", "\xff")
	o.Strings("strings", nil)
	o.Error("no error", nil, io.EOF)
	o.Error("sentinel", fmt.Errorf("read: %w", io.EOF), io.ErrUnexpectedEOF, io.EOF)
	o.Error("other", errors.New("x"), io.EOF)
	o.SelfReported().Int("allocs", 3)
	var tr observe.Transcript
	tr.Add("called with %d", 7)
	o.Transcript("transcript", &tr)
	tr.Add("too late")
	o.Panics("panics", func() { panic(nil) })
	o.Panics("no panic", func() {})
}

func TestChildRand(t *testing.T)      { inChild(t); random(observe.New(t)) }
func TestChildRandOther(t *testing.T) { inChild(t); random(observe.New(t)) }

func random(o *observe.Observer) {
	o.Floats("numbers", []float64{o.Rand().Float64(), o.Rand().Float64()}, observe.Exact())
}

func TestChildPanic(t *testing.T) {
	inChild(t)
	observe.New(t).Int("x", 1)
	panic("of the submission")
}

func TestChildNilPanic(t *testing.T) {
	inChild(t)
	observe.New(t).Int("x", 1)
	panic(nil)
}

func TestChildGoexit(t *testing.T) {
	inChild(t)
	observe.New(t).Int("x", 1)
	runtime.Goexit()
}

func TestChildPanicInGoroutine(t *testing.T) {
	inChild(t)
	observe.New(t).Int("x", 1)
	go panic("of the submission")
	select {}
}

func TestChildFatal(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	o.Int("x", 1)
	o.Panics("fatal", func() { t.Fatal("precondition") })
	o.Int("not reached", 2)
}

func TestChildError(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	t.Error("precondition")
	o.Int("x", 1)
}

func TestChildSubtestFails(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	t.Run("sub", func(t *testing.T) { o.Int("x", 1); t.Fail() })
}

func TestChildSkip(t *testing.T) {
	inChild(t)
	observe.New(t)
	t.Skip("not here")
}

func TestChildExit(t *testing.T) {
	inChild(t)
	observe.New(t).Int("x", 1)
	os.Exit(0)
}

// TestChildExitLate writes more than the kit buffers before the process ends.
func TestChildExitLate(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	for range 1 << 10 {
		o.Floats("x", make([]float64, 16))
	}
	os.Exit(0)
}

func TestChildTwice(t *testing.T) {
	inChild(t)
	observe.New(t).Int("x", 1)
	observe.New(t)
}

func TestChildSecondInProcess(t *testing.T) {
	inChild(t)
	t.Cleanup(func() { observe.New(t) })
	observe.New(t).Int("x", 1)
}

func TestChildTooMuch(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	for {
		o.Floats("x", make([]float64, 1<<16))
	}
}

func TestChildTooManyRecords(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	for {
		o.Bool("x", true)
	}
}

func TestChildShape(t *testing.T) {
	inChild(t)
	observe.New(t).Matrix("x", 2, 2, []float64{1})
}

func TestChildCleanup(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	t.Cleanup(func() { o.Int("in a cleanup", 1) })
}

func TestChildSynctest(t *testing.T) {
	inChild(t)
	synctest.Test(t, func(t *testing.T) { observe.New(t).Int("x", 1) })
}

func TestChildLoop(t *testing.T) {
	inChild(t)
	o := observe.New(t)
	n := 0
	for o.Loop() {
		n++
	}
	o.Int("rounds", n)
}

func BenchmarkChildLoop(b *testing.B) {
	inChild(b)
	o := observe.New(b)
	n := 0
	for o.Loop() {
		n++
	}
	o.Int("rounds", n)
}

func BenchmarkChildPanic(b *testing.B) {
	inChild(b)
	o := observe.New(b)
	o.Int("x", 1)
	for o.Loop() {
		panic("of the submission")
	}
}

func BenchmarkChildFatal(b *testing.B) {
	inChild(b)
	o := observe.New(b)
	for o.Loop() {
		b.Fatal("precondition")
	}
}

func BenchmarkChildSkip(b *testing.B) {
	inChild(b)
	observe.New(b)
	b.Skip("not here")
}

func BenchmarkChildBreak(b *testing.B) {
	inChild(b)
	o := observe.New(b)
	for o.Loop() {
		break
	}
}

func BenchmarkChildSecondWindow(b *testing.B) {
	inChild(b)
	o := observe.New(b)
	for o.Loop() {
	}
	o.Loop()
}
