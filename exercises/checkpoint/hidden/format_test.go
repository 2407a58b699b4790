package hidden

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"grade/observe"
	"grade/reference/checkpoint"
)

// What Write has written Read gives back: all fields, and all Tensors in their order
// (rule 1).
func TestWriteRead(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 12 {
		s := draw(r, i%4, (i+2)%4)
		var got state
		read(t, written(t, s), &got)
		record(o, "read", &got)
	}
}

// Floats come back bit for bit, NaN and -0 too; integers are as large or small as an int
// can be (rule 1).
func TestNumbers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	odd := []float64{
		math.NaN(), math.Float64frombits(math.Float64bits(math.Inf(1)) + 1 + r.Uint64N(1<<40)), math.Float64frombits(0xffffffffffffffff - r.Uint64N(1<<50)), math.Inf(1), math.Inf(-1),
		0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -0x1p-1030, math.MaxFloat64, -math.MaxFloat64, 1 + 0x1p-52, 1. / 3, 1e-300 * r.Float64(), 1e300 * r.NormFloat64(),
	}
	ints := []int{math.MinInt, math.MaxInt, -1, 0, 1 << 32, -1 << 31, 255, 65_536, int(r.Uint64())}
	for i, x := range odd {
		s := &state{Step: ints[i%len(ints)], Epoch: ints[(i+1)%len(ints)], Position: ints[(i+2)%len(ints)], Rate: x, Metric: odd[(i+1)%len(odd)]}
		r.Shuffle(len(odd), func(i, j int) { odd[i], odd[j] = odd[j], odd[i] })
		s.Model, s.Optimizer = []tensor{{Name: "model", Data: odd}}, []tensor{{Name: "optimizer", Data: odd[:i]}, {Name: "", Data: odd[i:]}}
		var got state
		read(t, written(t, s), &got)
		record(o, "read", &got)
		o.Bool("the same bits", same(s, &got))
	}
}

// A Name is any bytes; lists may be empty and longer than 65,536; nil and empty are the
// same (rule 2).
func TestSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	long := below(r, 65_537, 70_000)
	many := make([]tensor, long)
	for i := range many {
		many[i].Name = string(rune('a' + i%26))
		many[i].Data = numbers(r, i%2)
	}
	names := []string{"", "\x00", "w", "w", "ckpt", "\xff\xfe", "a/b\n", string(drawBytes(r, 300)), "é", string(drawBytes(r, long))}
	var named []tensor
	for _, name := range names {
		named = append(named, tensor{Name: name, Data: numbers(r, 1)})
	}
	for _, s := range []*state{
		{}, {Step: 1, RNG: []byte{}, Model: []tensor{}, Optimizer: []tensor{}},
		{Step: 2, Model: []tensor{{}}}, {Step: 3, Optimizer: []tensor{{}, {Data: []float64{}}}},
		{Step: 4, RNG: []byte{byte(r.Uint32())}, Model: []tensor{{Name: "x", Data: numbers(r, 1)}}},
		{Step: 5, Model: named, Optimizer: named[1:]}, {Step: 6, Model: named[:1], Optimizer: named},
		{Step: 7, RNG: drawBytes(r, 255)}, {Step: 8, RNG: drawBytes(r, 256)}, {Step: 9, RNG: drawBytes(r, long)},
		{Step: 10, Model: []tensor{{Name: "m", Data: numbers(r, 256)}, {Name: "n", Data: numbers(r, 255)}}, Optimizer: []tensor{{Name: "o", Data: numbers(r, 65_536)}}},
		{Step: 11, Model: []tensor{{Name: "m", Data: numbers(r, long)}, {Name: "n", Data: nil}}, Optimizer: []tensor{{Name: "o", Data: numbers(r, 3*long)}, {Name: "p", Data: numbers(r, 8192)}, {Name: "q", Data: numbers(r, 8191)}}},
		{Step: 12, Model: many}, {Step: 13, Optimizer: many},
	} {
		var got state
		read(t, written(t, s), &got)
		o.Ints("lengths", []int{got.Step, len(got.RNG), len(got.Model), len(got.Optimizer)})
		o.Bool("the same bits", same(s, &got))
		o.Float("all numbers", sum(&got))
	}
}

