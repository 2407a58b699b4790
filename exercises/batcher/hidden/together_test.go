package hidden

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/batcher"
)

// crowd is a model for goroutines that really run at the same time. It changes what it
// is given and uses one slice for all its answers, as it may.
type crowd struct {
	key
	running, most, largest, requests int // no lock: calls come one after the other
	buffer                           []int
	handed                           atomic.Int64
}

func (c *crowd) model(_ context.Context, in []int) ([]int, error) {
	c.running++
	c.most = max(c.most, c.running)
	c.largest = max(c.largest, len(in))
	c.requests += len(in)
	c.handed.Add(int64(len(in)))
	clear(c.buffer)
	c.buffer = c.buffer[:0]
	for i, x := range in {
		c.buffer = append(c.buffer, c.of(x))
		in[i] = -1
	}
	c.running--
	return c.buffer, nil
}

// Many goroutines submit at the same time, and some give up at any moment: each has its
// own answer or its own ctx's error, and calls do not overlap (rules 1, 3, 8 and 22).
func TestManyGoroutines(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, cfg := range []config{limits(8, 200*time.Microsecond), limits(1, 0), limits(100, 0), limits(5, time.Millisecond)} {
		c := &crowd{key: newKey(r)}
		b, err := batcher.New(c.model, cfg)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]int, 50)
		var wrong atomic.Int64
		var wg sync.WaitGroup
		for g := range sums {
			mine := rand.New(rand.NewPCG(r.Uint64(), 0))
			wg.Go(func() {
				for i := range 40 {
					in := g*40 + i
					ctx, cancel := context.WithCancel(context.Background())
					hasty := mine.IntN(4) == 0
					if hasty {
						go cancel()
					}
					out, err := b.Submit(ctx, in)
					cancel()
					switch {
					case hasty && err == context.Canceled && out == 0:
					case err != nil || out != c.of(in):
						wrong.Add(1)
					}
					if !hasty {
						sums[g] += out
					}
				}
			})
		}
		wg.Wait()
		b.Close() // the last call may be for requests that were all given up
		o.Ints("sums of the answers of each goroutine", sums)
		o.Int("answers that belong to other requests", int(wrong.Load()))
		o.Int("calls at the same time", c.most)
		o.Bool("no call has more than MaxBatch requests", c.largest <= cfg.MaxBatch)
		o.Bool("no request is in two calls", c.requests <= 50*40)
	}
}

// Close comes, from several goroutines, while many submit: each request has its answer or
// ErrClosed, and after Close the model sees none. Batchers that are used side by side share
// nothing (rules 19 to 22).
func TestCloseMeanwhile(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 60 {
		c := &crowd{key: newKey(r)}
		b, err := batcher.New(c.model, limits(1+i%9, time.Duration(i%3)*50*time.Microsecond))
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.Submit(context.Background(), i)
		o.Int("the first answer", out)
		o.Error("the first answer: error", err)
		var answered, wrong atomic.Int64
		answered.Store(1)
		var wg sync.WaitGroup
		enough := make(chan struct{})
		for g := range 16 {
			wg.Go(func() {
				for k := 0; ; k++ {
					in := g + 16*k
					out, err := b.Submit(context.Background(), in)
					if errors.Is(err, batcher.ErrClosed) && out == 0 {
						return
					}
					if err != nil || out != c.of(in) {
						wrong.Add(1)
						return
					}
					if answered.Add(1) == int64(10+i) {
						close(enough)
					}
				}
			})
		}
		<-enough
		var closes sync.WaitGroup
		for range 4 {
			closes.Go(b.Close)
		}
		closes.Wait()
		handed := c.handed.Load()
		out, err = b.Submit(context.Background(), r.IntN(1e6))
		wg.Wait()
		o.Int("Submit after Close", out)
		o.Error("Submit after Close: error", err, batcher.ErrClosed)
		o.Int("requests that the model saw and nobody had an answer for", int(handed-answered.Load()))
		o.Int("requests after Close", int(c.handed.Load()-handed))
		o.Int("answers that are wrong", int(wrong.Load()))
	}
	sideBySide(t, o)
}

// sideBySide has goroutines make, use and close batchers of their own at the same time.
func sideBySide(t *testing.T, o *observe.Observer) {
	k := newKey(o.Rand())
	sums := make([]int, 8)
	var wg sync.WaitGroup
	for g := range sums {
		wg.Go(func() {
			for range 20 {
				b, err := batcher.New((&crowd{key: k}).model, limits(1, 0))
				if err != nil {
					t.Error(err)
					return
				}
				for i := range 5 {
					out, _ := b.Submit(context.Background(), 5*g+i)
					sums[g] += out
				}
				b.Close()
			}
		})
	}
	wg.Wait()
	o.Ints("batchers side by side: sums of the answers", sums)
}
