package hidden

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/checkpoint"
)

// What Save has saved Latest reads, from this Manager and from one that is opened later. A
// checkpoint is one file of what Write writes (rules 9 and 10).
func TestSave(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		d := newDisk()
		m := open(t, d, config{Keep: below(r, 1, 3)})
		for i := range 5 {
			s := draw(r, below(r, 1, 3), below(r, 0, 3))
			s.Step = 100*i + r.IntN(100)
			before := copied(s)
			save(t, m, s)
			o.Bool("the State is as it was", same(s, before))
			clear(s.Model[0].Data)
			clear(s.RNG)
			for _, from := range []*checkpoint.Manager{m, open(t, d, config{Keep: 3})} {
				for range 2 {
					var got state
					o.Error("Latest: error", from.Latest(&got), kinds...)
					record(o, "Latest", &got)
					clear(got.RNG)
				}
			}
			o.Bool("a file is what Write writes", slices.ContainsFunc(d.mine(), func(name string) bool {
				return bytes.Equal(d.names[name].data, written(t, before))
			}))
		}
		o.Int("files of other names", len(d.names)-len(d.mine()))
	}
	large := draw(r, 2, 2)
	large.Model[1].Data = numbers(r, below(r, 66_000, 99_000))
	large.Optimizer[0].Data = numbers(r, below(r, 66_000, 99_000))
	large.Optimizer[1].Name = string(drawBytes(r, below(r, 66_000, 99_000)))
	large.RNG = drawBytes(r, below(r, 130_000, 190_000))
	d := newDisk()
	save(t, open(t, d, all), &state{}, large)
	var got state
	o.Error("Latest of a large State: error", open(t, d, all).Latest(&got), kinds...)
	o.Float("Latest of a large State", sum(&got))
	o.Bool("the same bits", same(&got, large))
	m := open(t, newDisk(), config{Keep: 2})
	save(t, m, &state{})
	var empty state
	o.Error("Latest of an empty State: error", m.Latest(&empty), kinds...)
}

// The last checkpoint is the one that was saved last, whatever its Step, also after many
// and after Open (rule 11).
func TestNewest(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	steps := append(r.Perm(130), 5, 5, 4, 1000, 3, 3, -7, math.MaxInt32, 0, 1000)
	for _, cfg := range []config{{Keep: 200}, {Keep: 3}, {Keep: 1}} {
		d := unsorted()
		m := open(t, d, cfg)
		for i, n := range steps {
			save(t, m, small(n, 0))
			o.Int("Latest", latest(m))
			if i%3 == 0 || i > 125 {
				m = open(t, d, cfg)
				o.Int("Latest after Open", latest(m))
			}
		}
	}
	newestOfMany(t, o, below(r, 100, 999))
}

// newestOfMany opens a folder wherever the number of a Save may get another digit or byte.
func newestOfMany(t *testing.T, o *observe.Observer, first int) {
	d, cfg := unsorted(), config{Keep: 2}
	m := open(t, d, cfg)
	for i := range 10_004 {
		save(t, m, small(first+i, 0))
		d.pending = nil
		for _, edge := range []int{100, 256, 1000, 10_000} {
			if i > edge-4 && i < edge+4 {
				m = open(t, d, cfg)
				o.Int("Latest after Open, of many", latest(m))
			}
		}
	}
}

// After a Save there are files for the last Keep checkpoints and for no others; Keep 0
// keeps all (rule 12).
func TestKeep(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, keep := range []int{0, 1, 2, 3, below(r, 4, 9), 20, math.MaxInt} {
		for _, reopen := range []int{1, 3, 100} {
			d := unsorted()
			m := open(t, d, config{Keep: keep})
			for i := range 13 {
				if i%reopen == 0 {
					m = open(t, d, config{Keep: keep})
				}
				save(t, m, small(10*i+r.IntN(10), r.Float64()))
				o.Ints("Steps of the files", d.steps())
			}
		}
	}
	d := unsorted()
	save(t, open(t, d, config{}), small(1, 3), small(2, 2), small(3, 1), small(4, 4), small(5, 5))
	for i, keep := range []int{4, 2, 3, 0, 1} {
		save(t, open(t, d, config{Keep: keep}), small(10+i, 6))
		o.Ints("Steps after another Keep", d.steps())
	}
	for _, keep := range []int{9, 10, 255, 256, 257} {
		d := unsorted()
		m := open(t, d, config{Keep: keep})
		for i := range keep + 3 {
			save(t, m, small(i+r.IntN(2)*1000, 0))
		}
		o.Ints("Steps of the files, with a larger Keep", d.steps())
	}
}