// Write leaves the State as it is, and equal States give equal bytes in every call
// (rule 3).
func TestSame(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := draw(r, 30, 30)
	before, first := copied(s), written(t, s)
	kept, others := bytes.Clone(first), 0
	for range 300 {
		written(t, draw(r, 1, 1))
		if !bytes.Equal(written(t, copied(s)), first) {
			others++
		}
	}
	for _, room := range []int{0, 1, 8, 100, len(first) / 2, len(first) - 1} { // Write fails, and then does not
		_ = checkpoint.Write(&full{room, errDisk}, s)
		if !bytes.Equal(written(t, s), first) {
			others++
		}
	}
	o.Int("bytes that are others", others)
	o.Bool("the first bytes are as they were", bytes.Equal(first, kept))
	o.Bool("the State is as it was", same(s, before))
	bare, empty := &state{Model: []tensor{{}}}, &state{RNG: []byte{}, Model: []tensor{{Data: []float64{}}}, Optimizer: []tensor{}}
	o.Bool("nil and empty: the same bytes", bytes.Equal(written(t, bare), written(t, empty)))
	bare.Model, empty.Model = nil, []tensor{}
	o.Bool("no Tensors, nil and empty: the same bytes", bytes.Equal(written(t, bare), written(t, empty)))
	clear(s.Model[0].Data)
	clear(s.RNG)
	var got state
	read(t, first, &got)
	record(o, "read", &got)
}

// Numbers are read into the memory that the State has, if a Tensor of this length is in
// this place; else memory is new. Nothing is left of what the State held (rule 4).
func TestInto(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		s := draw(r, 3, 2)
		data := written(t, s)
		live := copied(s)
		for _, list := range [][]tensor{live.Model, live.Optimizer} {
			for i := range list {
				clear(list[i].Data)
				list[i].Name = "another"
			}
		}
		params := *live
		params.Model, params.Optimizer = slices.Clone(live.Model), slices.Clone(live.Optimizer)
		generator, model, optimizer := live.RNG, live.Model, live.Optimizer
		for i := range generator {
			generator[i]++
		}
		first, names := slices.Clone(generator), 0
		read(t, data, live)
		record(o, "into the same lengths", live)
		for _, t := range slices.Concat(model, optimizer) {
			if t.Name != "another" {
				names++
			}
		}
		o.Int("the lists that it had: names that are others", names)
		o.Bool("the generator that it had is as it was", slices.Equal(generator, first))
		for i := range params.Model {
			o.Floats("in the memory of the model", params.Model[i].Data, observe.Exact())
		}
		for i := range params.Optimizer {
			o.Floats("in the memory of the optimizer", params.Optimizer[i].Data, observe.Exact())
		}
	}
	for _, counts := range [][2]int{{0, 0}, {1, 5}, {5, 1}, {9, 9}} {
		dirty := draw(r, counts[0], counts[1])
		read(t, written(t, draw(r, 4, 3)), dirty)
		record(o, "into others", dirty)
		empty := draw(r, counts[0], counts[1])
		read(t, written(t, &state{Step: 1 + r.IntN(9)}), empty)
		record(o, "nothing into some", empty)
	}
	flat := numbers(r, 60)
	before := slices.Clone(flat)
	shared := &state{Model: []tensor{{Name: "a", Data: flat[:10]}, {Name: "b", Data: flat[10:30]}}, Optimizer: []tensor{{Name: "c", Data: flat[30:45]}, {Name: "d", Data: flat[45:]}}}
	read(t, written(t, &state{Model: []tensor{{Name: "a", Data: numbers(r, 20)}, {Name: "b", Data: numbers(r, 9)}}, Optimizer: []tensor{{Name: "c", Data: numbers(r, 16)}, {Name: "d", Data: numbers(r, 14)}}}), shared)
	record(o, "into parts of one array, of other lengths", shared)
	o.Bool("the array is as it was", slices.Equal(flat, before))
	intoMany(t, o, r)
	intoSome(t, o, r)
	data := written(t, draw(r, 2, 2))
	var one, two state
	read(t, data, &one)
	read(t, data, &two)
	kept := copied(&two)
	for _, list := range [][]tensor{one.Model, one.Optimizer} {
		for _, t := range list {
			clear(t.Data)
		}
	}
	clear(one.RNG)
	record(o, "a second State", &two)
	o.Bool("a second State is as it was", same(&two, kept))
}

