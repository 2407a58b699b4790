package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// saved is a checkpoint. Its name tells all that a Manager has to know.
type saved struct {
	number int
	metric float64
	fault  error // why it is none
}

func (s saved) name() string {
	return fmt.Sprintf("ckpt-%016x-%016x", s.number, math.Float64bits(s.metric))
}

func parse(name string) (s saved, ok bool) {
	var bits uint64
	if _, err := fmt.Sscanf(name, "ckpt-%x-%x", &s.number, &bits); err != nil {
		return s, false
	}
	s.metric = math.Float64frombits(bits)
	return s, s.name() == name
}

type Manager struct {
	turn   chan struct{} // holds one token while nobody works
	folder FS
	cfg    Config
	list   []saved // by number, whole or not
	next   int
}

func Open(fs FS, cfg Config) (*Manager, error) {
	if cfg.Keep < 0 {
		return nil, ErrConfig
	}
	names, err := fs.Names()
	if err != nil {
		return nil, err
	}
	m := &Manager{turn: make(chan struct{}, 1), folder: fs, cfg: cfg, next: 1}
	for _, name := range names {
		s, ok := parse(name)
		if !ok {
			continue
		}
		s.fault = m.with(s, verify)
		if s.fault != nil && !ofFile(s.fault) {
			return nil, s.fault
		}
		m.list = append(m.list, s)
		m.next = max(m.next, s.number+1)
	}
	slices.SortFunc(m.list, func(a, b saved) int { return a.number - b.number })
	m.turn <- struct{}{}
	return m, nil
}

func ofFile(err error) bool {
	for _, kind := range []error{ErrFormat, ErrVersion, ErrDamaged} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (m *Manager) with(s saved, f func(io.Reader) error) error {
	file, err := m.folder.Open(s.name())
	if err != nil {
		return err
	}
	defer file.Close()
	return f(file)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

const temp = "ckpt-new"

func (m *Manager) Save(ctx context.Context, s *State) error {
	<-m.turn
	defer func() { m.turn <- struct{}{} }()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	one := saved{number: m.next, metric: s.Metric}
	if err := m.store(ctx, s); err != nil {
		m.folder.Remove(temp)
		return err
	}
	m.next++ // even if the rest fails: the name may be there
	if err := m.folder.Rename(temp, one.name()); err != nil {
		return err
	}
	if err := m.folder.SyncDir(); err != nil {
		return err
	}
	m.list = append(m.list, one)
	m.tidy()
	return nil
}

func (m *Manager) store(ctx context.Context, s *State) error {
	file, err := m.folder.Create(temp)
	if err != nil {
		return err
	}
	err = Write(writerFunc(func(p []byte) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return file.Write(p)
	}), s)
	if err != nil {
		return both(err, file.Close())
	}
	return both(file.Sync(), file.Close())
}

// both joins errors where there are two.
func both(err, another error) error {
	if another == nil {
		return err
	}
	return errors.Join(err, another)
}

// best returns the place of the best whole checkpoint, or -1.
func best(list []saved) int {
	at := -1
	for i, s := range list {
		if s.fault == nil && !math.IsNaN(s.metric) && (at < 0 || s.metric < list[at].metric) {
			at = i
		}
	}
	return at
}

func (m *Manager) tidy() {
	first, left := best(m.list), m.cfg.Keep
	if m.cfg.Keep == 0 {
		left = len(m.list)
	}
	var stay []saved
	for i := len(m.list) - 1; i >= 0; i-- {
		s := m.list[i]
		whole := s.fault == nil
		if whole && left > 0 || m.cfg.Best && i == first || errors.Is(s.fault, ErrVersion) {
			stay = append(stay, s)
		}
		if whole {
			left--
		}
	}
	slices.Reverse(stay)
	m.list = stay
	names, _ := m.folder.Names()
	for _, name := range names {
		if strings.HasPrefix(name, "ckpt-") && !slices.ContainsFunc(stay, func(s saved) bool { return s.name() == name }) {
			m.folder.Remove(name)
		}
	}
}

func (m *Manager) Latest(into *State) error {
	return m.read(into, func(list []saved) int {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].fault == nil {
				return i
			}
		}
		return -1
	})
}

func (m *Manager) Best(into *State) error { return m.read(into, best) }

// read chooses until what is chosen is whole.
func (m *Manager) read(into *State, choose func([]saved) int) error {
	<-m.turn
	defer func() { m.turn <- struct{}{} }()
	for {
		i := choose(m.list)
		if i < 0 {
			return m.none()
		}
		err := m.with(m.list[i], verify)
		if err == nil {
			return m.with(m.list[i], func(r io.Reader) error { return Read(r, into) })
		}
		if !ofFile(err) {
			return err
		}
		m.list[i].fault = err
	}
}

func (m *Manager) none() error {
	err := ErrNone
	for _, s := range m.list {
		if s.fault != nil {
			err = fmt.Errorf("%w; %w", err, &FileError{s.name(), s.fault})
		}
	}
	return err
}
