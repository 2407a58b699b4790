package hidden

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/loader"
)

// randomBytes are not text: records may hold anything.
func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+7)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b[:n:n]
}

func writeFile(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openRecords(t testing.TB, path string, size int) *loader.Records {
	t.Helper()
	rec, err := loader.OpenRecords(path, size)
	if err != nil || rec == nil {
		t.Fatalf("OpenRecords gives %v, %v", rec, err)
	}
	return rec
}

func hash(b []byte) int { return int(crc32.ChecksumIEEE(b)) }

// Get returns the bytes of record i, all of them, in a slice that is the caller's, to
// keep, to write into and to append to, which changes no other record; Len is the number
// of records. A record may be of a byte or of a mebibyte. Records are a Dataset like any
// other.
func TestRecords(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i, size := range append([]int{1, below(r, 2, 40), 512, below(r, 3000, 9000)}, around(r)...) {
		n, asked, inBatches := below(r, 20, 60), 20, 8*below(r, 4, 9)
		if size > 9000 { // few, to save time
			n, asked, inBatches = 3, 1, 2
		}
		data := randomBytes(r, n*size)
		rec := openRecords(t, writeFile(t, filepath.Join(t.TempDir(), "records"), data), size)
		o.Int("Len", rec.Len())
		var kept [][]byte
		for _, i := range append(draws(r, asked, n), 0, n-1) {
			b, err := rec.Get(t.Context(), i)
			o.Error("error of Get", err)
			o.Int("record", hash(b))
			o.Int("length of a record", len(b))
			kept = append(kept, slices.Clip(b))
			clear(b) // it is the caller's
			again, _ := rec.Get(t.Context(), i)
			o.Int("record again", hash(again))
		}
		appended(t, o, rec, n)
		for _, b := range kept {
			o.Int("record that was kept", hash(b))
		}
		order := draws(r, inBatches, n)
		chosen := pureSampler(func(int, int) []int { return order })
		sum := func(idx []int, samples [][]byte) (sum int, err error) {
			for _, b := range samples {
				sum = sum*31 + hash(b)
			}
			return sum, nil
		}
		l, err := loader.New(rec, sum, config{BatchSize: min(8, inBatches), Workers: i % 2, Sampler: chosen})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range l.Epoch(t.Context(), 0) {
			o.Int("hash of a batch", b)
			o.Error("error of a batch", err)
		}
		o.Error("Close", rec.Close())
	}
}

// appended keeps records of n, and writes into some of them and appends to some: that
// reaches no other one, neither of those that are kept nor of those that come.
func appended(t *testing.T, o *observe.Observer, rec *loader.Records, n int) {
	r := o.Rand()
	var kept [][]byte
	get := func() {
		b, err := rec.Get(t.Context(), r.IntN(n))
		o.Error("error of Get", err)
		kept = append(kept, b)
	}
	for range min(n, 30) {
		get()
		b := kept[r.IntN(len(kept))] // the last one, or one before
		if len(b) > 0 && r.IntN(2) == 0 {
			b[r.IntN(len(b))]++
		}
		fill(b, r.Float64(), byte(r.IntN(256)))
		if i := r.IntN(len(kept)); r.IntN(2) == 0 {
			kept[i] = append(kept[i], byte(r.IntN(256))) // which is another slice from here on, or not
		}
	}
	for _, b := range kept {
		fill(b, 1, byte(r.IntN(256)))
	}
	get()
	for _, b := range kept {
		o.Int("record that was kept while others were written into and appended to", hash(b))
	}
}

// fill appends as much to b as does not need other memory, or a part of that. It draws
// nothing: how much there is depends on the solution.
func fill(b []byte, part float64, with byte) {
	room := float64(cap(b) - len(b))
	_ = append(b, bytes.Repeat([]byte{with}, int(math.Ceil(part*room)))...)
}

// OpenRecords refuses a record size below 1, a file that is not there and one that
// is not a whole number of records. Get refuses records that do not exist, a ctx
// that is done, a file that was closed and a record that has been cut off. Close
// may be called again.
func TestRecordsErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	kinds := []error{loader.ErrConfig, loader.ErrSize, loader.ErrIndex, fs.ErrNotExist, fs.ErrClosed, t.Context().Err()}
	size, n := below(r, 3, 30), below(r, 5, 20)
	path := writeFile(t, filepath.Join(t.TempDir(), "records"), randomBytes(r, n*size))
	for _, size := range []int{0, -size} {
		_, err := loader.OpenRecords(path, size)
		o.Error("record size", err, kinds[:5]...)
	}
	_, err := loader.OpenRecords(path+"2", size)
	o.Error("no file", err, kinds[:5]...)
	for _, more := range []int{-1, 1, size / 2} {
		odd := writeFile(t, filepath.Join(t.TempDir(), "odd"), randomBytes(r, n*size+more))
		_, err = loader.OpenRecords(odd, size)
		o.Error("odd size", err, kinds[:5]...)
	}
	empty := openRecords(t, writeFile(t, filepath.Join(t.TempDir(), "empty"), nil), size)
	o.Int("records of an empty file", empty.Len())
	_, err = empty.Get(t.Context(), 0)
	o.Error("first record of an empty file", err, kinds[:5]...)

	for _, size := range []int{1 << 40, math.MaxInt} { // nothing may be made of such a size
		empty := openRecords(t, writeFile(t, filepath.Join(t.TempDir(), "empty"), nil), size)
		o.Int("huge records of an empty file", empty.Len())
		_, err = empty.Get(t.Context(), r.IntN(9))
		o.Error("a huge record of an empty file", err, kinds[:5]...)
		_, err = loader.OpenRecords(path, size)
		o.Error("a file smaller than its first record", err, kinds[:5]...)
	}
	wraps := openRecords(t, writeFile(t, filepath.Join(t.TempDir(), "wraps"), randomBytes(r, 16*n)), 16)
	for _, i := range []int{1<<60 + r.IntN(n), -1<<60 + r.IntN(n), 1<<32 + r.IntN(n), math.MaxInt, math.MinInt} {
		_, err = wraps.Get(t.Context(), i) // 1<<60 records of 16 bytes are 1<<64 bytes
		o.Error("an index far beyond the end", err, kinds[:5]...)
	}

	rec := openRecords(t, path, size)
	for _, i := range []int{-1, n, n + below(r, 1, 1000), -n, n - 1, 0} {
		b, err := rec.Get(t.Context(), i)
		o.Error("index", err, kinds[:5]...)
		o.Int("record", hash(b))
	}
	ctxDone(t, o, rec)

	if err := os.Truncate(path, int64(n*size-1)); err != nil { // nearly whole
		t.Fatal(err)
	}
	b, err := rec.Get(t.Context(), n-1)
	o.Bool("an error for a record that was cut", err != nil)
	o.Int("bytes of a record that was cut", len(b))
	b, err = rec.Get(t.Context(), n-2)
	o.Error("the record before one that was cut", err)
	o.Int("the record before one that was cut", hash(b))

	o.Error("Close", rec.Close())
	o.Error("Close again", rec.Close())
	b, err = rec.Get(t.Context(), 0)
	o.Error("Get after Close", err, kinds[:5]...)
	o.Int("bytes after Close", len(b))
	cutLarge(t, o)
}