// intoMany reads into many Tensors and into long ones, also after a Read that has failed.
func intoMany(t *testing.T, o *observe.Observer, r *rand.Rand) {
	s := draw(r, 300, 300)
	s.Model[299].Data, s.Optimizer[299].Data = numbers(r, 70_000), numbers(r, 300)
	data := written(t, s)
	for _, n := range []int{0, 8, len(data) / 3, len(data) - 1} { // so much is read before
		live := copied(s)
		model, optimizer := slices.Clone(live.Model), slices.Clone(live.Optimizer)
		_ = checkpoint.Read(bytes.NewReader(data[:n]), live)
		live.Model, live.Optimizer = slices.Clone(model), slices.Clone(optimizer)
		for _, t := range slices.Concat(model, optimizer) {
			clear(t.Data)
		}
		read(t, data, live)
		o.Bool("into many Tensors: the same bits", same(live, s))
		o.Bool("into many Tensors: in the memory of them", same(&state{Model: model, Optimizer: optimizer}, &state{Model: s.Model, Optimizer: s.Optimizer}))
	}
}

// intoSome reads into States of which one Tensor has another length, or one list has fewer or more
// Tensors than are read: the others get their numbers where they are all the same.
func intoSome(t *testing.T, o *observe.Observer, r *rand.Rand) {
	s := draw(r, 4, 4)
	data := written(t, s)
	for of := range 2 { // the model or the optimizer
		for _, odd := range []int{-1, 0, 1, 3} { // that Tensor, if there is one
			for _, more := range []int{-1, 0, 2} {
				live := copied(s)
				list := lists(live)[of]
				list = list[:4+min(more, 0)]
				for range more {
					list = append(list, tensor{Name: "more", Data: numbers(r, below(r, 1, 40))})
				}
				if odd >= 0 && odd < len(list) {
					list[odd].Data = numbers(r, len(list[odd].Data)+[]int{-1, 1, 40}[r.IntN(3)])
				}
				if of == 0 {
					live.Model = list
				} else {
					live.Optimizer = list
				}
				model, optimizer := slices.Clone(live.Model), slices.Clone(live.Optimizer)
				for _, t := range slices.Concat(model, optimizer) {
					clear(t.Data)
				}
				read(t, data, live)
				o.Bool("into some Tensors that fit: the same bits", same(live, s))
				o.Int("into some Tensors that fit: whose memory is wrong", misplaced(model, s.Model)+misplaced(optimizer, s.Optimizer))
			}
		}
	}
}

// misplaced counts Tensors of old, whose numbers were all 0, that have not those of list now, where the
// length is the same, or have others than 0, where it is not.
func misplaced(old, list []tensor) (count int) {
	for i, t := range old {
		want := make([]float64, len(t.Data))
		if i < len(list) && len(list[i].Data) == len(t.Data) {
			want = list[i].Data
		}
		if !slices.Equal(t.Data, want) {
			count++
		}
	}
	return count
}

