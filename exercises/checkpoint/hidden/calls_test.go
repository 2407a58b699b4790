package hidden

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/checkpoint"
)

// If ctx is done Save returns its cause: before it begins it changes nothing, and while it
// writes it soon ends, whatever is written (rule 23).
func TestCancel(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	cause := errors.New("the budget is spent")
	plain, stop := context.WithCancel(context.Background())
	stop()
	caused, because := context.WithCancelCause(context.Background())
	because(cause)
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	lateCause, cancel := context.WithDeadlineCause(context.Background(), time.Unix(0, 0), cause)
	defer cancel()
	child, cancel := context.WithCancel(caused)
	defer cancel()
	for _, ctx := range []context.Context{plain, caused, late, lateCause, child} {
		for _, keep := range []int{0, 1} {
			d := newDisk()
			m := open(t, d, config{Keep: keep})
			last := 10 + r.IntN(10)
			save(t, m, small(1, 0), small(last, 0))
			before := d.changes
			err := m.Save(ctx, small(2, 0))
			o.Error("done before: error", err, cause, context.Canceled, context.DeadlineExceeded)
			o.Int("done before: changes", d.changes-before)
			o.Int("done before: Latest", latest(m))
			save(t, m, small(30+r.IntN(10), 0))
			o.Int("done before: Latest of the next Save", latest(m))
			o.Ints("done before: Steps of the files", d.steps())
		}
	}
	const many = 3_200_000 // bytes
	named := make([]tensor, many/64)
	for i := range named {
		named[i].Name = string(drawBytes(r, 64))
	}
	numbered := make([]tensor, many/800)
	for i := range numbered {
		numbered[i].Data = numbers(r, 100)
	}
	for i, large := range []*state{
		{Model: []tensor{{Name: "m", Data: numbers(r, many/8)}}}, {Optimizer: []tensor{{Name: "o"}, {Name: "p", Data: numbers(r, many/8)}}},
		{RNG: drawBytes(r, many)}, {Model: []tensor{{Name: string(drawBytes(r, many))}}}, {Optimizer: []tensor{{Name: string(drawBytes(r, many))}}},
		{Model: named}, {Optimizer: named}, {Model: numbered}, {Model: numbered[:50], Optimizer: numbered[50:]},
	} {
		withCause := i%2 == 0
		for _, after := range []int{0, 200_000} { // so many bytes
			d := newDisk()
			m := open(t, d, config{Keep: 1})
			last := 10 + r.IntN(10)
			save(t, m, small(1, 0), small(last, 0))
			ctx, cancel := context.WithCancelCause(context.Background())
			at := -1
			begun := d.written
			d.onWrite = func(n int) {
				if at < 0 && d.written-begun+n > after {
					at = d.written
					if withCause {
						cancel(cause)
					} else {
						cancel(nil)
					}
				}
			}
			err := m.Save(ctx, large)
			o.Error("done in the middle: error", err, cause, context.Canceled)
			o.Int("done in the middle: files left open", d.handles)
			o.Bool("done in the middle: at most 1 MiB more", at >= 0 && d.written-at <= 1<<20)
			o.Int("done in the middle: Latest", latest(m))
			o.Int("done in the middle: Latest after Open", latest(open(t, d, config{Keep: 1})))
			save(t, m, small(30+r.IntN(10), 0))
			o.Ints("done in the middle: Steps of the files", d.steps())
			cancel(nil)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	m := open(t, newDisk(), all)
	o.Error("done later: error", m.Save(ctx, small(5, 0)))
	stop()
	o.Int("done later: Latest", latest(m))
	cancelledInARow(t, o, r)
	cancelledWaiting(t, o, r)
	cancelledAtTheEnd(t, o, r)
}

// cancelledAtTheEnd ends a small Save while it writes, when it may go on and may give up: in
// the folder is what it says.
func cancelledAtTheEnd(t *testing.T, o *observe.Observer, r *rand.Rand) {
	cause := errors.New("enough")
	d := newDisk()
	m := open(t, d, all)
	last, next := r.IntN(10), 10+r.IntN(10)
	save(t, m, small(last, 0))
	ctx, cancel := context.WithCancelCause(context.Background())
	d.onWrite = func(int) { cancel(cause) }
	err := m.Save(ctx, small(next, 0))
	d.onWrite = nil
	if err == nil {
		last = next
	}
	o.Bool("done at the end: nil or the cause", err == nil || errors.Is(err, cause))
	o.Bool("done at the end: Latest is as Save said", latest(m) == last && latest(open(t, d, all)) == last)
}

// asked is a ctx that tells when it is asked for the first time.
type asked struct {
	context.Context
	first func()
}

func (c asked) Err() error {
	defer c.first()
	return c.Context.Err()
}

func (c asked) Done() <-chan struct{} {
	defer c.first()
	return c.Context.Done()
}

// cancelledWaiting ends a small Save while it waits for another one. Where it asks its ctx only
// when its turn comes, it is ended before that.
func cancelledWaiting(t *testing.T, o *observe.Observer, r *rand.Rand) {
	cause := errors.New("not worth waiting for")
	for range 3 {
		d := newDisk()
		m := open(t, d, config{Keep: 1})
		ctx, cancel := context.WithCancelCause(context.Background())
		waits := make(chan struct{})
		second := make(chan error, 1)
		d.onWrite = func(int) {
			d.onWrite = nil
			go func() { second <- m.Save(asked{ctx, sync.OnceFunc(func() { close(waits) })}, small(2, 0)) }()
			select {
			case <-waits:
			case <-time.After(20 * time.Millisecond):
			}
			cancel(cause)
		}
		save(t, m, small(10+r.IntN(90), 0))
		if d.onWrite != nil {
			second <- nil // nothing was written
		}
		o.Error("done while it waits: error", <-second, cause, context.Canceled)
		o.Int("done while it waits: Latest", latest(m))
		cancel(nil)
	}
}

// cancelledInARow ends many Saves while they write. The next one is as if they had not been.
func cancelledInARow(t *testing.T, o *observe.Observer, r *rand.Rand) {
	d := newDisk()
	m := open(t, d, config{Keep: 1})
	save(t, m, small(1, 0))
	large := &state{Model: []tensor{{Name: "m", Data: numbers(r, 400_000)}}}
	for range 7 {
		ctx, cancel := context.WithCancel(context.Background())
		d.onWrite = func(int) { cancel() }
		o.Error("done in many Saves: error", m.Save(ctx, large), context.Canceled)
	}
	d.onWrite = nil
	o.Ints("done in many Saves: Latest", []int{latest(m), latest(open(t, d, config{Keep: 1}))})
	save(t, m, small(30+r.IntN(10), 0))
	o.Ints("done in many Saves: Steps of the files", d.steps())
}

// A Manager may make any number of Saves. Managers of different folders have nothing in
// common, and none waits for another (rules 24 and 25).
func TestManySaves(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	d := newDisk()
	m := open(t, d, config{Keep: 2, Best: true})
	s := &state{Step: r.IntN(1000), Metric: -1, Model: []tensor{{Name: "w", Data: []float64{0}}}}
	first := s.Step
	wrong, older := 0, 0
	for i := range 100_100 {
		s.Model[0].Data[0] = float64(i)
		save(t, m, s)
		s.Metric, s.Step = 0, first+i+1
		d.calls, d.pending = 0, nil
		if len(d.names) > 3 {
			wrong++
		}
		if longer(i) && !slices.Equal(lastNumbers(t, d), []float64{float64(i)}) {
			older++
		}
	}
	o.Int("where numbers of Saves get longer, Opens that have an older one", older)
	var got state
	o.Error("Latest: error", open(t, d, all).Latest(&got), kinds...)
	o.Floats("Latest", firstNumbers(&got))
	o.Error("Best: error", m.Best(&got), kinds...)
	o.Floats("Best", firstNumbers(&got))
	o.Int("too many files", wrong)
	disks := make([]*disk, 1000)
	managers := make([]*checkpoint.Manager, len(disks))
	for i := range disks {
		disks[i] = newDisk()
		managers[i] = open(t, disks[i], config{Keep: 1 + i%3})
		save(t, managers[i], small(2*i, 0))
	}
	order := rand.New(rand.NewPCG(r.Uint64(), 1)).Perm(len(disks))
	for _, i := range order {
		if i%2 == 0 {
			save(t, managers[i], small(2*i+1, -1))
		}
	}
	wrong = 0
	for i := range disks {
		want := 2*i + (i+1)%2
		for _, m := range []*checkpoint.Manager{managers[i], open(t, disks[i], all)} {
			if latest(m) != want || best(m) != want {
				wrong++
			}
		}
	}
	o.Int("of a thousand Managers others' States", wrong)
	slow := newDisk()
	one := open(t, slow, all)
	save(t, one, small(1, 1))
	var steps []int
	stuck := 0
	// In a call of the one folder all calls of another are made.
	other := func() {
		slow.onWrite, slow.onRead = nil, nil
		if stuck > 0 {
			return // one wait shows it, and many are a test that sleeps
		}
		done := make(chan []int, 1)
		d, s := newDisk(), small(10+r.IntN(10), 0)
		go func() {
			m, err := checkpoint.Open(d, all)
			if err != nil || m.Save(context.Background(), s) != nil {
				done <- nil
				return
			}
			done <- []int{latest(m), best(m)}
		}()
		select {
		case got := <-done:
			steps = append(steps, got...)
		case <-time.After(5 * time.Second):
			stuck++
		}
	}
	for _, call := range []func(){
		func() { save(t, one, small(2, 2)) }, func() { latest(one) }, func() { best(one) }, func() { open(t, slow, all) },
	} {
		slow.onWrite, slow.onRead = func(int) { other() }, other
		call()
	}
	o.Ints("while another folder is slow", steps)
	o.Int("Managers that wait for another", stuck)
	waits := stuck > 0
	for _, call := range []string{"Save", "Latest", "Best", "Open"} {
		waits = waits || !ends(func() bool { return within(1100, call) })
		o.Bool("many Managers, each in a call of the one before, none waits: "+call, !waits)
	}
}

// longer reports whether i is close to a number at which a count gets a digit more, decimal
// or hexadecimal.
func longer(i int) bool {
	for _, base := range []int{10, 16} {
		for power := base; power < 1<<20; power *= base {
			if i >= power-3 && i <= power+1 {
				return true
			}
		}
	}
	return false
}

// ends reports whether f returns true. It does not wait for it without end.
func ends(f func() bool) bool {
	done := make(chan bool, 1)
	go func() { done <- f() }()
	select {
	case good := <-done:
		return good
	case <-time.After(10 * time.Second):
		return false
	}
}

// within uses a folder, and in a call of it another one, and so on. It reports whether all
// find what they saved.
func within(depth int, call string) bool {
	d := newDisk()
	m, err := checkpoint.Open(d, all)
	if err != nil || m == nil {
		return false
	}
	good := true
	inner := func() {
		d.onWrite, d.onRead = nil, nil
		good = depth == 0 || within(depth-1, call)
	}
	if call == "Save" {
		d.onWrite = func(int) { inner() }
	}
	err = m.Save(context.Background(), small(depth, 0))
	if call != "Save" {
		d.onRead = inner
	}
	switch call {
	case "Best":
		return err == nil && best(m) == depth && good
	case "Open":
		again, openErr := checkpoint.Open(d, all)
		m, err = again, errors.Join(err, openErr)
	}
	return err == nil && latest(m) == depth && good
}

// lastNumbers are those of the first Tensor of the last checkpoint in a folder.
func lastNumbers(t *testing.T, d *disk) []float64 {
	var got state
	if err := open(t, d, all).Latest(&got); err != nil {
		return nil
	}
	return firstNumbers(&got)
}

// firstNumbers are those of the first Tensor, if there is one.
func firstNumbers(s *state) []float64 {
	if len(s.Model) == 0 {
		return nil
	}
	return s.Model[0].Data
}

// Goroutines may use a Manager at the same time: Saves follow each other, and what is read
// is whole (rule 24).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	for _, keep := range []int{100, 1, 3} {
		d := newDisk()
		cfg := config{Keep: keep, Best: true}
		m := open(t, d, cfg)
		shared := small(7, 1)
		save(t, m, shared)
		var wg sync.WaitGroup
		var mu sync.Mutex
		wrong := [2]int{}
		count := func(i int, bad bool) {
			mu.Lock()
			defer mu.Unlock()
			if bad {
				wrong[i]++
			}
		}
		for g := range 6 {
			wg.Go(func() {
				for i := range 8 {
					s := shared
					if i%2 == 1 {
						s = small(100*g+i, float64(2+g+i))
					}
					count(0, m.Save(context.Background(), s) != nil)
				}
			})
			wg.Go(func() {
				for range 8 {
					count(1, latest(m) < 0)
					count(1, best(m) != 7)
				}
			})
		}
		wg.Wait()
		o.Ints("errors of Save; of Latest and Best", wrong[:])
		o.Int("files open to be written at a time", d.mostWriting)
		again := open(t, d, cfg)
		o.Bool("a new Manager finds the same", latest(m) == latest(again) && best(m) == best(again))
		o.Int("Best", best(again))
		whole := 0
		for _, step := range d.steps() {
			if step >= 0 {
				whole++
			}
		}
		o.Bool("all files are whole", whole == len(d.mine()))
		if keep == 100 {
			o.Int("files", whole)
		}
	}
	many := below(o.Rand(), 40, 60)
	for _, chosen := range []func(open int) bool{
		func(open int) bool { return open == 0 },
		func(open int) bool { return open == 1 },
		func(open int) bool { return open == 2 },
		func(open int) bool { return open < many },
		func(open int) bool { return open < many && open%2 == 1 },
	} {
		removedWhileRead(t, o, "Latest", chosen, (*checkpoint.Manager).Latest)
		removedWhileRead(t, o, "Best", chosen, (*checkpoint.Manager).Best)
	}
	largeAtOnce(t, o)
	damagedAtOnce(t, o)
}

