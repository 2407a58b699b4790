package hidden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/checkpoint"
)

// mostCalls is how many calls a Save of a small State may make (rule 22).
const mostCalls = 500

// trial is a training that has saved, and saves again while the disk fails or dies.
type trial struct {
	name  string
	cfg   config
	saved []*state
	dead  int // the call of a Save before at which the machine died, if not 0
	next  *state
}

func trials(o *observe.Observer) []trial {
	r := o.Rand()
	at := func(i int, metric float64) *state { return small(10*i+r.IntN(10), metric) }
	return []trial{
		{"the first one", config{}, nil, 0, at(1, 0)},
		{"the first one, Keep 1", config{Keep: 1, Best: true}, nil, 0, at(1, 0)},
		{"Keep 0", config{}, []*state{at(1, 0), at(2, 0)}, 0, at(3, 0)},
		{"Keep 1", config{Keep: 1}, []*state{at(2, 0)}, 0, at(1, 0)},
		{"Keep 1, after others", config{Keep: 1}, []*state{at(1, 0), at(2, 0), at(3, 0)}, 0, at(4, 0)},
		{"the same Step again", config{Keep: 1}, []*state{small(5, 0)}, 0, &state{Step: 5, Metric: 1, Model: small(5, 0).Model}},
		{"Keep 2 and the best", config{Keep: 2, Best: true}, []*state{at(1, 1), at(2, 3), at(3, 2), at(4, 4)}, 0, at(5, 0)},
		{"Keep 1, after a death", config{Keep: 1}, []*state{at(1, 0), at(2, 0)}, below(r, 1, 3), at(4, 0)},
		{"Keep 1, after a late death", config{Keep: 1}, []*state{at(1, 0), at(2, 0)}, below(r, 4, 8), at(4, 0)},
	}
}

// begin makes the Saves that succeed, and one in which the machine dies. It returns what is
// the last one now.
func (c trial) begin(t *testing.T, g *rand.Rand) (d *disk, m *checkpoint.Manager, last int) {
	d, last = newDisk(), none
	m = open(t, d, c.cfg)
	for _, s := range c.saved {
		save(t, m, s)
		last = s.Step
	}
	if c.dead > 0 {
		s := small(70, 0)
		d.failNext(c.dead, dies)
		_ = m.Save(context.Background(), s)
		d = d.after(g, fates[g.IntN(len(fates))], survivings[g.IntN(len(survivings))])
		m = open(t, d, c.cfg)
		if latest(m) == s.Step {
			last = s.Step
		}
	}
	return d, m, last
}

// each calls f with every call of the next Save failing, one after the other.
func (c trial) each(t *testing.T, o *observe.Observer, g *rand.Rand, how failure, f func(d *disk, m *checkpoint.Manager, last int, err error)) {
	for i := 1; ; i++ {
		d, m, last := c.begin(t, g)
		d.failNext(i, how)
		err := m.Save(context.Background(), c.next)
		failed := d.failed()
		d.failAt = 0
		if !failed {
			o.Error("without a failure: "+c.name, err, errDisk)
			o.Int("without a failure: "+c.name, latest(open(t, d, c.cfg)))
			return
		}
		if i > mostCalls {
			t.Fatalf("a Save makes more than %d calls", mostCalls)
		}
		f(d, m, last, err)
	}
}

// verdicts count what may not be.
type verdicts struct{ notOpened, lost, neither, strangeErrors int }

func (v *verdicts) record(o *observe.Observer, name string) {
	o.Int("Open fails: "+name, v.notOpened)
	o.Int("a saved State is lost: "+name, v.lost)
	o.Int("Latest finds another State: "+name, v.neither)
	o.Int("errors that Save does not tell: "+name, v.strangeErrors)
}

// look asks for the last checkpoint of a folder.
func (v *verdicts) look(d *disk, cfg config, last, next int, err error) {
	m, openErr := checkpoint.Open(d, cfg)
	if openErr != nil || m == nil {
		v.notOpened++
		return
	}
	v.judge(latest(m), last, next, err)
}