// The first bytes are ckpt and the version; others are ErrFormat and ErrVersion, whatever
// follows (rules 5 and 6).
func TestHeader(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	try := func(name string, data []byte) {
		var s state
		o.Error(name, checkpoint.Read(bytes.NewReader(data), &s), kinds...)
	}
	for _, s := range []*state{{}, draw(r, 1, 1), draw(r, 3, 3)} {
		data := written(t, s)
		if len(data) < 8 {
			t.Fatalf("Write wrote %d bytes", len(data))
		}
		o.String("header", string(data[:8]))
		for i := range 8 {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << r.IntN(8)
			try("a bit of the header", flipped)
			try("a bit of the header, and no more", flipped[:8])
			try("a bit of the header, and less", flipped[:7])
		}
		for _, version := range []uint32{0, 2, 256, 1 << 24, 0x01000000 + 1, math.MaxUint32, below32(r)} {
			other := bytes.Clone(data)
			binary.LittleEndian.PutUint32(other[4:], version)
			try("another version", other)
			try("another version of all else", append(other[:8:8], drawBytes(r, below(r, 0, 99))...))
			other[r.IntN(4)]++
			try("another format and version", other)
		}
	}
	for _, text := range []string{"CKPT\x01\x00\x00\x00", "tpkc\x01\x00\x00\x00", "ckpt\x00\x00\x00\x01", "{\"Step\": 1}", "ckpt", "ckp", "", "{}", "another"} {
		try("a text", []byte(text))
	}
	for _, n := range []int{8, 20, 1000} {
		try("noise", append([]byte{'x'}, drawBytes(r, n-1)...))
		try("zeros", make([]byte, n))
	}
}

func below32(r *rand.Rand) uint32 { return 2 + r.Uint32N(1<<20) }

// wrong counts damages that Read has not called ErrDamaged.
type wrong struct{ tried, passed, otherwise int }

func (w *wrong) try(data []byte) {
	var s state
	w.tried++
	switch err := checkpoint.Read(bytes.NewReader(data), &s); {
	case err == nil:
		w.passed++
	case !errors.Is(err, checkpoint.ErrDamaged):
		w.otherwise++
	}
}

// record writes down whether the undamaged is right, too.
func (w *wrong) record(o *observe.Observer, name string, t *testing.T, data []byte) {
	var s state
	read(t, data, &s)
	o.Int(name+": Read returns nil", w.passed)
	o.Int(name+": Read returns another error", w.otherwise)
	o.Bool(name+": as many bytes as it has", w.tried > 0 && len(s.Model) > 0 && len(data) >= len(s.Model[0].Data))
}

// Bytes that are changed or exchanged are ErrDamaged, wherever they stand (rule 6).
func TestDamaged(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, s := range []*state{small(r.IntN(1000), r.Float64()), draw(r, 1, 1), draw(r, 3, 2)} {
		var flips, sets wrong
		data := written(t, s)
		for i := 8; i < len(data); i++ {
			old := data[i]
			for bit := range 8 {
				if len(data) < 500 || bit == i%8 {
					data[i] = old ^ 1<<bit
					flips.try(data)
				}
			}
			for _, b := range []byte{0, 255} {
				if data[i] = b; b != old {
					sets.try(data)
				}
			}
			data[i] = old
		}
		flips.record(o, "a bit changed", t, data)
		sets.record(o, "a byte changed", t, data)
	}
	large := draw(r, 1, 1)
	large.Model[0].Data = numbers(r, below(r, 70_000, 80_000))
	large.Optimizer[0].Data = numbers(r, below(r, 70_000, 80_000))
	data := written(t, large)
	var one, two, moved, zeros wrong
	for place := 8; place < len(data); place += 32_768 {
		i := min(place+r.IntN(32_768), len(data)-1)
		data[i]++
		one.try(data)
		data[i]--
	}
	for distance := 1; distance < len(data)/2; distance *= 2 {
		i := below(r, 8, len(data)-1-distance)
		j := i + distance
		data[i], data[j] = data[i]^16, data[j]^16
		two.try(data)
		data[i], data[j] = data[i]^16, data[j]^16
		data[i], data[j] = data[i]+1, data[j]-1
		two.try(data)
		data[i], data[j] = data[i]-1, data[j]+1
		exchanged := bytes.Clone(data)
		if n := min(distance, len(data)-j, 4096); !bytes.Equal(data[i:i+n], data[j:j+n]) {
			copy(exchanged[i:], data[j:j+n])
			copy(exchanged[j:], data[i:i+n])
			moved.try(exchanged)
		}
		cleared := bytes.Clone(data)
		clear(cleared[i : j+8-(j-i)%8])
		zeros.try(cleared)
	}
	moved.exchanges(t)
	for _, last := range []int{1, 2, 4, 8, 16} {
		data[len(data)-last] ^= 64
		one.try(data)
		data[len(data)-last] ^= 64
	}
	one.record(o, "a byte of many changed", t, data)
	two.record(o, "two bytes changed", t, data)
	moved.record(o, "bytes exchanged", t, data)
	zeros.record(o, "bytes set to 0", t, data)
}

