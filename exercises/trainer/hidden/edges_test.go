package hidden

import (
	"fmt"
	"math"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

func hex(tokens ...uint64) string { return fmt.Sprintf("%x", tokens) }

// New refuses what cannot work with ErrConfig, without a Trainer, and before it
// calls anything of the model (rule 1).
func TestConfig(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	good := trainer.Config{Device: "gpu", Epochs: 1 + w.r.IntN(5), AccumSteps: 1 + w.r.IntN(5), MaxGradNorm: w.r.Float64()}
	attempt := func(name string, m trainer.Model, opt trainer.Optimizer, l trainer.Loss, change func(*trainer.Config)) {
		cfg := good
		change(&cfg)
		tr, err := trainer.New(m, opt, l, cfg)
		o.Strings(name, []string{kind(err), fmt.Sprint("a Trainer: ", tr != nil), fmt.Sprint("moves: ", len(w.deviceLog)), hex(w.parameters)})
	}
	m, opt := model{w}, optimizer{w}
	same := func(*trainer.Config) {}
	attempt("no model", nil, opt, w.loss, same)
	attempt("no optimizer", m, nil, w.loss, same)
	attempt("no loss", m, opt, nil, same)
	for _, n := range []int{0, -1 - w.r.IntN(9)} {
		attempt("epochs", m, opt, w.loss, func(c *trainer.Config) { c.Epochs = n })
		attempt("batches for a step", m, opt, w.loss, func(c *trainer.Config) { c.AccumSteps = n })
	}
	attempt("negative norm", m, opt, w.loss, func(c *trainer.Config) { c.MaxGradNorm = -w.r.Float64() - 0.1 })
	attempt("norm is NaN", m, opt, w.loss, func(c *trainer.Config) { c.MaxGradNorm = math.NaN() })
	for _, bad := range []trainer.Callback{nil, w.r.IntN(9), epochOnly{}} { // the last one's method is the pointer's
		attempt("a bad callback", m, opt, w.loss, func(c *trainer.Config) { c.Callbacks = []trainer.Callback{callback{w, "a"}, bad} })
	}
	attempt("nothing wrong", m, opt, w.loss, func(c *trainer.Config) { c.Callbacks = []trainer.Callback{&epochOnly{}, endOnly{}} })
}

// New moves the model to the device, once; nobody does it again. The device "" is
// the CPU; an error of the move is New's (rule 2).
func TestModelMovedOnce(t *testing.T) {
	o := observe.New(t)
	for _, device := range []trainer.Device{"", trainer.Device(fmt.Sprintf("gpu%d", o.Rand().IntN(1000)))} {
		w := newWorld(o)
		tr, err := trainer.New(model{w}, optimizer{w}, w.loss, trainer.Config{Device: device, Epochs: 2, AccumSteps: 1})
		o.String("error", kind(err))
		o.Strings("moved by New", w.deviceLog)
		l := w.loader("train", w.sizes(2)...)
		for range 2 {
			_, err = tr.Fit(w.ctx(), l, l)
			o.String("error of Fit", kind(err))
		}
		_, err = tr.Evaluate(w.ctx(), l)
		o.String("error of Evaluate", kind(err))
		o.Strings("moved in all", w.deviceLog)
		o.String("state", w.state())
	}
	w := newWorld(o)
	w.fail("move model", 0)
	tr, err := trainer.New(model{w}, optimizer{w}, w.loss, trainer.Config{Epochs: 1, AccumSteps: 1})
	o.String("where the model cannot be moved", kind(err))
	o.Bool("a Trainer", tr != nil)
}

// The Trainer keeps a copy of the list of callbacks, and does not write into the
// caller's (rule 3).
func TestConfigCopied(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	list := []trainer.Callback{callback{w, "a"}, &epochOnly{callback{w, "b"}}, callback{w, "c"}}
	tr := w.trainer(trainer.Config{Callbacks: list[:2]})
	if c, ok := list[2].(callback); ok {
		o.String("behind the end", c.name)
	}
	list[0], list[1] = callback{w, "x"}, callback{w, "y"}
	_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), nil)
	o.String("error", kind(err))
	o.Strings("events", w.events)
}

// An epoch or evaluation without samples is ErrEmpty, and leaves the optimizer
// alone. A batch without samples is as if it had not been given (rules 7 and 27).
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	none := []int{}
	for _, sizes := range [][]int{none, {0}, {0, 0, 0}} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{callback{w, "a"}}})
		train := w.loader("train")
		train.sizes = func(epoch int) []int { // the second epoch is empty
			if epoch == 1 {
				return sizes
			}
			return []int{0, 3, 0, 0, 4, 0, 5, 0}
		}
		h, err := tr.Fit(w.ctx(), train, nil)
		o.String("Fit", kind(err))
		w.history(h)
		o.Strings("updates", w.updates)
		o.Strings("events", w.events)
		o.Floats("scales", w.scales)
		o.Strings("moves of X", w.movesOf("train X"))

		_, err = tr.Evaluate(w.ctx(), w.loader("test", sizes...))
		o.String("Evaluate", kind(err))
		h, err = tr.Fit(w.ctx(), w.loader("again", 3), w.loader("val", sizes...))
		o.String("Fit with validation", kind(err))
		w.history(h)
		for p, err := range tr.Predict(w.ctx(), w.loader("test", append([]int{0, 2, 0}, sizes...)...)) {
			o.String("Predict", kind(err))
			o.String("prediction", hex(p.(*tensor).token))
		}
	}
}

