package hidden

import (
	"math/rand/v2"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// Here only the constants are graded, not Einsum: the test has an interpreter of its own,
// which goes through all values of all letters.

// axesOf lists the axes of a term, with the ellipsis written out as digits. It is nil
// where there are too few or too many of them.
func axesOf(term string, rank int) []string {
	var axes []string
	before, after, found := strings.Cut(term, "...")
	axes = append(axes, strings.Split(before, "")...)
	if before == "" {
		axes = nil
	}
	if found {
		for i := rank - len(before) - len(after); i > 0; i-- {
			axes = append(axes, string(rune('0'+i)))
		}
	}
	if after != "" {
		axes = append(axes, strings.Split(after, "")...)
	}
	if len(axes) != rank {
		return nil
	}
	return axes
}

// interpret is Einsum for small operands that fit, without broadcasting. It is not ok for
// what is no equation, or one for other operands.
func interpret(equation string, operands tensors) (result tensor, ok bool) {
	equation = strings.ReplaceAll(equation, " ", "")
	inputs := terms(equation)
	if len(inputs) != len(operands) {
		return result, false
	}
	size := map[string]int{}
	written := map[string]int{}
	axes := make([][]string, len(inputs))
	volume := 1
	for i, term := range inputs {
		axes[i] = axesOf(term, len(operands[i].Shape))
		if axes[i] == nil {
			return result, false
		}
		for k, a := range axes[i] {
			n, known := size[a]
			if known && n != operands[i].Shape[k] {
				return result, false
			}
			if !known {
				volume *= operands[i].Shape[k]
			}
			size[a] = operands[i].Shape[k]
			written[a]++
		}
	}
	output, ok := outputOf(equation, size, written)
	if !ok || volume > 1<<22 {
		return result, false
	}
	return sumOf(axes, output, size, operands), true
}

// outputOf lists the axes of the result.
func outputOf(equation string, size, written map[string]int) (output []string, ok bool) {
	hidden, once := "", ""
	for i := 9; i > 0; i-- {
		if d := string(rune('0' + i)); size[d] > 0 {
			hidden += d
		}
	}
	for _, c := range alphabet {
		if written[string(c)] == 1 {
			once += string(c)
		}
	}
	_, text, explicit := strings.Cut(equation, "->")
	if !explicit {
		text = hidden + once
	}
	text = strings.Replace(text, "...", hidden, 1)
	seen := map[string]bool{}
	for _, c := range text {
		a := string(c)
		if size[a] == 0 || seen[a] {
			return nil, false
		}
		seen[a] = true
		output = append(output, a)
	}
	return output, true
}

// sumOf goes through all values of all axes.
func sumOf(axes [][]string, output []string, size map[string]int, operands tensors) (result tensor) {
	n := 1
	for _, a := range output {
		result.Shape = append(result.Shape, size[a])
		n *= size[a]
	}
	result.Data = make([]float64, n)
	var names []string
	for a := range size {
		names = append(names, a)
	}
	at := map[string]int{}
	offset := func(axes []string) (i int) {
		for _, a := range axes {
			i = i*size[a] + at[a]
		}
		return i
	}
	var loop func(names []string)
	loop = func(names []string) {
		if len(names) > 0 {
			for i := range size[names[0]] {
				at[names[0]] = i
				loop(names[1:])
			}
			return
		}
		product := 1.0
		for i, t := range operands {
			product *= t.Data[offset(axes[i])]
		}
		result.Data[offset(output)] += product
	}
	loop(names)
	return result
}

// solve records what an equation makes of operands with these shapes, of sizes that are
// all different and of sizes that are all equal.
func solve(o *observe.Observer, name, equation string, pattern string) {
	r := o.Rand()
	for _, draw := range []func() int{distinctFrom(r, 1), distinct(r), same(2), same(3)} {
		operands := operandsOf(r, pattern, sizesOf(pattern, draw))
		solved(o, name, equation, operands)
	}
}

// distinctFrom draws different sizes of which some, but not the first, may be 1.
func distinctFrom(r *rand.Rand, least int) func() int {
	next := 1 + r.IntN(2)
	return func() int {
		next++
		return least + next%4
	}
}

func solved(o *observe.Observer, name, equation string, operands tensors) {
	got, ok := interpret(equation, operands)
	o.Bool(name+": is an equation for these operands", ok)
	o.Ints(name+": shape", got.Shape)
	o.Floats(name+": numbers", got.Data)
}

// Equations for vectors and matrices: Dot, Outer, MatMul, Trace, Diagonal, RowSums
// (rule 16).
func TestEquations(t *testing.T) {
	o := observe.New(t)
	solve(o, "Dot", einsum.Dot, "i,i")
	solve(o, "Outer", einsum.Outer, "i,j")
	solve(o, "MatMul", einsum.MatMul, "ij,jk")
	solve(o, "Trace", einsum.Trace, "ii")
	solve(o, "Diagonal", einsum.Diagonal, "ii")
	solve(o, "RowSums", einsum.RowSums, "ij")
}

// Equations for batches: SwapLast, BatchMatMul, SquaredNorms, Bilinear (rule 16).
func TestBatchEquations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, pattern := range []string{"ij", "bij", "abij", "cabij"} {
		solve(o, "SwapLast", einsum.SwapLast, pattern)
	}
	solve(o, "BatchMatMul", einsum.BatchMatMul, "bij,bjk")
	solve(o, "Bilinear", einsum.Bilinear, "bn,onm,bm")
	for range 3 {
		x := random(r, 2+r.IntN(3), 2+r.IntN(3))
		solved(o, "SquaredNorms", einsum.SquaredNorms, tensors{x, x})
	}
}

// Equations for attention: AttentionScores, AttentionOutputs (rule 16).
func TestAttentionEquations(t *testing.T) {
	o := observe.New(t)
	solve(o, "AttentionScores", einsum.AttentionScores, "bqhd,bkhd")
	solve(o, "AttentionOutputs", einsum.AttentionOutputs, "bhqk,bkhd")
}