// exchange damages what is written of a State that has ones in one place, so that they
// stand in another one. A place of two sets something of s, which had none.
func (w *wrong) exchange(t *testing.T, s func() *state, places ...func(*state)) {
	blank := written(t, s())
	var all [][]byte
	var differs [][]int
	for _, set := range places {
		one := s()
		set(one)
		data := written(t, one)
		var at []int
		for i := range min(len(data), len(blank)) {
			if data[i] != blank[i] {
				at = append(at, i)
			}
		}
		all, differs = append(all, data), append(differs, at)
	}
	for i, data := range all {
		for j := range i {
			// What both change is a sum of all.
			here := slices.DeleteFunc(slices.Clone(differs[i]), func(at int) bool { return slices.Contains(differs[j], at) })
			there := slices.DeleteFunc(slices.Clone(differs[j]), func(at int) bool { return slices.Contains(differs[i], at) })
			x := bytes.Clone(data)
			if len(here) != len(there) || len(all[j]) != len(data) {
				continue
			}
			for k := range here {
				x[here[k]], x[there[k]] = x[there[k]], x[here[k]]
			}
			if !bytes.Equal(x, data) {
				w.try(x)
			}
		}
	}
}

// exchanges are of fields, of numbers, and of the blocks that a long one may be cut into.
func (w *wrong) exchanges(t *testing.T) {
	w.exchange(t, func() *state {
		s := &state{RNG: make([]byte, 16)}
		for range 3 {
			s.Model = append(s.Model, tensor{Name: "aa", Data: make([]float64, 12)})
			s.Optimizer = append(s.Optimizer, tensor{Name: "aa", Data: make([]float64, 12)})
		}
		return s
	},
		func(s *state) { s.Step = 64 }, func(s *state) { s.Epoch = 64 }, func(s *state) { s.Position = 64 },
		func(s *state) { s.Rate = 2 }, func(s *state) { s.Metric = 2 }, func(s *state) { s.RNG[1] = 64 }, func(s *state) { s.RNG[9] = 64 },
		func(s *state) { s.Model[0].Name = "ba" }, func(s *state) { s.Model[1].Name = "ba" }, func(s *state) { s.Optimizer[1].Name = "ba" },
		func(s *state) { s.Model[0].Data[1] = 2 }, func(s *state) { s.Model[0].Data[2] = 2 }, func(s *state) { s.Model[1].Data[1] = 2 },
		func(s *state) { s.Model[2].Data[1] = 2 }, func(s *state) { s.Optimizer[0].Data[1] = 2 }, func(s *state) { s.Optimizer[1].Data[9] = 2 },
	)
	const long, at = 3<<20 + 16_384, 1<<20 + 8000 // bytes, so that blocks of up to 1 MiB are all zeros but for one
	for _, distance := range []int{1 << 20, 960_000, 1_000_000} {
		w.exchange(t, func() *state { return &state{RNG: make([]byte, long)} },
			func(s *state) { s.RNG[at] = 64 }, func(s *state) { s.RNG[at+distance] = 64 })
		w.exchange(t, func() *state { return &state{Model: []tensor{{Data: make([]float64, long/8)}}} },
			func(s *state) { s.Model[0].Data[at/8] = 2 }, func(s *state) { s.Model[0].Data[(at+distance)/8] = 2 })
	}
}

