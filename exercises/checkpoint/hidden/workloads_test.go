package hidden

import (
	"io"
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
	data   []byte
	number int
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

// What the workloads save: so many numbers in so many Tensors.
const (
	manyTensors = 40
	manyNumbers = 4_000_000
	saves       = 4
	loads       = 2
)

// many draws a State for a workload.
func many(o *observe.Observer) *state {
	s := draw(o.Rand(), manyTensors/2, manyTensors/2)
	for _, list := range [][]tensor{s.Model, s.Optimizer} {
		for i := range list {
			list[i].Data = numbers(o.Rand(), manyNumbers/manyTensors)
		}
	}
	return s
}

// roomOf is enough for a file, also with some bytes more for each number.
const roomOf = 10 * manyNumbers

// vary changes some numbers of each Tensor.
func vary(s *state, round int) {
	s.Step++
	for _, list := range [][]tensor{s.Model, s.Optimizer} {
		for _, t := range list {
			for i := round; i < len(t.Data); i += 97 {
				t.Data[i] = t.Data[i]/2 + 1
			}
		}
	}
}

// cutNewest cuts the file that was created last.
func (a *arena) cutNewest() {
	for _, b := range a.files {
		if b.number == a.created {
			b.data = b.data[:len(b.data)/2]
		}
	}
}

// Save many numbers, some times. Time: they are written in pieces. Memory: there is no
// second copy of them. (Nothing after the window may take more than what is within.)
func BenchmarkSave(b *testing.B) {
	o := observe.New(b)
	s, got, a := many(o), many(o), newArena(3, roomOf)
	m := open(b, a, config{Keep: 2})
	for o.Loop() {
		for round := range saves {
			vary(s, round)
			save(b, m, s)
		}
	}
	again := open(b, a, config{Keep: 2})
	for range 2 {
		o.Error("error", again.Latest(got), kinds...)
		o.Int("steps since the one before", s.Step-got.Step)
		o.Float("all numbers", sum(got))
		a.cutNewest()
	}
}

// Read many numbers into the memory of a State, some times. Time: they are read in pieces.
// Memory: there is no second copy of them.
func BenchmarkLatest(b *testing.B) {
	o := observe.New(b)
	s, into, a := many(o), many(o), newArena(3, roomOf)
	m := open(b, a, all)
	save(b, m, s)
	vary(s, 0)
	save(b, m, s)
	total := 0.0
	for o.Loop() {
		total = 0
		for round := range loads {
			vary(into, round)
			if err := m.Latest(into); err != nil {
				b.Fatalf("Latest: %v", err)
			}
			total += into.Model[round].Data[round] + into.Optimizer[0].Data[9*round]
		}
	}
	o.Float("some numbers of each time", total)
	o.Float("all numbers", sum(into))
	o.Bool("what was saved", sum(into) == sum(s))
}
