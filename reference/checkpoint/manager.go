package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The names of this package's files: a number that grows from checkpoint to checkpoint,
// and the one that is being written.
const (
	prefix    = "ckpt-"
	temporary = prefix + "temporary"
)

// Manager saves checkpoints in a folder and finds them again. Any number of goroutines may
// use it; their calls follow each other.
type Manager struct {
	fs  FS
	cfg Config

	mu    sync.Mutex
	whole []entry      // oldest first
	bad   []*FileError // checkpoints that Open has found to be none
	next  uint64       // number of the next one
}

// entry is a checkpoint that is whole.
type entry struct {
	name   string
	metric float64
}

// Open finds the checkpoints in a folder and reads all of them. It changes nothing.
func Open(fs FS, cfg Config) (*Manager, error) {
	if cfg.Keep < 0 {
		return nil, fmt.Errorf("%w: Keep is %d", ErrConfig, cfg.Keep)
	}
	numbers, err := numbers(fs)
	if err != nil {
		return nil, err
	}
	m := &Manager{fs: fs, cfg: cfg}
	for _, n := range numbers {
		if err := m.find(name(n)); err != nil {
			return nil, err
		}
		m.next = n + 1
	}
	return m, nil
}

func name(number uint64) string { return fmt.Sprintf(prefix+"%020d", number) }

// numbers returns those of the checkpoints in a folder, in order.
func numbers(fs FS) (list []uint64, err error) {
	names, err := fs.Names()
	for _, name := range names {
		digits, mine := strings.CutPrefix(name, prefix)
		if n, err := strconv.ParseUint(digits, 10, 64); mine && err == nil {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, err
}

// find notes whether a checkpoint is whole.
func (m *Manager) find(name string) error {
	e := entry{name: name}
	err := m.read(name, func(r io.Reader) (err error) {
		e.metric, err = check(r)
		return err
	})
	if bad := notWhole(name, err); bad != nil {
		m.bad = append(m.bad, bad)
		return nil
	}
	m.whole = append(m.whole, e)
	return err
}

// read opens a file for f.
func (m *Manager) read(name string, f func(io.Reader) error) error {
	file, err := m.fs.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f(file), file.Close())
}

// notWhole returns nil if err is nil or an error of the folder, and not of the file.
func notWhole(name string, err error) *FileError {
	if errors.Is(err, ErrFormat) || errors.Is(err, ErrVersion) || errors.Is(err, ErrDamaged) {
		return &FileError{name, err}
	}
	return nil
}

// Save makes a checkpoint of s. When it returns nil the checkpoint is durable; before
// that, none of the others is touched. After an error, the last checkpoint is the one
// before or this one. If ctx is done it returns its cause.
func (m *Manager) Save(ctx context.Context, s *State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	name := name(m.next)
	if err := m.create(ctx, name, s); err != nil {
		_ = m.fs.Remove(temporary) // if this fails too, the next Save removes it
		return err
	}
	m.next++
	m.whole = append(m.whole, entry{name, s.Metric})
	m.clear()
	return nil
}

// create makes a durable file of s.
func (m *Manager) create(ctx context.Context, name string, s *State) error {
	file, err := m.fs.Create(temporary)
	if err != nil {
		return err
	}
	err = Write(writer{ctx, file}, s)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); closing != nil {
		err = errors.Join(err, closing)
	}
	if err != nil {
		return err
	}
	if err := m.fs.Rename(temporary, name); err != nil {
		return err
	}
	return m.fs.SyncDir()
}

// writer looks at a context before each piece that it writes.
type writer struct {
	ctx context.Context
	io.Writer
}

func (w writer) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, bufferSize) {
		if w.ctx.Err() != nil {
			return n, context.Cause(w.ctx)
		}
		m, err := w.Writer.Write(piece)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// clear removes all files of this package that are not kept. What cannot be removed now
// is removed after another Save.
func (m *Manager) clear() {
	m.whole = m.kept()
	m.bad = slices.DeleteFunc(m.bad, func(e *FileError) bool { return !errors.Is(e, ErrVersion) })
	names, _ := m.fs.Names()
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && !m.needs(name) {
			_ = m.fs.Remove(name)
		}
	}
}

// kept returns the last Keep and the best.
func (m *Manager) kept() []entry {
	n := len(m.whole) - m.cfg.Keep
	if n <= 0 || m.cfg.Keep == 0 {
		return m.whole
	}
	last := m.whole[n:]
	if order := m.byMetric(); m.cfg.Best && len(order) > 0 && !slices.Contains(last, order[0]) {
		last = append(order[:1:1], last...)
	}
	return slices.Clone(last)
}

// needs reports whether a file is kept, or is of a version that only others can read.
func (m *Manager) needs(name string) bool {
	return slices.ContainsFunc(m.whole, func(e entry) bool { return e.name == name }) ||
		slices.ContainsFunc(m.bad, func(e *FileError) bool { return e.Name == name })
}

// byMetric returns the checkpoints with a Metric, the best first; of equal ones the oldest.
func (m *Manager) byMetric() []entry {
	order := slices.DeleteFunc(slices.Clone(m.whole), func(e entry) bool { return math.IsNaN(e.metric) })
	slices.SortStableFunc(order, func(a, b entry) int { return cmp.Compare(a.metric, b.metric) })
	return order
}

// Latest reads the checkpoint that was saved last into s, as Read does; if it is not whole,
// the one before, and so on. If there is none, it returns ErrNone and what is wrong with
// those that are not whole, and leaves s as it is.
func (m *Manager) Latest(s *State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	order := slices.Clone(m.whole)
	slices.Reverse(order)
	return m.first(order, s)
}

// Best is like Latest for the checkpoint with the lowest Metric.
func (m *Manager) Best(s *State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first(m.byMetric(), s)
}

// first reads the first checkpoint that is whole. It looks before it reads, so that no
// damaged numbers come into s.
func (m *Manager) first(order []entry, s *State) error {
	none := []error{ErrNone}
	for _, bad := range m.bad {
		none = append(none, bad)
	}
	for _, e := range order {
		err := m.read(e.name, func(r io.Reader) error {
			_, err := check(r)
			return err
		})
		if bad := notWhole(e.name, err); bad != nil {
			none = append(none, bad)
			continue
		}
		if err != nil {
			return err
		}
		return m.read(e.name, func(r io.Reader) error { return Read(r, s) })
	}
	return errors.Join(none...)
}
