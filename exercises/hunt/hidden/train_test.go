package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/hunt"
)

// With one batch for all samples the order does not matter: a step moves all weights against
// the mean gradient (rules 13, 15 and 16).
func TestTrain(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		cfg := config(r)
		cfg.Batch, cfg.Epochs = 3, 1 // all orders of three give the same sum, within rounding
		m, _ := train(t, cfg, samples(r, cfg, 3, 3))
		p := slices.Clone(m.Probabilities(nil))
		for f := range cfg.Features {
			p = append(p, m.Probabilities(hunt.Vector{{Index: f, Value: 1}})...)
		}
		o.Floats("probabilities", p)
		cfg.Epochs = 0
		m, _ = train(t, cfg, samples(r, cfg, 3, 3))
		model(o, "untrained", m, cfg.Features)
	}
}

// An epoch sees the samples in the order of its seed and number, and they stay with their
// batches: the last one may be smaller (rules 14, 15 and 16). To the last bit.
func TestBatches(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		cfg := config(r)
		for _, n := range []int{23, cfg.Batch, cfg.Batch - 1, cfg.Batch + 1, 2 * cfg.Batch, 1} {
			list := samples(r, cfg, n, 4)
			m, _ := train(t, cfg, list)
			model(o, "batches", m, cfg.Features)
			one := cfg
			one.Batch = 1
			m, _ = train(t, one, list)
			model(o, "one at a time", m, cfg.Features)
			for _, huge := range []int{math.MaxInt, 1 << 32, 1 << 16, 1 << 8} {
				one.Batch = huge
				m, _ = train(t, one, list)
				model(o, "all at once", m, cfg.Features)
			}
		}
	}
}

// Every epoch has a loss and an accuracy, which are those before its samples were learned
// from (rule 17).
func TestEpochs(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		cfg := config(r)
		list := samples(r, cfg, below(r, 20, 40), 3)
		_, epochs := train(t, cfg, list)
		metrics(o, "epochs", epochs)
		cfg.Epochs = 0
		_, epochs = train(t, cfg, list)
		o.Int("of none", len(epochs))
		cfg.Epochs = 2
		_, epochs = train(t, cfg, nil)
		metrics(o, "of no samples", epochs)
		cfg.Rate = 0
		_, epochs = train(t, cfg, list)
		metrics(o, "at a rate of 0", epochs)
		cfg.Rate = -r.Float64()
		_, epochs = train(t, cfg, list)
		metrics(o, "at a rate below 0", epochs)
	}
	// In the second epoch many probabilities are equal, the scores not.
	for _, classes := range []int{2, 3, 6} {
		cfg, list := hairsbreadth(r, classes, 100)
		cfg.Epochs = 2
		_, epochs := train(t, cfg, list)
		metrics(o, "nearly equal ones", epochs)
	}
}

