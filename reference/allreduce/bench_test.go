package allreduce

import (
	"context"
	"sync"
	"testing"
)

// What the reference is held against, over the same links, which copy and hold nothing.
// /chain sends all data from rank to rank, which adds its own, and then the result round:
// each link carries what one of the ring carries, but one after the other, so that it takes
// N/2 times as long where each rank is a machine of its own. Here, where all ranks share
// the processors, it shows what the ring's many messages cost. /shared uses no links at
// all: one goroutine adds up what all ranks have in memory that they share. That is the
// least there is to do on one machine, and what no cluster can do.

type copying struct{ full, empty chan []float64 }

func newCopying() Link { return copying{make(chan []float64), make(chan []float64)} }

func (l copying) Send(_ context.Context, part []float64) error {
	l.full <- part
	<-l.empty
	return nil
}

func (l copying) Recv(_ context.Context, part []float64) error {
	copy(part, <-l.full)
	l.empty <- nil
	return nil
}

func add(to, from []float64) {
	for i, x := range from {
		to[i] += x
	}
}

// chain has the sums go from rank to rank up to the last, and then the result go round.
func chain(links []Link, rank int, data []float64) {
	ctx, n := context.Background(), len(links)
	buf := make([]float64, len(data))
	if rank > 0 {
		_ = links[rank-1].Recv(ctx, buf)
		add(data, buf)
	}
	if rank < n-1 {
		_ = links[rank].Send(ctx, data)
		_ = links[(rank+n-1)%n].Recv(ctx, data)
	}
	if rank != n-2 {
		_ = links[rank].Send(ctx, data)
	}
}

func BenchmarkSum(b *testing.B) {
	const ranks, length = 8, 1 << 16
	links := make([]Link, ranks)
	data := make([][]float64, ranks)
	for i := range links {
		links[i], data[i] = newCopying(), make([]float64, length)
	}
	each := func(call func(rank int)) {
		var wg sync.WaitGroup
		for rank := range ranks {
			wg.Go(func() { call(rank) })
		}
		wg.Wait()
	}
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		ring, err := New(links)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			each(func(rank int) {
				if err := ring.AllReduce(context.Background(), rank, data[rank], Sum); err != nil {
					b.Error(err)
				}
			})
		}
	})
	b.Run("chain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			each(func(rank int) { chain(links, rank, data[rank]) })
		}
	})
	b.Run("shared", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, other := range data[1:] {
				add(data[0], other)
			}
			for _, other := range data[1:] {
				copy(other, data[0])
			}
		}
	})
}
