package hidden

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/batcher"
)

// 64 goroutines, each with 1,100 requests one after the other. Time: a request costs
// some switches of goroutines, and a call some more.
func BenchmarkStream(b *testing.B) {
	o := observe.New(b)
	k := newKey(o.Rand())
	seen := 0
	model := func(_ context.Context, in []int) ([]int, error) {
		seen += len(in)
		out := make([]int, len(in))
		for i, x := range in {
			out[i] = k.of(x)
		}
		return out, nil
	}
	sums := make([]int, 64)
	for o.Loop() {
		clear(sums)
		seen = 0
		q, err := batcher.New(model, limits(16, time.Millisecond))
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range sums {
			wg.Go(func() {
				for i := range 1100 {
					out, err := q.Submit(context.Background(), g+i)
					if err != nil {
						b.Error(err)
					}
					sums[g] += out
				}
			})
		}
		wg.Wait()
		q.Close()
	}
	o.Ints("sums of the answers of each goroutine", sums)
	o.Int("requests that the model saw", seen)
}

// 20,000 requests wait at the same time; 18,000 are given up, the newest first, and the
// rest is answered. Time: a request is not looked for among all others.
func BenchmarkBacklog(b *testing.B) {
	o := observe.New(b)
	k := newKey(o.Rand())
	const all, groups, kept = 20_000, 200, 20
	var sum, given int
	for o.Loop() {
		entered, gate := make(chan struct{}, 1), make(chan struct{})
		model := func(_ context.Context, in []int) ([]int, error) {
			select {
			case entered <- struct{}{}:
			default:
			}
			<-gate
			out := make([]int, len(in))
			for i, x := range in {
				out[i] = k.of(x)
			}
			return out, nil
		}
		q, err := batcher.New(model, limits(8, 0))
		if err != nil {
			b.Fatal(err)
		}
		outs := make([]int, 1+all)
		errs := make([]error, 1+all)
		submit := func(ctx context.Context, i int) { outs[i], errs[i] = q.Submit(ctx, i) }
		var wg sync.WaitGroup
		wg.Go(func() { submit(context.Background(), all) })
		<-entered // the model works on that one while the others come
		var cancels []context.CancelFunc
		gone := make([]sync.WaitGroup, groups)
		for g := range groups {
			ctx, cancel := context.WithCancel(context.Background())
			cancels = append(cancels, cancel)
			for i := g * all / groups; i < (g+1)*all/groups; i++ {
				gone[g].Go(func() { submit(ctx, i) })
			}
		}
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
		sum, given = 0, 0
		for i, err := range errs {
			if err != nil {
				given++
			}
			sum += outs[i] % 1e6
		}
	}
	o.Int("sum of the answers", sum)
	o.Int("requests given up", given)
}

// 2,000 requests of 64 KiB by 8 goroutines that share one ctx. The model answers
// half of them, and then it fails. Memory: a request that has its answer or its error is
// kept nowhere, neither by the batcher nor by the ctx.
func BenchmarkLarge(b *testing.B) {
	o := observe.New(b)
	k := newKey(o.Rand())
	model := func(_ context.Context, in [][]byte) ([]int, error) {
		out := make([]int, len(in))
		for i, x := range in {
			out[i] = k.of(int(binary.LittleEndian.Uint32(x)) + int(x[len(x)-1]))
		}
		return out, nil
	}
	sums := make([]int, 8)
	failures := make([]int, 8)
	failure := errors.New("failure")
	for o.Loop() {
		clear(sums)
		clear(failures)
		broken := false // changes while no call runs
		failing := func(ctx context.Context, in [][]byte) ([]int, error) {
			if broken {
				return nil, failure
			}
			return model(ctx, in)
		}
		q, err := batcher.New(failing, limits(8, time.Millisecond))
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		for _, from := range []int{0, 125} {
			broken = from > 0
			var wg sync.WaitGroup
			for g := range sums {
				wg.Go(func() {
					for i := from; i < from+125; i++ {
						in := make([]byte, 64<<10)
						binary.LittleEndian.PutUint32(in, uint32(g*1000+i))
						for at := 0; at < len(in); at += 512 {
							in[at+511] = byte(i)
						}
						out, err := q.Submit(ctx, in)
						if err != nil {
							failures[g]++
						}
						sums[g] += out
					}
				})
			}
			wg.Wait()
		}
		q.Close()
		cancel()
	}
	o.Ints("sums of the answers of each goroutine", sums)
	o.Ints("requests of each goroutine whose call failed", failures)
}
