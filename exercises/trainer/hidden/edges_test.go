package hidden

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

func hex(tokens ...uint64) string { return fmt.Sprintf("%x", tokens) }

// New refuses what cannot work with ErrConfig, without a Trainer, and before it
// calls anything of the model; everything else it takes (rule 1).
func TestConfig(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	good := trainer.Config{Device: "gpu", Epochs: 1 + w.r.IntN(5), AccumSteps: 1 + w.r.IntN(5), MaxGradNorm: w.r.Float64()}
	attempt := func(name string, m trainer.Model, opt trainer.Optimizer, l trainer.Loss, change func(*trainer.Config)) {
		cfg := good
		change(&cfg)
		tr, err := trainer.New(m, opt, l, cfg)
		o.String(name+": error of New", kind(err))
		o.Bool(name+": a Trainer", tr != nil)
		o.Bool(name+": the model was moved", len(w.deviceLog) > 0)
		w.deviceLog = nil
	}
	m, opt := model{w}, optimizer{w}
	same := func(*trainer.Config) {}
	attempt("no model", nil, opt, w.loss, same)
	attempt("no optimizer", m, nil, w.loss, same)
	attempt("no loss", m, opt, nil, same)
	for _, n := range []int{0, -1 - w.r.IntN(9), math.MinInt} {
		attempt("too few Epochs", m, opt, w.loss, func(c *trainer.Config) { c.Epochs = n })
		attempt("too few AccumSteps", m, opt, w.loss, func(c *trainer.Config) { c.AccumSteps = n })
	}
	for _, x := range []float64{-w.r.Float64() - 0.1, -math.SmallestNonzeroFloat64, math.Inf(-1)} {
		attempt("MaxGradNorm below 0", m, opt, w.loss, func(c *trainer.Config) { c.MaxGradNorm = x })
	}
	attempt("MaxGradNorm is NaN", m, opt, w.loss, func(c *trainer.Config) { c.MaxGradNorm = math.NaN() })
	for _, bad := range []trainer.Callback{nil, w.r.IntN(9), epochOnly{}} { // the last one's method is the pointer's
		attempt("a bad callback", m, opt, w.loss, func(c *trainer.Config) { c.Callbacks = []trainer.Callback{callback{w, "a"}, bad} })
	}
	attempt("a bad callback before a good one", m, opt, w.loss, func(c *trainer.Config) { c.Callbacks = []trainer.Callback{w.r.IntN(9), callback{w, "a"}} })
	attempt("nothing wrong", m, opt, w.loss, func(c *trainer.Config) { c.Callbacks = []trainer.Callback{&epochOnly{}, endOnly{}} })
	for i, one := range w.singles("a") {
		name := fmt.Sprint("a callback of one method, ", []string{"TrainStart", "BatchEnd", "StepEnd", "EpochEnd", "TrainEnd"}[i])
		attempt(name, m, opt, w.loss, func(c *trainer.Config) { c.Callbacks = []trainer.Callback{one} })
	}
	for _, x := range []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1)} {
		attempt("MaxGradNorm of any size", m, opt, w.loss, func(c *trainer.Config) { c.MaxGradNorm = x })
	}
	attempt("the greatest numbers", m, opt, w.loss, func(c *trainer.Config) { c.Epochs, c.AccumSteps = math.MaxInt, math.MaxInt })
}

// New moves the model to the device, once; nobody does it again. The device "" is
// the CPU; an error of the move is New's (rule 2).
func TestModelMovedOnce(t *testing.T) {
	o := observe.New(t)
	for _, device := range []trainer.Device{"", trainer.Device(fmt.Sprintf("gpu%d", o.Rand().IntN(1000)))} {
		w := newWorld(o)
		tr, err := trainer.New(model{w}, optimizer{w}, w.loss, trainer.Config{Device: device, Epochs: 2, AccumSteps: 1})
		o.String("error of New", kind(err))
		o.Strings("where New moves the model", w.deviceLog)
		l := w.loader("train", w.sizes(2)...)
		for range 2 {
			_, err = tr.Fit(w.ctx(), l, l)
			o.String("error of Fit", kind(err))
		}
		_, err = tr.Evaluate(w.ctx(), l)
		o.String("error of Evaluate", kind(err))
		for range tr.Predict(w.ctx(), l) {
		}
		o.Strings("where the model was moved in all", w.deviceLog)
		o.Bool("a tensor was moved to no device", slices.ContainsFunc(w.moves, func(m move) bool { return m.to == "" }))
	}
	w := newWorld(o)
	w.fail("move model", 0)
	tr, err := trainer.New(model{w}, optimizer{w}, w.loss, trainer.Config{Epochs: 1, AccumSteps: 1})
	o.String("error of New where the model cannot be moved", kind(err))
	o.Bool("a Trainer where the model cannot be moved", tr != nil)
}

