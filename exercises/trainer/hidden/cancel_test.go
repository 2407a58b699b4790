package hidden

import (
	"fmt"
	"testing"
	"testing/synctest"

	"grade/observe"
	"grade/reference/trainer"
)

// Where ctx is done, the run ends before the next batch, or when the loader ends,
// with ctx.Err() (and not its cause): no step of an unfinished window, no epoch in
// the History. Fit, Evaluate and Predict all look at it (rule 28).
func TestCancel(t *testing.T) {
	o := observe.New(t)
	leftAndDone(o)
	synctest.Test(t, func(t *testing.T) {
		for _, deadline := range []bool{false, true} {
			for _, at := range []string{"train load", "train move X", "train forward", "backward", "a BatchEnd", "val load", "val move X", "val forward", "at once"} {
				for _, n := range []int{0, 1, 4, 7} {
					ended(o, deadline, at, n)
				}
			}
			for _, at := range []string{"load", "move X", "forward", "at once", "end"} {
				for n := range 3 {
					looked(o, deadline, at, n)
				}
			}
		}
	})
}

// by says how ctx ends.
func by(deadline bool) string {
	if deadline {
		return "past its deadline"
	}
	return "cancelled"
}

// ended has ctx done during a Fit with validation.
func ended(o *observe.Observer, deadline bool, at string, n int) {
	w := newWorld(o)
	e, free := w.ending(deadline)
	defer free()
	tr := w.trainer(trainer.Config{Epochs: 3, AccumSteps: 2, Callbacks: []trainer.Callback{&batchOnly{callback{w, "a"}}, stepOnly{callback{w, "a"}}}})
	w.at(at, n, func() error { e.end(); return nil })
	if at == "at once" {
		e.end()
	}
	h, err := tr.Fit(e.ctx, w.loader("train", w.sizes(6)...), w.loader("val", w.sizes(3)...))
	name := fmt.Sprint("ctx ", by(deadline), " in ", at)
	o.String(name+": error of Fit", kind(err))
	o.Int(name+": batches of train that were moved", w.moved("train", "X"))
	o.Int(name+": batches of val that were moved", w.moved("val", "X"))
	w.samples(name, h)
	o.Strings(name+": who is told of what", w.heard())
	o.Int(name+": calls of Step", w.calls["step"])
}

// looked has ctx done during an Evaluate and during a Predict: as a batch is loaded or
// computed, before them, or when the loader ends, which may be early because of it.
func looked(o *observe.Observer, deadline bool, at string, n int) {
	for _, method := range []string{"Fit", "Fit without validation", "validation", "Evaluate", "Predict"} {
		w := newWorld(o)
		e, free := w.ending(deadline)
		tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2})
		l := w.loader("test", w.sizes(5)...) // the last window of Fit is short
		if method == "Fit without validation" {
			l = w.loader("test", w.sizes(4)...) // there is none that is short, and no other look at ctx
		}
		switch at {
		case "at once":
			e.end()
		case "end":
			l.end = e.end
		default:
			w.at("test "+at, n, func() error { e.end(); return nil })
		}
		name := fmt.Sprint(method, ", ctx ", by(deadline), " in ", at)
		var h trainer.History
		var err error
		switch method {
		case "Fit":
			h, err = tr.Fit(e.ctx, l, w.aside())
		case "Fit without validation":
			h, err = tr.Fit(e.ctx, l, nil)
		case "validation":
			h, err = tr.Fit(e.ctx, w.loader("train", w.sizes(4)...), l)
		case "Evaluate":
			_, err = tr.Evaluate(e.ctx, l)
		case "Predict":
			var predictions []string
			for p, e := range tr.Predict(e.ctx, l) {
				if err = e; err == nil {
					predictions = append(predictions, baseOf(p))
				}
			}
			o.Strings(name+": predictions", predictions)
		}
		o.String(name+": error", kind(err))
		w.samples(name, h)
		o.Int(name+": batches that were moved", w.moved("test", "X"))
		o.Int(name+": calls of Step", w.calls["step"])
		free()
	}
}