// Sizes at which numbers of 8 or 16 bits wrap, and sizes of 1 (rules 13 to 17).
func TestSizes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, cfg := range []hunt.Config{
		{Features: 1, Classes: 1, Epochs: 2, Batch: 1, Rate: 1}, {Features: 1, Classes: 2, Epochs: 2, Batch: 1, Rate: 1},
		{Features: 5, Classes: 1, Epochs: 2, Batch: 2, Rate: 1}, {Features: 3, Classes: 300, Epochs: 2, Batch: 4, Rate: 1},
		{Features: 300, Classes: 2, Epochs: 300, Batch: 8, Rate: 0.1}, {Features: 70_000, Classes: 2, Epochs: 1, Batch: 9, Rate: 1},
	} {
		cfg.Seed = r.Uint64()
		list := samples(r, cfg, 20, 30)
		m, epochs := train(t, cfg, list)
		metrics(o, "epochs", epochs)
		o.Floats("no features", m.Probabilities(nil), exact)
		for _, s := range list {
			o.Floats("of a sample", m.Probabilities(s.X), exact)
		}
	}
	cfg := hunt.Config{Features: 2, Classes: 2, Epochs: 1, Batch: 70_000, Rate: 1, Seed: r.Uint64()}
	m, epochs := train(t, cfg, samples(r, cfg, 70_001, 1))
	metrics(o, "70,001 samples", epochs)
	model(o, "70,001 samples", m, 2)
	// All are wrong in the first epoch, and right in the second.
	cfg.Epochs = 2
	_, epochs = train(t, cfg, slices.Repeat([]hunt.Sample{{X: hunt.Vector{{Index: 1, Value: r.Float64()}}, Class: 1}}, 70_001))
	metrics(o, "70,001 samples of one class", epochs)
	cfg = hunt.Config{Features: 1, Classes: 300, Epochs: 2, Batch: 4, Rate: 1}
	_, epochs = train(t, cfg, slices.Repeat([]hunt.Sample{{Class: below(r, 256, 299)}}, 20))
	metrics(o, "a class above 255", epochs)
	cfg = hunt.Config{Features: 70_000, Classes: 2, Epochs: 2, Batch: 2, Rate: 0.1, Seed: r.Uint64()}
	long := samples(r, cfg, 3, 66_000)
	m, epochs = train(t, cfg, long)
	metrics(o, "vectors of 66,000 entries", epochs)
	o.Floats("of a vector of 66,000 entries", m.Probabilities(long[0].X), exact)
	cfg = hunt.Config{Features: 2, Classes: 2, Epochs: below(r, 65_560, 65_600), Batch: 1, Rate: 0.1, Seed: r.Uint64()}
	_, epochs = train(t, cfg, samples(r, cfg, 3, 2))
	o.Bool("as many epochs as Epochs", len(epochs) == cfg.Epochs)
	metrics(o, "the last of more than 65,536 epochs", epochs[max(0, len(epochs)-20):])
	manyBatches(t, o, r)
}

// manyBatches trains with more than 65,536 batches in an epoch. Some features come again after 256 or 65,536
// batches and not in between, and others come for the first time in a batch with about such a number.
func manyBatches(t testing.TB, o *observe.Observer, r *rand.Rand) {
	const some = 16
	cfg := hunt.Config{Features: 1 + 4*some, Classes: 2, Epochs: 1, Batch: 1, Rate: 1, Seed: r.Uint64()}
	list := samples(r, cfg, 1<<16+below(r, 300, 400), 0)
	order := rand.New(rand.NewPCG(cfg.Seed, 0)).Perm(len(list)) // rule 14
	put := func(batch, feature int) {
		list[order[batch]].X = hunt.Vector{{Index: feature, Value: 1 + r.Float64()}}
	}
	for i := range some {
		put(40+i, 1+i)
		put(1<<16+40+i, 1+i)
		put(60+i, 1+some+i)
		put(1<<8+60+i, 1+some+i)
		put(1<<8-some/2+i, 1+2*some+i)
		put(1<<16-some/2+i, 1+3*some+i)
	}
	m, epochs := train(t, cfg, list)
	metrics(o, "more than 65,536 batches", epochs)
	model(o, "more than 65,536 batches", m, cfg.Features)
}