func (v *verdicts) judge(got, last, next int, err error) {
	if err == nil && got != next {
		v.lost++
	}
	if got != last && got != next {
		v.neither++
	}
}

// In whatever call the machine dies while it saves, Open has no error afterwards, and Latest
// finds the last State whose Save returned nil, or the one that was being saved, whole
// (rule 17).
func TestDies(t *testing.T) {
	o := observe.New(t)
	g := chance(o.Rand())
	for _, c := range trials(o) {
		var v verdicts
		c.each(t, o, g, dies, func(d *disk, _ *checkpoint.Manager, last int, err error) {
			d.deaths(g, func(d *disk) { v.look(d, c.cfg, last, c.next.Step, err) })
		})
		v.record(o, c.name)
		d, m, last := c.begin(t, g)
		save(t, m, c.next)
		var after verdicts
		d.deaths(g, func(d *disk) { after.look(d, c.cfg, last, c.next.Step, nil) })
		after.record(o, c.name+", when all is done")
	}
}

// The best checkpoint is not lost before a better one is durable, in whatever call the
// machine dies or the disk fails (rules 17 and 18).
func TestBestSurvives(t *testing.T) {
	o := observe.New(t)
	g := chance(o.Rand())
	for name, next := range []float64{-1, 7, math.NaN(), math.Inf(-1)} {
		for _, keep := range []int{1, 2} {
			c := trial{fmt.Sprintf("%d", name), config{Keep: keep, Best: true}, []*state{small(1, 3), small(2, 0), small(3, 5), small(4, 4)}, 0, small(5, next)}
			better, lost := 2, 0
			if next < 0 {
				better = 5
			}
			found := func(got int, err error) {
				if got != 2 && got != better || err == nil && got != better {
					lost++
				}
			}
			look := func(d *disk, err error) {
				m, openErr := checkpoint.Open(d, c.cfg)
				if openErr != nil || m == nil {
					lost++
					return
				}
				found(best(m), err)
			}
			for _, how := range []failure{dies, fails, half} {
				c.each(t, o, g, how, func(d *disk, m *checkpoint.Manager, _ int, err error) {
					if how != dies {
						found(best(m), err)
					}
					d.deaths(g, func(d *disk) { look(d, err) })
					if how != dies { // the next Save removes what is not kept
						d.repair()
						_ = m.Save(context.Background(), small(6, 6)) // which is worse than all
						found(best(m), err)
						look(d, err)
					}
				})
			}
			o.Int("best ones that are lost", lost)
			d, m, _ := c.begin(t, g)
			save(t, m, c.next)
			o.Int("Best", best(open(t, d, c.cfg)))
		}
	}
	for _, keep := range []int{1, 2} {
		_, lost := failThenDie(t, g, config{Keep: keep, Best: true})
		o.Int("Saves fail, and the machine dies in the next one: best ones that are lost", lost)
	}
}

// If calls fail Save returns their errors, unless the State is durable; Latest finds the last
// State or the new one, also when the machine dies later; the next Save succeeds (rule 18).
func TestFails(t *testing.T) {
	o := observe.New(t)
	g := chance(o.Rand())
	for _, c := range trials(o) {
		for _, how := range []failure{fails, half, broken} {
			var v, later verdicts
			c.each(t, o, g, how, func(d *disk, m *checkpoint.Manager, last int, err error) {
				if err != nil && !d.told(err) {
					v.strangeErrors++
				}
				d.repair()
				v.judge(latest(m), last, c.next.Step, err)
				v.look(d, c.cfg, last, c.next.Step, err)
				d.deaths(g, func(d *disk) { v.look(d, c.cfg, last, c.next.Step, err) })
				again := small(80+g.IntN(10), 0)
				err = m.Save(context.Background(), again)
				if err != nil {
					later.strangeErrors++
				}
				later.judge(latest(m), again.Step, again.Step, nil)
				later.look(d.after(g, "nothing", "removals"), c.cfg, again.Step, again.Step, nil)
				later.look(d.after(g, "the beginning", "some names"), c.cfg, again.Step, again.Step, nil)
			})
			v.record(o, c.name+", "+string(how))
			later.record(o, c.name+", "+string(how)+", and a Save later")
		}
	}
	for _, call := range calls {
		for _, how := range []failure{fails, half} {
			var r inARow
			r.save(t, how, slices.Repeat([]string{call}, 12))
			r.record(o, call+" fails often, "+string(how))
		}
	}
	var r inARow
	for _, first := range calls {
		for _, second := range calls {
			r.save(t, fails, []string{first, second})
		}
	}
	r.record(o, "two calls fail, one after the other")
	for _, keep := range []int{1, 2} {
		lost, _ := failThenDie(t, g, config{Keep: keep})
		o.Int("Saves fail, and the machine dies in the next one: Latest finds another State", lost)
	}
}

