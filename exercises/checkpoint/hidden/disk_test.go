package hidden

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"grade/reference/checkpoint"
)

// errDisk is what a call returns that fails.
var errDisk = errors.New("input/output error")

// errOf are the errors of calls that change something, so that each can be looked for. All
// of them are errDisk.
var errOf = map[string]error{}

func init() {
	for _, call := range []string{"Create", "Rename", "Remove", "SyncDir", "Write", "Sync", "Close"} {
		errOf[call] = fmt.Errorf("%s: %w", call, errDisk)
	}
}

// failure is how a call fails.
type failure string

const (
	fails  failure = "it does nothing"
	half   failure = "it does its work, or a half"
	broken failure = "it and all that follow do nothing"
	dies   failure = "the machine dies"
)

// disk is a folder in memory with the rules of checkpoint.FS.
type disk struct {
	mu             sync.Mutex
	names, durable map[string]*inode
	pending        []change // of names, since the last SyncDir

	calls, failAt int // the call that fails, counted from 1; 0 is none
	how           failure
	as            error   // what calls return that fail, if not errDisk
	given         []error // of Save's calls that had to succeed, since failNext
	down          bool    // no call succeeds
	keepsFiles    bool    // no Remove succeeds
	stuck         string  // the file that no Remove removes
	failing       string  // all calls of this name fail, as how says
	anyOrder      bool    // Names gives one order and the reverse, by turns

	handles, writing, mostWriting int         // files that are open
	changes                       int         // calls that would change something
	foreign                       int         // calls with names that are not the package's
	written                       int         // bytes
	onWrite                       func(n int) // before so many bytes
	onRead                        func()
	used                          map[string]bool // all names that files had
}

// inode is a file, which may have several names or none.
type inode struct{ data, synced []byte }

// change is of a name: it gets a file, maybe in the place of another name, or loses it.
type change struct {
	file     *inode
	from, to string
}

// newDisk returns one whose Names are sorted: it is for tests of rules that are about no order.
func newDisk() *disk {
	return &disk{names: map[string]*inode{}, durable: map[string]*inode{}, used: map[string]bool{}}
}

// unsorted returns one whose Names come in any order, for tests of what was saved last, first
// or best.
func unsorted() *disk {
	d := newDisk()
	d.anyOrder = true
	return d
}

// begin counts a call. It reports whether the call does its work, and its error.
func (d *disk) begin(call string) (works bool, err error) {
	d.calls++
	if errOf[call] != nil {
		d.changes++
	}
	if d.down {
		return false, d.error(call)
	}
	if call == d.failing {
		return d.how == half, d.error(call)
	}
	if d.calls != d.failAt {
		return true, nil
	}
	d.down = d.how == dies || d.how == broken
	return d.how == half, d.error(call)
}

func (d *disk) error(call string) error {
	if d.as != nil {
		return d.as
	}
	if errOf[call] == nil {
		return errDisk
	}
	if call != "Remove" {
		d.given = append(d.given, errOf[call])
	}
	return errOf[call]
}

// told reports whether an error holds each that calls of Save have returned.
func (d *disk) told(err error) bool {
	return errors.Is(err, errDisk) && !slices.ContainsFunc(d.given, func(e error) bool { return !errors.Is(err, e) })
}

// failNext makes call i from now fail.
func (d *disk) failNext(i int, how failure) { d.failAt, d.how, d.given = d.calls+i, how, nil }

// failed reports whether the call that was to fail has been made.
func (d *disk) failed() bool { return d.failAt > 0 && d.calls >= d.failAt }

// repair ends failures.
func (d *disk) repair() {
	d.failAt, d.down, d.keepsFiles, d.stuck, d.failing = 0, false, false, "", ""
}

func mine(name string) bool { return strings.HasPrefix(name, "ckpt-") }

func (d *disk) look(name string) {
	if !mine(name) {
		d.foreign++
	}
}

func (d *disk) Create(name string) (checkpoint.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(name)
	d.used[name] = true
	works, err := d.begin("Create")
	if works {
		if f := d.names[name]; f != nil {
			f.data = nil
		} else {
			d.names[name] = &inode{}
			d.pending = append(d.pending, change{file: d.names[name], to: name})
		}
	}
	if err != nil {
		return nil, err
	}
	d.handles++
	d.writing++
	d.mostWriting = max(d.mostWriting, d.writing)
	return &handle{disk: d, file: d.names[name], writes: true}, nil
}

func (d *disk) Open(name string) (checkpoint.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(name)
	if _, err := d.begin("Open"); err != nil {
		return nil, err
	}
	f := d.names[name]
	if f == nil {
		return nil, checkpoint.ErrNotExist
	}
	d.handles++
	return &handle{disk: d, file: f}, nil
}

func (d *disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(from)
	d.look(to)
	d.used[to] = true
	works, err := d.begin("Rename")
	if works {
		f := d.names[from]
		if f == nil {
			return checkpoint.ErrNotExist
		}
		c := change{f, from, to}
		c.apply(d.names)
		d.pending = append(d.pending, c)
	}
	return err
}

func (d *disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(name)
	works, err := d.begin("Remove")
	if d.keepsFiles || d.stuck != "" && name == d.stuck {
		return d.error("Remove")
	}
	if works {
		f := d.names[name]
		if f == nil {
			return checkpoint.ErrNotExist
		}
		c := change{file: f, from: name}
		c.apply(d.names)
		d.pending = append(d.pending, c)
	}
	return err
}

func (d *disk) Names() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.begin("Names"); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(d.names))
	if d.anyOrder && d.calls%2 == 0 {
		slices.Reverse(names)
	}
	return names, nil
}