// The best checkpoint has the lowest Metric of all, and is kept beside the last ones
// (rules 12 and 13).
func TestBest(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, keep := range []int{0, 1, 2, 5} {
		for _, withBest := range []bool{true, false} {
			for _, order := range [][]int{r.Perm(9), {0, 1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {5, 4, 0, 6, 7, 8, 3, 2, 1}} {
				d := unsorted()
				cfg := config{Keep: keep, Best: withBest}
				m := open(t, d, cfg)
				for i, rank := range order {
					if i == 4 || i == 5 {
						m = open(t, d, cfg)
					}
					save(t, m, small(10*i+r.IntN(10), float64(rank-4)+r.Float64()/2))
					o.Int("Best", best(m))
					o.Ints("Steps of the files", d.steps())
				}
				o.Int("Best after Open", best(open(t, d, all)))
			}
		}
		d, one := unsorted(), &state{}
		cfg := config{Keep: keep, Best: true}
		m := open(t, d, cfg)
		for i, rank := range []int{5, 4, 0, 6, 7, 8, 3, 2, 1} {
			*one = *small(10*i+r.IntN(10), float64(rank)+r.Float64()/2)
			save(t, m, one)
			o.Int("Best, of one State that changes", best(m))
			o.Ints("Steps of the files, of one State that changes", d.steps())
			one.Metric, one.Step = float64(9*(i%2)), -1
			o.Int("Best, when the State has changed", best(m))
		}
	}
}

// Of several with the same Metric the first is the best, NaN never is, and infinities are
// numbers (rule 13).
func TestBestEdges(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	inf, nan, zero, x := math.Inf(1), math.NaN(), math.Copysign(0, -1), r.NormFloat64()
	for _, metrics := range [][]float64{
		{x, x, x, x}, {x, x + 1, x, x + 1}, {x + 1, x, x + 1, x, x}, {0, zero, 0}, {zero, 0, zero}, {1, 0, zero, 1}, {1, zero, 0, 1},
		{nan, x, x + 1, x - 1}, {x, nan, x + 1, nan}, {nan, nan, nan, x}, {nan, nan, nan}, {nan}, {x, nan, x, nan},
		{inf, x, inf}, {-inf, x, -inf}, {inf, inf, nan}, {nan, inf, inf}, {inf, -inf, -inf}, {nan, -inf, inf}, {nan, inf, x},
		{math.MaxFloat64, inf, -math.MaxFloat64}, {0, -math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64}, {x, math.Nextafter(x, -9), x},
		{-1, -2, -3, -2}, {1e-300, 1e-301, 0, 1e-301}, slices.Repeat([]float64{x}, 20), slices.Repeat([]float64{nan, x + 1, x, x}, 6),
	} {
		for _, keep := range []int{0, 1, 2} {
			d := unsorted()
			cfg := config{Keep: keep, Best: true}
			m := open(t, d, cfg)
			for i, metric := range metrics {
				save(t, m, small(10*i+r.IntN(10), metric))
				o.Int("Best", best(m))
				o.Ints("Steps of the files", d.steps())
				again := open(t, d, cfg)
				o.Int("Best after Open", best(again))
				if i%2 == 1 {
					m = again
				}
			}
		}
	}
}

// damages make a checkpoint something that is none, each with the kind of its error.
var damages = []struct {
	kind   error
	damage func(r *rand.Rand, data []byte) []byte
}{
	{checkpoint.ErrDamaged, func(r *rand.Rand, data []byte) []byte { data[below(r, 8, len(data)-1)]++; return data }},
	{checkpoint.ErrDamaged, func(r *rand.Rand, data []byte) []byte { return data[:below(r, 8, len(data)-1)] }},
	{checkpoint.ErrDamaged, func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(8)] }},
	{checkpoint.ErrDamaged, func(r *rand.Rand, data []byte) []byte { return nil }},
	{checkpoint.ErrDamaged, func(r *rand.Rand, data []byte) []byte { return append(data, byte(r.Uint32())) }},
	{checkpoint.ErrDamaged, func(r *rand.Rand, data []byte) []byte { clear(data[max(8, len(data)/2):]); return data }},
	{checkpoint.ErrFormat, func(r *rand.Rand, data []byte) []byte { clear(data); return data }},
	{checkpoint.ErrFormat, func(r *rand.Rand, data []byte) []byte { data[r.IntN(4)]++; return data }},
	{checkpoint.ErrVersion, func(r *rand.Rand, data []byte) []byte { return newer(r, data) }},
}