// What is wrong is an error, a config before a sample, and there is no model (rule 18).
func TestTrainErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	wrong := func(name string, cfg hunt.Config, list []hunt.Sample) {
		m, epochs, err := hunt.Train(cfg, list)
		o.Error(name, err, hunt.ErrConfig, hunt.ErrSample)
		o.Bool(name+": a model", m != nil)
		o.Bool(name+": epochs", epochs != nil)
	}
	good := config(r)
	list := samples(r, good, 9, 2)
	wrong("nothing", good, list)
	for _, change := range []func(c *hunt.Config){
		func(c *hunt.Config) { c.Features = 0 }, func(c *hunt.Config) { c.Features = -below(r, 1, 9) }, func(c *hunt.Config) { c.Classes = 0 }, func(c *hunt.Config) { c.Classes = -1 },
		func(c *hunt.Config) { c.Epochs = -1 }, func(c *hunt.Config) { c.Batch = 0 }, func(c *hunt.Config) { c.Batch = -below(r, 1, 9) },
		func(c *hunt.Config) { c.Features -= 1 << 32 }, func(c *hunt.Config) { c.Classes -= 1 << 32 }, func(c *hunt.Config) { c.Epochs -= 1 << 32 }, func(c *hunt.Config) { c.Batch -= 1 << 32 },
		func(c *hunt.Config) { c.Rate = math.NaN() }, func(c *hunt.Config) { c.Rate = math.Inf(1) }, func(c *hunt.Config) { c.Rate = math.Inf(-1) },
	} {
		cfg := good
		change(&cfg)
		wrong("config", cfg, list)
		wrong("config, no samples", cfg, nil)
		wrong("config and sample", cfg, []hunt.Sample{{Class: -1}})
	}
	for _, bad := range []hunt.Sample{
		{Class: -1}, {Class: good.Classes}, {Class: math.MaxInt}, {Class: math.MinInt},
		{Class: 1 << 8}, {Class: 1 << 16}, {Class: 1 << 32}, {X: hunt.Vector{{Index: 1 << 8}}}, {X: hunt.Vector{{Index: 1 << 16}}}, {X: hunt.Vector{{Index: 1 << 32}}},
		{X: hunt.Vector{{Index: 1}, {Index: 1<<8 + 2}}}, {X: hunt.Vector{{Index: 1}, {Index: 1<<16 + 2}}}, {X: hunt.Vector{{Index: 1}, {Index: 1<<32 + 2}}},
		{X: hunt.Vector{{Index: -1}}}, {X: hunt.Vector{{Index: good.Features}}}, {X: hunt.Vector{{Index: math.MaxInt}}}, {X: hunt.Vector{{Index: math.MinInt}}},
		{X: hunt.Vector{{Index: 1}, {Index: 1}}}, {X: hunt.Vector{{Index: 0}, {Index: 2}, {Index: 1}}}, {X: hunt.Vector{{Index: 0}, {Index: good.Features, Value: 0}}}, {X: hunt.Vector{{Index: -1}, {Index: 1}}},
	} {
		for _, at := range []int{0, len(list) - 1, r.IntN(len(list))} {
			changed := slices.Clone(list)
			changed[at] = bad
			wrong("sample", good, changed)
		}
	}
	none := good
	none.Epochs = 0
	wrong("sample, no epochs", none, []hunt.Sample{{Class: -1}})
	edges := []hunt.Sample{{X: hunt.Vector{{Index: 0, Value: 1}, {Index: good.Features - 1, Value: 1}}, Class: good.Classes - 1}, {}}
	wrong("at the edges", good, edges)
	none.Features, none.Classes = 1, 70_000
	_, _, err := hunt.Train(none, []hunt.Sample{{Class: 69_999}})
	o.Error("the last of many classes", err, hunt.ErrConfig, hunt.ErrSample)
	wrong("the last of many samples", good, append(make([]hunt.Sample, 70_000), hunt.Sample{Class: -1}))
}