// Less than was written, or more, is ErrDamaged, at every length (rule 6).
func TestCut(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, s := range []*state{small(r.IntN(1000), r.Float64()), draw(r, 1, 1), draw(r, 4, 3)} {
		var cut, longer wrong
		data := written(t, s)
		for n := range data {
			cut.try(data[:n:n])
		}
		for _, more := range [][]byte{{0}, {1}, {byte(r.Uint32())}, make([]byte, 8), drawBytes(r, 100), data, data[8:], make([]byte, 70_000)} {
			longer.try(slices.Concat(data, more))
		}
		cut.record(o, "bytes missing", t, data)
		longer.record(o, "bytes behind the end", t, data)
	}
	large := draw(r, 1, 1)
	large.Model[0].Data = numbers(r, below(r, 70_000, 80_000))
	data := written(t, large)
	var cut wrong
	for _, n := range []int{len(data) - 1, len(data) - 4, len(data) - 8, len(data) - 9, 65_536, 65_544, 4096, 8192, 524_288, below(r, 100_000, 400_000)} {
		cut.try(data[:n])
	}
	cut.try(append(data[:len(data):len(data)], 0))
	cut.record(o, "many numbers, bytes missing", t, data)
}

// Read takes no length at its word: what it allocates is in proportion to what there is
// (rule 7).
func TestUntrusted(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	data := written(t, draw(r, 2, 2))
	var before, after runtime.MemStats
	var largest uint64
	for i := 8; i < len(data); i++ {
		old := data[i]
		for _, b := range []byte{old ^ 1, old ^ 16, old ^ 64, 255} {
			data[i] = b
			var s state
			runtime.ReadMemStats(&before)
			_ = checkpoint.Read(bytes.NewReader(data), &s)
			runtime.ReadMemStats(&after)
			largest = max(largest, after.TotalAlloc-before.TotalAlloc)
		}
		data[i] = old
	}
	var s state
	read(t, data, &s)
	record(o, "undamaged", &s)
	over := max(0, int(largest)-16*len(data)-1<<20)
	o.SelfReported().Int("bytes allocated beyond what is allowed", over)
	// What a Tensor has beside its numbers is in proportion, too.
	short := make([]tensor, 20_000)
	for i := range short {
		short[i] = tensor{Name: string(drawBytes(r, 2)), Data: numbers(r, 2)}
	}
	bare := make([]tensor, below(r, 40_000, 46_000)) // the fewest bytes for a Tensor, whatever the format
	over = 0
	for _, many := range []*state{{Model: short}, {Optimizer: short}, {Model: bare}, {Optimizer: bare}, {RNG: drawBytes(r, 400_000)}, {Model: []tensor{{Name: string(drawBytes(r, 400_000))}}}, {Optimizer: []tensor{{Data: numbers(r, 50_000)}}}} {
		data := written(t, many)
		data[len(data)-1]++
		for _, data := range [][]byte{data, data[:len(data)-1], data[:len(data)/2]} {
			var s state
			runtime.ReadMemStats(&before)
			_ = checkpoint.Read(bytes.NewReader(data), &s)
			runtime.ReadMemStats(&after)
			over = max(over, int(after.TotalAlloc-before.TotalAlloc)-16*len(data)-1<<20)
		}
	}
	o.SelfReported().Int("bytes allocated for many Tensors beyond what is allowed", over)
}

// chopped gives few bytes at a time, and the last ones together with its error.
type chopped struct {
	r    *rand.Rand
	data []byte
	most int
	err  error
}

func (c *chopped) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), 1+c.r.IntN(c.most))], c.data)
	if c.data = c.data[n:]; len(c.data) == 0 {
		return n, c.err
	}
	return n, nil
}