// newer makes a checkpoint one of another version.
func newer(r *rand.Rand, data []byte) []byte {
	binary.LittleEndian.PutUint32(data[4:], uint32(below(r, 2, 9)))
	return append(data[:8], drawBytes(r, below(r, 0, 300))...)
}

// from calls f with the Manager that has saved, and with one that is opened after
// something has become of the files.
func from(t *testing.T, d *disk, cfg config, m *checkpoint.Manager, happens func(), f func(*checkpoint.Manager)) {
	t.Helper()
	happens()
	f(m)
	f(open(t, d, cfg))
}

// A checkpoint that is not whole is left out: Latest reads the one that was saved before
// it, and nothing of the other (rule 14).
func TestFallBack(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range damages {
		for _, count := range []int{1, 2, 3} {
			d := unsorted()
			m := open(t, d, all)
			save(t, m, small(40, 4), small(30, 3), small(20, 2), small(10, 1))
			from(t, d, all, m, func() {
				for _, step := range []int{10, 20, 30}[:count] {
					d.change(step, func(data []byte) []byte { return bad.damage(r, data) })
				}
			}, func(m *checkpoint.Manager) {
				o.Int("Latest", latest(m))
				o.Int("and again", latest(m))
			})
			d.change(40, func(data []byte) []byte { return bad.damage(r, data) })
			o.Int("Latest of the rest", latest(open(t, d, all)))
			save(t, m, small(50+r.IntN(9), 5))
			o.Int("Latest after a Save", latest(m))
			m = open(t, d, all)
			o.Int("Latest after Open", latest(m))
			save(t, m, small(60+r.IntN(9), 6))
			o.Int("Latest after another Save", latest(open(t, d, all)))
		}
	}
	for _, cfg := range lessThanThereIs {
		d, m := moreThanKept(t, cfg)
		from(t, d, cfg, m, func() {
			for _, step := range []int{10, 20} {
				d.change(step, func(data []byte) []byte { return data[:len(data)/2] })
			}
		}, func(m *checkpoint.Manager) { o.Int("Latest of more than are kept", latest(m)) })
	}
	d := folder(t, r.Perm(300))
	d.anyOrder = true
	m := open(t, d, config{})
	spared := r.IntN(20)
	from(t, d, config{}, m, func() { d.damageAllBut(spared) }, func(m *checkpoint.Manager) {
		o.Int("Latest, when hundreds are damaged", latest(m))
	})
	for range 4 {
		d := unsorted()
		m := open(t, d, all)
		before, last := draw(r, 2, 2), draw(r, 4, 4)
		last.Step = before.Step + 1
		save(t, m, before, last)
		from(t, d, all, m, func() {
			d.change(last.Step, func(data []byte) []byte { data[len(data)-1-r.IntN(99)]++; return data })
		}, func(m *checkpoint.Manager) {
			into := draw(r, 3, 3)
			o.Error("into a State with other Tensors: error", m.Latest(into), kinds...)
			record(o, "into a State with other Tensors", into)
			live := copied(before)
			clear(live.Model[0].Data)
			params := live.Model[0].Data
			o.Error("into a model: error", m.Latest(live), kinds...)
			o.Floats("into a model", params, observe.Exact())
		})
	}
	intoMemory(t, o, "into a large model", (*checkpoint.Manager).Latest, below(r, 70_000, 200_000))
}

