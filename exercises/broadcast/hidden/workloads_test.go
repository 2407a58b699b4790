package hidden

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/broadcast"
)

// work is one call of a workload. Its answers are checked by samples within the window, at places that
// only the test knows, and wholly for the last round.
type work struct {
	op     operation
	a, b   tensor
	answer tensor
}

// about draws how many rounds a workload has: forty, or a few more.
func about(r *rand.Rand) int { return 40 + r.IntN(4) }

// stock is numbers that operands get other ones from.
type stock []float64

func newStock(r *rand.Rand) stock { return tensorOf(r, positive, []int{1 << 18}).Data }

// renew changes half of some numbers or more: which ones is drawn, so that the answer has to be
// computed anew, and a sample shows whether it was. Of fewer changes, one could find each, and
// compute what it makes as slowly as one likes.
func (s stock) renew(r *rand.Rand, data []float64) {
	half := (len(data) + 1) / 2
	n := min(len(data), half+r.IntN(half))
	from := r.IntN(len(data) - n + 1)
	copy(data[from:from+n], s[r.IntN(len(s)-n):])
}

// measure applies operations to operands, again and again, and records what comes.
func measure(o *observe.Observer, ops []operation, shapes ...pair) {
	r := o.Rand()
	w, others := weights(r), newStock(r)
	var list []*work
	for _, p := range shapes {
		for _, op := range ops {
			list = append(list, &work{op: op, a: tensorOf(r, positive, p[0]), b: tensorOf(r, positive, p[1])})
		}
	}
	places := r.Perm(7919)[:64]
	sum, refused := 0.0, 0
	for o.Loop() {
		for range about(r) {
			for _, x := range list {
				others.renew(r, x.a.Data)
				others.renew(r, x.b.Data)
				answer, err := x.op.Apply(x.a, x.b)
				if err != nil {
					refused++
				}
				x.answer = answer
				sum += sample(answer, places, w)
			}
		}
	}
	o.Int("refused", refused)
	o.Float("samples of all results", sum, relative)
	for _, x := range list {
		o.Ints("shape", x.answer.Shape)
		o.Float("weighted sum", fingerprint(w, x.answer.Data), relative)
		o.Int("numbers", len(x.answer.Data))
	}
}

// sample adds up numbers at some places, in each part of a tensor.
func sample(t tensor, places []int, w []float64) (sum float64) {
	for k, i := range places {
		if len(t.Data) == 0 {
			break
		}
		sum += w[k] * t.Data[(i*41+k*2531)%len(t.Data)]
	}
	return sum
}

// Two tensors of the same shape: one flat loop.
func BenchmarkSame(b *testing.B) {
	measure(observe.New(b), []operation{operations[0], operations[4]}, pair{{400, 400}, {400, 400}}, pair{{20, 25, 320}, {20, 25, 320}})
}

// A table and a row, which is the same for each row of the table.
func BenchmarkRow(b *testing.B) {
	measure(observe.New(b), []operation{operations[1], operations[2]}, pair{{400, 400}, {400}}, pair{{400}, {400, 400}})
}

// A table and a column: along a row it is one number.
func BenchmarkColumn(b *testing.B) {
	measure(observe.New(b), []operation{operations[3], operations[0]}, pair{{400, 400}, {400, 1}}, pair{{400, 1}, {400, 400}})
}

// A table and a single number.
func BenchmarkScalar(b *testing.B) {
	measure(observe.New(b), []operation{operations[2], operations[4]}, pair{{400, 400}, nil}, pair{nil, {400, 400}})
}

// Three dimensions: the middle one is repeated in one operand, and the first one in the other.
func BenchmarkMiddle(b *testing.B) {
	// No operand has all elements of the result, over which a flat loop could go.
	measure(observe.New(b), []operation{operations[1], operations[3]}, pair{{40, 1, 80}, {50, 80}}, pair{{50, 80}, {40, 1, 80}})
}

// Sums back to shapes that lack dimensions at the beginning, in the middle and at the end. Each tensor
// is summed once: where the numbers are those of a call before, or some of them, its sum says much
// about the next one.
func BenchmarkSums(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	w := weights(r)
	shapes := [][]int{{1, 50, 1}, {60, 1, 80}, {80}, {60, 1, 1}, {}}
	list := make([]tensor, 100)
	for i := range list {
		list[i] = many(r, 60, 50, 80)
	}
	last := make([]tensor, len(shapes))
	total := 0.0
	for o.Loop() {
		for i, t := range list {
			k := i % len(shapes)
			last[k], _ = broadcast.SumTo(t, shapes[k])
			total += fingerprint(w, last[k].Data)
		}
	}
	o.Float("weighted sum of all results", total, relative)
	for _, t := range last {
		o.Ints("shape", t.Shape)
		o.Int("numbers", len(t.Data))
		o.Float("weighted sum", fingerprint(w, t.Data), relative)
	}
}

