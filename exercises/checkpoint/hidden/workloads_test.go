package hidden

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/checkpoint"
)

// arena is a folder whose files lie in memory that is there before they are written.
type arena struct {
	free    [][]byte
	files   map[string]*blob
	created int
}

// blob is a file. Of two the one with the higher number was created later.
type blob struct {
	data    []byte
	number  int
	damaged bool // for good
}

// newArena has room for some files of so many bytes.
func newArena(files, size int) *arena {
	a := &arena{files: map[string]*blob{}}
	for range files {
		room := make([]byte, size)
		for i := 0; i < len(room); i += 4096 {
			room[i] = 1
		}
		a.free = append(a.free, room[:0])
	}
	return a
}

func (a *arena) Create(name string) (checkpoint.File, error) {
	b := a.files[name]
	if b == nil {
		b = &blob{}
		if n := len(a.free); n > 0 {
			b.data, a.free = a.free[n-1], a.free[:n-1]
		}
	}
	a.created++
	b.data, b.number = b.data[:0], a.created
	a.files[name] = b
	return &cursor{blob: b}, nil
}

func (a *arena) Open(name string) (checkpoint.File, error) {
	if a.files[name] == nil {
		return nil, checkpoint.ErrNotExist
	}
	return &cursor{blob: a.files[name]}, nil
}

func (a *arena) Rename(from, to string) error {
	if a.files[from] == nil {
		return checkpoint.ErrNotExist
	}
	if from != to {
		_ = a.Remove(to)
		a.files[to] = a.files[from]
		delete(a.files, from)
	}
	return nil
}

func (a *arena) Remove(name string) error {
	b := a.files[name]
	if b == nil {
		return checkpoint.ErrNotExist
	}
	a.free = append(a.free, b.data)
	delete(a.files, name)
	return nil
}

func (a *arena) Names() (names []string, err error) {
	for name := range a.files {
		names = append(names, name)
	}
	return names, nil
}

func (a *arena) SyncDir() error { return nil }

// cursor is an open file of an arena.
type cursor struct {
	*blob
	at int
}

