package hidden

import (
	"testing"

	"course/reference/ring"
	"grade/observe"
)

// Entries leave in the order in which they came.
func TestOrder(t *testing.T) {
	o := observe.New(t)
	r := ring.New(3)
	for range 3 {
		r.Push(o.Rand().IntN(100))
	}
	o.Ints("popped", []int{r.Pop(), r.Pop(), r.Pop()})
}

// A full queue drops its oldest entry.
func TestOverflow(t *testing.T) {
	o := observe.New(t)
	r := ring.New(2)
	for range 3 {
		r.Push(o.Rand().IntN(100))
	}
	o.Ints("popped", []int{r.Pop(), r.Pop()})
}
