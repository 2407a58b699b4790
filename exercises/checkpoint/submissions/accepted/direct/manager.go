package checkpoint

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

type Manager struct {
	sync.Mutex
	fs      FS
	cfg     Config
	metrics map[int]float64 // of the whole ones, by number
	strange map[int]error   // of the others
	last    int
}

func file(number int) string { return "ckpt-" + strconv.Itoa(number) }

func number(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, "ckpt-")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}

func Open(fs FS, cfg Config) (*Manager, error) {
	if cfg.Keep < 0 {
		return nil, ErrConfig
	}
	m := &Manager{fs: fs, cfg: cfg, metrics: map[int]float64{}, strange: map[int]error{}}
	names, err := fs.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		n, ok := number(name)
		if !ok {
			continue
		}
		m.last = max(m.last, n)
		var s State
		switch err := m.with(n, &s, true); {
		case err == nil:
			m.metrics[n] = s.Metric
		case broken(err):
			m.strange[n] = err
		default:
			return nil, err
		}
	}
	return m, nil
}

func broken(err error) bool {
	return errors.Is(err, ErrFormat) || errors.Is(err, ErrVersion) || errors.Is(err, ErrDamaged)
}

// with reads a file, and forgets its numbers if told so.
func (m *Manager) with(n int, s *State, forgets bool) error {
	f, err := m.fs.Open(file(n))
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f, s, forgets)
}

// stopping is a file that is not written to any more when its context is done.
type stopping struct {
	io.Writer
	done func() error
}

func (s stopping) Write(p []byte) (int, error) {
	if err := s.done(); err != nil {
		return 0, err
	}
	return s.Writer.Write(p)
}

func (m *Manager) Save(ctx context.Context, s *State) (err error) {
	m.Lock()
	defer m.Unlock()
	done := func() error { return context.Cause(ctx) }
	if done() != nil {
		return done()
	}
	m.last++
	f, err := m.fs.Create(file(m.last))
	if err != nil {
		return err
	}
	defer func() { // once more, if something fails
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, act := range []func() error{
		func() error { return Write(stopping{f, done}, s) }, f.Sync, f.Close, m.fs.SyncDir,
	} {
		if err := act(); err != nil {
			return err
		}
	}
	m.metrics[m.last] = s.Metric
	m.clean()
	return nil
}

// numbers returns those of the whole checkpoints, the newest first.
func (m *Manager) numbers() (list []int) {
	for n := range m.metrics {
		list = append(list, n)
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

// ranked returns those with a Metric, the best first; of equal ones the
// oldest.
func (m *Manager) ranked() (list []int) {
	for _, n := range m.numbers() {
		if x := m.metrics[n]; x == x {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		switch x, y := m.metrics[a], m.metrics[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a - b
	})
	return list
}

func (m *Manager) clean() {
	keep := map[int]bool{}
	for i, n := range m.numbers() {
		keep[n] = m.cfg.Keep == 0 || i < m.cfg.Keep
	}
	if list := m.ranked(); m.cfg.Best && len(list) > 0 {
		keep[list[0]] = true
	}
	for n := range m.metrics {
		if !keep[n] {
			delete(m.metrics, n)
		}
	}
	names, err := m.fs.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "ckpt-") {
			continue
		}
		n, ok := number(name)
		if !ok || !keep[n] && !errors.Is(m.strange[n], ErrVersion) {
			m.fs.Remove(name)
		}
	}
}

func (m *Manager) Latest(s *State) error {
	m.Lock()
	defer m.Unlock()
	return m.first(m.numbers(), s)
}

func (m *Manager) Best(s *State) error {
	m.Lock()
	defer m.Unlock()
	return m.first(m.ranked(), s)
}

func (m *Manager) first(numbers []int, s *State) error {
	all := []error{ErrNone}
	for n, err := range m.strange {
		all = append(all, &FileError{file(n), err})
	}
	for _, n := range numbers {
		var head State
		err := m.with(n, &head, true)
		if err == nil {
			return m.with(n, s, false)
		}
		if !broken(err) {
			return err
		}
		all = append(all, &FileError{file(n), err})
	}
	return errors.Join(all...)
}
