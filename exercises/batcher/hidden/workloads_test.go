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

// 40,000 requests wait at the same time; some 36,000 are given up, in any order, and the rest is
// answered. Time: a request is not looked for among all others, from neither end.
func BenchmarkBacklog(b *testing.B) {
	o := observe.New(b)
	const all, groups = 40_000, 200
	c := &calls{key: newKey(o.Rand())}
	order := o.Rand().Perm(groups)
	kept := order[:below(o.Rand(), 19, 22)]
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
		for _, g := range order[len(kept):] {
			cancels[g]()
			gone[g].Wait()
		}
		close(gate)
		for _, g := range kept {
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

// 2,000 requests of 64 KiB by 8 goroutines that share one ctx. The model answers a quarter of
// them, and then it fails in each of three ways; 1,000 more are given up, while they wait or in a
// call. Memory: a request that has its answer or its error is kept nowhere, neither by the
// batcher nor by the ctx.
func BenchmarkLarge(b *testing.B) {
	o := observe.New(b)
	c := &calls{key: newKey(o.Rand())}
	part := below(o.Rand(), 62, 65)
	outs, failures := make([][]int, 8), make([][]int, 8)
	for g := range outs {
		outs[g], failures[g] = make([]int, 2*part), make([]int, 2*part)
	}
	failure := errors.New("failure")
	ends := []func(out []int) ([]int, error){
		func(out []int) ([]int, error) { return out, nil },
		func([]int) ([]int, error) { return nil, failure },
		func(out []int) ([]int, error) { return append(out, 1), nil },
		func([]int) ([]int, error) { panic(failure) },
	}
	for o.Loop() {
		c.sizes = make([]int, 0, len(ends)*part)
		var end func(out []int) ([]int, error) // changes while no call runs
		model := func(_ context.Context, in [][]byte) ([]int, error) {
			numbers := make([]int, len(in))
			for i, x := range in {
				numbers[i] = int(binary.LittleEndian.Uint32(x)) + int(x[len(x)-1])
			}
			return end(c.batch(numbers))
		}
		// A batch has one request of each goroutine, as nobody waits long enough for less.
		q, err := batcher.New(model, limits(8, time.Hour))
		if err != nil {
			b.Fatal(err)
		}
		// It is done only if a batcher stops after a failure.
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		for k := range ends {
			end = ends[k]
			var wg sync.WaitGroup
			for g := range outs {
				wg.Go(func() {
					for i := k * part; i < (k+1)*part; i++ {
						out, err := q.Submit(ctx, large(g, i))
						if i >= 2*part {
							continue // what comes of these is for the tests
						}
						outs[g][i] = out
						if err == failure {
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

// givesUp has 8 goroutines give up requests: first while they wait, which are too few for a batch,
// and then in calls, each goroutine with a batcher of its own. MaxWait and calls are short,
// so that a solution that ignores ctx does not wait for long.
func givesUp(b *testing.B) {
	model := func(_ context.Context, in [][]byte) ([]int, error) { return make([]int, len(in)), nil }
	queues := []*batcher.Batcher[[]byte, int]{newLarge(b, model, limits(16, 10*time.Millisecond))}
	givesUpTo(func(int) (*batcher.Batcher[[]byte, int], <-chan struct{}) { return queues[0], nil }, 100*time.Microsecond)
	entered := make([]chan struct{}, 8)
	for g := range entered {
		entered[g] = make(chan struct{}, 1)
		queues = append(queues, newLarge(b, func(ctx context.Context, in [][]byte) ([]int, error) {
			select {
			case entered[g] <- struct{}{}:
			default:
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
			return model(ctx, in)
		}, limits(1, 0)))
	}
	givesUpTo(func(g int) (*batcher.Batcher[[]byte, int], <-chan struct{}) { return queues[1+g], entered[g] }, time.Second)
	for _, q := range queues {
		go q.Close() // whether it comes back is for the tests of Close
	}
}

// newLarge makes a batcher for large requests.
func newLarge(b *testing.B, model batcher.Model[[]byte, int], cfg config) *batcher.Batcher[[]byte, int] {
	q, err := batcher.New(model, cfg)
	if err != nil {
		b.Fatal(err)
	}
	return q
}

// givesUpTo has each of 8 goroutines submit requests to its batcher, which are given up when
// something comes from its channel, and after a time at the latest.
func givesUpTo(of func(g int) (*batcher.Batcher[[]byte, int], <-chan struct{}), most time.Duration) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			q, now := of(g)
			for i := range 64 {
				ctx, stop := context.WithTimeout(context.Background(), most)
				go func() {
					select {
					case <-now:
						stop()
					case <-ctx.Done():
					}
				}()
				q.Submit(ctx, large(g, i))
				stop()
			}
		})
	}
	wg.Wait()
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