// stumbling gives its bytes in pieces. It gives nothing and no error before each piece, if
// pauses says so, and one error together with the byte at, or behind it if it is alone, and
// goes on.
type stumbling struct {
	data   []byte
	piece  int
	pauses bool
	paused bool
	at     int // below 0 is none
	alone  bool
	err    error
}

func (s *stumbling) Read(p []byte) (int, error) {
	if s.paused = s.pauses && !s.paused; s.paused {
		return 0, nil
	}
	if s.at == 0 && s.alone {
		s.at = -1
		return 0, s.err
	}
	if len(s.data) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	most := min(len(p), s.piece)
	if s.at > 0 {
		most = min(most, s.at)
	}
	n := copy(p[:most], s.data)
	s.data = s.data[n:]
	if s.at > 0 {
		if s.at -= n; s.at == 0 && !s.alone {
			s.at = -1
			return n, s.err
		}
	}
	return n, nil
}

// slipping is a writer that fails in one call, with or without its work done, and goes on.
type slipping struct {
	calls int // before the one that fails
	works bool
}

func (s *slipping) Write(p []byte) (int, error) {
	if s.calls--; s.calls != -1 {
		return len(p), nil
	}
	if s.works {
		return len(p), errDisk
	}
	return len(p) / 2, errDisk
}

// full is a writer that fails after some bytes.
type full struct {
	room int
	err  error
}

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		n := f.room
		f.room = 0
		return n, f.err
	}
	f.room -= len(p)
	return len(p), nil
}

// An error of the writer or reader is returned. A reader may give fewer bytes than it is
// asked for, and the last ones together with its error (rule 8).
func TestReaders(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	s := draw(r, 3, 2)
	s.Model[0].Data = numbers(r, 3000)
	data := written(t, s)
	for _, most := range []int{1, 2, 7, 8, 100, 4096} {
		var got state
		err := checkpoint.Read(&chopped{g, data, most, io.EOF}, &got)
		o.Error("read in pieces: error", err, kinds...)
		o.Float("read in pieces", sum(&got))
	}
	var rooms []int
	for i := range 40 {
		rooms = append(rooms, min(i, len(data)), max(0, len(data)-i), g.IntN(len(data)+1))
	}
	try := func(name string, errs ...error) {
		lost := []int{0, 0, 0}
		for _, want := range errs {
			for _, n := range rooms {
				for _, from := range []io.Reader{&chopped{g, data[:n], 1 + g.IntN(5000), want}, io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(want))} {
					var got state
					err := checkpoint.Read(from, &got)
					if !errors.Is(err, want) || errors.Is(err, checkpoint.ErrDamaged) || errors.Is(err, checkpoint.ErrFormat) || errors.Is(err, checkpoint.ErrVersion) {
						lost[0]++
					}
				}
				if err := checkpoint.Write(&full{n, want}, s); n < len(data) && !errors.Is(err, want) {
					lost[1]++
				}
			}
			if err := checkpoint.Write(&full{len(data), want}, s); err != nil {
				lost[2]++
			}
		}
		o.Ints(name+" that are lost, of reading and of writing, or that are none", lost)
	}
	try("errors", errDisk)
	try("errors of other kinds", io.ErrUnexpectedEOF, io.ErrClosedPipe, io.ErrShortWrite, io.ErrNoProgress)
	try("errors that wrap io.EOF", fmt.Errorf("the connection is gone: %w", io.EOF))
	o.Error("a writer that returns io.EOF", checkpoint.Write(&full{0, io.EOF}, s), io.EOF)
	few := written(t, small(r.IntN(99), 0))
	for _, from := range []*stumbling{{data: few, piece: 1}, {data: data, piece: 100}, {data: data, piece: 5000}} {
		from.pauses, from.at = true, -1
		var got state
		o.Error("a reader that gives nothing at times: error", checkpoint.Read(from, &got), kinds...)
		o.Float("a reader that gives nothing at times", sum(&got))
	}
	onceOnly(o, data, s, g)
	withFullBlocks(t, o, r)
	behindTheEnd(o, few, g)
	behindTheEnd(o, data, g)
}

