package hidden

import (
	"context"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"grade/observe"
	"grade/reference/trainer"
)

// byTurns ranges over Predict of two Trainers by turns, in one goroutine: one fails, one
// is left, one goes on to its end, whatever becomes of the other.
func byTurns(o *observe.Observer) {
	for _, end := range []string{"nothing", "an error", "a stop of the range"} {
		var worlds [2]*world
		var next [2]func() (trainer.Tensor, error, bool)
		var stop [2]func()
		for i := range worlds {
			w := newWorld(o, modes)
			worlds[i] = w
			if w.training = i == 0; i == 1 && end == "an error" {
				w.fail("test forward", 1)
			}
			next[i], stop[i] = iter.Pull2(w.trainer(trainer.Config{}).Predict(w.ctx(), w.loader("test", 1, 2, 3)))
		}
		for n := range 5 {
			for i, w := range worlds {
				if n == 1 && i == 1 && end == "a stop of the range" {
					stop[i]()
				}
				p, err, more := next[i]()
				o.Bool("by turns with another Trainer: there is a prediction", more)
				o.String("by turns with another Trainer: error of Predict", w.place(err))
				o.String("by turns with another Trainer: prediction", tokenOf(p))
			}
		}
		for i, w := range worlds {
			stop[i]()
			o.Bool("by turns with another Trainer: training mode afterwards", w.training)
		}
	}
}

// oneInAnother ranges over Predict of a Trainer in the body of a range over that of another.
func oneInAnother(o *observe.Observer) {
	for _, inner := range []string{"nothing", "an error", "a break", "a panic"} {
		for _, outer := range []string{"nothing", "an error", "a break"} {
			a, b := newWorld(o, modes), newWorld(o, modes)
			a.training, b.training = false, true
			one, other := a.trainer(trainer.Config{}), b.trainer(trainer.Config{})
			if outer == "an error" {
				a.fail("test forward", 2)
			}
			for p, err := range one.Predict(a.ctx(), a.loader("test", 1, 2, 3)) {
				o.String("with another Trainer's in the body: error of Predict", a.place(err))
				o.String("with another Trainer's in the body: prediction", tokenOf(p))
				lookInside(b, other, inner)
				if outer == "a break" && a.calls["test forward"] == 2 {
					break
				}
			}
			o.Bool("with another Trainer's in the body: training mode afterwards", a.training)
			o.Bool("in the body of another Trainer's: training mode afterwards", b.training)
		}
	}
}

// lookInside ranges over a Predict that ends by what end says.
func lookInside(w *world, tr *trainer.Trainer, end string) {
	defer func() { _ = recover() }()
	switch n := w.calls["inner forward"]; end {
	case "an error":
		w.fail("inner forward", n+1)
	case "a panic":
		w.at("inner forward", n+1, func() error { panic("inner") })
	}
	for p, err := range tr.Predict(w.ctx(), w.loader("inner", 1, 2)) {
		w.o.String("in the body of another Trainer's: error of Predict", w.place(err))
		w.o.String("in the body of another Trainer's: prediction", tokenOf(p))
		if end == "a break" {
			break
		}
	}
}

// An ender is a callback of all kinds, which returns an error at one event.
type ender struct {
	at  int // from 0 for TrainStart to 4 for TrainEnd; less is never
	err error
}

func (e ender) say(event int) error {
	runtime.Gosched()
	switch {
	case e.at != event:
		return nil
	case e.err == nil:
		panic("an event")
	}
	return e.err
}
func (e ender) TrainStart(context.Context) error                   { return e.say(0) }
func (e ender) BatchEnd(context.Context, trainer.BatchInfo) error  { return e.say(1) }
func (e ender) StepEnd(context.Context, trainer.StepInfo) error    { return e.say(2) }
func (e ender) EpochEnd(context.Context, trainer.EpochStats) error { return e.say(3) }
func (e ender) TrainEnd(trainer.History, error) error              { return e.say(4) }

// everyPath runs each method of new Trainers on each way out that there is, with a model of
// its own, and without anything that would set one goroutine after another.
func everyPath() (ends []string) {
	add := func(err error) { ends = append(ends, kind(err)) }
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for at := range 5 {
		for _, err := range []error{trainer.ErrStop, errCause, nil} {
			if at < 4 || err != nil { // a panic in TrainEnd is not graded
				path(add, context.Background(), &long{n: 3, x: &tiny{n: 1}}, ender{at, err}, 0)
			}
		}
	}
	for _, ctx := range []context.Context{context.Background(), done} {
		for i, l := range []*long{{n: 3, x: &tiny{n: 1}}, {n: 3, at: 1, err: errCause, x: &tiny{n: 1}}, {n: 3, x: &tiny{n: 1, input: math.Inf(1)}},
			{x: &tiny{n: 1}}, {n: 3, x: &tiny{n: 0}}} {
			if ctx == done && i > 2 { // which of two errors it is, is not graded
				break
			}
			for _, failing := range []int{0, 1, 5} {
				path(add, ctx, l, ender{at: -1}, failing)
			}
		}
	}
	_, err := trainer.New(nil, nil, nil, trainer.Config{})
	add(err)
	return ends
}

// path runs Fit, Evaluate and Predict, to its end and left early, on l.
func path(add func(error), ctx context.Context, l *long, e ender, failing int) {
	m := &tiny{y: &tiny{n: 1}, quick: true, failing: failing, left: 1}
	tr, err := trainer.New(tinyModel{m}, m, m.loss, trainer.Config{Epochs: 2, AccumSteps: 2, MaxGradNorm: 1, Callbacks: []trainer.Callback{e, ender{at: -1}}})
	if add(err); err != nil {
		return
	}
	func() {
		defer func() { _ = recover() }()
		_, err := tr.Fit(ctx, l, l)
		add(err)
	}()
	if e.at >= 0 {
		return
	}
	_, err = tr.Evaluate(ctx, l)
	add(err)
	for _, err := range tr.Predict(ctx, l) {
		add(err)
	}
	for _, err := range tr.Predict(ctx, l) {
		add(err)
		break
	}
}

// everyPathTogether runs all that at the same time in several goroutines.
func everyPathTogether(o *observe.Observer) {
	const goroutines, rounds = 3, 3
	var ends [goroutines][rounds][]string
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for g := range ends {
		wg.Go(func() {
			<-begin
			for i := range rounds {
				ends[g][i] = everyPath()
			}
		})
	}
	close(begin)
	wg.Wait()
	o.Strings("errors of all methods on all ways out", ends[0][0])
	for g := range ends {
		for i := range ends[g] {
			o.Bool("at the same time as others all errors are the same", slices.Equal(ends[g][i], ends[0][0]))
		}
	}
}