// damagedAtOnce has many read at once where the last and best checkpoints are damaged: what one of them
// finds out, others may read.
func damagedAtOnce(t *testing.T, o *observe.Observer) {
	a := newArena(0, 0)
	m := open(t, a, all)
	for i := range 4 {
		save(t, m, small(i, float64(-i)))
	}
	for range 3 {
		a.spoilNewest(o.Rand())
	}
	var got [4][2]int
	var wg sync.WaitGroup
	for g := range got {
		wg.Go(func() { got[g] = [2]int{latest(m), best(m)} })
	}
	wg.Wait()
	for _, steps := range got {
		o.Ints("damaged: Latest and Best, read by many at once", steps[:])
	}
}

// gap is a disk in which something happens before its files are opened, each with its number.
type gap struct {
	*disk
	opens  atomic.Int64
	before func(open int)
}

func (g *gap) Open(name string) (checkpoint.File, error) {
	if open := int(g.opens.Add(1)) - 1; g.before != nil {
		g.before(open)
	}
	return g.disk.Open(name)
}

// removedWhileRead saves another State before each file that is chosen is opened to be read, so that the file
// is removed. A Manager may have a Save wait until all is read; then nobody waits for it, and it is the last.
func removedWhileRead(t *testing.T, o *observe.Observer, name string, chosen func(open int) bool, read func(*checkpoint.Manager, *state) error) {
	g := &gap{disk: newDisk()}
	m := open(t, g, config{Keep: 1})
	save(t, m, small(1, 0))
	g.opens.Store(0)
	var saves sync.WaitGroup
	var last atomic.Bool
	g.before = func(open int) {
		if last.Load() || !chosen(open) {
			return
		}
		done := make(chan struct{})
		saves.Go(func() { saveInGap(m, small(open+2, 0), done) })
		if !ended(done) {
			last.Store(true)
		}
	}
	got := found(func(s *state) error { return read(m, s) })
	saves.Wait()
	o.Bool("removed while it is read: a whole one by "+name, got >= 1 && got <= int(g.opens.Load())+1)
}

