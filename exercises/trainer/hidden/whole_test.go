package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// A whole run, with everything: what each call is made with is what the README
// says, in an order that it allows; and no batch is reachable afterwards, whatever has
// ended the call (rules 8 and 32).
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

// reachable counts the tensors that were made and that something still refers to.
func (w *world) reachable() (n int) {
	runtime.GC()
	runtime.GC()
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
	for _, at := range []string{"nowhere", "load", "move X", "move Y", "forward", "loss", "backward", "step",
		"a BatchEnd", "a StepEnd", "a EpochEnd", "a mean", "a ctx"} {
		releasedFit(o, at)
	}
	for _, at := range []string{"nowhere", "load", "move X", "forward", "move prediction", "loss", "a mean", "a ctx", "a break"} {
		releasedLook(o, at)
	}
}

// failing makes a world in which something ends a run at its fourth batch, and its loader.
func failing(o *observe.Observer, at string, cancel func()) (*world, *loader) {
	w := newWorld(o)
	l := w.loader("train", w.sizes(5)...)
	switch at {
	case "a mean":
		l.means = func(int) []float64 { return []float64{1, 2, 3, math.NaN(), 4} }
	case "a ctx":
		w.at("train load", 3, func() error { cancel(); return nil })
	case "load", "move X", "move Y", "forward", "loss", "move prediction":
		w.fail("train "+at, 3)
	case "backward":
		w.fail(at, 3)
	default:
		w.fail(at, 1)
	}
	return w, l
}

func releasedFit(o *observe.Observer, at string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, l := failing(o, at, cancel)
	tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, MaxGradNorm: 1, Callbacks: w.singles("a")})
	h, err := tr.Fit(ctx, l, w.loader("val", w.sizes(2)...))
	w.events, l.means = nil, nil
	o.String("after a Fit that ends by "+at+": error", kind(err))
	o.Int("after a Fit that ends by "+at+": tensors that can be reached", w.reachable())
	runtime.KeepAlive(tr)
	runtime.KeepAlive(h)
	runtime.KeepAlive(err)
}

func releasedLook(o *observe.Observer, at string) {
	for _, predict := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		w, l := failing(o, at, cancel)
		tr := w.trainer(trainer.Config{})
		var err error
		all, name := tr.Predict(ctx, l), "Predict"
		if !predict {
			name = "Evaluate"
			_, err = tr.Evaluate(ctx, l)
		} else {
			for _, e := range all {
				if err = errors.Join(err, e); at == "a break" {
					break
				}
			}
		}
		o.String("after "+name+" that ends by "+at+": error", kind(err))
		o.Int("after "+name+" that ends by "+at+": tensors that can be reached", w.reachable())
		cancel()
		runtime.KeepAlive(tr)
		runtime.KeepAlive(all)
		runtime.KeepAlive(err)
	}
}
