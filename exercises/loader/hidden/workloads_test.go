package hidden

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"grade/observe"
	"grade/reference/loader"
)

const (
	recordSize = 4 << 10
	fileSize   = 48 << 20 // in the scratch space, which is memory
)

// writeRecords makes a file whose records differ by their first bytes and by one
// somewhere in them; the rest is the same in all of them, because it is the reading
// that is measured.
func writeRecords(t testing.TB, r *rand.Rand) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	chunk := randomBytes(r, 64*recordSize)
	for range fileSize / len(chunk) {
		for at := 0; at < len(chunk); at += recordSize {
			binary.LittleEndian.PutUint64(chunk[at:], r.Uint64())
			chunk[at+8+r.IntN(recordSize-8)]++
		}
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// fold is a Collate: a number that depends on the samples and on their order.
func fold(_ []int, samples [][]byte) (uint64, error) {
	var sum uint64
	for _, b := range samples {
		sum = sum*31 + binary.LittleEndian.Uint64(b) + uint64(len(b)) + uint64(b[len(b)/2]) + uint64(b[len(b)-1])
	}
	return sum, nil
}

// Two epochs of a file of 48 MiB in random order, by 4 workers. Time: each record
// is read once and where it lies. Memory: the file stays where it is, and only what
// is on its way to the body is in memory.
func BenchmarkRecords(b *testing.B) {
	o := observe.New(b)
	path := writeRecords(b, o.Rand())
	orders := [][]int{o.Rand().Perm(fileSize / recordSize), o.Rand().Perm(fileSize / recordSize)}
	chosen := pureSampler(func(epoch, _ int) []int { return orders[epoch] })
	var sum uint64
	var failed error
	for o.Loop() {
		sum = 0
		rec := openRecords(b, path, recordSize)
		l, err := loader.New(rec, fold, config{BatchSize: 16, Workers: 4, Sampler: chosen})
		if err != nil {
			b.Fatal(err)
		}
		for epoch := range orders {
			for batch, err := range l.Epoch(context.Background(), epoch) {
				if err != nil {
					failed = err
				}
				sum = sum*1_000_003 + batch
			}
		}
		if err := rec.Close(); err != nil {
			failed = err
		}
	}
	o.Int("hash of the batches of two epochs", int(sum>>1))
	o.Error("error of a pass or of Close", failed)
}

// work is a dataset that computes its samples, some hundred nanoseconds each.
type work []uint64

func (w work) Len() int { return len(w) }

func (w work) Get(_ context.Context, i int) (uint64, error) {
	x := w[i]
	for range 150 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x, nil
}

// An epoch of 120,000 small samples, shuffled: making the order, and finding the
// next sample in it, must not cost more the longer it is.
func BenchmarkManySamples(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	data := make(work, 120_000)
	for i := range data {
		data[i] = r.Uint64() | 1
	}
	xor := func(_ []int, samples []uint64) (x uint64, err error) {
		for _, s := range samples {
			x += s
		}
		return x, nil
	}
	seed := r.Uint64()
	var sum uint64
	var batches int
	for o.Loop() {
		sum, batches = 0, 0
		l, err := loader.New(data, xor, config{BatchSize: 50, Workers: 2, Shuffle: true, Seed: seed})
		if err != nil {
			b.Fatal(err)
		}
		for batch, err := range l.Epoch(context.Background(), 3) {
			if err != nil {
				b.Fatal(err)
			}
			sum += batch
			batches++
		}
	}
	o.Int("sum of all samples", int(sum>>1)) // in whatever order
	o.Int("batches of an epoch", batches)
}

// big is a dataset of samples of 64 KiB.
type big []uint64

func (d big) Len() int { return len(d) }

func (d big) Get(_ context.Context, i int) ([]byte, error) {
	b := make([]byte, 64<<10)
	for at := 0; at < len(b); at += 1 << 10 {
		binary.LittleEndian.PutUint64(b[at:], d[i]+uint64(at))
	}
	return b, nil
}

// 480 batches of 256 KiB that the body drops: what it has used, and what it cannot
// use yet, must not pile up.
func BenchmarkStream(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	data := make(big, 1920)
	for i := range data {
		data[i] = r.Uint64()
	}
	kept := func(_ []int, samples [][]byte) ([][]byte, error) { return samples, nil }
	var sum uint64
	for o.Loop() {
		sum = 0
		l, err := loader.New(data, kept, config{BatchSize: 4, Workers: 2})
		if err != nil {
			b.Fatal(err)
		}
		for batch, err := range l.Epoch(context.Background(), 0) {
			if err != nil {
				b.Fatal(err)
			}
			for _, s := range batch {
				sum = sum*31 + binary.LittleEndian.Uint64(s[len(s)-1<<10:])
			}
		}
	}
	o.Int("hash of a number of each sample, in order", int(sum>>1))
}

// A batch costs some allocations, and not some for every sample.
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	data := make(work, 64*200)
	for i := range data {
		data[i] = r.Uint64() | 1
	}
	var sum uint64
	total := func(_ []int, samples []uint64) (x uint64, err error) {
		for _, s := range samples {
			x += s
		}
		return x, nil
	}
	for _, workers := range []int{0, 3} {
		l, err := loader.New(data, total, config{BatchSize: 64, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		allocations := testing.AllocsPerRun(4, func() {
			sum = 0
			for batch, err := range l.Epoch(context.Background(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				sum = sum*31 + batch
			}
		})
		o.Int("hash of the batches of an epoch", int(sum>>1))
		o.SelfReported().Float("allocations a batch", allocations/200, observe.AtMost(1, 20))
	}
}
