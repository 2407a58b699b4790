package loader

import (
	"context"
	"encoding/binary"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The contenders, beside this package:
//
//   - naive: what most write at first, and right: one sample after the other, from
//     a file that is opened for each.
//   - goroutines: a goroutine for every sample of a batch, and batches one after the
//     other: fast where samples are slow, and nothing is fetched while the body works.
//   - futures: a pool of workers and a channel of channels, in order. The strongest
//     alternative in the same contract's spirit, without errors and cancelling.
//   - mmap: futures on a file that is mapped into memory. Not open to submissions,
//     and not safe where a file is cut.

type get[S any] func(i int) S

func inOrder[S any](order []int, size int, get get[S]) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
		for lo := 0; lo < len(order); lo += size {
			var batch []S
			for _, i := range order[lo:min(lo+size, len(order))] {
				batch = append(batch, get(i))
			}
			if !yield(batch) {
				return
			}
		}
	}
}

func goroutines[S any](order []int, size int, get get[S]) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
		for lo := 0; lo < len(order); lo += size {
			idx := order[lo:min(lo+size, len(order))]
			batch := make([]S, len(idx))
			var wg sync.WaitGroup
			for j, i := range idx {
				wg.Go(func() { batch[j] = get(i) })
			}
			wg.Wait()
			if !yield(batch) {
				return
			}
		}
	}
}

func futures[S any](order []int, size, workers int, get get[S]) iter.Seq[[]S] {
	type job struct {
		idx  []int
		done chan []S
	}
	return func(yield func([]S) bool) {
		jobs, line := make(chan job), make(chan job, 2*workers)
		go func() {
			defer close(line)
			defer close(jobs)
			for lo := 0; lo < len(order); lo += size {
				j := job{order[lo:min(lo+size, len(order))], make(chan []S, 1)}
				jobs <- j
				line <- j
			}
		}()
		for range workers {
			go func() {
				for j := range jobs {
					batch := make([]S, len(j.idx))
					for k, i := range j.idx {
						batch[k] = get(i)
					}
					j.done <- batch
				}
			}()
		}
		for j := range line {
			if !yield(<-j.done) {
				return
			}
		}
	}
}

// fetch is a function as a dataset.
type fetch[S any] struct {
	n   int
	get get[S]
}

func (f fetch[S]) Len() int { return f.n }

func (f fetch[S]) Get(_ context.Context, i int) (S, error) { return f.get(i), nil }

// batches are those of this package.
func batches[S any](b *testing.B, ds Dataset[S], size, workers int, order Sampler) iter.Seq[[]S] {
	keep := func(_ []int, samples []S) ([]S, error) { return samples, nil }
	l, err := New(ds, keep, Config{BatchSize: size, Workers: workers, Sampler: order})
	if err != nil {
		b.Fatal(err)
	}
	return func(yield func([]S) bool) {
		for batch, err := range l.Epoch(context.Background(), 0) {
			if err != nil {
				b.Fatal(err)
			}
			if !yield(batch) {
				return
			}
		}
	}
}

type fixed []int

func (f fixed) Order(int, int) []int { return f }

// contend runs one contender; every sample has to come.
func contend[S any](b *testing.B, name string, samples int, seq func() iter.Seq[[]S]) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for batch := range seq() {
				n += len(batch)
			}
			if n != samples {
				b.Fatalf("%d samples of %d", n, samples)
			}
		}
	})
}

// Records of 4 KiB in a file of 64 MiB, in random order, by 4 workers.
func BenchmarkRecords(b *testing.B) {
	const size, n = 4 << 10, 16 << 10
	path := filepath.Join(b.TempDir(), "records")
	data := make([]byte, n*size)
	for i := range n {
		binary.LittleEndian.PutUint64(data[i*size:], uint64(i))
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	data = nil
	order := shuffled(n, 1, 1)
	check := func(i int, record []byte, err error) []byte {
		if err != nil || binary.LittleEndian.Uint64(record) != uint64(i) {
			b.Errorf("record %d: %v", i, err)
		}
		return record
	}
	rec, err := OpenRecords(path, size)
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Close()
	read := func(i int) []byte {
		record, err := rec.Get(context.Background(), i)
		return check(i, record, err)
	}
	contend(b, "reference", n, func() iter.Seq[[][]byte] { return batches[[]byte](b, rec, 16, 4, fixed(order)) })
	contend(b, "naive", n, func() iter.Seq[[][]byte] {
		return inOrder(order, 16, func(i int) []byte {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			record := make([]byte, size)
			_, err = f.ReadAt(record, int64(i)*size)
			return check(i, record, err)
		})
	})
	contend(b, "goroutines", n, func() iter.Seq[[][]byte] { return goroutines(order, 16, read) })
	contend(b, "futures", n, func() iter.Seq[[][]byte] { return futures(order, 16, 4, read) })
	mapped, err := syscall.Mmap(int(rec.file.Fd()), 0, n*size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mapped) }()
	contend(b, "mmap", n, func() iter.Seq[[][]byte] {
		return futures(order, 16, 4, func(i int) []byte {
			return check(i, append([]byte(nil), mapped[i*size:(i+1)*size]...), nil)
		})
	})
}

// What a sample costs that costs nothing: 50,000 of them, by 4 workers.
func BenchmarkOverhead(b *testing.B) {
	const n = 50_000
	get := func(i int) int { return i }
	order := shuffled(n, 1, 1)
	contend(b, "reference", n, func() iter.Seq[[]int] { return batches[int](b, fetch[int]{n, get}, 50, 4, fixed(order)) })
	contend(b, "naive", n, func() iter.Seq[[]int] { return inOrder(order, 50, get) })
	contend(b, "goroutines", n, func() iter.Seq[[]int] { return goroutines(order, 50, get) })
	contend(b, "futures", n, func() iter.Seq[[]int] { return futures(order, 50, 4, get) })
}

// 128 samples that take 1 ms each, on the clock on the wall, by 16 workers.
func BenchmarkLatency(b *testing.B) {
	const n = 128
	get := func(i int) int { time.Sleep(time.Millisecond); return i }
	order := shuffled(n, 1, 1)
	contend(b, "reference", n, func() iter.Seq[[]int] { return batches[int](b, fetch[int]{n, get}, 4, 16, fixed(order)) })
	contend(b, "naive", n, func() iter.Seq[[]int] { return inOrder(order, 4, get) })
	contend(b, "goroutines", n, func() iter.Seq[[]int] { return goroutines(order, 4, get) })
	contend(b, "futures", n, func() iter.Seq[[]int] { return futures(order, 4, 16, get) })
}
