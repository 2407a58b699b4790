// Package hidden holds the hidden tests of the batcher exercise. The model is a fake:
// when it is called, and with what, becomes part of the answer. Nearly all happens in
// a bubble of synctest, where time is exact. The doc comment of a test is what a
// student is told when it fails, so it names the rule and never the input.
//
// What happens at the same instant is left open, so nothing does that is not meant to:
// requests come at whole milliseconds, waits are over 1 µs later than that, requests
// are given up 2 µs later and Close is called 3 µs later, and each call takes 10 µs
// more than whole milliseconds. A world has fewer than 99 calls in a row, so that
// their ends never come to a whole millisecond again.
package hidden

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/batcher"
)

type config = batcher.Config

func limits(batch int, wait time.Duration) config { return config{MaxBatch: batch, MaxWait: wait} }

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// wait is a MaxWait, giveUp the time at which a request is given up, closing that of a
// Close and work the length of a call.
func wait(n int) time.Duration    { return ms(n) + time.Microsecond }
func giveUp(n int) time.Duration  { return ms(n) + 2*time.Microsecond }
func closing(n int) time.Duration { return ms(n) + 3*time.Microsecond }
func work(n int) time.Duration    { return ms(n) + 10*time.Microsecond }

// below returns a number from lo to hi-1.
func below(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo) }

// bubble runs f where the clock stands still while anybody works. A goroutine that is
// left when f has returned is what TestNothingLeft is about, and passed over here.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil && !left(v) {
			panic(v)
		}
	}()
	synctest.Test(t, f)
}

// left tells the panic of synctest about goroutines that are left over.
func left(v any) bool { return strings.Contains(fmt.Sprint(v), "main bubble goroutine has exited") }

// key makes answers that are new in each grading.
type key struct{ a, b int }

func newKey(r *rand.Rand) key { return key{1 + r.IntN(1<<20), r.IntN(1 << 30)} }

func (k key) of(in int) int { return in*k.a + k.b }

// call is what the model saw of a call.
type call struct {
	at time.Duration
	in []int
}

// world is a fake model and the batcher before it.
type world struct {
	key
	start time.Time
	took  func(call int) time.Duration                 // how long a call takes; nil: no time
	reply func(call int, in, out []int) ([]int, error) // what it returns; nil: out
	watch func(ctx context.Context, call int)          // runs before took; may be nil

	mu            sync.Mutex
	calls         []call
	running, most int

	*batcher.Batcher[int, int]
}

// newWorld makes a batcher and its world; what is set of the world is set before the
// first request.
func newWorld(t *testing.T, r *rand.Rand, cfg config) *world {
	t.Helper()
	w := &world{key: newKey(r), start: time.Now()}
	b, err := batcher.New(w.model, cfg)
	if err != nil || b == nil {
		t.Fatalf("New refuses %+v: %v", cfg, err)
	}
	w.Batcher = b
	return w
}

func (w *world) model(ctx context.Context, in []int) ([]int, error) {
	k := w.enter(in)
	defer w.leave()
	if w.watch != nil {
		w.watch(ctx, k)
	}
	if w.took != nil {
		time.Sleep(w.took(k))
	}
	out := make([]int, len(in))
	for i, x := range in {
		out[i] = w.of(x)
	}
	if w.reply != nil {
		return w.reply(k, in, out)
	}
	return out, nil
}

func (w *world) enter(in []int) (k int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	w.most = max(w.most, w.running)
	w.calls = append(w.calls, call{time.Since(w.start), append([]int(nil), in...)})
	return len(w.calls) - 1
}

func (w *world) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
}

// always is a model that takes the same time for each call.
func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// request is one call of Submit.
type request struct {
	at    time.Duration
	in    int
	until time.Duration // when it is given up; 0: never
	limit bool          // by a deadline, and not by a cancel
	own   bool          // its ctx is of another type, with an Err of its own
}

// ownCtx is a ctx that is done for a reason of its own.
type ownCtx struct{ context.Context }

var errOwn = errors.New("own")

func (c ownCtx) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return errOwn
}

// answer is what Submit returned, and when.
type answer struct {
	out int
	err error
	ctx error // ctx.Err() then
	at  time.Duration
}

// errCause is why a ctx is done, which is not its Err.
var errCause = errors.New("cause")

func (w *world) submit(parent context.Context, q request) answer {
	ctx, stop := w.until(parent, q)
	defer stop()
	if q.own {
		ctx = ownCtx{ctx}
	}
	out, err := w.Submit(ctx, q.in)
	return answer{out, err, ctx.Err(), time.Since(w.start)}
}

