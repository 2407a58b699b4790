package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all of it, with
// inputs that are new each time.

// folder is an FS in memory. The machine dies in the call number dies, if that is not 0; then
// nothing of what was not synced is there any more.
type folder struct {
	names, synced map[string]*file
	calls, dies   int
}

type file struct{ data, synced []byte }

var errDead = errors.New("the machine is dead")

func newFolder() *folder { return &folder{names: map[string]*file{}, synced: map[string]*file{}} }

func (d *folder) call() error {
	if d.calls++; d.dies > 0 && d.calls >= d.dies {
		return errDead
	}
	return nil
}

// again returns the folder after the machine has died.
func (d *folder) again() *folder {
	e := newFolder()
	for name, f := range d.synced {
		e.names[name] = &file{bytes.Clone(f.synced), f.synced}
		e.synced[name] = e.names[name]
	}
	return e
}

func (d *folder) Create(name string) (File, error) {
	if d.names[name] == nil {
		d.names[name] = &file{}
	}
	d.names[name].data = nil
	return &handle{d, d.names[name], 0}, d.call()
}

func (d *folder) Open(name string) (File, error) {
	if d.names[name] == nil {
		return nil, ErrNotExist
	}
	return &handle{d, d.names[name], 0}, d.call()
}

func (d *folder) Rename(from, to string) error {
	if d.names[from] == nil {
		return ErrNotExist
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return d.call()
}

func (d *folder) Remove(name string) error {
	delete(d.names, name)
	return d.call()
}

func (d *folder) Names() ([]string, error) { return slices.Collect(maps.Keys(d.names)), d.call() }

func (d *folder) SyncDir() error {
	err := d.call()
	if err == nil {
		d.synced = maps.Clone(d.names)
	}
	return err
}

// handle is an open file.
type handle struct {
	folder *folder
	file   *file
	at     int
}

func (h *handle) Read(p []byte) (int, error) {
	n := copy(p, h.file.data[h.at:])
	if h.at += n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.folder.call(); err != nil {
		return 0, err
	}
	h.file.data = append(h.file.data, p...)
	return len(p), nil
}

func (h *handle) Sync() error {
	err := h.folder.call()
	if err == nil {
		h.file.synced = bytes.Clone(h.file.data)
	}
	return err
}

func (h *handle) Close() error { return h.folder.call() }

func manager(t *testing.T, fs FS, cfg Config) *Manager {
	t.Helper()
	m, err := Open(fs, cfg)
	if err != nil || m == nil {
		t.Fatalf("Open: %v, %v", m, err)
	}
	return m
}

func save(t *testing.T, m *Manager, s *State) {
	t.Helper()
	if err := m.Save(context.Background(), s); err != nil {
		t.Fatalf("Save: %v", err)
	}
}

func TestWriteRead(t *testing.T) {
	s := State{Step: 3, Position: 128, Rate: 0.1, Metric: math.NaN(), RNG: []byte{1, 2}, Model: []Tensor{{"w", []float64{1, -2}}, {"", nil}}}
	var w bytes.Buffer
	if err := Write(&w, &s); err != nil || w.Len() < 8 {
		t.Fatalf("Write wrote %d bytes, and returned %v", w.Len(), err)
	}
	if header := w.String()[:8]; header != "ckpt\x01\x00\x00\x00" {
		t.Errorf("the first bytes are %q", header)
	}
	var got State
	if err := Read(bytes.NewReader(w.Bytes()), &got); err != nil {
		t.Fatalf("Read: %v", err)
	}
	if got.Step != 3 || got.Position != 128 || got.Rate != 0.1 || !math.IsNaN(got.Metric) || !bytes.Equal(got.RNG, s.RNG) ||
		len(got.Model) != 2 || got.Model[0].Name != "w" || !slices.Equal(got.Model[0].Data, s.Model[0].Data) {
		t.Errorf("Read gave %+v", got)
	}
	weights := []float64{0, 0}
	got.Model[0].Data = weights
	if err := Read(bytes.NewReader(w.Bytes()), &got); err != nil || weights[1] != -2 {
		t.Errorf("into the memory of a model: %v, %v", weights, err)
	}
	w.Bytes()[w.Len()-1]++
	if err := Read(&w, &got); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte is another one: %v", err)
	}
}

func TestKeepAndBest(t *testing.T) {
	d := newFolder()
	m := manager(t, d, Config{Keep: 2, Best: true})
	if err := m.Latest(&State{}); !errors.Is(err, ErrNone) {
		t.Errorf("Latest of nothing: %v", err)
	}
	for step, metric := range []float64{5, 2, 4, 3, 9} {
		save(t, m, &State{Step: step, Metric: metric})
	}
	var last, best State
	m = manager(t, d, Config{Keep: 2, Best: true})
	if err := errors.Join(m.Latest(&last), m.Best(&best)); err != nil || last.Step != 4 || best.Step != 1 || len(d.names) != 3 {
		t.Errorf("Latest has step %d, Best %d, in %d files; %v", last.Step, best.Step, len(d.names), err)
	}
}

// The machine dies in each call of the third Save.
func TestDies(t *testing.T) {
	for dies := 1; ; dies++ {
		d := newFolder()
		m := manager(t, d, Config{Keep: 1})
		save(t, m, &State{Step: 1})
		save(t, m, &State{Step: 2})
		d.dies = d.calls + dies
		err := m.Save(context.Background(), &State{Step: 3})
		if d.calls < d.dies {
			return
		}
		var got State
		if latest := manager(t, d.again(), Config{Keep: 1}).Latest(&got); latest != nil || got.Step < 2 || err == nil && got.Step != 3 {
			t.Errorf("dead in call %d: Save returned %v, and then Latest %v with step %d", dies, err, latest, got.Step)
		}
	}
}
