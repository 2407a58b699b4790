// Package hidden holds the hidden tests of the allreduce exercise. The links are
// fakes: what they are given, in which order and how often, becomes part of the
// answer. The doc comment of a test is what a student is told when it fails, so it
// names the rule and never the input.
package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/allreduce"
)

// manySteps is more messages than a link gets in a test.
const manySteps = 4096

// link is a fake that keeps all it is given. It may hold many messages or none, take
// its time, change what passes, and fail.
type link struct {
	queue   chan []float64
	delay   time.Duration                          // of each Send
	way     time.Duration                          // that Send and Recv spend together on a message
	cleanup time.Duration                          // to end when its ctx is done
	alter   func(k int, part []float64)            // of message k
	send    func(ctx context.Context, k int) error // what Send k does first
	recv    func(ctx context.Context, k int) error
	taken   chan struct{} // says that a message has come: with way only

	mu              sync.Mutex
	late            error // what lingers returns in the end; nil: what the ctx says
	sent            [][]float64
	sends, recvs    int // begun
	sending, recing int // now
	most            int // Sends or Recvs at once
}

// loose is a link that holds all that is sent; tight is one that holds nothing.
func loose() *link { return &link{queue: make(chan []float64, manySteps)} }
func tight() *link { return &link{queue: make(chan []float64)} }

func (l *link) enter(begun, now *int) (k int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*begun++
	*now++
	l.most = max(l.most, *now)
	return *begun - 1
}

func (l *link) leave(now *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*now--
}

func (l *link) Send(ctx context.Context, part []float64) error {
	k := l.enter(&l.sends, &l.sending)
	defer l.leave(&l.sending)
	if l.send != nil {
		if err := l.send(ctx, k); err != nil {
			return err
		}
	}
	if err := l.wait(ctx, l.delay); err != nil {
		return err
	}
	return l.pass(ctx, k, part)
}

// pass puts the message into the queue, as it is when the delay is over: it is the
// link's until Send returns.
func (l *link) pass(ctx context.Context, k int, part []float64) error {
	message := slices.Clone(part)
	l.mu.Lock()
	l.sent = append(l.sent, slices.Clone(message))
	l.mu.Unlock()
	if l.alter != nil {
		l.alter(k, message)
	}
	select {
	case l.queue <- message:
	case <-ctx.Done():
		return l.ended(ctx)
	}
	if l.way == 0 {
		return nil
	}
	select {
	case <-l.taken:
		return nil
	case <-ctx.Done():
		return l.ended(ctx)
	}
}

var errLength = errors.New("link: a message of another length")

// Recv leaves nothing of what was in part before.
func (l *link) Recv(ctx context.Context, part []float64) error {
	k := l.enter(&l.recvs, &l.recing)
	defer l.leave(&l.recing)
	for i := range part {
		part[i] = math.NaN()
	}
	if l.recv != nil {
		if err := l.recv(ctx, k); err != nil {
			return err
		}
	}
	select {
	case message := <-l.queue:
		return l.deliver(ctx, part, message)
	case <-ctx.Done():
		return l.ended(ctx)
	}
}

func (l *link) deliver(ctx context.Context, part, message []float64) error {
	if len(message) != len(part) {
		return errLength
	}
	if l.way > 0 {
		if err := l.wait(ctx, l.way); err != nil {
			return err
		}
		l.taken <- struct{}{}
	}
	copy(part, message)
	return nil
}

// ended is what a link returns when its ctx is done: sooner or later, ctx's error.
func (l *link) ended(ctx context.Context) error {
	time.Sleep(l.cleanup)
	return ctx.Err()
}

func (l *link) wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return l.ended(ctx)
	}
}

// counts returns how many Sends and Recvs have begun, and how many run now.
func (l *link) counts() (begun, now int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sends + l.recvs, l.sending + l.recing
}

// ring is a group under test, and its links.
type ring struct {
	*allreduce.Ring
	links []*link
}

func newRing(t testing.TB, n int, kind func() *link) ring {
	t.Helper()
	r := ring{}
	var given []allreduce.Link
	for range n {
		l := kind()
		r.links = append(r.links, l)
		given = append(given, l)
	}
	var err error
	if r.Ring, err = allreduce.New(given); err != nil || r.Ring == nil {
		t.Fatalf("New refuses %d links: %v", n, err)
	}
	return r
}

