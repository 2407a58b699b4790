// Package checkpoint saves the State of a training as fields with tags. The Manager holds
// nothing but what it has found out about files.
package checkpoint

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

const start = "ckpt\x01\x00\x00\x00"

// Tags of fields. Each has a length in bytes and its content; data follows its name.
const (
	tagNumbers   = 'n' // Metric, Rate, Step, Epoch, Position: always first
	tagRNG       = 'r'
	tagModel     = 'm' // the name of a Tensor of the model; its data is next
	tagOptimizer = 'o'
	tagData      = 'd'
	tagEnd       = 'e'
)

const piece = 16 << 10

func Write(w io.Writer, s *State) error {
	sum := sha256.New()
	b := bufio.NewWriterSize(io.MultiWriter(w, sum), piece)
	b.WriteString(start)
	var n []byte
	for _, x := range []uint64{math.Float64bits(s.Metric), math.Float64bits(s.Rate), uint64(s.Step), uint64(s.Epoch), uint64(s.Position)} {
		n = binary.LittleEndian.AppendUint64(n, x)
	}
	field(b, tagNumbers, n)
	field(b, tagRNG, s.RNG)
	for _, t := range s.Model {
		record(b, tagModel, t)
	}
	for _, t := range s.Optimizer {
		record(b, tagOptimizer, t)
	}
	field(b, tagEnd, nil)
	if err := b.Flush(); err != nil { // it has kept every error
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

func tag(b *bufio.Writer, name byte, size int) {
	b.WriteByte(name)
	b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), uint64(size)))
}

func field(b *bufio.Writer, name byte, content []byte) {
	tag(b, name, len(content))
	b.Write(content)
}

func record(b *bufio.Writer, kind byte, t Tensor) {
	field(b, kind, []byte(t.Name))
	tag(b, tagData, 8*len(t.Data))
	for _, x := range t.Data {
		if b.Available() < 8 {
			if b.Flush() != nil {
				return
			}
		}
		b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), math.Float64bits(x)))
	}
}

// hold hashes all that goes through but the last bytes, which are the hash.
type hold struct {
	r   io.Reader
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
	tail []byte
	all  int
	err  error
}

func newHold(r io.Reader) *hold { return &hold{r: r, sum: sha256.New()} }

func (h *hold) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.all += n
	if n >= sha256.Size {
		h.sum.Write(h.tail)
		h.sum.Write(p[:n-sha256.Size])
		h.tail = append(h.tail[:0], p[n-sha256.Size:n]...)
	} else if h.tail = append(h.tail, p[:n]...); len(h.tail) > sha256.Size {
		over := len(h.tail) - sha256.Size
		h.sum.Write(h.tail[:over])
		h.tail = h.tail[over:]
	}
	if err != nil && err != io.EOF {
		h.err = err
	}
	return n, err
}

// judge tells, when all was read, whether the bytes are whole.
func (h *hold) judge(first []byte) error {
	switch {
	case h.err != nil:
		return h.err
	case h.all < 8:
		return ErrDamaged
	case !bytes.Equal(first[:4], []byte(start[:4])):
		return ErrFormat
	case !bytes.Equal(first[:8], []byte(start)):
		return ErrVersion
	case !bytes.Equal(h.tail, h.sum.Sum(nil)):
		return ErrDamaged
	}
	return nil
}

// Read decodes what may be anything, and then looks whether it was right.
func Read(r io.Reader, s *State) error {
	h := newHold(r)
	b := bufio.NewReaderSize(h, piece)
	first, _ := b.Peek(8)
	first = bytes.Clone(first)
	fine := string(first) == start && decode(b, s)
	rest, _ := io.Copy(io.Discard, b)
	err := h.judge(first)
	if err == nil && (!fine || rest != sha256.Size) {
		err = ErrDamaged
	}
	return err
}

// decode reports whether the fields could be understood.
func decode(b *bufio.Reader, s *State) bool {
	b.Discard(len(start))
	old := map[byte][]Tensor{tagModel: s.Model, tagOptimizer: s.Optimizer}
	list := map[byte][]Tensor{}
	for {
		name, size, ok := next(b)
		if !ok {
			return false
		}
		switch name {
		case tagNumbers:
			var n [5]uint64
			if size != 40 || binary.Read(b, binary.LittleEndian, &n) != nil {
				return false
			}
			s.Metric, s.Rate = math.Float64frombits(n[0]), math.Float64frombits(n[1])
			s.Step, s.Epoch, s.Position = int(n[2]), int(n[3]), int(n[4])
		case tagRNG:
			s.RNG, ok = content(b, size)
		case tagModel, tagOptimizer:
			var t Tensor
			t, ok = tensor(b, size, old[name], len(list[name]))
			list[name] = append(list[name], t)
		case tagEnd:
			s.Model, s.Optimizer = list[tagModel], list[tagOptimizer]
			return size == 0
		default:
			return false
		}
		if !ok {
			return false
		}
	}
}

func next(b *bufio.Reader) (name byte, size uint64, ok bool) {
	var head [9]byte
	_, err := io.ReadFull(b, head[:])
	return head[0], binary.LittleEndian.Uint64(head[1:]), err == nil
}

// content grows with what is there.
func content(b *bufio.Reader, size uint64) ([]byte, bool) {
	var p []byte
	for size > 0 {
		part, err := b.Peek(int(min(size, piece)))
		p = append(p, part...)
		if err != nil {
			return p, false
		}
		b.Discard(len(part))
		size -= uint64(len(part))
	}
	return p, true
}

