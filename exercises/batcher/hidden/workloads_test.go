package hidden

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/batcher"
)

// calls is a model's list of how many requests its calls had.
type calls struct {
	key
	sizes []int
}

// batch answers a batch.
func (c *calls) batch(in []int) []int {
	c.sizes = append(c.sizes, len(in))
	out := make([]int, len(in))
	for i, x := range in {
		out[i] = c.of(x)
	}
	return out
}

// observe records how many calls there were of each size.
func (c *calls) observe(o *observe.Observer, largest int) {
	of := make([]int, largest+2)
	for _, n := range c.sizes {
		of[min(n, largest+1)]++
	}
	o.Ints("calls with 0, 1 and more requests", of)
}

// fold makes one number of many, in which each has its place: a product with the prime of
// the FNV hashes of 32 bits goes before each.
func fold(xs []int) (sum int) {
	for _, x := range xs {
		sum = sum*16_777_619 + x
	}
	return sum
}

// stream has 64 goroutines submit one request after the other until each of outs has its answer.
func stream(b *testing.B, q *batcher.Batcher[int, int], few int, outs []int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(outs); i = int(next.Add(1)) - 1 {
				var err error
				if outs[i], err = q.Submit(context.Background(), i%few); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// 64 goroutines with some 70,000 requests, one after the other. Nobody waits long enough to go
// in a batch that is not full. Time: a request costs some switches of goroutines, and a call
// some more. Equal requests come again and again, and now and then, while no call runs, the
// model begins to answer otherwise: no answer is good for a later request.
func BenchmarkStream(b *testing.B) {
	o := observe.New(b)
	c := &calls{}
	keys := make([]key, below(o.Rand(), 3, 5))
	for i := range keys {
		keys[i] = newKey(o.Rand())
	}
	part := 16 * (below(o.Rand(), 4350, 4450) / len(keys)) // no request is left over in the end
	outs := make([]int, part*len(keys))
	few := below(o.Rand(), 900, 1100)
	model := func(_ context.Context, in []int) ([]int, error) { return c.batch(in), nil }
	for o.Loop() {
		clear(outs)
		c.sizes = make([]int, 0, len(outs)/16)
		q, err := batcher.New(model, limits(16, time.Hour))
		if err != nil {
			b.Fatal(err)
		}
		for i, k := range keys {
			c.key = k
			stream(b, q, few, outs[i*part:(i+1)*part])
		}
		q.Close()
	}
	o.Int("all answers, each in its place", fold(outs))
	c.observe(o, 16)
}

// 20,000 requests wait at the same time; some 18,000 are given up, the newest first, and the
// rest is answered. Time: a request is not looked for among all others.
func BenchmarkBacklog(b *testing.B) {
	o := observe.New(b)
	const all, groups = 20_000, 200
	c := &calls{key: newKey(o.Rand())}
	kept := below(o.Rand(), 19, 22)
	outs, failed := make([]int, 1+all), make([]int, 1+all)
	for o.Loop() {
		clear(outs)
		clear(failed)
		c.sizes = nil
		entered, gate := make(chan struct{}, 1), make(chan struct{})
		model := func(_ context.Context, in []int) ([]int, error) {
			select {
			case entered <- struct{}{}:
			default:
			}
			<-gate
			return c.batch(in), nil
		}
		q, err := batcher.New(model, limits(8, 0))
		if err != nil {
			b.Fatal(err)
		}
		submit := func(ctx context.Context, i int) {
			var err error
			if outs[i], err = q.Submit(ctx, i); err != nil {
				failed[i] = 1
			}
		}
		var wg, begun sync.WaitGroup
		wg.Go(func() { submit(context.Background(), all) })
		<-entered // the model works on that one while the others come
		begun.Add(all)
		var cancels []context.CancelFunc
		gone := make([]sync.WaitGroup, groups)
		for g := range groups {
			ctx, cancel := context.WithCancel(context.Background())
			cancels = append(cancels, cancel)
			for i := g * all / groups; i < (g+1)*all/groups; i++ {
				gone[g].Go(func() {
					begun.Done()
					submit(ctx, i)
				})
			}
		}
		begun.Wait()
		for g := groups - 1; g >= kept; g-- {
			cancels[g]()
			gone[g].Wait()
		}
		close(gate)
		for g := range kept {
			gone[g].Wait()
			cancels[g]()
		}
		wg.Wait()
		q.Close()
	}
	o.Int("all answers, each in its place", fold(outs))
	o.Int("requests given up, each in its place", fold(failed))
	total, largest := 0, 0
	for _, n := range c.sizes {
		total, largest = total+n, max(largest, n)
	}
	o.Int("requests that the model saw", total)
	o.Int("requests of the largest call", largest)
	o.Int("calls", len(c.sizes), observe.AtMost(1.25, 0)) // the last requests to come may come late
}

// 2,000 requests of 64 KiB by 8 goroutines that share one ctx. The model answers
// half of them, and then it fails; 500 more are given up while they wait. Memory: a request that
// has its answer or its error is kept nowhere, neither by the batcher nor by the ctx.
func BenchmarkLarge(b *testing.B) {
	o := observe.New(b)
	c := &calls{key: newKey(o.Rand())}
	half := below(o.Rand(), 123, 128)
	outs, failures := make([][]int, 8), make([][]int, 8)
	for g := range outs {
		outs[g], failures[g] = make([]int, 2*half), make([]int, 2*half)
	}
	failure := errors.New("failure")
	for o.Loop() {
		c.sizes = make([]int, 0, 2*half)
		broken := false // changes while no call runs
		model := func(_ context.Context, in [][]byte) ([]int, error) {
			numbers := make([]int, len(in))
			for i, x := range in {
				numbers[i] = int(binary.LittleEndian.Uint32(x)) + int(x[len(x)-1])
			}
			if out := c.batch(numbers); !broken {
				return out, nil
			}
			return nil, failure
		}
		// A batch has one request of each goroutine, as nobody waits long enough for less.
		q, err := batcher.New(model, limits(8, time.Hour))
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		for _, from := range []int{0, half} {
			broken = from > 0
			var wg sync.WaitGroup
			for g := range outs {
				wg.Go(func() {
					for i := from; i < from+half; i++ {
						var err error
						if outs[g][i], err = q.Submit(ctx, large(g, i)); err == failure {
							failures[g][i] = 1
						}
					}
				})
			}
			wg.Wait()
		}
		q.Close()
		cancel()
		givesUp(b)
	}
	for g := range outs {
		o.Int("all answers of a goroutine, each in its place", fold(outs[g]))
		o.Int("requests of a goroutine whose call failed, each in its place", fold(failures[g]))
	}
	c.observe(o, 8)
}

// givesUp has 8 goroutines give up requests while they wait, which are too few for a batch. The
// MaxWait is short, so that a solution that ignores ctx does not wait for long.
func givesUp(b *testing.B) {
	model := func(_ context.Context, in [][]byte) ([]int, error) { return make([]int, len(in)), nil }
	q, err := batcher.New(model, limits(16, 10*time.Millisecond))
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 64 {
				in := large(g, i)
				ctx, stop := context.WithTimeout(context.Background(), 100*time.Microsecond)
				q.Submit(ctx, in)
				stop()
			}
		})
	}
	wg.Wait()
	go q.Close() // whether it comes back is for the tests of Close
}

// large is a request of 64 KiB.
func large(g, i int) []byte {
	in := make([]byte, 64<<10)
	binary.LittleEndian.PutUint32(in, uint32(g*1000+i))
	for at := 0; at < len(in); at += 512 {
		in[at+511] = byte(i)
	}
	return in
}