// lessThanThereIs are Configs by which a Save would leave fewer checkpoints than moreThanKept has.
var lessThanThereIs = []config{{Keep: 1}, {Keep: 2}, {Keep: 1, Best: true}}

// moreThanKept opens a folder of four checkpoints, of which the first is the best and the next one
// the next: what is there counts until a Save removes it.
func moreThanKept(t *testing.T, cfg config) (*disk, *checkpoint.Manager) {
	d := unsorted()
	save(t, open(t, d, all), small(40, 1), small(30, 2), small(20, 4), small(10, 3))
	return d, open(t, d, cfg)
}

// intoMemory has the later and better one of two checkpoints read into memory that fits it, and
// the other one when that one is damaged: the numbers come there, whichever they are.
func intoMemory(t *testing.T, o *observe.Observer, name string, read func(*checkpoint.Manager, *state) error, size int) {
	r := o.Rand()
	d := newDisk()
	m := open(t, d, all)
	next, first := draw(r, 2, 2), draw(r, 4, 4)
	first.Step, first.Metric = next.Step+1, next.Metric-1
	next.Model[0].Data, first.Model[0].Data = numbers(r, size), numbers(r, size+1)
	save(t, m, next, first)
	for _, s := range []*state{first, next} {
		live := copied(s)
		params := live.Model[0].Data
		clear(params)
		o.Error(name+": error", read(m, live), kinds...)
		o.Bool(name+": its memory has the numbers", len(live.Model) > 0 && params[0] != 0 && slices.Equal(params, live.Model[0].Data))
		d.change(s.Step, func(data []byte) []byte { data[len(data)-1-r.IntN(99)]++; return data })
	}
}

// If the best checkpoint is not whole, Best reads the one with the next lowest Metric
// (rule 14).
func TestBestFallsBack(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range damages {
		for _, keep := range []int{0, 3} {
			cfg := config{Keep: keep, Best: true}
			d := unsorted()
			m := open(t, d, cfg)
			metrics := map[int]float64{1: 0, 2: 3, 3: 1, 4: 2}
			for step := 1; step <= 4; step++ {
				save(t, m, small(step, metrics[step]))
			}
			for _, step := range []int{1, 3, 4} {
				from(t, d, cfg, m, func() {
					d.change(step, func(data []byte) []byte { return bad.damage(r, data) })
				}, func(m *checkpoint.Manager) { o.Int("Best", best(m)) })
			}
			m = open(t, d, cfg)
			save(t, m, small(5, 9))
			o.Int("Best of two after three were damaged and one was saved", best(m))
			o.Int("Best after Open", best(open(t, d, cfg)))
		}
	}
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, metrics := range [][]float64{
		{1, 2, 2}, {2, 1, 2, 2}, {2, 2, 1, 2}, {3, 2, 1, 2, 1, 3, 3}, {0, zero, 0}, {zero, -1, 0, zero}, {inf, inf, -inf, 1, -inf, inf},
		{nan, 1, nan, 1, 0}, slices.Repeat([]float64{4}, 20), draws(r, 30, 4),
	} {
		oneAfterTheOther(t, o, r, metrics)
	}
	for _, cfg := range lessThanThereIs {
		d, m := moreThanKept(t, cfg)
		o.Int("Best of more than are kept", best(m))
		from(t, d, cfg, m, func() {
			d.change(40, func(data []byte) []byte { return data[:len(data)/2] })
		}, func(m *checkpoint.Manager) { o.Int("Best of more than are kept, after the best was damaged", best(m)) })
	}
	ranks := r.Perm(300)
	d := folder(t, ranks)
	d.anyOrder = true
	m := open(t, d, config{})
	from(t, d, config{}, m, func() { d.damageAllBut(slices.Index(ranks, 299)) }, func(m *checkpoint.Manager) {
		o.Int("Best, when hundreds are damaged", best(m))
	})
	for range 4 {
		intoMemory(t, o, "into a model", (*checkpoint.Manager).Best, below(r, 1, 40))
	}
}