// nothing is a reader that gives nothing and no error for so many times before it ends.
type nothing struct{ times int }

func (n *nothing) Read([]byte) (int, error) {
	if n.times == 0 {
		return 0, io.EOF
	}
	n.times--
	return 0, nil
}

// behindTheEnd lets a reader give nothing and no error for some times behind the last byte, and then its end, an error
// or more bytes, alone or together with its end.
func behindTheEnd(o *observe.Observer, data []byte, g *rand.Rand) {
	for _, times := range []int{1, 2, below(g, 3, 98), 99} {
		try := func(name string, rest io.Reader) {
			var got state
			err := checkpoint.Read(io.MultiReader(bytes.NewReader(data), &nothing{times}, rest), &got)
			o.Error("nothing for some times behind the last byte, then "+name, err, kinds...)
		}
		more := drawBytes(g, below(g, 1, 40))
		try("the end", bytes.NewReader(nil))
		try("more bytes", bytes.NewReader(more))
		try("more bytes, the last with the end", iotest.DataErrReader(bytes.NewReader(more)))
		try("an error", iotest.ErrReader(errDisk))
		try("an error that comes once", &stumbling{alone: true, err: errDisk})
	}
}

// withFullBlocks lets a reader fill each request, and one of them together with an error
// that comes once. So it comes behind whole blocks, however long Read makes them.
func withFullBlocks(t *testing.T, o *observe.Observer, r *rand.Rand) {
	s := small(r.IntN(99), 0)
	s.Model[0].Data = numbers(r, 45_000)
	data := written(t, s)
	lost := 0
	for k, more := 0, true; more && k < 200; k++ {
		from := &filling{data: data, failing: k}
		var got state
		err := checkpoint.Read(from, &got)
		if more = from.calls > k; more && !errors.Is(err, errDisk) {
			lost++
		}
	}
	o.Int("errors that come once, with all that was asked for: lost", lost)
}

// filling is a reader that gives all that it is asked for, and once an error with it.
type filling struct {
	data           []byte
	calls, failing int
}

func (f *filling) Read(p []byte) (n int, err error) {
	n = copy(p, f.data)
	f.data = f.data[n:]
	if n == 0 && len(p) > 0 {
		err = io.EOF
	}
	if f.calls == f.failing {
		err = errDisk
	}
	f.calls++
	return n, err
}

// onceOnly lets a reader and a writer fail once and then go on. Their error is returned, and
// nothing of it is left for the next Read and Write.
func onceOnly(o *observe.Observer, data []byte, s *state, g *rand.Rand) {
	lost, after := []int{0, 0, 0}, 0
	var calls int
	if err := checkpoint.Write(counting(func() { calls++ }), s); err != nil {
		after++
	}
	for i := range 200 {
		at := len(data) - i/2
		if i > 40 {
			at = below(g, 1, len(data))
		}
		alone := i%2 == 1
		var got state
		if !errors.Is(checkpoint.Read(&stumbling{data: data, piece: below(g, 1, 5000), at: at, alone: alone, err: errDisk}, &got), errDisk) {
			lost[i%2]++
		}
		if !errors.Is(checkpoint.Write(&slipping{i % max(1, calls), alone}, s), errDisk) {
			lost[2]++
		}
		if checkpoint.Read(bytes.NewReader(data), &got) != nil || !same(&got, s) {
			after++
		}
	}
	o.Int("errors that come once, with bytes: lost", lost[0])
	o.Int("errors that come once, without bytes: lost", lost[1])
	o.Int("errors of a Write that come once: lost", lost[2])
	o.Int("wrong after an error", after)
}

// counting is a writer that calls a function.
type counting func()

func (c counting) Write(p []byte) (int, error) { c(); return len(p), nil }
