package observe_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// fakeTB implements the methods of a test that an Observer calls. All others are
// those of a nil testing.TB.
type fakeTB struct {
	testing.TB
	name     string
	failed   bool
	log      strings.Builder
	cleanups []func()
}

func newFake(name string) *fakeTB { return &fakeTB{name: name} }

// run runs the test, and then its cleanups.
func (f *fakeTB) run(test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		test()
	}()
	<-done
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

func (f *fakeTB) Name() string                 { return f.name }
func (f *fakeTB) Helper()                      {}
func (f *fakeTB) Cleanup(c func())             { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) Failed() bool                 { return f.failed }
func (f *fakeTB) Skipped() bool                { return false }
func (f *fakeTB) Fail()                        { f.failed = true }
func (f *fakeTB) FailNow()                     { f.failed = true; runtime.Goexit() }
func (f *fakeTB) Logf(format string, a ...any) { fmt.Fprintf(&f.log, format+"\n", a...) }
func (f *fakeTB) Error(a ...any)               { f.Logf("%s", fmt.Sprint(a...)); f.Fail() }
func (f *fakeTB) Errorf(format string, a ...any) {
	f.Logf(format, a...)
	f.Fail()
}
func (f *fakeTB) Fatal(a ...any) { f.Logf("%s", fmt.Sprint(a...)); f.FailNow() }
func (f *fakeTB) Fatalf(format string, a ...any) {
	f.Logf(format, a...)
	f.FailNow()
}

// fakeB has a Loop of its own, as testing.B has.
type fakeB struct {
	*fakeTB
	rounds int
}

func (b *fakeB) Loop() bool {
	b.rounds--
	return b.rounds >= 0
}