// failThenDie has as many Saves fail as are kept, each with a better Metric than those before,
// and the machine die in each call of the next one, by this Manager or a new one. It returns
// how often Latest and Best find what they may not.
func failThenDie(t *testing.T, g *rand.Rand, cfg config) (lastLost, bestLost int) {
	// once reports whether the machine died in call i.
	once := func(call string, how failure, reopened bool, i int) bool {
		d := newDisk()
		m := open(t, d, cfg)
		save(t, m, small(1, 0), small(2, 5))
		last, lowest := []int{2}, []int{1} // what may be found
		try := func(s *state) {
			if m.Save(context.Background(), s) == nil {
				last, lowest = nil, nil
			}
			last, lowest = append(last, s.Step), append(lowest, s.Step)
		}
		for k := range cfg.Keep {
			d.failing, d.how = call, how
			try(small(10+k, float64(-1-k)))
			d.repair()
		}
		if reopened {
			m = open(t, d, cfg)
		}
		d.failNext(i, dies)
		try(small(50, -50))
		for _, bytes := range []fate{"nothing", "all"} {
			for _, names := range []survivors{"removals", "some names"} {
				again, err := checkpoint.Open(d.after(g, bytes, names), cfg)
				if err != nil || again == nil || !slices.Contains(last, latest(again)) {
					lastLost++
				}
				if cfg.Best && (err != nil || again == nil || !slices.Contains(lowest, best(again))) {
					bestLost++
				}
			}
		}
		return d.failed()
	}
	for _, call := range []string{"Write", "Sync", "Close", "Rename", "SyncDir"} {
		for _, how := range []failure{fails, half} {
			for _, reopened := range []bool{false, true} {
				for i := 1; i <= mostCalls && once(call, how, reopened, i); i++ {
				}
			}
		}
	}
	return lastLost, bestLost
}

// inARow is what becomes of Saves that fail one after the other, and of one that does not
// then.
type inARow struct{ saves, later verdicts }

// save has a call fail in each Save, one after the other, and then none. Latest never finds
// another State than the last that is saved, or one that was to be since.
func (r *inARow) save(t *testing.T, how failure, failing []string) {
	d := newDisk()
	m := open(t, d, config{Keep: 1})
	may := []int{5}
	save(t, m, small(5, 0))
	for i, call := range failing {
		d.failing, d.how, d.given = call, how, nil
		err := m.Save(context.Background(), small(10+i, 0))
		if err == nil {
			may = nil
		} else if !d.told(err) {
			r.saves.strangeErrors++
		}
		d.repair()
		may = append(may, 10+i)
		if !slices.Contains(may, latest(m)) || !slices.Contains(may, latest(open(t, d, all))) {
			r.saves.neither++
		}
	}
	save(t, m, small(90, 0))
	r.later.judge(latest(m), 90, 90, nil)
	r.later.look(d, all, 90, 90, nil)
}

func (r *inARow) record(o *observe.Observer, name string) {
	r.saves.record(o, name)
	r.later.record(o, name+", and a Save later")
}