// until makes the ctx of a request. That of a request which is not given up is the
// caller's, and goes on after the answer.
func (w *world) until(parent context.Context, q request) (ctx context.Context, stop func()) {
	if q.until == 0 {
		return parent, func() {}
	}
	if q.limit {
		return context.WithDeadlineCause(parent, w.start.Add(q.until), errCause)
	}
	ctx, cancel := context.WithCancelCause(parent)
	left := q.until - time.Since(w.start)
	if left <= 0 {
		cancel(errCause)
	}
	timer := time.AfterFunc(left, func() { cancel(errCause) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// play submits requests at their times, in their order, also where they come at the
// same instant, and waits for all answers.
func (w *world) play(t *testing.T, requests []request) []answer {
	answers, done := w.begin(t, requests)
	done.Wait()
	return answers
}

// playUntil returns the answers that there are at a time. Where a wrong batcher never
// answers, the test goes on.
func (w *world) playUntil(t *testing.T, requests []request, at time.Duration) []answer {
	answers, _ := w.begin(t, requests)
	w.sleepUntil(at)
	synctest.Wait()
	return answers
}

// begin submits requests and returns when the last is on its way. The answers may be
// read when the group is done.
func (w *world) begin(t *testing.T, requests []request) ([]answer, *sync.WaitGroup) {
	return w.beginWith(t.Context(), requests)
}

// beginWith does so with requests whose ctx comes from this one.
func (w *world) beginWith(ctx context.Context, requests []request) ([]answer, *sync.WaitGroup) {
	answers := make([]answer, len(requests))
	var done sync.WaitGroup
	for i, q := range requests {
		w.sleepUntil(q.at)
		done.Go(func() { answers[i] = w.submit(ctx, q) })
		synctest.Wait()
	}
	return answers, &done
}

func (w *world) sleepUntil(at time.Duration) { time.Sleep(at - time.Since(w.start)) }

// end closes the batcher. Whether Close comes back is for the tests of Close.
func (w *world) end() {
	go w.Close()
	synctest.Wait()
}

// micros is a time in a record.
func micros(d time.Duration) int { return int(d.Microseconds()) }

// observeCalls records when the model was called, and with what.
func (w *world) observeCalls(o *observe.Observer, name string) {
	w.observeTimes(o, name)
	w.observeBatches(o, name)
}

func (w *world) observeTimes(o *observe.Observer, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at []int
	for _, c := range w.calls {
		at = append(at, micros(c.at))
	}
	o.Ints(name+": when the model was called, in µs", at)
}

func (w *world) observeBatches(o *observe.Observer, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.Int(name+": calls", len(w.calls))
	for _, c := range w.calls {
		o.Ints(name+": requests of a call", c.in, observe.Multiset()) // TestOrder is about their order
	}
}

var ctxErrors = []error{context.Canceled, context.DeadlineExceeded, errOwn}

// observeTotals records what many Submits returned: how many errors of each kind there
// were, and the sum of the answers.
func observeTotals(o *observe.Observer, name string, answers []answer, sentinels ...error) {
	kinds := append(sentinels, ctxErrors...)
	counts := make([]int, len(kinds)+2)
	sum := 0
	for _, a := range answers {
		k := slices.IndexFunc(kinds, func(err error) bool { return errors.Is(a.err, err) })
		switch {
		case a.err == nil:
			k = len(kinds)
		case k < 0:
			k = len(kinds) + 1
		}
		counts[k]++
		sum += a.out
	}
	o.Ints(name+": errors by kind", counts)
	o.Int(name+": sum of answers", sum)
}

// observeAnswers records what each Submit returned.
func observeAnswers(o *observe.Observer, name string, answers []answer, sentinels ...error) {
	for _, a := range answers {
		o.Int(name+": answer", a.out)
		o.Error(name+": error", a.err, append(sentinels, ctxErrors...)...)
	}
}

// observeReturns records when each Submit returned.
func observeReturns(o *observe.Observer, name string, answers []answer) {
	var at []int
	for _, a := range answers {
		at = append(at, micros(a.at))
	}
	o.Ints(name+": when Submit returned, in µs", at)
}

// tokens are n different requests.
func tokens(r *rand.Rand, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + n*r.IntN(1000)
	}
	return list
}

// apart makes n requests that come between lo and hi-1 milliseconds one after the
// other, from the first millisecond at on.
func apart(r *rand.Rand, n, at, lo, hi int) []request {
	list := make([]request, n)
	for i, x := range tokens(r, n) {
		list[i] = request{at: ms(at), in: x}
		at += below(r, lo, hi)
	}
	return list
}

// together makes n requests that come one after the other at the same instant.
func together(r *rand.Rand, n, at int) []request { return apart(r, n, at, 0, 1) }
