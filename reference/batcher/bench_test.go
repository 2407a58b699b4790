package batcher

import (
	"context"
	"sync"
	"testing"
	"time"
)

// What the reference is held against. /alone calls the model for each request, one after
// the other; /channel is the collector that most write first: a channel of requests, a
// slice that fills, a timer. It has no cancelling, no care for panics and no Close that
// answers.

// model costs a fixed time of the processor, as a launch on an accelerator does, and a
// little for each input.
func model(_ context.Context, in []int) ([]int, error) {
	x := 1
	for i := range 20_000 + 50*len(in) {
		x = x*31 + i
	}
	out := make([]int, len(in))
	for i := range out {
		out[i] = in[i] + x&1
	}
	return out, nil
}

type asked struct {
	in  int
	out chan int
}

func collect(requests <-chan asked, most int, wait time.Duration) {
	for first := range requests {
		batch, timer := []asked{first}, time.After(wait)
	fill:
		for len(batch) < most {
			select {
			case r, ok := <-requests:
				if !ok {
					break fill
				}
				batch = append(batch, r)
			case <-timer:
				break fill
			}
		}
		in := make([]int, len(batch))
		for i, r := range batch {
			in[i] = r.in
		}
		out, _ := model(context.Background(), in)
		for i, r := range batch {
			r.out <- out[i]
		}
	}
}

// 64 goroutines that ask 64 times each, for batches of 32.
func BenchmarkRequests(b *testing.B) {
	const clients, each, most = 64, 64, 32
	all := func(submit func(in int) int) {
		var wg sync.WaitGroup
		for c := range clients {
			wg.Go(func() {
				for i := range each {
					submit(c*each + i)
				}
			})
		}
		wg.Wait()
	}
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := New(model, Config{MaxBatch: most, MaxWait: time.Millisecond})
			if err != nil {
				b.Fatal(err)
			}
			all(func(in int) int { out, _ := s.Submit(context.Background(), in); return out })
			s.Close()
		}
	})
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var mu sync.Mutex
			all(func(in int) int {
				mu.Lock()
				defer mu.Unlock()
				out, _ := model(context.Background(), []int{in})
				return out[0]
			})
		}
	})
	b.Run("channel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			requests := make(chan asked)
			go collect(requests, most, time.Millisecond)
			all(func(in int) int {
				r := asked{in, make(chan int, 1)}
				requests <- r
				return <-r.out
			})
			close(requests)
		}
	})
}