// An error of Remove is none of Save. What could not be removed is removed by a later Save
// (rule 19).
func TestRemoveFails(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i, cfg := range []config{{Keep: 1}, {Keep: 2}, {Keep: 2, Best: true}, {Keep: 1}, {Keep: 2}, {Keep: 2, Best: true}} {
		reopened := i < 3
		d := newDisk()
		m := open(t, d, cfg)
		d.keepsFiles = true
		for i := range 6 {
			s := small(10*i+r.IntN(10), math.Abs(float64(i-2)))
			o.Error("Save", m.Save(context.Background(), s), errDisk)
			o.Int("Latest", latest(m))
			if cfg.Best { // else what could not be removed may count
				o.Int("Best", best(m))
			}
			o.Int("Latest after Open", latest(open(t, d, cfg)))
		}
		again := m // the Manager whose Removes failed, and one that knows nothing of them
		if reopened {
			again = open(t, d, cfg)
		}
		o.Error("Save after that", again.Save(context.Background(), small(90, 9)), errDisk)
		d.repair()
		save(t, again, small(91+r.IntN(9), 9))
		o.Ints("Steps of the files", d.steps())
		o.Int("Latest in the end", latest(open(t, d, cfg)))
	}
	stuckFile(t, o, r)
}

// stuckFile makes every Remove of one file fail, in many Saves. The others are removed, and
// this one is as soon as it can be.
func stuckFile(t *testing.T, o *observe.Observer, r *rand.Rand) {
	for _, count := range []int{9, 300} {
		d := newDisk()
		m := open(t, d, config{Keep: 1})
		save(t, m, small(1, 0))
		d.stuck = d.file(1)
		for i := range count {
			save(t, m, small(10+i, 0))
		}
		o.Ints("one file cannot be removed: Steps of the files", d.steps())
		d.repair()
		save(t, m, small(1000+r.IntN(99), 0))
		o.Ints("the file can be removed again: Steps of the files", d.steps())
	}
}

// An error of Names, Open or of reading a file is returned, whichever it is, and is not
// damage (rule 20).
func TestReadFails(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	d := newDisk()
	m := open(t, d, all)
	large := draw(r, 2, 2)
	large.Metric = -1
	large.Model[0].Data = numbers(r, 20_000)
	save(t, m, small(1, 3), small(2, 2), large)
	calls := map[string]func() error{
		"Latest": func() error { return m.Latest(&state{}) },
		"Best":   func() error { return m.Best(&state{}) },
		"Open": func() error {
			m, err := checkpoint.Open(d, all)
			if err != nil && m != nil {
				return errClosed
			}
			return err
		},
	}
	for _, as := range []struct {
		name string
		err  error
	}{{"", errDisk}, {"not there: ", checkpoint.ErrNotExist}, {"short: ", io.ErrUnexpectedEOF}, {"wraps io.EOF: ", fmt.Errorf("the disk is gone: %w", io.EOF)}} {
		m = open(t, d, all)
		for _, name := range []string{"Latest", "Best", "Open"} {
			for _, how := range []failure{fails, broken} {
				lost := 0
				for i := 1; ; i++ {
					d.as = as.err
					d.failNext(i, how)
					err := calls[name]()
					failed := d.failed()
					d.repair()
					if !failed {
						o.Error(as.name+"without a failure: "+name, err)
						break
					}
					if !errors.Is(err, as.err) || errors.Is(err, checkpoint.ErrNone) || errors.Is(err, checkpoint.ErrDamaged) {
						lost++
					}
				}
				o.Int(as.name+"errors that are lost: "+name, lost)
			}
		}
		var got state
		o.Error(as.name+"after that", m.Latest(&got), kinds...)
		o.Float(as.name+"after that", sum(&got))
	}
	d.as = nil
	m = open(t, d, all)
	for _, call := range []string{"Names", "Open", "Read"} {
		lost := 0
		d.failing, d.how = call, fails
		for range 300 {
			for name, f := range calls {
				if call == "Names" && name != "Open" {
					continue
				}
				if err := f(); !errors.Is(err, errDisk) || errors.Is(err, checkpoint.ErrNone) || errors.Is(err, checkpoint.ErrDamaged) {
					lost++
				}
			}
		}
		d.repair()
		o.Int(call+" fails often: errors that are lost", lost)
		for _, f := range []func(*state) error{m.Latest, m.Best} {
			var got state
			o.Error(call+" fails often: after that", f(&got), kinds...)
			o.Float(call+" fails often: after that", sum(&got))
		}
	}
}