// draws returns so many small integers.
func draws(r *rand.Rand, count, below int) []float64 {
	list := make([]float64, count)
	for i := range list {
		list[i] = float64(r.IntN(below))
	}
	return list
}

// oneAfterTheOther damages the best checkpoint, then the next one, until there is none. Of
// those with the same Metric the next one is the one that was saved first.
func oneAfterTheOther(t *testing.T, o *observe.Observer, r *rand.Rand, metrics []float64) {
	d := unsorted()
	m := open(t, d, all)
	first := r.IntN(100)
	var order []int
	for i, metric := range metrics {
		save(t, m, small(first+i, metric))
		if !math.IsNaN(metric) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(metrics[a], metrics[b]) })
	for _, i := range order {
		from(t, d, all, m, func() {
			d.change(first+i, func(data []byte) []byte { return data[:len(data)/2] })
		}, func(m *checkpoint.Manager) { o.Int("Best, one damaged after the other", best(m)) })
	}
}

// fileErrors collects the FileErrors within an error.
func fileErrors(err error, into map[string]error) {
	switch e := err.(type) {
	case *checkpoint.FileError:
		into[e.Name] = e.Err
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			fileErrors(err, into)
		}
	case interface{ Unwrap() error }:
		fileErrors(e.Unwrap(), into)
	}
}

// Without a checkpoint the error is ErrNone, and holds a FileError for each file that is
// not whole; the State is as it was (rule 15).
func TestNone(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	empty := newDisk()
	try := func(name string, m *checkpoint.Manager, want map[string]error) {
		for _, call := range []func(*state) error{m.Latest, m.Best} {
			s := draw(r, 2, 2)
			before, params := copied(s), s.Model[0].Data
			err := call(s)
			o.Error(name, err, checkpoint.ErrNone)
			o.Bool(name+": the State is as it was", same(s, before) && slices.Equal(params, before.Model[0].Data))
			got := map[string]error{}
			fileErrors(err, got)
			missing := 0
			for name, kind := range want {
				if !errors.Is(got[name], kind) || !errors.Is(err, kind) {
					missing++
				}
			}
			o.Int(name+": files that the error does not tell", missing)
		}
	}
	for _, cfg := range []config{{}, {Keep: 1}, {Keep: 2, Best: true}} {
		try("an empty folder", open(t, empty, cfg), nil)
	}
	for i, bad := range damages {
		d := newDisk()
		m := open(t, d, all)
		save(t, m, small(1, 3), small(2, 2), small(3, 1))
		want := map[string]error{}
		for step := 1; step <= 3; step++ {
			bad := damages[(i+step)%len(damages)]
			want[d.change(step, func(data []byte) []byte { return bad.damage(r, data) })] = bad.kind
		}
		try("damaged after Open", m, want)
		try("damaged before Open", open(t, d, config{Best: true}), want)
		m, want = partlyDamaged(t, r, i)
		try("some damaged before Open, some after", m, want)
		one := newDisk()
		m = open(t, one, config{Keep: 1})
		live := draw(r, 2, 2)
		save(t, m, live)
		want = map[string]error{one.change(live.Step, func(data []byte) []byte { return bad.damage(r, data) }): bad.kind}
		for _, m := range []*checkpoint.Manager{m, open(t, one, all)} {
			for _, call := range []func(*state) error{m.Latest, m.Best} {
				s := copied(live)
				clear(s.Model[0].Data)
				before, params := copied(s), s.Model[0].Data
				o.Error("into the model that was saved", call(s), checkpoint.ErrNone)
				o.Bool("into the model that was saved: it is as it was", same(s, before) && slices.Equal(params, before.Model[0].Data))
			}
		}
		try("the only one damaged", m, want)
		save(t, m, small(7+i, 1))
		o.Int("Latest after a Save", latest(m))
	}
	many := folder(t, r.Perm(300))
	want := map[string]error{}
	for _, name := range many.damageAllBut(none) {
		want[name] = checkpoint.ErrDamaged
	}
	try("hundreds damaged before Open", open(t, many, all), want)
	m := open(t, newDisk(), all)
	save(t, m, small(r.IntN(99), math.NaN()))
	s := draw(r, 1, 1)
	before := copied(s)
	o.Error("Best of NaN", m.Best(s), checkpoint.ErrNone)
	o.Bool("Best of NaN: the State is as it was", same(s, before))
	o.Int("Latest of NaN", latest(m))
	noneOfLarge(t, o)
}