// ctxDone records what Get says to a ctx that is done: cancelled, past its deadline, of a
// parent that is.
func ctxDone(t *testing.T, o *observe.Observer, rec *loader.Records) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	late, stop := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), errCause)
	defer stop()
	child, stop2 := context.WithCancel(late)
	defer stop2()
	for _, ctx := range []context.Context{cancelled, late, child} {
		b, err := rec.Get(ctx, 0)
		o.Error("ctx that is done", err, ctxErrors...)
		o.Int("bytes where ctx is done", len(b))
	}
}

// The file is opened once, in OpenRecords: Get goes on reading it when its name
// belongs to another file. It keeps no records and reads none ahead: what is overwritten in place is
// seen. A file may be larger than memory, and each of its records can be asked for,
// also one that lies beyond 4 GiB. Close gives the file back, and an OpenRecords that
// fails leaves none open.
func TestOneFile(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	size, n := below(r, 10, 30), below(r, 20, 40)
	oneFile(t, o, "", size, n)
	oneFile(t, o, "large records: ", below(r, 70<<10, 90<<10), 3)
	beyondMemory(t, o, 1)
	beyondMemory(t, o, below(r, 1000, 5000))

	odd := writeFile(t, filepath.Join(t.TempDir(), "odd"), randomBytes(r, n*size+1))
	o.Bool("files left open by Close", leaves(t, odd, func() {
		o.Error("Close", openRecords(t, odd, 1).Close())
	}))
	o.Bool("files left open by an error", leaves(t, odd, func() {
		_, err := loader.OpenRecords(odd, size)
		o.Error("odd size", err, loader.ErrSize)
		_, err = loader.OpenRecords(odd, -size)
		o.Error("record size", err, loader.ErrConfig)
	}))
}