// A loss that is NaN or infinite is ErrNonFinite, at its batch, and its window is
// not stepped (rule 26).
func TestNonFinite(t *testing.T) {
	o := observe.New(t)
	for i, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		w := newWorld(o)
		means := []float64{1, 2, 3, 4, 5, 6, 7}
		means[2*i+1] = bad
		l := w.loader("data", w.sizes(len(means))...)
		good := w.loader("good", w.sizes(5)...)
		l.means = func(epoch int) []float64 {
			if epoch < i { // later epochs only
				return []float64{1, 1, 1, 1, 1, 1, 1}
			}
			return means
		}
		tr := w.trainer(trainer.Config{Epochs: 4, AccumSteps: 2})
		h, err := tr.Fit(w.ctx(), l, nil)
		o.String("training", place(err))
		w.history(h)
		o.Strings("updates", w.updates)
		h, err = tr.Fit(w.ctx(), good, l)
		o.String("validation", place(err))
		w.history(h)
		l.means = func(int) []float64 { return means }
		_, err = tr.Evaluate(w.ctx(), l)
		o.String("Evaluate", place(err))
		o.String("state", w.state())
	}
}

// Every method leaves the model in the mode that it found it in, also where it
// fails or is left early (rule 17).
func TestRestoredMode(t *testing.T) {
	o := observe.New(t)
	for _, training := range []bool{true, false} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 2})
		l := w.loader("data", w.sizes(4)...)
		check := func(name string, do func()) {
			w.training = training
			do()
			o.String(name, w.state())
		}
		check("Fit", func() { tr.Fit(w.ctx(), l, nil) })
		check("Fit with validation", func() { tr.Fit(w.ctx(), l, l) })
		check("Evaluate", func() { tr.Evaluate(w.ctx(), l) })
		check("Evaluate of nothing", func() { tr.Evaluate(w.ctx(), w.loader("nothing")) })
		check("Predict", func() {
			for p := range tr.Predict(w.ctx(), l) {
				o.String("prediction", hex(p.(*tensor).token))
			}
		})
		check("Predict that was left", func() {
			for p := range tr.Predict(w.ctx(), l) {
				o.String("prediction", hex(p.(*tensor).token))
				break
			}
		})
		check("Predict without a range", func() { tr.Predict(w.ctx(), l) })
		w.fail("bad forward", 0)
		w.fail("bad forward", 1)
		w.fail("bad forward", 2)
		bad := w.loader("bad", w.sizes(2)...)
		check("Fit that fails", func() { tr.Fit(w.ctx(), bad, nil) })
		check("Evaluate that fails", func() { tr.Evaluate(w.ctx(), bad) })
		check("Predict that fails", func() {
			for _, err := range tr.Predict(w.ctx(), bad) {
				o.String("error", kind(err))
			}
		})
		w.fail("poor forward", 0)
		check("validation that fails", func() { tr.Fit(w.ctx(), l, w.loader("poor", 2)) })
	}
}

// Epochs are numbered from 0, anew in each Fit. Batches is called once for an epoch,
// and ranged over once. Each Fit has a History of its own (rules 4 and 18).
func TestEpochNumbers(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	tr := w.trainer(trainer.Config{Epochs: 2 + w.r.IntN(4)})
	train, val := w.loader("train", w.sizes(2)...), w.loader("val", w.sizes(1)...)
	first, err := tr.Fit(w.ctx(), train, val)
	o.String("error", kind(err))
	second, err := tr.Fit(w.ctx(), train, val)
	o.String("error", kind(err))
	w.history(first)
	w.history(second)
	o.Ints("Batches of train", train.asked)
	o.Ints("Batches of val", val.asked)
	o.Ints("ranges", []int{train.ranges, val.ranges})
}

// Gradients are clipped after they are scaled and before the step, once, and not
// at all where MaxGradNorm is 0 (rule 13).
func TestClip(t *testing.T) {
	o := observe.New(t)
	s := draw(o.Rand(), 23)
	for _, norm := range []float64{0, 0.1 + o.Rand().Float64()/4, 1000} {
		regression(o, s, 4, trainer.Config{Epochs: 3, AccumSteps: 2, MaxGradNorm: norm})
		w := newWorld(o)
		_, err := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, MaxGradNorm: norm}).Fit(w.ctx(), w.loader("train", w.sizes(5)...), nil)
		o.String("error", kind(err))
		o.Floats("ClipGrads", w.clips)
		o.String("state", w.state())
	}
}