// What Saves have left behind that failed or died is gone when a Save has returned nil, and
// so are damaged checkpoints (rule 12).
func TestLeftovers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for _, cfg := range []config{{Keep: 2}, {}, {Keep: 1, Best: true}, {Keep: 1000}} {
		c := trial{"leftovers", cfg, []*state{small(1, 0), small(2, 1), small(3, 2)}, 0, small(4, 3)}
		least, most := 2, 2
		if cfg.Keep == 0 || cfg.Keep > 2 {
			least, most = 4, 5 // the one that failed may be there
		}
		for _, how := range []failure{dies, fails, half, broken} {
			left := [3]int{}
			clean := func(d *disk, m *checkpoint.Manager) {
				s := small(50+g.IntN(50), 4)
				save(t, m, s)
				steps := d.steps()
				if len(steps) < least || len(steps) > most {
					left[0]++
				}
				if slices.Contains(steps, -1) {
					left[1]++
				}
				if !slices.Contains(steps, s.Step) {
					left[2]++
				}
			}
			c.each(t, o, g, how, func(d *disk, m *checkpoint.Manager, _ int, err error) {
				d.repair()
				d.deaths(g, func(d *disk) { clean(d, open(t, d, c.cfg)) })
				if how != dies {
					clean(d, m)
				}
			})
			o.Ints("too many or few files; files that are not whole; the last one missing", left[:])
		}
	}
	for _, call := range calls {
		for _, how := range []failure{fails, half, dies} {
			leftByMany(t, o, r, g, call, how, 10)
		}
		leftByMany(t, o, r, g, call, fails, 260)
	}
	manyToRemove(t, o, r)
	for _, bad := range damages {
		if bad.kind == checkpoint.ErrVersion {
			continue
		}
		for at := 1; at <= 3; at++ {
			for _, keep := range []int{3, 0, 1000} {
				d := newDisk()
				save(t, open(t, d, all), small(1, 0), small(2, 0), small(3, 0))
				d.change(at, func(data []byte) []byte { return bad.damage(r, data) })
				save(t, open(t, d, config{Keep: keep}), small(10+r.IntN(9), 0))
				o.Ints("one was damaged before Open: Steps of the files after a Save", d.steps())
			}
		}
	}
}

// calls are those that a Save may make, other than Remove.
var calls = []string{"Create", "Write", "Sync", "Close", "Rename", "SyncDir", "Names", "Open", "Read"}

// leftByMany makes one call fail in many Saves, one after the other. A Save that returns nil
// removes what all of them have left, by the same Manager and by another one.
func leftByMany(t *testing.T, o *observe.Observer, r, g *rand.Rand, call string, how failure, count int) {
	for _, reopened := range []bool{false, true} {
		d := newDisk()
		m := open(t, d, config{Keep: 1})
		save(t, m, small(1, 0))
		for i := range count {
			d.failing, d.how = call, how
			_ = m.Save(context.Background(), small(10+i, 0))
			d.repair()
			if how == dies {
				d = d.after(g, "all", "all names")
				m = open(t, d, config{Keep: 1})
			}
		}
		if reopened {
			m = open(t, d, config{Keep: 1})
		}
		save(t, m, small(1000+r.IntN(99), 0))
		o.Ints("many Saves have failed: Steps of the files after one that has not", d.steps())
	}
}

// manyToRemove opens folders with hundreds of files. A Save removes those that are old and
// those that are damaged.
func manyToRemove(t *testing.T, o *observe.Observer, r *rand.Rand) {
	for _, damaged := range []bool{false, true} {
		d := folder(t, r.Perm(300))
		spared := r.IntN(300)
		if damaged {
			d.damageAllBut(spared)
		}
		save(t, open(t, d, config{Keep: 2}), small(1000+r.IntN(99), 0))
		o.Ints("a folder of many: Steps of the files after a Save", d.steps())
	}
}