// The Trainer keeps a copy of the list of callbacks, and does not write into the
// caller's (rule 3).
func TestConfigCopied(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	list := []trainer.Callback{callback{w, "a"}, &epochOnly{callback{w, "b"}}, callback{w, "c"}}
	tr := w.trainer(trainer.Config{Callbacks: list[:2]})
	if c, ok := list[2].(callback); ok {
		o.String("what is behind the end of the caller's list", c.name)
	}
	_, first := list[0].(callback)
	_, second := list[1].(*epochOnly)
	o.Bool("the caller's list is as it was", first && second)
	list[0], list[1] = callback{w, "x"}, callback{w, "y"}
	_, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), w.aside())
	o.String("error of Fit", kind(err))
	o.Strings("who is told of what", w.heard())
}

// An epoch or evaluation without samples is ErrEmpty, and leaves the optimizer
// alone; no validation comes after such an epoch. A batch without samples is as if it had not been given, in
// Evaluate and Predict too (rules 7 and 27).
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	none := []int{}
	for _, sizes := range [][]int{none, {0}, {0, 0, 0}} {
		w := newWorld(o)
		updates := 0 // calls of the optimizer and Backwards up to the end of an epoch
		count := onEpochEnd(func(trainer.EpochStats) error { updates = len(w.updates); return nil })
		tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{callback{w, "a"}, count}})
		train := w.loader("train")
		ranges := 0
		train.sizes = func(pass int) []int { // the second epoch is empty
			if pass == 1 {
				ranges++
				return sizes
			}
			return []int{0, 3, 0, 0, 4, 0, 5, 0, 6}
		}
		h, err := tr.Fit(w.ctx(), train, w.aside())
		o.String("error of an epoch without samples", kind(err))
		w.samples("Fit", h)
		o.Int("ranges over an epoch without samples", ranges)
		o.Int("calls of the optimizer in an epoch without samples", len(w.updates)-updates)
		o.Strings("who is told of what", w.heard())
		o.Ints("BatchEnd is told epoch, batch, samples", w.told("BatchEnd"))
		o.Int("batches that were computed", len(w.forwards))
		emptyBeforeValidation(o, sizes)
		_, err = tr.Evaluate(w.ctx(), w.loader("test", sizes...))
		o.String("error of Evaluate without samples", kind(err))
		h, err = tr.Fit(w.ctx(), w.loader("again", 3, 3), w.loader("val", sizes...))
		o.String("error of a validation without samples", kind(err))
		w.samples("Fit with a validation without samples", h)
		n := 0
		for p, err := range tr.Predict(w.ctx(), w.loader("test", append([]int{0, 2, 0, 4}, sizes...)...)) {
			o.String("error of a prediction", kind(err))
			o.String("prediction", tokenOf(p))
			if n++; n > 5 {
				break
			}
		}
		tr.Evaluate(w.ctx(), w.loader("test", 0, 2, 0, 4, 0))
		moved := 0
		for _, m := range w.moves {
			if m.n == 0 {
				moved++
			}
		}
		o.Int("moves of batches without samples", moved)
	}
}

// emptyBeforeValidation has an epoch without samples, and a validation that has some, before which the run
// ends.
func emptyBeforeValidation(o *observe.Observer, sizes []int) {
	w := newWorld(o)
	train, before := w.loader("train", sizes...), 0
	train.end = func() { before = w.moved("val", "X") }
	_, err := w.trainer(trainer.Config{}).Fit(w.ctx(), train, w.loader("val", 2, 3))
	o.String("an epoch without samples, and a validation with some: error of Fit", kind(err))
	o.Int("batches of validation that were moved after an epoch without samples", w.moved("val", "X")-before)
}

// A loss that is NaN or infinite is ErrNonFinite, at its batch, and its window is
// not stepped (rule 26).
func TestNonFinite(t *testing.T) {
	o := observe.New(t)
	for i, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		w := newWorld(o)
		means := []float64{1, 2, 3, 4, 5, 6, 7, 8}
		means[2*i+1] = bad
		l := w.loader("train", w.sizes(len(means))...)
		l.means = func(pass int) []float64 {
			if pass < i { // later epochs only
				return []float64{1, 1, 1, 1, 1, 1, 1, 1}
			}
			return means
		}
		tr := w.trainer(trainer.Config{Epochs: 4, AccumSteps: 2})
		h, err := tr.Fit(w.ctx(), l, w.aside())
		o.String("training: the error and its batch", w.place(err))
		w.samples("training", h)
		o.Int("training: calls of Backward", w.calls["backward"])
		o.Int("training: calls of Step", w.calls["step"])

		w = newWorld(o)
		tr = w.trainer(trainer.Config{Epochs: 4, AccumSteps: 2})
		l.w, l.name, l.asked = w, "val", nil
		h, err = tr.Fit(w.ctx(), w.loader("train", w.sizes(4)...), l)
		o.String("validation: the error and its batch", w.place(err))
		w.samples("validation", h)

		w = newWorld(o)
		l.w, l.name, l.asked = w, "test", nil
		l.means = func(int) []float64 { return means }
		_, err = w.trainer(trainer.Config{}).Evaluate(w.ctx(), l)
		o.String("Evaluate: the error and its batch", w.place(err))
	}
}

