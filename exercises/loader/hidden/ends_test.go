package hidden

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/loader"
)

// However the loop ends (a break, a return, a panic in its body, an error, ctx),
// Gets that still run are cancelled by their ctx and the loop waits for them: then
// neither Get nor Collate runs, none is called any more, and no goroutine is left.
// A panic in the body comes out as it is.
func TestLoopEnds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	failure := errors.New("failure")
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 6} {
			panicsWithErrors(t, o, workers)
			for _, way := range []string{"all batches", "break", "return", "panic", "ctx", "Get", "Collate"} {
				collatesAtTheEnd(t, o, way, workers)
				if way != "ctx" {
					neverDone(t, o, way, workers)
				}
			}
			for _, w := range ways {
				e := &ending{source: newSource(r, 60), way: w.way, then: w.then, at: below(r, 4, 9), value: r.IntN(1e9), failure: failure}
				way := w.way + w.then
				e.randomDelays(r, 5, 20)
				quick := e.delay
				e.delay = func(i int) time.Duration {
					if i >= (e.at+2)*3 && e.way != "all batches" {
						return time.Hour
					}
					return quick(i)
				}
				e.cleanup = ms(7)
				if e.way == "Get" {
					broken(r, e.source, e.at*3)
				}
				cfg := config{BatchSize: 3, Workers: workers, Prefetch: 4}
				ctx, cancel := context.WithCancel(t.Context())
				var panicked any
				took := elapsed(func() { panicked = e.loop(newLoader(t, e, e.collate, cfg).Epoch(ctx, 0), cancel) })
				begun, running, _ := e.counts()
				collating := e.collating.Load()
				o.Ints(way+": Gets and Collates that still run", []int{running, int(collating)})
				time.Sleep(2 * time.Hour)
				later, _, _ := e.counts()
				o.Int(way+": Gets after the loop", later-begun)
				// A Get that is not cancelled takes an hour. So few batches may come half
				// as long again after those of a loader that shares out its Gets otherwise.
				o.Float(way+": milliseconds", took, observe.AtMost(3, 0))
				o.String(way+": panic", fmt.Sprintf("%T %v", panicked, panicked))
				if e.way != "Get" && e.way != "Collate" { // else it is for TestGetFails to say
					o.Int(way+": batches", e.batches)
				}
				cancel()
			}
		}
	})
}

// ways are how the loops of TestLoopEnds end, and what the body does with the pair that
// has the error.
var ways = []struct{ way, then string }{
	{way: "all batches"}, {way: "break"}, {way: "return"}, {way: "panic"}, {way: "ctx"}, {way: "Get"}, {way: "Collate"},
	{"ctx", ", and a panic at the error"}, {"Get", ", and a panic at the error"}, {"Collate", ", and a panic at the error"},
	{"ctx", ", and a return at the error"}, {"Get", ", and a return at the error"}, {"Collate", ", and a return at the error"},
}

// collatesAtTheEnd has Collates run when the loop ends, each of which takes an hour: the
// loop waits for them.
func collatesAtTheEnd(t *testing.T, o *observe.Observer, way string, workers int) {
	s := newSource(o.Rand(), 9)
	e := &ending{source: s, way: way, at: 1, pause: time.Minute, value: 1, failure: errors.New("failure")}
	if way == "Get" {
		broken(o.Rand(), s, 3)
	}
	collate := func(idx, samples []int) ([]int, error) {
		e.collating.Add(1)
		defer e.collating.Add(-1)
		if way == "Collate" && samples[0] == s.tokens[3] {
			return nil, e.failure
		}
		if samples[0] != s.tokens[0] {
			time.Sleep(time.Hour)
		}
		return copies(idx, samples)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e.loop(newLoader(t, e, collate, config{BatchSize: 1, Workers: workers, Prefetch: 6}).Epoch(ctx, 0), cancel)
	o.Int(way+": Collates of an hour that still run", int(e.collating.Load()))
	time.Sleep(2 * time.Hour)
}

// neverDone has a loop end whose ctx is never done: a goroutine that waits for that ctx is left, and
// ends the bubble with a deadlock.
func neverDone(t *testing.T, o *observe.Observer, way string, workers int) {
	e := &ending{source: newSource(o.Rand(), 12), way: way, at: 2, value: 1, failure: errors.New("failure")}
	if way == "Get" {
		broken(o.Rand(), e.source, 6)
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.loop(newLoader(t, e, e.collate, config{BatchSize: 3, Workers: workers, Prefetch: 4}).Epoch(ctx, 0), cancel)
	_, running, _ := e.counts()
	o.Int(way+", and ctx is never done: Gets that still run", running)
}

// panicsWithErrors has the body panic with errors, at a batch and at the pair with an error: they are
// values like any other.
func panicsWithErrors(t *testing.T, o *observe.Observer, workers int) {
	for _, value := range []error{errOfItsOwn, fmt.Errorf("wrapped: %w", errOfItsOwn), &loader.ItemError{Index: 3, Err: errOfItsOwn}, context.Canceled} {
		for _, at := range []string{"a batch", "the error"} {
			s := newSource(o.Rand(), 12)
			if at == "the error" {
				broken(o.Rand(), s, 6)
			}
			var panicked any
			func() {
				defer func() { panicked = recover() }()
				k := 0
				for _, err := range newLoader(t, s, copies, config{BatchSize: 3, Workers: workers}).Epoch(t.Context(), 0) {
					if k++; err != nil || k == 2 && at == "a batch" {
						panic(value)
					}
				}
			}()
			o.Bool("panic with an error at "+at+": the same value comes out", panicked == any(value))
		}
	}
}

// ending is a loop that ends in some way, and a dataset that is slow to let go.
type ending struct {
	*source
	way       string
	then      string        // what the body does with the pair that has the error
	at        int           // the batch at which it ends
	pause     time.Duration // of the body before it ends the loop
	value     int           // what the body panics with
	failure   error
	collating atomic.Int32
	batches   int
}

func (e *ending) collate(idx []int, samples []int) ([]int, error) {
	e.collating.Add(1)
	defer e.collating.Add(-1)
	time.Sleep(ms(3))
	if e.way == "Collate" && samples[0] == e.tokens[e.at*3] {
		return nil, e.failure
	}
	return copies(idx, samples)
}

func (e *ending) loop(seq func(func([]int, error) bool), cancel func()) (panicked any) {
	defer func() { panicked = recover() }()
	for _, err := range seq {
		switch {
		case err != nil && e.then == ", and a panic at the error":
			panic(e.value)
		case err != nil && e.then == ", and a return at the error":
			return nil
		case err != nil:
			continue
		}
		if e.batches++; e.batches < e.at {
			continue
		}
		time.Sleep(e.pause)
		switch e.way {
		case "return":
			return nil
		case "panic":
			panic(e.value)
		case "ctx":
			cancel()
		}
		if e.way == "break" {
			break
		}
	}
	return nil
}