// partlyDamaged returns a Manager that has found one damaged file when it was made, and whose
// other files have been damaged since; and what is wrong with each.
func partlyDamaged(t *testing.T, r *rand.Rand, i int) (*checkpoint.Manager, map[string]error) {
	d := newDisk()
	save(t, open(t, d, all), small(1, 3), small(2, 2), small(3, 1))
	want := map[string]error{}
	hit := func(j int) {
		bad := damages[j%len(damages)]
		want[d.change(1+j%3, func(data []byte) []byte { return bad.damage(r, data) })] = bad.kind
	}
	hit(i)
	m := open(t, d, all)
	hit(i + 1)
	hit(i + 2)
	return m, want
}

// noneOfLarge damages all checkpoints, of many numbers, where they end: nothing of them comes into
// the State before all was looked at.
func noneOfLarge(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	d := newDisk()
	m := open(t, d, all)
	s := draw(r, 2, 2)
	s.Model[1].Data = numbers(r, below(r, 70_000, 200_000))
	save(t, m, s)
	older := s.Step
	s.Step += 1 + r.IntN(9)
	save(t, m, s)
	for _, step := range []int{older, s.Step} {
		d.change(step, func(data []byte) []byte { data[len(data)-1-r.IntN(99)]++; return data })
	}
	params := s.Model[1].Data
	clear(params)
	for _, call := range []func(*state) error{m.Latest, m.Best} {
		before := copied(s)
		o.Error("a large one is damaged", call(s), checkpoint.ErrNone)
		o.Bool("a large one is damaged: the State is as it was", same(s, before) && slices.Equal(params, before.Model[1].Data))
	}
}

// notMine returns names that are no checkpoints', among them such as resemble those that
// Saves give their files.
func notMine(t *testing.T) []string {
	d := newDisk()
	for i := range 12 {
		m := open(t, d, config{Keep: 2})
		save(t, m, small(i, 0))
		d.failNext(i, broken)
		_ = m.Save(context.Background(), small(i, 0))
		d.repair()
	}
	names := []string{"", "notes.txt", "ckpt", "CKPT-1", "a-ckpt-1", "ckpt_1", "model.ckpt-", " ckpt-1", "ckp-2", "latest", "best", "tmp", "temporary", "0", "1"}
	for _, end := range []string{".tmp", "-tmp", "_tmp", ".temp", ".temporary", "-temporary", ".new", "-new", ".part", ".partial", ".old", ".bak", ".ckpt", "~", ".1", "-1", "-ckpt-"} {
		names = append(names, "notes"+end, end)
	}
	for name := range d.used {
		if !mine(name) {
			continue
		}
		rest := name[len("ckpt-"):]
		names = append(names, rest, "a"+name, "."+name, "ckpt"+rest, "ckpt_"+rest, "CKPT-"+rest, "model-"+rest)
		for i, b := range []byte(rest) {
			if strings.ContainsRune(".-_~", rune(b)) {
				names = append(names, "notes"+rest[i:], rest[:i])
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), mine)
}

// Files with other names are left alone, and so are checkpoints of another version, which
// do not count (rules 9 and 12).
func TestOthers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	names := notMine(t)
	for _, keep := range []int{0, 1, 2} {
		d, before := newDisk(), newDisk()
		theirs := written(t, small(900+r.IntN(9), -9))
		for i, name := range names {
			before.put(name, theirs[:len(theirs)/(1+i%2)])
			d.put(name, before.names[name].data)
		}
		for i, name := range names {
			if i%3 == keep { // it comes after Open
				delete(d.names, name)
			}
		}
		m := open(t, d, config{Keep: keep, Best: true})
		for _, name := range names {
			d.put(name, before.names[name].data)
		}
		o.Int("Latest of others' files", latest(m))
		for i := range 6 {
			save(t, m, small(10*i+r.IntN(10), float64(-i)))
			m = open(t, d, config{Keep: keep, Best: true})
		}
		o.Ints("Steps of the files", d.steps())
		o.Ints("Latest and Best", []int{latest(m), best(m)})
		for i := range 9 {
			d.failNext(1+i, fails)
			_ = m.Save(context.Background(), small(80+i, 0))
			d.repair()
		}
		changed := 0
		for _, name := range names {
			if d.names[name] == nil || !bytes.Equal(d.names[name].data, before.names[name].data) {
				changed++
			}
		}
		o.Ints("others' files that are changed; calls with their names", []int{changed, d.foreign})
	}
	for _, at := range []int{3, 2, 1} {
		for _, keep := range []int{0, 2} {
			d := newDisk()
			save(t, open(t, d, all), small(1, 1), small(2, 2), small(3, 3))
			name := d.change(at, func(data []byte) []byte { return newer(r, data) })
			o.Bool("a file of another version", name != "")
			if name == "" {
				continue
			}
			before := bytes.Clone(d.names[name].data)
			for i := range 4 {
				m := open(t, d, config{Keep: keep})
				save(t, m, small(10*(i+1)+r.IntN(10), 0))
				o.Ints("Steps of the files, and another version", d.steps())
				save(t, m, small(10*(i+1)+r.IntN(10), 0))
				o.Ints("Steps of the files, and another version", d.steps())
			}
			file := d.names[name]
			o.Bool("another version is as it was", file != nil && bytes.Equal(file.data, before))
		}
	}
	manyVersions(t, o, r)
}

