package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// A whole run, with everything: what each call is made with is what the README
// says, in an order that it allows; and no batch is reachable afterwards, whatever has
// ended the call: an error, a stop, a panic (rules 8 and 32).
func TestWholeRun(t *testing.T) {
	o := observe.New(t)
	for _, accum := range []int{1, 3, 50} {
		w := newWorld(o, everything)
		cfg := trainer.Config{Epochs: 3, AccumSteps: accum, MaxGradNorm: 0.5 + w.r.Float64(),
			Callbacks: w.singles("a", "b")}
		train, val := w.loader("train"), w.loader("val", w.sizes(2)...)
		train.sizes = func(pass int) []int { return append(slices.Repeat([]int{2}, pass), 5, 1, 3, 8) }
		h, err := w.trainer(cfg).Fit(w.ctx(), train, val)
		o.String("error of Fit", kind(err))
		var losses []float64
		for _, e := range h.Epochs {
			losses = append(losses, e.TrainLoss, e.ValLoss)
		}
		w.samples("Fit", h)
		o.Floats("losses of each epoch in the History", losses)
		o.Strings("order of ZeroGrad, Backward and Step", w.updates)
		o.Strings("events", w.heard())
		o.Floats("factors of ScaleGrads", w.scales)
		o.String("what the parameters have become", fmt.Sprintf("%x", w.parameters))
		o.Int("loaders left open", w.open)
		loss, err := w.trainer(cfg).Evaluate(context.Background(), val)
		o.String("error of Evaluate", kind(err))
		o.Float("mean loss of a sample", loss)
	}
	released(o)
}

// remains is what is left of a call: its world, and what may not hold a tensor of it.
type remains struct {
	call  string
	world *world
	kept  []any
}

// reachable counts the tensors that were made and that something still refers to.
func (w *world) reachable() (n int) {
	for _, p := range w.made {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// released runs each method, to its end and out of it in each way there is, and counts
// what can still be reached of its batches through the Trainer, a History, an error or
// the sequence that Predict returned.
func released(o *observe.Observer) {
	var all []remains
	for _, at := range []string{"nowhere", "load", "move X", "move Y", "forward", "loss", "backward", "step",
		"a BatchEnd", "a StepEnd", "a EpochEnd", "a TrainEnd", "a mean", "a ctx",
		"val load", "val move X", "val move Y", "val forward", "val loss"} {
		all = append(all, releasedFit(o, at))
	}
	for _, at := range []string{"nowhere", "load", "move X", "move Y", "forward", "move prediction", "loss", "a mean", "a ctx", "a break"} {
		all = append(all, releasedEvaluate(o, at), releasedPredict(o, at))
	}
	for _, at := range []string{"a BatchEnd", "a StepEnd", "a EpochEnd", "a TrainEnd"} {
		all = append(all, releasedFit(o, "ErrStop of "+at))
	}
	for _, at := range []string{"load", "Len", "move X", "move Y", "forward", "loss", "zero", "backward", "scale", "clip", "step",
		"a TrainStart", "a BatchEnd", "a StepEnd", "a EpochEnd", "val load", "val Len", "val move X", "val move Y", "val forward", "val loss"} {
		all = append(all, releasedFit(o, "a panic of "+at))
	}
	for _, at := range []string{"load", "Len", "move X", "move Y", "forward", "move prediction", "loss", "body"} {
		all = append(all, releasedEvaluate(o, "a panic of "+at), releasedPredict(o, "a panic of "+at))
	}
	runtime.GC()
	runtime.GC()
	for _, r := range all {
		o.Int("after "+r.call+": tensors that can be reached", r.world.reachable())
	}
	runtime.KeepAlive(all)
}

// failing makes a world in which something ends a run at its fourth batch, and its loader.
func failing(o *observe.Observer, at string, cancel func()) (*world, *loader) {
	w := newWorld(o)
	l := w.loader("train", w.sizes(5)...)
	end := w.fail
	if what, found := strings.CutPrefix(at, "a panic of "); found {
		at, end = what, func(kind string, n int) { w.at(kind, n, func() error { panic(n) }) }
	} else if what, found := strings.CutPrefix(at, "ErrStop of "); found {
		at, end = what, func(kind string, n int) { w.at(kind, n, func() error { return trainer.ErrStop }) }
	}
	switch at {
	case "a mean":
		l.means = func(int) []float64 { return []float64{1, 2, 3, math.NaN(), 4} }
	case "a ctx":
		w.at("train load", 3, func() error { cancel(); return nil })
	case "load", "Len", "move X", "move Y", "forward", "loss", "move prediction":
		end("train "+at, 3)
	case "backward", "body":
		end(at, 3)
	default:
		n := 1
		if strings.HasPrefix(at, "a Train") { // of which there is one
			n = 0
		}
		end(at, n)
	}
	return w, l
}

// elsewhere says of which ends the error is the matter of other tests.
func elsewhere(at string) bool {
	return strings.HasPrefix(at, "a panic") || strings.HasPrefix(at, "ErrStop") || strings.HasPrefix(at, "val ") || strings.HasPrefix(at, "a Train")
}

// survive calls f, which may panic: what becomes of the panic is the matter of TestPanic.
func survive(f func()) {
	defer func() { recover() }()
	f()
}

// told keeps what a TrainEnd is given.
type told struct {
	h   trainer.History
	err error
}

func (t *told) TrainEnd(h trainer.History, err error) error {
	t.h, t.err = h, err
	return nil
}

func releasedFit(o *observe.Observer, at string) remains {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, l := failing(o, at, cancel)
	end := &told{}
	tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, MaxGradNorm: 1, Callbacks: append(w.singles("a"), end)})
	var h trainer.History
	var err error
	survive(func() { h, err = tr.Fit(ctx, l, w.loader("val", w.sizes(2)...)) })
	w.events, l.means = nil, nil
	if !elsewhere(at) {
		o.String("after a Fit that ends by "+at+": error", kind(err))
	}
	return remains{"a Fit that ends by " + at, w, []any{tr, h, err, end}}
}

func releasedEvaluate(o *observe.Observer, at string) remains {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, l := failing(o, at, cancel)
	tr := w.trainer(trainer.Config{})
	var err error
	survive(func() { _, err = tr.Evaluate(ctx, l) })
	l.means = nil
	if !elsewhere(at) {
		o.String("after an Evaluate that ends by "+at+": error", kind(err))
	}
	return remains{"an Evaluate that ends by " + at, w, []any{tr, err}}
}

func releasedPredict(o *observe.Observer, at string) remains {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, l := failing(o, at, cancel)
	tr := w.trainer(trainer.Config{})
	var err error
	all := tr.Predict(ctx, l)
	survive(func() {
		for _, e := range all {
			w.call("body")
			if err = errors.Join(err, e); at == "a break" {
				break
			}
		}
	})
	l.means = nil
	if !elsewhere(at) {
		o.String("after a Predict that ends by "+at+": error", kind(err))
	}
	return remains{"a Predict that ends by " + at, w, []any{tr, all, err}}
}
