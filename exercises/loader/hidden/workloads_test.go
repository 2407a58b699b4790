package hidden

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/loader"
)

const (
	recordSize = 4 << 10
	fileSize   = 48 << 20 // in the scratch space, which is memory
)

// writeRecords makes a file of random records.
func writeRecords(t testing.TB, r *rand.Rand) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const chunk = 64 * recordSize
	for range fileSize / chunk {
		if _, err := f.Write(randomBytes(r, chunk)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// fold returns a Collate: a number that depends on the samples and on their order. Where it looks
// into a record no program can know that has not read all of it.
func fold(secret uint64) func([]int, [][]byte) (uint64, error) {
	return func(_ []int, samples [][]byte) (sum uint64, err error) {
		for _, b := range samples {
			first := binary.LittleEndian.Uint64(b)
			at := (first ^ secret) % uint64(len(b)-7)
			sum = sum*31 + first + uint64(len(b)) + binary.LittleEndian.Uint64(b[at:]) + uint64(b[len(b)-1])
		}
		return sum, nil
	}
}

// Two epochs of a file of 48 MiB in random order, by 4 workers. Time: each record
// is read once and where it lies. Memory: the file stays where it is, and only what
// is on its way to the body is in memory.
func BenchmarkRecords(b *testing.B) {
	o := observe.New(b)
	path := writeRecords(b, o.Rand())
	orders := [][]int{o.Rand().Perm(fileSize / recordSize), o.Rand().Perm(fileSize / recordSize)}
	secret := o.Rand().Uint64()
	chosen := pureSampler(func(epoch, _ int) []int { return orders[epoch] })
	var sum uint64
	var failed error
	for o.Loop() {
		sum = 0
		rec := openRecords(b, path, recordSize)
		l, err := loader.New(rec, fold(secret), config{BatchSize: 16, Workers: 4, Sampler: chosen})
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

// summed is a batch of BenchmarkManySamples.
type summed struct {
	sum     uint64
	indices []int
}

// An epoch of some 120,000 small samples, shuffled: making the order, and finding the
// next sample in it, must not cost more the longer it is.
func BenchmarkManySamples(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	data := make(work, 10*below(r, 11_900, 12_100))
	for i := range data {
		data[i] = r.Uint64() | 1
	}
	add := func(indices []int, samples []uint64) (s summed, err error) {
		for i, x := range samples {
			s.sum += x * uint64(2*indices[i]+1)
		}
		s.indices = slices.Clone(indices)
		return s, nil
	}
	seed := r.Uint64()
	epoch := r.IntN(4)
	var sum uint64
	var order []int
	for o.Loop() {
		sum, order = 0, make([]int, 0, len(data))
		l, err := loader.New(data, add, config{BatchSize: 50, Workers: 2, Shuffle: true, Seed: seed})
		if err != nil {
			b.Fatal(err)
		}
		for batch, err := range l.Epoch(context.Background(), epoch) {
			if err != nil {
				b.Fatal(err)
			}
			sum += batch.sum
			order = append(order, batch.indices...)
		}
	}
	o.Int("sum of all samples, each times its index", int(sum>>1)) // in whatever order
	spread(o, order, len(data))
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
