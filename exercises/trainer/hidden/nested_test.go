package hidden

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/trainer"
)

// A callback may evaluate and predict with the same Trainer in the middle of a
// window, and the run goes on as if it had not, also where they failed (rule 23).
func TestNested(t *testing.T) {
	o := observe.New(t)
	r1, r2 := twins(o.Rand())
	look, looks := nested(o, r1, true)
	without, _ := nested(o, r2, false)
	o.Floats("losses that callbacks got from Evaluate", looks.losses)
	o.Strings("predictions that callbacks got", looks.predictions)
	o.Bool("the run ends as one without such callbacks", look == without)
	unheeded(o)
	unmoved(o)
	for _, at := range []string{"backward 1", "step 1", "step 2", "train load 1", "train forward 1", "train forward 7", "step 4", "train load 7"} {
		at, n := at[:len(at)-2], int(at[len(at)-1]-'0')
		var places [2]string
		for i := range places {
			w := newWorld(o)
			var tr *trainer.Trainer
			test := newWorld(o).loader("test", 4, 2, 3)
			see := func() error {
				if i == 0 {
					return nil
				}
				_, err := tr.Evaluate(w.ctx(), test)
				for range tr.Predict(w.ctx(), test) {
				}
				return err
			}
			tr = w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: []trainer.Callback{afterBatch(see)}})
			w.at(at, n, func() error { return &fault{7} })
			_, err := tr.Fit(w.ctx(), w.loader("train", 3, 3, 3, 3, 3), w.aside())
			places[i] = w.place(err)
		}
		o.String("error of "+at+" after an Evaluate: the error and its batch", places[1])
		o.Bool("error of "+at+": the same as without such callbacks", places[0] == places[1])
	}
}

// unheeded has a callback evaluate and predict what fails or is left, and not care.
func unheeded(o *observe.Observer) {
	for _, at := range []string{"BatchEnd", "StepEnd", "EpochEnd", "TrainStart"} {
		for _, what := range []string{"nothing", "what fails", "what is loaded with an error", "with a ctx that is done", "what is left"} {
			w, apart := newWorld(o), newWorld(o)
			var tr *trainer.Trainer
			look := func() error {
				ctx, cancel := context.WithCancel(w.ctx())
				defer cancel()
				l := apart.loader("apart", 2, 3)
				switch what {
				case "nothing":
					l = apart.loader("apart")
				case "what fails":
					w.fail("apart forward", w.calls["apart forward"])
				case "what is loaded with an error":
					apart.fail("apart load", apart.calls["apart load"])
				case "with a ctx that is done":
					cancel()
				}
				_, err := tr.Evaluate(ctx, l)
				o.String("Evaluate in "+at+", of "+what+": error", kind(err))
				if what == "what fails" {
					w.fail("apart forward", w.calls["apart forward"])
				}
				for range tr.Predict(ctx, l) {
					break
				}
				return nil
			}
			tr = w.trainer(trainer.Config{Epochs: 2, AccumSteps: 2, Callbacks: w.singles("a")})
			for n := range 6 {
				w.at("a "+at, n, look)
			}
			h, err := tr.Fit(w.ctx(), w.loader("train", w.sizes(3)...), w.aside())
			name := "after an Evaluate in " + at + ", of " + what
			o.String(name+": error of Fit", kind(err))
			w.samples(name, h)
			o.Int(name+": calls of Step", w.calls["step"])
		}
	}
}

