package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"grade/reference/broadcast"
)

// others are arguments of calls of all kinds: shapes of all patterns, names and numbers that are written
// in other ways, and what is wrong. Goroutines that call with these at the same time come to each
// place that a program goes to at its first need only.
type others struct {
	shapes   []pair
	operands [][3]tensor // two operands and a gradient of these shapes
	pictures [][2]broadcast.Operand
	wrong    [][3]tensor
}

func newOthers(r *rand.Rand) *others {
	c := &others{}
	deep := slices.Repeat([]int{1}, 30)
	c.shapes = append(pairs(r), pair{nil, nil}, pair{{0}, nil}, pair{{2, 0}, {2, 1}}, pair{deep, {3}}, pair{{2, 1, 3, 1, 2}, {2, 1, 3, 1}})
	for _, p := range c.shapes {
		c.operands = append(c.operands, [3]tensor{tensorOf(r, positive, p[0]), tensorOf(r, positive, p[1]), tensorOf(r, positive, together(p[0], p[1]))})
	}
	special := numbers([]int{5}, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e-300})
	c.operands = append(c.operands, [3]tensor{special, special, special})
	for _, name := range []string{"a&b", "<", ">", `"`, "'", "", "x", "a\tb", "\x00", "\ufffe", "\xff", "größer", "🙂", strings.Repeat("long ", 50)} {
		for _, t := range []tensor{special, tensorOf(r, positive, nil), tensorOf(r, positive, []int{2, 1})} {
			c.pictures = append(c.pictures, [2]broadcast.Operand{named(name, t), named("y", tensorOf(r, positive, []int{1}))})
		}
		c.pictures = append(c.pictures, [2]broadcast.Operand{named("x", numbers([]int{0}, nil)), named(name, tensorOf(r, positive, []int{1}))})
	}
	a, b, deeper := tensorOf(r, positive, []int{2, 3}), tensorOf(r, positive, []int{4, 3}), tensorOf(r, positive, []int{2, 1, 1})
	for _, bad := range []tensor{b, {Shape: []int{3}}, {Shape: []int{-1}}, {Shape: []int{1 << 32, 1 << 32}}, deeper} {
		c.wrong = append(c.wrong, [3]tensor{a, bad, bad}, [3]tensor{bad, a, bad})
	}
	return c
}

// call makes all calls, by all operations.
func (c *others) call() {
	for _, op := range operations {
		for _, x := range c.pictures {
			quietly(func() { op.SVG(x[0], x[1]) })
		}
		for _, x := range c.operands {
			quietly(func() { op.Apply(x[0], x[1]) })
			quietly(func() { op.Grad(x[0], x[1], x[2]) })
		}
	}
	for _, x := range c.operands {
		quietly(func() { broadcast.Shapes(x[0].Shape, x[1].Shape, x[2].Shape) })
		quietly(func() { broadcast.Zip(mix, x[0], x[1]) })
		quietly(func() { broadcast.SumTo(x[2], x[0].Shape) })
	}
	for _, f := range c.refused() {
		quietly(func() { _ = f().Error() })
	}
}

// refused are calls of what is wrong.
func (c *others) refused() (calls []func() error) {
	for _, x := range c.wrong {
		calls = append(calls,
			func() error { _, err := broadcast.Add.Apply(x[0], x[1]); return err },
			func() error { _, _, err := broadcast.Mul.Grad(x[0], x[1], x[2]); return err },
			func() error { _, err := broadcast.Sub.SVG(named("x", x[0]), named("y", x[1])); return err },
			func() error { _, err := broadcast.SumTo(x[0], x[1].Shape); return err },
			func() error { _, err := broadcast.Zip(mix, x[0], x[1]); return err },
			func() error { _, err := broadcast.Shapes(x[0].Shape, x[1].Shape); return err })
	}
	return append(calls, func() error { _, err := broadcast.Op(7).Apply(tensor{}, tensor{}); return err })
}

// quietly makes a call, and lets a panic in it pass: what a call answers is for other tests to see.
func quietly(call func()) {
	defer func() { _ = recover() }()
	call()
}

// atOnce makes a call in many goroutines at once. Each makes no other one: what comes before a call may
// order the goroutines (such as the list of buffers in package fmt), and so hide from the race
// detector that they share something.
func atOnce(call func()) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			<-start
			quietly(call)
		})
	}
	close(start)
	wg.Wait()
}

// firsts makes the first calls of some kinds, each at once: pictures of nothing, under a name with all that
// has to be written otherwise, and of a scalar; and what is wrong.
func (c *others) firsts() {
	for _, t := range []tensor{numbers([]int{0}, nil), numbers(nil, []float64{math.NaN()})} {
		atOnce(func() { broadcast.Add.SVG(named("\"a\" & <b>'\x00\t\ufffe\xffü🙂", t), named("", t)) })
	}
	for _, f := range c.refused() {
		atOnce(func() { f() })
	}
}