func (d *disk) SyncDir() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	works, err := d.begin("SyncDir")
	if works {
		d.durable, d.pending = maps.Clone(d.names), nil
	}
	return err
}

func (c change) apply(names map[string]*inode) {
	if c.from != "" && names[c.from] == c.file {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.file
	}
}

// handle is an open file.
type handle struct {
	disk   *disk
	file   *inode
	at     int
	writes bool
	closed bool
}

var errClosed = errors.New("the file is closed, or not open for this")

// Read gives some two thirds of what it is asked for.
func (h *handle) Read(p []byte) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed || h.writes {
		return 0, errClosed
	}
	if h.disk.onRead != nil {
		h.disk.onRead()
	}
	if _, err := h.disk.begin("Read"); err != nil {
		return 0, err
	}
	rest := h.file.data[min(h.at, len(h.file.data)):]
	if len(rest) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p[:(2*len(p)+2)/3], rest)
	h.at += n
	return n, nil
}

func (h *handle) Write(p []byte) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed || !h.writes {
		return 0, errClosed
	}
	if h.disk.onWrite != nil {
		h.disk.onWrite(len(p))
	}
	works, err := h.disk.begin("Write")
	if err != nil {
		p = p[:len(p)/2]
	}
	if !works {
		return 0, err
	}
	h.file.data = append(h.file.data, p...)
	h.disk.written += len(p)
	return len(p), err
}

func (h *handle) Sync() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed {
		return errClosed
	}
	works, err := h.disk.begin("Sync")
	if works {
		h.file.synced = slices.Clip(h.file.data)
	}
	return err
}

// Close may fail where the file was written; then it has not been synced either.
func (h *handle) Close() (err error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed {
		return errClosed
	}
	h.closed = true
	h.disk.handles--
	if !h.writes {
		return nil
	}
	h.disk.writing--
	if _, err = h.disk.begin("Close"); err != nil {
		h.file.synced = nil
	}
	return err
}

// fate is what becomes of bytes that were not synced.
type fate string

var fates = []fate{"nothing", "all", "the beginning", "zeros behind", "zeros in front"}

// of returns what a file has after the machine died.
func (f fate) of(r *rand.Rand, i *inode) []byte {
	data := bytes.Clone(i.data)
	if bytes.Equal(data, i.synced) {
		return data
	}
	switch f {
	case "nothing":
		return bytes.Clone(i.synced)
	case "the beginning":
		return data[:r.IntN(len(data)+1)]
	case "zeros behind":
		clear(data[len(data)/3:])
	case "zeros in front":
		clear(data[:len(data)/2])
	}
	return data
}

// survivors are the changes of names that survive.
type survivors string

var survivings = []survivors{"no name", "all names", "removals", "additions", "some names"}

func (s survivors) keep(r *rand.Rand, c change) bool {
	switch s {
	case "all names":
		return true
	case "removals":
		return c.to == ""
	case "additions":
		return c.to != ""
	case "some names":
		return r.IntN(2) == 0
	}
	return false
}

// after returns what is there when the machine runs again.
func (d *disk) after(r *rand.Rand, bytes fate, names survivors) *disk {
	there := maps.Clone(d.durable)
	for _, c := range d.pending {
		if names.keep(r, c) {
			c.apply(there)
		}
	}
	e := newDisk()
	e.anyOrder = d.anyOrder
	for _, name := range slices.Sorted(maps.Keys(there)) {
		e.put(name, bytes.of(r, there[name]))
	}
	return e
}

// folder has a checkpoint for each rank, which all are kept: 0, 1 and so on are their Steps,
// and the ranks are their Metrics.
func folder(t testing.TB, ranks []int) *disk {
	d := newDisk()
	m := open(t, d, config{})
	for step, rank := range ranks {
		save(t, m, small(step, float64(rank)))
	}
	return d
}

// damageAllBut cuts the files of all other Steps, and returns the names of what it cut.
func (d *disk) damageAllBut(step int) (names []string) {
	for _, name := range d.mine() {
		if data := d.names[name].data; stepOf(data) != step {
			d.put(name, data[:len(data)/2:len(data)/2])
			names = append(names, name)
		}
	}
	return names
}

// put makes a durable file.
func (d *disk) put(name string, data []byte) {
	d.names[name] = &inode{data, slices.Clip(data)}
	d.durable[name] = d.names[name]
}

// deaths calls f with all that may be there when the machine runs again.
func (d *disk) deaths(r *rand.Rand, f func(*disk)) {
	for _, bytes := range fates {
		for _, names := range survivings {
			f(d.after(r, bytes, names))
		}
	}
}

// mine returns the names of the package's files.
func (d *disk) mine() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.names)), func(name string) bool { return !mine(name) })
}

// steps returns the Steps of the package's files, sorted, and -1 for what is none.
func (d *disk) steps() (list []int) {
	for _, name := range d.mine() {
		list = append(list, stepOf(d.names[name].data))
	}
	slices.Sort(list)
	return list
}

func stepOf(data []byte) int {
	var s checkpoint.State
	if checkpoint.Read(bytes.NewReader(data), &s) != nil {
		return -1
	}
	return s.Step
}

// file returns the name of the file with a Step.
func (d *disk) file(step int) string {
	for _, name := range d.mine() {
		if stepOf(d.names[name].data) == step {
			return name
		}
	}
	return ""
}

// change changes the bytes of the file with a Step, if there is one, and returns its name.
func (d *disk) change(step int, how func(data []byte) []byte) (name string) {
	if name = d.file(step); name != "" {
		d.put(name, how(bytes.Clone(d.names[name].data)))
	}
	return name
}