// unmoved has callbacks evaluate and predict what fails or is left at some batch, and not care, and then
// something of the run fail, often at the end of an epoch. Its place and all numbers are those of the
// same run without such callbacks; which these are is the matter of other tests.
func unmoved(o *observe.Observer) {
	r := o.Rand()
	for _, at := range []string{"train load", "train move Y", "train forward", "backward", "a BatchEnd", "step", "a StepEnd", "val load", "val forward"} {
		for k := range 12 {
			steps := 2 + r.IntN(3)
			sizes := newWorld(o).sizes(steps*r.IntN(3) + 1 + r.IntN(steps)) // of windows, of which the last may be short
			calls := map[string]int{"step": (len(sizes) + steps - 1) / steps, "a StepEnd": (len(sizes) + steps - 1) / steps,
				"val load": 3, "val forward": 3}[at]
			if calls == 0 {
				calls = len(sizes)
			}
			n, how, bad := r.IntN(2*calls), r.IntN(5), r.IntN(4)
			if k%2 == 0 {
				n = (1+n%2)*calls - 1 // the last of the first epoch, or of the second
			}
			var runs [2]string
			for i := range runs {
				w := newWorld(o)
				var tr *trainer.Trainer
				look := func() error {
					if how++; i == 1 {
						w.failingLook(tr, how%5, bad)
					}
					return nil
				}
				for n := range 30 {
					w.at("z BatchEnd", n, look)
					w.at("z StepEnd", n, look)
					w.at("z EpochEnd", n, look)
				}
				w.at(at, n, func() error { return &fault{7} })
				tr = w.trainer(trainer.Config{Epochs: 2, AccumSteps: steps, Callbacks: w.singles("z", "a")})
				_, err := tr.Fit(w.ctx(), w.loader("train", sizes...), w.loader("val", 1, 2, 3))
				runs[i] = fmt.Sprint(w.place(err), w.told("BatchEnd"), w.told("StepEnd"), w.told("EpochEnd"), w.scales)
			}
			o.Bool("error of "+at+" after an Evaluate that failed: as in a run without such callbacks", runs[0] == runs[1])
		}
	}
}

// failingLook evaluates and predicts three batches, of which one fails, ends ctx or has its prediction be the
// last; or of three without samples.
func (w *world) failingLook(tr *trainer.Trainer, how, bad int) {
	ctx, cancel := context.WithCancel(w.ctx())
	defer cancel()
	for _, what := range []string{"Evaluate", "Predict"} {
		apart := worldOf(w.o, rand.New(rand.NewPCG(1, 2)))
		l := apart.loader("apart", 2, 3, 1)
		switch how {
		case 0:
			l = apart.loader("apart", 0, 0, 0)
		case 1:
			apart.fail("apart load", bad)
		case 2:
			w.fail("apart forward", w.calls["apart forward"]+bad)
		case 3:
			apart.at("apart load", bad, func() error { cancel(); return nil })
		}
		if what == "Evaluate" {
			tr.Evaluate(ctx, l)
			continue
		}
		predictions := 0
		for range tr.Predict(ctx, l) {
			if predictions++; predictions > bad {
				break
			}
		}
	}
}

type looks struct {
	losses      []float64
	predictions []string
}

// nested runs Fit with a callback that looks at the model, or does not, and says
// what the run has come to.
func nested(o *observe.Observer, r *rand.Rand, look bool) (result string, l looks) {
	w := worldOf(o, r, learning, modes)
	var tr *trainer.Trainer
	ctx := w.ctx()
	test := worldOf(o, r).loader("test", 4) // its calls are no concern of the run
	mean := r.Float64()
	test.means = func(int) []float64 { return []float64{mean} }
	see := func() error {
		if !look {
			return nil
		}
		training := w.training
		loss, err := tr.Evaluate(ctx, test)
		l.losses = append(l.losses, loss)
		for p := range tr.Predict(ctx, test) {
			l.predictions = append(l.predictions, baseOf(p))
			break
		}
		w.training = training // whether it is restored is the matter of another test
		return err
	}
	tr = w.trainer(trainer.Config{Epochs: 2, AccumSteps: 3, Callbacks: []trainer.Callback{
		afterBatch(see), callback{w, "a"}, onEpochEnd(func(trainer.EpochStats) error { return see() })}})
	h, err := tr.Fit(ctx, w.loader("train", w.sizes(7)...), w.loader("val", w.sizes(2)...))
	return fmt.Sprint(kind(err), h, w.heard(), w.scales, w.parameters, w.updates), l
}

// afterBatch is a function as a callback.
type afterBatch func() error

func (f afterBatch) BatchEnd(context.Context, trainer.BatchInfo) error { return f() }
