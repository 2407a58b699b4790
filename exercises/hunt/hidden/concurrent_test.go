package hidden

import (
	"bytes"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/hunt"
)

// Several goroutines may use a Vocabulary and a Model, and call every function, at the same
// time, with inputs of any size, also while calls wait for their readers or writers, however far
// these have come (rule 24).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	firstCalls(o, r)
	list := ranked(r, 6)
	v := hunt.NewVocabulary(list, everything)
	cfg := config(r)
	given := samples(r, cfg, 12, 3)
	m, _ := train(t, cfg, given)
	text := lines("\n", plain(r, 5)...)
	const n = 8
	type answer struct {
		x      hunt.Vector
		p      []float64
		class  int
		list   []hunt.Example
		losses []hunt.Epoch
		words  []string
		table  [][]int
		csv    bytes.Buffer
	}
	var answers [n]answer
	together(n, func(i int) {
		a := &answers[i]
		for k := range 20 {
			a.x = v.Vector(list[(i+k)%6].Words)
			a.p = m.Probabilities(given[i].X)
			a.class = m.Predict(given[i].X)
			a.table = hunt.Tally([]int{i % 3, 1}, []int{1, k % 3}, 3)
		}
		a.list, _ = hunt.Read(strings.NewReader(text))
		a.words = hunt.NewVocabulary(list, 5+i).Words()
		_, a.losses, _ = hunt.Train(cfg, given)
		_ = hunt.WriteMetrics(&a.csv, a.losses)
	})
	for i := range answers {
		a := &answers[i]
		o.Int("entries", len(a.x))
		o.Floats("probabilities", a.p, observe.Within(1e-6, 0))
		o.Int("class", a.class)
		o.Int("examples", len(a.list))
		o.Int("words", len(a.words))
		o.Int("epochs", len(a.losses))
		o.Int("rows", len(a.table))
		o.Int("lines", strings.Count(a.csv.String(), "\n"))
	}
	large(o, r)
	others := func() {
		_, _ = hunt.Read(strings.NewReader(text))
		_ = hunt.WriteMetrics(io.Discard, make([]hunt.Epoch, 3))
		hunt.NewVocabulary(list, 5).Vector(list[0].Words)
		v.Vector(list[1].Words)
		own, _, _ := hunt.Train(cfg, given)
		own.Predict(given[0].X)
		m.Predict(given[0].X)
		m.Probabilities(given[0].X)
		hunt.Tally([]int{1}, []int{0}, 2)
	}
	if waiting(o, r, others) {
		waitingFar(o, r, others)
	}
}

// firstCalls records what goroutines get that make the first calls of all: of each function in
// this program, and then of each method of a Vocabulary and a Model that nobody has used yet.
func firstCalls(o *observe.Observer, r *rand.Rand) {
	const n = 6
	list, cfg, text := ranked(r, 6), config(r), lines("\n", plain(r, 5)...)
	given := samples(r, cfg, 12, 3)
	var sums [n][6]float64
	firsts := [...]func(sums *[6]float64){
		func(sums *[6]float64) {
			got, _ := hunt.Read(strings.NewReader(text))
			_, _ = hunt.Read(strings.NewReader("no tab"))
			sums[0] = float64(sumOf(got) + len(got))
		},
		func(sums *[6]float64) {
			v := hunt.NewVocabulary(list, everything)
			sums[1], sums[5] = weighted(v.Vector(list[0].Words)), float64(joined(v.Words()))
		},
		func(sums *[6]float64) {
			if m, epochs, err := hunt.Train(cfg, given); err == nil && len(epochs) > 0 {
				sums[2] = float64(m.Predict(given[0].X)) + ordered(m.Probabilities(given[0].X)) + epochs[0].Loss
			}
			_, _, _ = hunt.Train(hunt.Config{}, nil)
		},
		func(sums *[6]float64) { sums[3] = float64(len(hunt.Tally([]int{1}, []int{0}, 2))) },
		func(sums *[6]float64) {
			var csv bytes.Buffer
			_ = hunt.WriteMetrics(&csv, []hunt.Epoch{{Loss: 0.5, Accuracy: 1}})
			sums[4] = float64(csv.Len())
		},
	}
	together(n, func(i int) {
		for k := range firsts {
			firsts[(i+k)%len(firsts)](&sums[i])
		}
	})
	var alone [6]float64
	for _, call := range firsts {
		call(&alone)
	}
	for i := range sums {
		o.Bool("first calls answer as later ones do", sums[i] == alone)
	}
	for _, limit := range []int{everything, 3, 1, 0} {
		v := hunt.NewVocabulary(list, limit)
		m, _, _ := hunt.Train(cfg, given)
		var sums [n][4]float64
		methods := [...]func(sums *[4]float64){
			func(sums *[4]float64) { sums[0] = float64(joined(v.Words())) },
			func(sums *[4]float64) { sums[1] = weighted(v.Vector(list[0].Words)) },
			func(sums *[4]float64) { sums[2] = float64(m.Predict(given[0].X)) },
			func(sums *[4]float64) { sums[3] = ordered(m.Probabilities(given[0].X)) },
		}
		together(n, func(i int) {
			for k := range methods {
				methods[(i+k)%len(methods)](&sums[i])
			}
		})
		var alone [4]float64
		for _, call := range methods {
			call(&alone)
		}
		for i := range sums {
			o.Bool("first calls of methods answer as later ones do", sums[i] == alone)
		}
	}
}