// Values of any size, NaN and infinities go through the formulas as they stand (rules 13
// and 15 to 17).
func TestNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, math.MaxFloat64, 1e-300, 5e-324, 800, -800, math.Copysign(0, -1), 0} {
		for _, at := range []int{0, 5, 11} {
			cfg := config(r)
			cfg.Batch = 2
			list := samples(r, cfg, 12, 3)
			list[at].X[r.IntN(3)].Value = value
			m, epochs := train(t, cfg, list)
			metrics(o, "epochs", epochs)
			model(o, "model", m, cfg.Features)
			for _, s := range list {
				o.Floats("of a sample", m.Probabilities(s.X), exact)
				o.Int("its class", m.Predict(s.X))
			}
		}
		cfg := config(r)
		m, _ := train(t, cfg, samples(r, cfg, 20, 3))
		x := hunt.Vector{{Index: 0, Value: 1}, {Index: 3, Value: value}}
		o.Floats("of the value", m.Probabilities(x), exact)
		o.Int("class of the value", m.Predict(x))
		for _, cfg.Classes = range []int{1, 2} { // few, for which there are shorter formulas
			list := samples(r, cfg, 12, 3)
			list[r.IntN(12)].X[r.IntN(3)].Value = value
			m, epochs := train(t, cfg, list)
			metrics(o, "epochs of few classes", epochs)
			model(o, "model of few classes", m, cfg.Features)
		}
	}
	cfg := config(r)
	for _, cfg.Classes = range []int{1, 2, cfg.Classes} {
		// What was learned for class 1 speaks against class 0, whose score is -Inf. One class learns nothing.
		m, _ := train(t, cfg, []hunt.Sample{{X: hunt.Vector{{Index: 3, Value: 1 + r.Float64()}}, Class: min(1, cfg.Classes-1)}})
		infinite := hunt.Vector{{Index: 3, Value: math.Inf(1)}}
		o.Floats("of infinite scores", m.Probabilities(infinite), exact)
		o.Int("class of infinite scores", m.Predict(infinite))
	}
	for _, rate := range []float64{1e300, -1e300, 5e-324, math.MaxFloat64} {
		cfg.Rate = rate
		m, epochs := train(t, cfg, samples(r, cfg, 12, 3))
		metrics(o, "at any rate", epochs)
		model(o, "at any rate", m, cfg.Features)
	}
	// Nothing spares what is multiplied by 0: a gradient or a weight may be infinite.
	for _, rate := range []float64{0, math.Copysign(0, -1), 5e-324, 1} {
		for _, value := range []float64{math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
			cfg := hunt.Config{Features: 3, Classes: 3, Epochs: 2, Batch: 4, Rate: rate, Seed: r.Uint64()}
			list := slices.Repeat([]hunt.Sample{{X: hunt.Vector{{Index: 1, Value: value}}, Class: 1 + r.IntN(2)}}, 4)
			m, epochs := train(t, cfg, list)
			metrics(o, "no rate", epochs)
			model(o, "no rate", m, 3)
			cfg.Batch = 9
			for _, zero := range []float64{0, math.Copysign(0, -1)} {
				x := hunt.Vector{{Index: 0, Value: r.Float64()}, {Index: 1, Value: zero}}
				o.Floats("of a value of 0", m.Probabilities(x), exact)
				o.Int("class of a value of 0", m.Predict(x))
				_, epochs = train(t, cfg, append(list, hunt.Sample{X: x, Class: 0}))
				metrics(o, "a value of 0", epochs)
			}
		}
	}
	// Weights that are infinite, learned in the first epoch, and values of 0 in the second.
	for _, zero := range []float64{0, math.Copysign(0, -1)} {
		cfg := hunt.Config{Features: 2, Classes: 3, Epochs: 1, Batch: 4, Rate: 1, Seed: r.Uint64()}
		list := slices.Repeat([]hunt.Sample{{X: hunt.Vector{{Index: 1, Value: math.MaxFloat64}}, Class: 1 + r.IntN(2)}}, 4)
		m, _ := train(t, cfg, list)
		x := hunt.Vector{{Index: 0, Value: r.Float64()}, {Index: 1, Value: zero}}
		o.Floats("a value of 0", m.Probabilities(x), exact)
		o.Int("class of it", m.Predict(x))
	}
	weightless(t, o)
}

// Predict returns the first of the classes with the highest probability (rule 19).
func TestPredict(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		cfg := config(r)
		cfg.Classes = 9
		m, _ := train(t, cfg, samples(r, cfg, 30, 3))
		for range 30 {
			o.Int("class", m.Predict(sparse(r, cfg.Features, below(r, 0, 4))))
		}
		// Only classes from first on are in the samples, each as often as the others and
		// without features: they are equally probable, and the ones before are less so.
		first := below(r, 0, 7)
		var list []hunt.Sample
		for c := first; c < cfg.Classes; c++ {
			list = append(list, hunt.Sample{Class: c})
		}
		cfg.Batch, cfg.Epochs, cfg.Rate = len(list), 1, 0.5
		m, epochs := train(t, cfg, list)
		o.Int("equal ones", m.Predict(nil))
		metrics(o, "equal ones", epochs)
		cfg.Epochs = 0
		m, _ = train(t, cfg, list)
		o.Int("all equal", m.Predict(hunt.Vector{{Index: 1, Value: r.Float64()}}))
	}
	// More than 256 classes, of which those at the end are learned.
	cfg := hunt.Config{Features: 20, Classes: 300, Epochs: 2, Batch: 5, Rate: 9, Seed: r.Uint64()}
	var list []hunt.Sample
	for f := range cfg.Features {
		list = append(list, hunt.Sample{X: hunt.Vector{{Index: f, Value: 1}}, Class: below(r, 250, 299)})
	}
	m, _ := train(t, cfg, list)
	for _, s := range list {
		o.Int("one of 300 classes", m.Predict(s.X))
	}
	// Scores that differ so little that some of their probabilities are equal.
	for _, classes := range []int{2, 3, 6} {
		cfg, list := hairsbreadth(r, classes, 0)
		m, _ := train(t, cfg, list)
		off := r.Float64()
		for k := range 100 {
			o.Int("nearly equal ones", m.Predict(hunt.Vector{{Index: 0, Value: (float64(k) + off) * 0x1p-37}}))
		}
	}
}