// All files are closed, also after errors, and the calls for a small State are few
// (rules 21 and 22).
func TestCloses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	left, many := 0, 0
	closed := func(d *disk, before int) {
		left += d.handles
		d.handles = 0
		if d.calls-before > mostCalls {
			many++
		}
	}
	for _, c := range trials(o) {
		for _, how := range []failure{fails, half, broken} {
			c.each(t, o, g, how, func(d *disk, m *checkpoint.Manager, _ int, _ error) { closed(d, d.calls) })
		}
		d, m, _ := c.begin(t, g)
		closed(d, d.calls)
		for i := range 5 {
			before := d.calls
			save(t, m, small(100+10*i+r.IntN(10), float64(-i)))
			closed(d, before)
			for _, call := range []func(){func() { m = open(t, d, c.cfg) }, func() { latest(m) }, func() { best(m) }} {
				before := d.calls
				call()
				closed(d, before)
				d.failNext(1+g.IntN(6), fails)
				_ = m.Latest(&state{})
				_ = m.Best(&state{})
				_, _ = checkpoint.Open(d, c.cfg)
				d.repair()
				closed(d, d.calls)
			}
		}
		o.Int("Latest", latest(m))
	}
	for _, keep := range []int{0, 8, 7} {
		d, cfg := newDisk(), config{Keep: keep, Best: true}
		m := open(t, d, cfg)
		for i := range 8 { // with the most Tensors that have 20 numbers
			s := &state{Step: 10*i + r.IntN(10), Metric: float64(i), RNG: drawBytes(r, 20)}
			for range 10 {
				s.Model = append(s.Model, tensor{Name: "w", Data: numbers(r, 1)})
				s.Optimizer = append(s.Optimizer, tensor{Name: "m", Data: numbers(r, 1)})
			}
			before := d.calls
			save(t, m, s)
			closed(d, before)
		}
		look := func() {
			var got state
			for _, call := range []func() error{
				func() (err error) { m, err = checkpoint.Open(d, cfg); return err }, func() error { return m.Latest(&got) }, func() error { return m.Best(&got) },
			} {
				before := d.calls
				o.Error("20 Tensors", call())
				closed(d, before)
			}
			o.Int("Best of 20 Tensors", got.Step)
		}
		look()
		stale := m
		steps := d.steps()
		for _, step := range steps[1 : len(steps)-1] {
			d.change(step, func(data []byte) []byte { data[len(data)-1]++; return data })
		}
		d.change(steps[len(steps)-1], func(data []byte) []byte { data[len(data)-1]++; return data })
		for _, call := range []func(*state) error{stale.Latest, stale.Best} {
			before := d.calls
			var got state
			o.Error("the first of 20 Tensors", call(&got))
			o.Int("the first of 20 Tensors", got.Step)
			closed(d, before)
		}
		look()
	}
	d := newDisk()
	m := open(t, d, all)
	save(t, m, small(1, 2), small(2, 1), small(3, 0))
	for _, call := range []func(){func() { latest(m) }, func() { best(m) }, func() { _, _ = checkpoint.Open(d, all) }} {
		for _, how := range []failure{fails, broken} { // in each call that it makes
			for i, failed := 1, true; failed && i <= mostCalls; i++ {
				d.failNext(i, how)
				call()
				failed = d.failed()
				d.repair()
				closed(d, d.calls)
			}
		}
	}
	for _, bad := range damages {
		d := newDisk()
		m := open(t, d, all)
		save(t, m, small(1, 0), small(2, -1))
		d.change(2, func(data []byte) []byte { return bad.damage(r, data) })
		for _, call := range []func(){func() { latest(m) }, func() { best(m) }, func() { open(t, d, all) }} {
			before := d.calls
			call()
			closed(d, before)
		}
	}
	o.Ints("files left open; too many calls", []int{left, many})
}