// many draws a tensor of positive numbers, four from each word, so that many such tensors are
// drawn in no time.
func many(r *rand.Rand, shape ...int) tensor {
	t := numbers(shape, make([]float64, product(shape)))
	for part := range slices.Chunk(t.Data, 4) {
		word := r.Uint64()
		for i := range part {
			part[i] = 0.5 + float64(word&0xffff)/(1<<16)
			word >>= 16
		}
	}
	return t
}

// Gradients towards a column and a row, towards a table and a number, and in the middle of three
// dimensions.
func BenchmarkGradients(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	w, others := weights(r), newStock(r)
	grad := tensorOf(r, positive, []int{400, 400})
	column, row := tensorOf(r, positive, []int{400, 1}), tensorOf(r, positive, []int{400})
	table, number := tensorOf(r, positive, []int{400, 400}), tensorOf(r, positive, nil)
	solid := tensorOf(r, positive, []int{40, 50, 80})
	planes, rows := tensorOf(r, positive, []int{40, 1, 80}), tensorOf(r, positive, []int{50, 80})
	places := r.Perm(7919)[:64]
	sum := 0.0
	var last [3][2]tensor
	for o.Loop() {
		for range about(r) / 2 {
			for _, op := range []operation{operations[2], operations[1], operations[4], operations[3]} {
				for _, t := range []tensor{grad, column, row, table, number, solid, planes, rows} {
					others.renew(r, t.Data)
				}
				last[0][0], last[0][1], _ = op.Grad(column, row, grad)
				last[1][0], last[1][1], _ = op.Grad(table, number, grad)
				last[2][0], last[2][1], _ = op.Grad(planes, rows, solid)
				for _, pair := range last {
					sum += sample(pair[0], places, w) + sample(pair[1], places, w)
				}
			}
		}
	}
	o.Float("samples of all gradients", sum, relative)
	for _, pair := range last {
		for _, t := range pair {
			o.Ints("shape", t.Shape)
			o.Float("weighted sum", fingerprint(w, t.Data), relative)
		}
	}
}

// A column and a row that make a table of four million numbers: the table takes 30.5 MiB, and nothing else
// is as large.
func BenchmarkOuter(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	w := weights(r)
	column, row := tensorOf(r, positive, []int{2000, 1}), tensorOf(r, positive, []int{1, 2000})
	var z tensor
	for o.Loop() {
		column.Data[0] += w[0]
		z, _ = broadcast.Add.Apply(column, row)
	}
	o.Ints("shape", z.Shape)
	o.Int("numbers", len(z.Data))
	o.Float("weighted sum", fingerprint(w, z.Data), relative)
}

// Gradients of four million numbers towards a column and a row, and their sums: they are small, and so
// is all that is needed for them. What is handed in is no room to compute in: after each call it is
// looked at, at places that are drawn then, and to the last bit.
func BenchmarkSumMemory(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	w := weights(r)
	column, row := tensorOf(r, positive, []int{2000, 1}), tensorOf(r, positive, []int{2000})
	grad := tensorOf(r, positive, []int{2000, 2000})
	var got [6]tensor
	var seen []float64
	look := func() {
		for range 256 {
			seen = append(seen, grad.Data[r.IntN(len(grad.Data))])
		}
	}
	for o.Loop() {
		grad.Data[r.IntN(len(grad.Data))] += w[1]
		got[0], got[1], _ = operations[3].Grad(column, row, grad)
		look()
		got[2], got[3], _ = operations[1].Grad(column, row, grad)
		look()
		got[4], _ = broadcast.SumTo(grad, column.Shape)
		look()
		got[5], _ = broadcast.SumTo(grad, row.Shape)
		look()
	}
	o.Floats("some numbers of the gradient that was handed in", seen, observe.Exact())
	for _, t := range got {
		o.Ints("shape", t.Shape)
		o.Float("weighted sum", fingerprint(w, t.Data), relative)
	}
}