func (c *cursor) Read(p []byte) (int, error) {
	n := copy(p, c.data[c.at:])
	c.at += n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (c *cursor) Write(p []byte) (int, error) {
	c.data = append(c.data, p...)
	return len(p), nil
}

func (c *cursor) Sync() error  { return nil }
func (c *cursor) Close() error { return nil }

// What the workloads save: so many numbers, more or less, in so many Tensors.
const (
	manyTensors = 40
	manyNumbers = 3_000_000
	saves       = 5
	loads       = 3
)

// many draws a State for a workload.
func many(r *rand.Rand) *state {
	s := draw(r, manyTensors/2, manyTensors/2)
	for _, list := range lists(s) {
		for i := range list {
			list[i].Data = numbers(r, below(r, 74_500, 75_500))
		}
	}
	return s
}

// room is enough for a file, also with some bytes more for each number.
const room = 10 * manyNumbers

func lists(s *state) [2][]tensor { return [2][]tensor{s.Model, s.Optimizer} }

// vary changes some numbers of each Tensor, which nobody knows who does not look.
func vary(r *rand.Rand, s *state) {
	s.Step += below(r, 1, 9)
	s.Position, s.Metric = r.IntN(1e5), r.Float64()
	for _, list := range lists(s) {
		for _, t := range list {
			step, more := below(r, 90, 104), r.Float64()
			for i := r.IntN(step); i < len(t.Data); i += step {
				t.Data[i] = t.Data[i]/2 + more
			}
		}
	}
}

// scramble leaves nothing of what s was, but for the memory that it has.
func scramble(s *state) {
	*s = state{Model: s.Model, Optimizer: s.Optimizer}
	for _, list := range lists(s) {
		for _, t := range list {
			clear(t.Data)
		}
	}
}

// spot is where a number of a State is.
type spot struct{ of, tensor, at int }

// spoil draws some numbers of s and has others there.
func spoil(r *rand.Rand, s *state) []spot {
	list := make([]spot, 256)
	for i := range list {
		of := r.IntN(2)
		tensor := r.IntN(len(lists(s)[of]))
		data := lists(s)[of][tensor].Data
		list[i] = spot{of, tensor, r.IntN(len(data))}
		data[list[i].at] = r.NormFloat64()
	}
	return list
}

// fold makes one number of what is at these spots, by all bits and their order.
func fold(s *state, list []spot) int {
	sum := uint64(0)
	for _, x := range list {
		sum = (sum ^ math.Float64bits(lists(s)[x.of][x.tensor].Data[x.at])) * 0x100000001b3
	}
	return int(sum)
}

// newest is the file that was created last, of those that are not damaged for good.
func (a *arena) newest() (last *blob) {
	for _, b := range a.files {
		if !b.damaged && (last == nil || b.number > last.number) {
			last = b
		}
	}
	return last
}

// spoilNewest damages that file for good. Its length stays, so that one has to look at what is
// in it.
func (a *arena) spoilNewest(r *rand.Rand) {
	if b := a.newest(); b != nil {
		a.damage(r)
		b.damaged = true
	}
}

// alone is a folder in which that file is, and no other one.
func (a *arena) alone() *arena {
	one := &arena{files: map[string]*blob{}}
	for name, b := range a.files {
		if b == a.newest() {
			one.files[name] = b
		}
	}
	return one
}

// damage turns a bit of that file over, anywhere behind the version, and returns what turns
// it back.
func (a *arena) damage(r *rand.Rand) (mend func()) {
	data := a.newest().data
	at, bit := 8+r.IntN(len(data)-8), byte(1)<<r.IntN(8)
	data[at] ^= bit
	return func() { data[at] ^= bit }
}

// Save many numbers, some times. Time: they are written in pieces. Memory: there is no
// second copy of them. (Nothing after the window may take more than what is within.) Each
// State that was saved is read afterwards, the last one first; its file is damaged then, and not
// shortened, so that a file without a checksum shows. Two of them are read in a folder of their own:
// a checkpoint is one file, and needs no earlier one (rule 9).
func BenchmarkSave(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	s, a := many(r), newArena(saves+2, room)
	m := open(b, a, config{Keep: saves})
	for o.Loop() {
		for range saves {
			vary(r, s)
			save(b, m, s)
		}
	}
	again := open(b, a, config{Keep: saves})
	alone := r.Perm(saves)[:2]
	for i := range saves {
		from := again
		if slices.Contains(alone, i) {
			from = open(b, a.alone(), config{Keep: saves})
		}
		scramble(s)
		o.Error("error", from.Latest(s), kinds...)
		o.Ints("place", []int{s.Step, s.Epoch, s.Position})
		o.Ints("rate and metric", bits(s.Rate, s.Metric))
		o.Float("all numbers", sum(s))
		a.spoilNewest(r)
	}
}

// Read many numbers into the memory of a State, some times. Time: they are read in pieces.
// Memory: there is no second copy of them. Before the window and after it the last file is
// damaged: how often before is drawn, so that no call can know that it is measured. Within, one
// of the calls is drawn that finds it damaged, and so do all that follow: the Manager that is
// measured has to look at what it reads. (It is not mended, for who has found a file damaged
// need not look at it again.)
func BenchmarkLatest(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	s, a := many(r), newArena(5, room)
	m := open(b, a, all)
	for range 4 { // at most 3 of them are damaged
		vary(r, s)
		save(b, m, s)
	}
	into := copied(s)
	var steps, seen []int
	latest := func(m *checkpoint.Manager) {
		spots := spoil(r, into)
		if err := m.Latest(into); err != nil {
			b.Fatalf("Latest: %v", err)
		}
		steps, seen = append(steps, into.Step), append(seen, fold(into, spots))
	}
	damaged := func(times int) {
		for range times {
			mend := a.damage(r)
			latest(open(b, a, all))
			mend()
		}
	}
	damaged(r.IntN(4))
	first, found := r.IntN(loads), false
	for o.Loop() {
		for i := range loads {
			if i == first && !found { // once, however many rounds there are
				a.spoilNewest(r)
				found = true
			}
			latest(m)
		}
	}
	last := sum(into)
	for range 1 + r.IntN(2) {
		a.spoilNewest(r)
		latest(m)
	}
	o.Ints("steps of each time", steps)
	o.Ints("some numbers of each time", seen)
	o.Float("all numbers of the last time that was measured", last)
}