func tensor(b *bufio.Reader, size uint64, old []Tensor, place int) (t Tensor, ok bool) {
	name, ok := content(b, size)
	if !ok {
		return t, false
	}
	tag, size, ok := next(b)
	if !ok || tag != tagData || size%8 != 0 {
		return t, false
	}
	t.Name = string(name)
	n := size / 8
	if place < len(old) && uint64(len(old[place].Data)) == n {
		t.Data = old[place].Data[:0:n]
	}
	for ; n > 0; n-- {
		p, err := b.Peek(8)
		if err != nil {
			return t, false
		}
		t.Data = append(t.Data, math.Float64frombits(binary.LittleEndian.Uint64(p)))
		b.Discard(8)
	}
	return t, true
}

// probe reads bytes as they lie there, and the Metric from its place.
func probe(r io.Reader) (metric float64, err error) {
	h := newHold(r)
	b := bufio.NewReaderSize(h, 64<<10)
	first, _ := b.Peek(len(start) + 9 + 8)
	first = bytes.Clone(first)
	io.Copy(io.Discard, b)
	if err := h.judge(first); err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(first[len(start)+9:])), nil
}

// Manager knows of each file whether it is whole, once somebody has looked.
type Manager struct {
	mu   sync.RWMutex
	fs   FS
	cfg  Config
	seen map[string]finding
	max  int
}

type finding struct {
	number int
	metric float64
	err    error
}

func Open(fs FS, cfg Config) (*Manager, error) {
	if cfg.Keep < 0 {
		return nil, ErrConfig
	}
	m := &Manager{fs: fs, cfg: cfg, seen: map[string]finding{}}
	names, err := fs.Names()
	for _, name := range names {
		after, found := strings.CutPrefix(name, "ckpt-")
		n, bad := strconv.Atoi(after)
		if !found || bad != nil {
			continue
		}
		f, err := m.look(name, n)
		if err != nil {
			return nil, err
		}
		m.seen[name] = f
		m.max = max(m.max, n)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// look probes a file. An error is not one of the file.
func (m *Manager) look(name string, n int) (f finding, err error) {
	file, err := m.fs.Open(name)
	if err != nil {
		return f, err
	}
	defer file.Close()
	f.number = n
	f.metric, f.err = probe(file)
	if f.err == nil || errors.Is(f.err, ErrDamaged) || errors.Is(f.err, ErrFormat) || errors.Is(f.err, ErrVersion) {
		return f, nil
	}
	return f, f.err
}

// contextual stops a writer.
type contextual struct {
	File
	ctx context.Context
}

func (c contextual) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		if c.ctx.Err() != nil {
			return n, context.Cause(c.ctx)
		}
		var m int
		m, err = c.File.Write(p[:min(len(p), piece)])
		n, p = n+m, p[m:]
	}
	return n, err
}

func (m *Manager) Save(ctx context.Context, s *State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.max++
	name := "ckpt-" + strconv.Itoa(m.max)
	if err := m.durable(contextual{ctx: ctx}, "ckpt-unfinished", name, s); err != nil {
		return err
	}
	m.seen[name] = finding{number: m.max, metric: s.Metric}
	keep := m.keep()
	maps := map[string]finding{}
	for name, f := range m.seen {
		if keep[name] || errors.Is(f.err, ErrVersion) {
			maps[name] = f
		}
	}
	m.seen = maps
	names, _ := m.fs.Names()
	for _, name := range names {
		if _, stays := m.seen[name]; !stays && strings.HasPrefix(name, "ckpt-") {
			m.fs.Remove(name)
		}
	}
	return nil
}

func (m *Manager) durable(c contextual, temp, name string, s *State) (err error) {
	if c.File, err = m.fs.Create(temp); err != nil {
		return err
	}
	err = Write(c, s)
	if err == nil {
		err = c.Sync()
	}
	if closing := c.Close(); closing != nil {
		err = errors.Join(err, closing)
	}
	if err == nil {
		err = m.fs.Rename(temp, name)
	}
	if err == nil {
		err = m.fs.SyncDir()
	}
	return err
}

// wholes returns the names of whole checkpoints in an order.
func (m *Manager) wholes(less func(a, b finding) bool) (names []string) {
	for name, f := range m.seen {
		if f.err == nil {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool { return less(m.seen[names[i]], m.seen[names[j]]) })
	return names
}

func newer(a, b finding) bool { return a.number > b.number }

func better(a, b finding) bool {
	return a.metric < b.metric || a.metric == b.metric && a.number < b.number
}

func (m *Manager) ranked() []string {
	all := map[string]finding{}
	for name, f := range m.seen {
		if f.metric == f.metric {
			all[name] = f
		}
	}
	return (&Manager{seen: all}).wholes(better)
}

func (m *Manager) keep() map[string]bool {
	keep := map[string]bool{}
	for i, name := range m.wholes(newer) {
		keep[name] = i < m.cfg.Keep || m.cfg.Keep == 0
	}
	if ranked := m.ranked(); m.cfg.Best && len(ranked) > 0 {
		keep[ranked[0]] = true
	}
	return keep
}

func (m *Manager) Latest(s *State) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.take(m.wholes(newer), s)
}

func (m *Manager) Best(s *State) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.take(m.ranked(), s)
}

func (m *Manager) take(names []string, s *State) error {
	none := &noneError{}
	for name, f := range m.seen {
		if f.err != nil {
			none.files = append(none.files, &FileError{name, f.err})
		}
	}
	for _, name := range names {
		f, err := m.look(name, 0)
		if err != nil {
			return err
		}
		if f.err != nil {
			none.files = append(none.files, &FileError{name, f.err})
			continue
		}
		file, err := m.fs.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		return Read(file, s)
	}
	return none
}

// noneError is ErrNone, and the reasons.
type noneError struct{ files []error }

func (e *noneError) Error() string { return errors.Join(e.Unwrap()...).Error() }

func (e *noneError) Unwrap() []error { return slices.Concat([]error{ErrNone}, e.files) }