// together calls do in n goroutines, and returns when all are over.
func together(n int, do func(i int)) {
	var group sync.WaitGroup
	start := make(chan bool)
	for i := range n {
		group.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	group.Wait()
}

// big is what one goroutine gives to each function: more than a buffer for small inputs holds.
type big struct {
	v        *hunt.Vocabulary // of all goroutines
	m        *hunt.Model      // of all goroutines
	cfg      hunt.Config
	words    []string
	given    []hunt.Sample
	text     string
	examples []hunt.Example
	truth    []int
	epochs   []hunt.Epoch
}

// bigs draws what n goroutines give.
func bigs(r *rand.Rand, n int) []*big {
	known := words(r, 2_000)
	v := hunt.NewVocabulary([]hunt.Example{{Words: known, Count: 1}, {Words: known[:700], Count: 1}}, everything)
	cfg := hunt.Config{Features: 300, Classes: 300, Epochs: 1, Batch: 5, Rate: 0.05, Seed: r.Uint64()}
	m, _, _ := hunt.Train(cfg, samples(r, cfg, 6, 3))
	list := make([]*big, n)
	for i := range list {
		b := &big{v: v, m: m, cfg: cfg, words: some(r, known, 4_000), given: samples(r, cfg, 3, 3), epochs: random(r, 2_000)}
		b.text = lines("\n", "x\t"+letters(r, 70_000), "y\t"+strings.Join(b.words[:3_000], " ")) + lines("\n", plain(r, 300)...)
		b.examples = bag(r, 4, 600, known)
		b.truth, _ = pairs(r, 3_000, 100)
		list[i] = b
	}
	return list
}

// bigNames say whose answers those of big are.
var bigNames = []string{"Vector", "Predict", "Probabilities", "WriteMetrics", "Train", "Tally", "NewVocabulary", "Read", "Words"}

// answers calls each function, and sums up what comes of it.
func (b *big) answers() []float64 {
	sums := make([]float64, len(bigNames))
	sums[0] = weighted(b.v.Vector(b.words))
	for i, s := range b.given {
		sums[1] += float64((i + 1) * b.m.Predict(s.X))
		sums[2] += ordered(b.m.Probabilities(s.X))
	}
	var csv bytes.Buffer
	_ = hunt.WriteMetrics(&csv, b.epochs)
	sums[3] = float64(crc32.ChecksumIEEE(csv.Bytes()))
	if own, epochs, err := hunt.Train(b.cfg, b.given); err == nil && len(epochs) > 0 {
		sums[4] = epochs[0].Loss + ordered(own.Probabilities(b.given[0].X))
	}
	for t, row := range hunt.Tally(b.truth, b.truth[1:], 100) {
		for p, n := range row {
			sums[5] += float64(n * (100*t + p))
		}
	}
	sums[6] = float64(joined(hunt.NewVocabulary(b.examples, everything).Words()))
	list, _ := hunt.Read(strings.NewReader(b.text))
	sums[7] = float64(sumOf(list))
	sums[8] = float64(joined(b.v.Words()))
	return sums
}

// ordered is a sum that shows the order of numbers.
func ordered(p []float64) (sum float64) {
	for i, x := range p {
		sum += float64(i+1) * x
	}
	return sum
}

// large records whether goroutines that all have large inputs get the answers that each of them
// gets alone.
func large(o *observe.Observer, r *rand.Rand) {
	list := bigs(r, 4)
	got := make([][]float64, len(list))
	together(len(list), func(i int) { got[i] = list[i].answers() })
	for i, b := range list {
		alone := b.answers()
		for k, name := range bigNames {
			o.Bool("large inputs: "+name+" answers as it does alone", got[i][k] == alone[k])
		}
		o.Float("large inputs: sum of a vector", alone[0], near)
		o.Float("large inputs: sum of probabilities", alone[2], near)
	}
}

// patience is how long a program stands still before the call that it is in counts as one that
// hangs.
const patience = 6 * time.Second

// goesOn reports whether do is over before the program stands still. A call that computes may
// take as long as the limits of the test let it, so that a slow machine makes no call hang.
func goesOn(do func()) bool {
	done := make(chan bool)
	go func() {
		defer close(done)
		do()
	}()
	for {
		before := computed()
		select {
		case <-done:
			return true
		case <-time.After(patience):
			if computed()-before < patience/50 {
				return false
			}
		}
	}
}

// computed is the CPU time that the program has used.
func computed() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// calling is a reader and a writer that does something else each time before it reads or writes,
// from so many bytes on.
type calling struct {
	text string // to be read
	got  []byte // written
	far  int
	do   func()
}

func (c *calling) Read(p []byte) (int, error) {
	if c.far > 0 {
		n := copy(p[:min(len(p), c.far)], c.text)
		c.text, c.far = c.text[n:], c.far-n
		return n, nil
	}
	n := copy(p[:min(len(p), max(20, len(c.text)/8))], c.text)
	c.text = c.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	c.do()
	return n, nil
}

func (c *calling) Write(p []byte) (int, error) {
	if c.far -= len(p); c.far < 0 {
		c.do()
	}
	c.got = append(c.got, p...)
	return len(p), nil
}

// waiting records whether others go on while a call waits for its reader or its writer, and
// while many do. It reports the same.
func waiting(o *observe.Observer, r *rand.Rand, others func()) bool {
	text, epochs := lines("\n", plain(r, 5)...), random(r, 5)
	var whole bytes.Buffer
	o.Error("error", hunt.WriteMetrics(&whole, epochs))
	hangs, times := false, 0
	meanwhile := func() {
		if times++; !hangs && times <= 2 {
			hangs = !goesOn(others)
		}
	}
	want := outcome(strings.NewReader(text))
	o.Bool("read", outcome(&calling{text: text, do: meanwhile}) == want)
	o.Bool("others wait for a reader", hangs)
	times = 0
	out := &calling{do: meanwhile}
	o.Error("error", hunt.WriteMetrics(out, epochs))
	o.Bool("written", string(out.got) == whole.String())
	o.Bool("others wait for a writer", hangs)
	o.Int("bytes", whole.Len())
	hangs = hangs || !crowd(below(r, 140, 280), others, func(c *calling) bool {
		c.text = text
		return outcome(c) == want
	})
	o.Bool("a Read or another call waits where many Reads wait", hangs)
	hangs = hangs || !crowd(below(r, 140, 280), others, func(c *calling) bool {
		return hunt.WriteMetrics(c, epochs) == nil && string(c.got) == whole.String()
	})
	o.Bool("a WriteMetrics or another call waits where many WriteMetrics wait", hangs)
	return !hangs
}

// crowd reports whether many calls reach their reader or writer while all of them wait there,
// whether others go on then, and whether all the calls are right in the end. They are crowded:
// more than one keeps buffers for.
func crowd(crowded int, others func(), call func(*calling) bool) bool {
	begun, open, right := make(chan bool, crowded), make(chan bool), make(chan bool, crowded)
	for range crowded {
		first := sync.OnceFunc(func() {
			begun <- true
			<-open
		})
		go func() { right <- call(&calling{do: first}) }()
	}
	all := goesOn(func() {
		for range crowded {
			select {
			case <-begun:
			case <-open:
			}
		}
	}) && goesOn(others)
	close(open)
	for range crowded {
		all = <-right && all
	}
	return all
}
