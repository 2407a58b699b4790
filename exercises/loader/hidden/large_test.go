package hidden

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"grade/observe"
	"grade/reference/loader"
)

// around draws sizes of large records: those that buffers have most often, or a few
// bytes more, and one between them.
func around(r *rand.Rand) []int {
	sizes := []int{below(r, 100<<10, 120<<10)}
	for _, buffer := range []int{4 << 10, 32 << 10, 64 << 10, 1 << 20} {
		sizes = append(sizes, buffer, buffer+below(r, 1, 9))
	}
	return sizes
}

// cutLarge records what comes of a large record that was cut, also where a whole
// number of buffers is left of it, or nothing.
func cutLarge(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	size, n := below(r, 70<<10, 90<<10), 3
	path := writeFile(t, filepath.Join(t.TempDir(), "large"), randomBytes(r, n*size))
	rec := openRecords(t, path, size)
	defer rec.Close()
	for _, left := range []int{size - 1, 64 << 10, 32 << 10, below(r, 1, 4<<10), 0} {
		if err := os.Truncate(path, int64((n-1)*size+left)); err != nil {
			t.Fatal(err)
		}
		b, err := rec.Get(t.Context(), n-1)
		o.Bool("large records: an error for one that was cut", err != nil)
		o.Int("large records: bytes of one that was cut", len(b))
		b, err = rec.Get(t.Context(), n-2)
		o.Error("large records: the one before it", err)
		o.Int("large records: bytes of the one before it", hash(b))
	}
	cutWhenRead(t, o, path, rec, size, n)
}

// cutWhenRead makes a file whole again, and cuts its last record when that has just been read.
func cutWhenRead(t *testing.T, o *observe.Observer, path string, rec *loader.Records, size, n int) {
	writeFile(t, path, randomBytes(o.Rand(), n*size)) // the same file, with other bytes
	b, err := rec.Get(t.Context(), n-1)
	o.Error("just read: the last record", err)
	o.Int("just read: the last record", hash(b))
	if err := os.Truncate(path, int64(n*size-below(o.Rand(), 1, size))); err != nil {
		t.Fatal(err)
	}
	b, err = rec.Get(t.Context(), n-1)
	o.Bool("just read: an error for one that was cut then", err != nil)
	o.Int("just read: bytes of one that was cut then", len(b))
}

// beyondMemory reads records of a file of more than 8 GiB, of which hardly anything
// takes room: below and above the numbers that 31 and 32 bits hold, and at its end.
// A sandbox that limits the size of a file, as a child process is, cannot have it.
func beyondMemory(t *testing.T, o *observe.Observer, size int) {
	r := o.Rand()
	n := 1<<33/size + below(r, 1, 1000)
	path := writeFile(t, filepath.Join(t.TempDir(), "sparse"), nil)
	if err := os.Truncate(path, int64(n)*int64(size)); errors.Is(err, syscall.EFBIG) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var indices []int
	for _, at := range []int{0, 1 << 31 / size, 1 << 32 / size, n - 2} { // the last but one, too
		at += r.IntN(2)
		if _, err := f.WriteAt(randomBytes(r, size), int64(at)*int64(size)); err != nil {
			t.Fatal(err)
		}
		indices = append(indices, at)
	}
	rec := openRecords(t, path, size)
	defer rec.Close()
	o.Int("records of a large file", rec.Len())
	for _, i := range append(indices, 1<<31/size-1, 1<<32/size-1, n-1) {
		b, err := rec.Get(t.Context(), i)
		o.Int("a record of a large file", hash(b))
		o.Error("a record of a large file", err)
	}
	_, err = rec.Get(t.Context(), n+r.IntN(2))
	o.Error("beyond the end of a large file", err, loader.ErrIndex)
	for _, workers := range []int{0, 1} {
		chosen := pureSampler(func(int, int) []int { return indices })
		give := func(_ []int, samples [][]byte) (int, error) { return hash(samples[0]), nil }
		l, err := loader.New(rec, give, config{BatchSize: 1, Workers: workers, Sampler: chosen})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range l.Epoch(t.Context(), 0) {
			o.Int("a batch of a large file", b)
			o.Error("a batch of a large file", err)
		}
	}
}

// together reports whether goroutines that ask for large records at the same time get what one
// alone gets: whether that is the record is the matter of another test.
//
// One read each is enough for the race detector, which does not see the offset of a file. Who
// moves it has a lock, or is wrong only if another one comes between: that takes 10 to 30 MiB of
// reads on one CPU or two, and is looked for in 160.
func together(t *testing.T, r *rand.Rand, size int) bool {
	const n, readers = 3, 4
	path := writeFile(t, filepath.Join(t.TempDir(), "records"), randomBytes(r, n*size))
	fd := lowest(t, path)
	rec := openRecords(t, path, size)
	defer rec.Close()
	get := func(i int) int {
		b, _ := rec.Get(t.Context(), i)
		return hash(b)
	}
	alone := []int{get(0), get(1), get(2)}
	reads := 1
	if at, err := syscall.Seek(fd, 0, io.SeekCurrent); err == nil && at != 0 {
		reads = 160 << 20 / (readers * size)
	}
	var wrong atomic.Bool
	var wg sync.WaitGroup
	for range readers {
		own := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		wg.Go(func() {
			for range reads {
				if i := own.IntN(n); get(i) != alone[i] {
					wrong.Store(true)
				}
				if wrong.Load() {
					return
				}
			}
		})
	}
	wg.Wait()
	return !wrong.Load()
}