// begun is how many Sends and Recvs of all links have begun.
func (r ring) begun() (sum int) {
	for _, l := range r.links {
		n, _ := l.counts()
		sum += n
	}
	return sum
}

// all calls AllReduce on every rank at the same time and waits for all of them.
func (r ring) all(ctx context.Context, data [][]float64, op allreduce.Op) []error {
	return r.each(data, op, func(int) context.Context { return ctx })
}

func (r ring) each(data [][]float64, op allreduce.Op, ctx func(rank int) context.Context) []error {
	errs := make([]error, len(data))
	var wg sync.WaitGroup
	for rank := range data {
		wg.Go(func() { errs[rank] = r.AllReduce(ctx(rank), rank, data[rank], op) })
	}
	wg.Wait()
	return errs
}

// ops are all operations, with the names of their observations.
var ops = []struct {
	op   allreduce.Op
	name string
}{{allreduce.Sum, "sum"}, {allreduce.Mean, "mean"}, {allreduce.Max, "max"}}

// digits is how exactly means are compared: a division and a product with the
// reciprocal differ in the last digits. Sum and Max are compared exactly.
var digits = observe.Within(0, 1e-12)

func comparison(op allreduce.Op) observe.Comparison {
	if op == allreduce.Mean {
		return digits
	}
	return observe.Exact()
}

// record records the result on every rank, and that no rank failed.
func record(o *observe.Observer, name string, op allreduce.Op, data [][]float64, errs []error) {
	for rank := range data {
		o.Error(name+": error", errs[rank])
		o.Floats(name, data[rank], comparison(op))
	}
}

// failed records what kind of error each rank returned, which rank it names, and
// whether its Err is the cause itself.
func failed(o *observe.Observer, name string, errs []error, cause error) {
	for _, err := range errs {
		var e *allreduce.RankError
		if !errors.As(err, &e) || e == nil {
			o.String(name+": rank in the error", "no RankError")
			continue
		}
		o.String(name+": rank in the error", fmt.Sprint(e.Rank))
		if cause != allreduce.ErrMismatch { // which may have more words around it
			o.Bool(name+": Err of the error is the cause itself", e.Err == cause)
		}
		o.Bool(name+": errors.Is finds the cause", errors.Is(err, cause))
	}
}

// texts records whether the errors say which rank failed, and why.
func texts(o *observe.Observer, errs []error, cause error) {
	for _, err := range errs {
		var e *allreduce.RankError
		if errors.As(err, &e) && e != nil {
			o.Bool("the text of an error names the rank", strings.Contains(e.Error(), strconv.Itoa(e.Rank)))
			o.Bool("the text of an error holds that of its cause", strings.Contains(e.Error(), cause.Error()))
		}
	}
}

// eighths draws n numbers whose sums are exact, in any order.
func eighths(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(r.IntN(1<<16)-1<<15) / 8
	}
	return x
}

// inputs draws data of the same length for n ranks.
func inputs(r *rand.Rand, n, length int) [][]float64 {
	data := make([][]float64, n)
	for i := range data {
		data[i] = eighths(r, length)
	}
	return data
}

// ofAllBits draws data for n ranks that only a copy of it brings back: the numbers have more
// digits than a float32, sums of them are rounded, and some are infinite, NaN or -0.
func ofAllBits(r *rand.Rand, n, length int) [][]float64 {
	data := inputs(r, n, length)
	for _, xs := range data {
		for i := range xs {
			xs[i] += r.Float64()
		}
		for range min(len(xs)/4, 100) {
			xs[r.IntN(len(xs))] = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}[r.IntN(4)]
		}
	}
	return data
}

// copied is data in memory of its own.
func copied(data [][]float64) [][]float64 {
	data = slices.Clone(data)
	for i := range data {
		data[i] = slices.Clone(data[i])
	}
	return data
}

// recordKept records whether each rank has the numbers that it had before: which is which NaN is
// of no matter, and whether a zero is -0 is.
func recordKept(o *observe.Observer, name string, data, before [][]float64) {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
	for rank := range data {
		o.Bool(name+" is as it was", slices.EqualFunc(data[rank], before[rank], same))
	}
}

// bubble runs f where the clock stands still while anybody works, and where all
// waiting for ever is a failure at once.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func below(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo) }

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