// oneFile reads n records while the file loses its name and its bytes.
func oneFile(t *testing.T, o *observe.Observer, kind string, size, n int) {
	r := o.Rand()
	dir := t.TempDir()
	path := writeFile(t, filepath.Join(dir, "records"), randomBytes(r, n*size))
	old, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	rec := openRecords(t, path, size)
	read := func(name string) {
		for _, i := range []int{0, n / 2, n - 1} {
			b, err := rec.Get(t.Context(), i)
			o.Int(kind+name, hash(b))
			o.Error(kind+name, err)
		}
	}
	read("at first")
	if err := os.Rename(writeFile(t, filepath.Join(dir, "other"), randomBytes(r, n*size)), path); err != nil {
		t.Fatal(err)
	}
	read("when another file has its name")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	read("when no file has its name")
	if _, err := old.WriteAt(randomBytes(r, n*size), 0); err != nil {
		t.Fatal(err)
	}
	read("overwritten in place")
	for i := range n - 1 { // each one when the one before it has just been read, or it itself
		_, err := rec.Get(t.Context(), i)
		o.Error(kind+"before the next is overwritten", err)
		for _, name := range []string{"overwritten when the one before had been read", "overwritten when it had itself just been read"} {
			if _, err := old.WriteAt(randomBytes(r, size), int64((i+1)*size)); err != nil {
				t.Fatal(err)
			}
			b, err := rec.Get(t.Context(), i+1)
			o.Int(kind+name, hash(b))
			o.Error(kind+name, err)
		}
	}
	inTurn(t, o, kind, rec, old, size, n)
	o.Error(kind+"Close", rec.Close())
	for _, i := range []int{n - 1, 0} { // the one that was read last, too
		_, err = rec.Get(t.Context(), i)
		o.Error(kind+"Get after Close", err, fs.ErrClosed)
	}
}

// inTurn asks for one record after the other, forwards and backwards, all or every second, and for a
// few again and again. Some are overwritten in place just before: nothing of them was kept or read ahead.
func inTurn(t *testing.T, o *observe.Observer, kind string, rec *loader.Records, old *os.File, size, n int) {
	r := o.Rand()
	for _, step := range []int{1, 1, -1, 2, -2, below(r, 3, 6)} {
		among := n
		if step > 2 {
			among = below(r, 2, min(n, 6)+1)
		}
		i := r.IntN(among)
		for range min(2*n, 50) {
			if i = (i + step + among) % among; r.IntN(3) == 0 {
				if _, err := old.WriteAt(randomBytes(r, size), int64(i*size)); err != nil {
					t.Fatal(err)
				}
			}
			b, err := rec.Get(t.Context(), i)
			o.Int(kind+"asked for in turn, and some overwritten before", hash(b))
			o.Error(kind+"asked for in turn, and some overwritten before", err)
		}
	}
}

// leaves reports whether f leaves a file open each time: one that is opened next has
// the lowest number that is free. The garbage collector would close it, and waits.
func leaves(t *testing.T, path string, f func()) bool {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const times = 10 // and not once: others may open a file meanwhile
	before := lowest(t, path)
	for range times {
		f()
	}
	return lowest(t, path) >= before+times
}

// lowest is the number of the file that is opened next.
func lowest(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return int(file.Fd())
}

// Any number of goroutines may call Get: each gets the record that it asked for, a large
// one too. Whoever moves the file's one offset and then reads from it gets another's.
func TestConcurrentRecords(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const size, n, readers, reads = 256, 4096, 8, 6000
	data := randomBytes(r, n*size)
	rec := openRecords(t, writeFile(t, filepath.Join(t.TempDir(), "records"), data), size)
	defer rec.Close()
	seeds := draws(r, readers, 1e9)
	sums := make([]int, readers)
	failed := make([]error, readers)
	var wg sync.WaitGroup
	for k := range readers {
		wg.Go(func() {
			i := seeds[k]
			for j := range reads {
				i = (i*1103515245 + 12345) & (1<<31 - 1)
				b, err := rec.Get(t.Context(), i>>8%n)
				failed[k] = errors.Join(failed[k], err)
				sums[k] = (sums[k]*31 + hash(b)) % 1e9
				if j%97 == k {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	o.Ints("sums of what was read", sums)
	o.Error("errors", errors.Join(failed...))
	o.Bool("the same in the end", strings.Compare(string(data[:size]), first(t, rec)) == 0)
	for _, size := range []int{below(r, 1<<10, 64<<10), below(r, 70<<10, 120<<10), 1 << 20} {
		o.Bool("each gets of large records what one alone gets", together(t, r, size))
	}
}

func first(t *testing.T, rec *loader.Records) string {
	b, _ := rec.Get(t.Context(), 0)
	return string(b)
}