// hairsbreadth makes samples of all classes, from which a model learns nearly nothing in its
// first epoch: the last class has a little more than the others, times the only feature. So
// many more samples have next to nothing of that feature; their class is 0.
func hairsbreadth(r *rand.Rand, classes, more int) (hunt.Config, []hunt.Sample) {
	var list []hunt.Sample
	off := r.Float64()
	for k := range more + 1 {
		for c := range classes {
			list = append(list, hunt.Sample{Class: c})
		}
		list[k*classes].X = hunt.Vector{{Index: 0, Value: (float64(k) + off) * 0x1p-37}}
	}
	list[0].X, list[classes-1].X = nil, hunt.Vector{{Index: 0, Value: 1}}
	return hunt.Config{Features: 1, Classes: classes, Epochs: 1, Batch: len(list), Rate: float64(len(list)) * 0x1p-20, Seed: r.Uint64()}, list
}

// pairs draws classes.
func pairs(r *rand.Rand, n, classes int) (truth, predicted []int) {
	return drawn(r, n, classes), drawn(r, n, classes)
}

// drawn draws n numbers below classes. Those after the first of many are parts of these, from
// anywhere: to draw each takes longer than what is measured.
func drawn(r *rand.Rand, n, classes int) []int {
	const first = 1 << 16
	list := make([]int, n)
	for i := range min(n, first) {
		list[i] = r.IntN(classes)
	}
	for at := first; at < n; {
		at += copy(list[at:], list[r.IntN(first/2):first])
	}
	return list
}

// table records rows.
func table(o *observe.Observer, name string, rows [][]int) {
	var sizes, all []int
	for _, row := range rows {
		sizes, all = append(sizes, len(row)), append(all, row...)
	}
	o.Ints(name+": sizes", sizes)
	o.Ints(name+": counts", all)
}

// Tally has a row for each truth and a column for each prediction. It leaves out classes that
// there are not, and what is in one list only (rule 20).
func TestTally(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{2, 5, 1, 12, 300} {
		truth, predicted := pairs(r, 100, n)
		table(o, "pairs", hunt.Tally(truth, predicted, n))
		table(o, "fewer predicted", hunt.Tally(truth, predicted[:60], n))
		table(o, "more predicted", hunt.Tally(truth[:60], predicted, n))
		for i, bad := range []int{-1, n, n + 1, -n, 1 << 40, -1 << 63, 1<<63 - 1, 1 << 32, 1 << 16, 256} {
			truth[5*i], predicted[5*i+2] = bad, bad
		}
		truth[90], predicted[90] = -1, -1
		rows := hunt.Tally(truth, predicted, n)
		table(o, "others too", rows)
		for i := range rows {
			_ = append(rows[i], 77)
		}
		table(o, "after appending", rows)
		if len(rows) > 0 {
			clear(rows[0])
		}
		table(o, "after writing", rows)
		table(o, "no pairs", hunt.Tally(nil, predicted, n))
	}
	table(o, "no classes", hunt.Tally([]int{0, 1}, []int{0, 1}, 0))
	table(o, "less than none", hunt.Tally([]int{0, -1}, []int{0, -1}, -below(r, 1, 9)))
	truth, predicted := pairs(r, 300_000, 2)
	table(o, "300,000", hunt.Tally(truth, predicted, 2))
}