// Every method leaves the model in the mode that it found it in, also where it
// fails or is left early, and also where a callback evaluates or predicts (rule 17).
func TestRestoredMode(t *testing.T) {
	o := observe.New(t)
	for _, training := range []bool{true, false} {
		w := newWorld(o)
		tr := w.trainer(trainer.Config{Epochs: 2})
		l := w.loader("data", w.sizes(4)...)
		check := func(name string, do func()) {
			w.training = training
			do()
			o.Bool("training mode after "+name, w.training)
			o.Bool("there was something to compute up to "+name, len(w.forwards) > 0)
		}
		check("Fit", func() { tr.Fit(w.ctx(), l, nil) })
		check("Fit with validation", func() { tr.Fit(w.ctx(), l, l) })
		check("Evaluate", func() { tr.Evaluate(w.ctx(), l) })
		check("Evaluate of nothing", func() { tr.Evaluate(w.ctx(), w.loader("nothing")) })
		check("Predict", func() {
			for range tr.Predict(w.ctx(), l) {
			}
		})
		check("a Predict that was left", func() {
			for range tr.Predict(w.ctx(), l) {
				break
			}
		})
		check("a Predict without a range", func() { tr.Predict(w.ctx(), l) })
		w.fail("bad forward", 0)
		w.fail("bad forward", 1)
		w.fail("bad forward", 2)
		bad := w.loader("bad", w.sizes(2)...)
		check("a Fit that fails", func() { tr.Fit(w.ctx(), bad, w.aside()) })
		check("an Evaluate that fails", func() { tr.Evaluate(w.ctx(), bad) })
		check("a Predict that fails", func() {
			for range tr.Predict(w.ctx(), bad) {
				break
			}
		})
		// The mode that counts is that of when a range begins.
		w.training = training
		for range 2 {
			late := tr.Predict(w.ctx(), l)
			w.training = !w.training
			for range late {
			}
			o.Bool("training mode after a late range over Predict", w.training)
			w.training = !w.training
			for range late {
				break
			}
			o.Bool("training mode after a later range over Predict", w.training)
		}
		w.fail("poor forward", 0)
		check("a validation that fails", func() { tr.Fit(w.ctx(), l, w.loader("poor", 2)) })
		restoredAfterLooks(o, training)
		restoredAfterEnds(o, training)
		restoredAfterErrors(o, training)
	}
}

// Epochs are numbered from 0, anew in each Fit, whatever has ended the one before. Batches is called once for an epoch,
// and ranged over once. Each Fit has a History of its own (rules 4 and 18).
func TestEpochNumbers(t *testing.T) {
	o := observe.New(t)
	w := newWorld(o)
	tr := w.trainer(trainer.Config{Epochs: 2 + w.r.IntN(4)})
	train, val := w.loader("train"), w.loader("val", w.sizes(1)...)
	seed := w.r.IntN(1e6)
	train.sizes = func(pass int) []int { return []int{1 + (seed+pass*pass)%97, 1 + pass} } // no two epochs are the same
	first, err := tr.Fit(w.ctx(), train, val)
	o.String("error of Fit", kind(err))
	second, err := tr.Fit(w.ctx(), train, val)
	o.String("error of Fit", kind(err))
	for _, h := range []trainer.History{first, second} {
		var numbers []int
		for _, e := range h.Epochs {
			numbers = append(numbers, e.Epoch)
		}
		o.Ints("epochs in the History", numbers)
	}
	w.samples("the first Fit, after the second", first)
	w.samples("the second Fit", second)
	again(o)
	lateEpochs(o)
	o.Ints("epochs that Batches of train is asked for", train.asked)
	o.Ints("epochs that Batches of val is asked for", val.asked)
	o.Int("ranges over train", train.ranges)
	o.Int("ranges over val", val.ranges)
}

// Gradients are clipped after they are scaled and before the step, once, to
// MaxGradNorm, whatever it is, and not at all where that is 0 (rule 13).
func TestClip(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	tiny := math.Pow(10, -float64(1+r.IntN(300)))
	for _, norm := range []float64{0, 0.1 + r.Float64(), 1000 * r.Float64(), tiny, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1)} {
		w := newWorld(o)
		_, err := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, MaxGradNorm: norm}).Fit(w.ctx(), w.loader("train", w.sizes(6)...), w.aside())
		o.String("error of Fit", kind(err))
		var norms []float64
		var backwards, steps []int
		for _, c := range w.clips {
			norms, backwards, steps = append(norms, c.norm), append(backwards, c.backwards), append(steps, c.steps)
		}
		o.Floats("arguments of ClipGrads", norms, observe.Exact())
		o.Ints("Backwards before each ClipGrads", backwards)
		o.Ints("Steps before each ClipGrads", steps)
		o.Int("ScaleGrads after ClipGrads in a window", w.lateScales)
	}
}
