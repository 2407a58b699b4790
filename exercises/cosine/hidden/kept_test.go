package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/cosine"
)

// The lists that TopK returns belong to the caller: no later call changes them, and
// appending to one changes no other (rule 23).
func TestListsAreKept(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := ordinary[float64](r, 20, 8), ordinary[float64](r, 30, 8)
	keptLists(o, "", a, b, 4)
	a32, b32 := apart[float32](r, 20, 30)
	keptLists(o, ", float32", a32, b32, 4)
	a, b = apart[float64](r, 20, 700)
	keptLists(o, ", of many", a, b, 300)
	// All rows of b, or more than there are.
	for _, rows := range []int{1, 2, 30} {
		a, b := ordinary[float64](r, 20, 8), ordinary[float64](r, rows, 8)
		a32, b32 := apart[float32](r, 20, rows)
		for _, k := range []int{rows, rows + 1, 2 * rows, math.MaxInt} {
			keptLists(o, ", of all", a, b, k)
			keptLists(o, ", of all, float32", a32, b32, k)
		}
	}
	for _, special := range []float64{math.NaN(), math.Inf(1), 0} { // several lists that are alike
		apartLists[float64](o, "", special)
		apartLists[float32](o, ", float32", special)
	}
	keptLists(o, ", of rows without columns", random[float64](r, 20, 0), random[float64](r, 3, 0), 2)
}

// keptLists calls TopK with a quarter of a's rows at a time, and records in the end what
// all calls returned.
func keptLists[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], k int) {
	var all [][][]cosine.Neighbor[T]
	var first [][]cosine.Neighbor[T]
	rows := a.Rows / 4
	for i := range 4 {
		lists, err := cosine.TopK(background, view(a.Data[i*rows*a.Cols:], rows, a.Cols, a.Cols), b, k)
		failure(o, "error"+name, err)
		all = append(all, lists)
		if len(all) == 1 {
			first = copied(lists)
		}
	}
	for _, lists := range all {
		recordLists(o, "lists of several calls"+name, lists)
	}
	o.Bool("lists are as before later calls"+name, slices.EqualFunc(first, all[0], slices.Equal))
	for i, list := range all[0] {
		_ = append(list, cosine.Neighbor[T]{Index: -1 - i}) // must not reach into the next list
	}
	o.Bool("lists are as before appending"+name, slices.EqualFunc(first, all[0], slices.Equal))
	o.Int("number of lists"+name, len(all[0]))
	for _, list := range all[0] {
		o.Int("length of a list"+name, len(list))
	}
}

// apartLists records whether each list of rows that have nothing but special numbers is one
// of its own: what is appended to it and written into it is in no other.
func apartLists[T cosine.Float](o *observe.Observer, name string, special float64) {
	r := o.Rand()
	a, b := ordinary[T](r, 8, 4), ordinary[T](r, 12, 4)
	for _, i := range pick(r, 4, a.Rows) {
		for k := range row(a, i) {
			row(a, i)[k] = T(special)
		}
	}
	for _, k := range []int{1, between(r, 2, 9), 12, 20} {
		lists, err := cosine.TopK(background, a, b, k)
		failure(o, "error where rows are special"+name, err)
		longer := copied(lists)
		for i, list := range lists {
			longer[i] = append(list, cosine.Neighbor[T]{Index: -1 - i})
			for p := range list {
				list[p].Index = 100*i + p
			}
		}
		o.Int("neighbors that are not what was written there"+name, changed(lists, longer))
	}
}

// changed counts neighbors that are not what apartLists wrote.
func changed[T cosine.Float](lists, longer [][]cosine.Neighbor[T]) (n int) {
	for i, list := range lists {
		for p := range list {
			if list[p].Index != 100*i+p {
				n++
			}
		}
		if last := longer[i][len(longer[i])-1]; last.Index != -1-i {
			n++
		}
	}
	return n
}

// copied is lists that nothing else changes.
func copied[T cosine.Float](lists [][]cosine.Neighbor[T]) (out [][]cosine.Neighbor[T]) {
	for _, list := range lists {
		out = append(out, slices.Clone(list))
	}
	return out
}
