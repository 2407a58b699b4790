package hidden

import (
	"context"
	"errors"
	"fmt"
	"io"

	"grade/observe"
	"grade/reference/trainer"
)

// known calls f with errors that mean something where they come from elsewhere. From a loader,
// a tensor, a model, the loss, the optimizer or a callback, each is an error like any other.
func known(f func(err error)) {
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, trainer.ErrEmpty, trainer.ErrNonFinite, trainer.ErrConfig} {
		f(err)
		f(fmt.Errorf("of its own: %w", err))
	}
}

// knownInFit has such an error end a Fit in training.
func knownInFit(o *observe.Observer) {
	for _, at := range []string{"train load", "train move X", "train forward", "train loss", "backward", "step", "a BatchEnd", "a StepEnd"} {
		known(func(fault error) {
			w := newWorld(o)
			w.at(at, w.r.IntN(4), func() error { return fault }) // of 2 epochs of 4 batches
			tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: w.singles("a", "b")})
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(4)...), w.aside())
			name := fmt.Sprint("an error of ", at, " that is ", kind(fault))
			o.String(name+": the error and its batch", w.place(err))
			o.Bool(name+": it is found", errors.Is(err, fault))
			w.after(name, h)
		})
	}
}

// knownInLooks has such an error end a validation, an Evaluate and a Predict.
func knownInLooks(o *observe.Observer) {
	for _, at := range []string{"load", "move X", "forward", "loss"} {
		known(func(fault error) {
			w := newWorld(o)
			n := w.r.IntN(3)
			w.at("val "+at, n, func() error { return fault })
			tr := w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2})
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(2)...), w.loader("val", w.sizes(3)...))
			name := fmt.Sprint("validation, an error of ", at, " that is ", kind(fault))
			o.String(name+": the error and its batch", w.place(err))
			o.Bool(name+": it is found", errors.Is(err, fault))
			w.after(name, h)
			knownInLook(o, at, n, fault)
		})
	}
}

func knownInLook(o *observe.Observer, at string, n int, fault error) {
	name := fmt.Sprint("an error of ", at, " that is ", kind(fault))
	w := newWorld(o)
	w.at("test "+at, n, func() error { return fault })
	_, err := w.trainer(trainer.Config{}).Evaluate(w.ctx(), w.loader("test", w.sizes(3)...))
	o.String("Evaluate, "+name+": the error and its batch", w.place(err))
	o.Bool("Evaluate, "+name+": it is found", errors.Is(err, fault))
	if at == "loss" {
		return
	}
	w = newWorld(o)
	w.at("test "+at, n, func() error { return fault })
	w.predictions("Predict, "+name, w.trainer(trainer.Config{}), w.ctx(), w.loader("test", w.sizes(3)...))
}

// evaluatesInBody ranges over a Predict that fails, and evaluates in the body, also in vain: the
// batch of the error is that of Predict.
func evaluatesInBody(o *observe.Observer) {
	for _, done := range []bool{false, true} {
		w := newWorld(o)
		w.fail("test forward", 2)
		tr := w.trainer(trainer.Config{})
		ctx, cancel := context.WithCancel(w.ctx())
		defer cancel()
		if done {
			cancel()
		}
		again := w.loader("again", 1)
		for p, err := range tr.Predict(w.ctx(), w.loader("test", w.sizes(3)...)) {
			o.String("Predict with Evaluate in the body: error", w.place(err))
			o.String("Predict with Evaluate in the body: prediction", baseOf(p))
			_, err = tr.Evaluate(ctx, again)
			o.String("Evaluate in the body of a range over Predict: error", kind(err))
		}
	}
}