// manyVersions opens a folder with hundreds of files of another version, and few others.
func manyVersions(t *testing.T, o *observe.Observer, r *rand.Rand) {
	d := folder(t, r.Perm(300))
	names := d.mine()
	for _, name := range names[min(2, len(names)):] {
		d.put(name, newer(r, bytes.Clone(d.names[name].data)))
	}
	m := open(t, d, config{Keep: 2})
	save(t, m, small(1000+r.IntN(9), 0), small(2000+r.IntN(9), 0))
	steps := d.steps()
	o.Int("hundreds of another version: files", len(steps))
	o.Ints("hundreds of another version: Steps of the others", slices.DeleteFunc(steps, func(step int) bool { return step < 0 }))
}

// Open, Latest and Best change nothing. Open refuses a Keep below 0, and nothing else
// (rule 16).
func TestReadsOnly(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	d := newDisk()
	m := open(t, d, all)
	for i := range 5 {
		save(t, m, small(10*i+r.IntN(10), r.Float64()))
	}
	d.failNext(3, dies)
	_ = m.Save(context.Background(), small(99, 0))
	d = d.after(r, "all", "all names")
	steps := d.steps()
	d.change(steps[1], func(data []byte) []byte { return data[:len(data)/2] })
	d.change(steps[2], func(data []byte) []byte { return newer(r, data) })
	steps = d.steps()
	for _, keep := range []int{0, 1, 2, math.MaxInt} {
		for _, withBest := range []bool{false, true} {
			m := open(t, d, config{Keep: keep, Best: withBest})
			latest(m)
			best(m)
		}
	}
	e := newDisk()
	m = open(t, e, all)
	save(t, m, small(1, 2), small(2, 1), small(3, 0))
	e.change(3, func(data []byte) []byte { return data[:len(data)/2] })
	before := e.changes
	latest(m)
	best(m)
	o.Ints("damaged after Open: changes, and files", []int{e.changes - before, len(e.mine())})
	o.Int("calls that change something", d.changes)
	o.Bool("the files are as they were", slices.Equal(d.steps(), steps))
	for _, keep := range []int{-1, math.MinInt, -below(r, 2, 99), 0, 1} {
		for _, withBest := range []bool{false, true} {
			for _, d := range []*disk{d, newDisk()} {
				m, err := checkpoint.Open(d, config{Keep: keep, Best: withBest})
				o.Error("Open", err, checkpoint.ErrConfig)
				o.Bool("a Manager", m != nil)
			}
		}
	}
}