func saveInGap(m *checkpoint.Manager, s *state, done chan<- struct{}) {
	defer close(done)
	_ = m.Save(context.Background(), s)
}

// ended returns true when saveInGap has ended, and false when it waits for something, such as a lock, or goes on for
// a second.
func ended(done <-chan struct{}) bool {
	buffer := make([]byte, 1<<18)
	for begun := time.Now(); time.Since(begun) < time.Second; {
		runtime.Gosched()
		select {
		case <-done:
			return true
		default:
		}
		for stack := range bytes.SplitSeq(buffer[:runtime.Stack(buffer, true)], []byte("\n\n")) {
			if bytes.Contains(stack, []byte(".saveInGap(")) && waiting.Match(stack) {
				return false
			}
		}
	}
	return false
}

// waiting matches the stack of a goroutine that waits for another one.
var waiting = regexp.MustCompile(`^goroutine \d+ \[(sync|semacquire|chan|select)`)

// largeAtOnce uses all functions in goroutines with large States: each with a folder of its
// own, then all with one.
func largeAtOnce(t *testing.T, o *observe.Observer) {
	states, alone := make([]*state, 4), make([][]byte, 4)
	for g := range states {
		states[g] = large(o.Rand(), g)
		alone[g] = written(t, states[g])
	}
	m := open(t, newDisk(), config{Keep: 2, Best: true})
	save(t, m, states[0])
	var wg sync.WaitGroup
	var wrong [4][3]int
	for g, s := range states {
		// A goroutine counts in a place of its own: a lock would keep it apart from others.
		count := func(what int, bad bool) {
			if bad {
				wrong[g][what]++
			}
		}
		wg.Go(func() {
			var w bytes.Buffer
			var got state
			count(0, checkpoint.Write(&w, s) != nil || !bytes.Equal(w.Bytes(), alone[g]))
			count(0, checkpoint.Read(bytes.NewReader(alone[g]), &got) != nil || !same(&got, s))
			count(1, !ownFolder(s))
			count(2, m.Save(context.Background(), s) != nil)
			count(2, m.Latest(&got) != nil || got.Step < 0 || got.Step >= len(states) || !same(&got, states[got.Step]))
			count(2, m.Best(&got) != nil || !same(&got, states[0]))
		})
	}
	wg.Wait()
	for what, name := range []string{"Write or Read", "Managers of different folders", "one Manager"} {
		total := 0
		for g := range wrong {
			total += wrong[g][what]
		}
		o.Int("large States at once: "+name, total)
	}
}

// ownFolder reports whether a new folder gives back what is saved in it, by every function.
func ownFolder(s *state) bool {
	d := newDisk()
	m, err := checkpoint.Open(d, all)
	if err != nil || m == nil || m.Save(context.Background(), s) != nil {
		return false
	}
	var last, lowest state
	again, err := checkpoint.Open(d, all)
	return err == nil && again.Latest(&last) == nil && same(&last, s) && m.Best(&lowest) == nil && same(&lowest, s)
}

// large is a State with long lists of everything, whose Step is also its Metric.
func large(r *rand.Rand, step int) *state {
	s := draw(r, 2, 300)
	s.Step, s.Metric, s.RNG = step, float64(step), drawBytes(r, 70_000)
	s.Model[0].Data, s.Model[1].Name = numbers(r, 70_000), string(drawBytes(r, 70_000))
	s.Optimizer[0].Data = numbers(r, 20_000)
	return s
}
