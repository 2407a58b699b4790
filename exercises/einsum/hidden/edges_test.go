package hidden

import (
	"math"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// An operand without axes has an empty term and multiplies all; a result without axes has
// one number (rule 9).
func TestScalars(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, equation := range []string{
		"", "->", ",", ",->", ",,->", ",i->i", "i,->i", "i,->i", ",ij->ji", "ij,,jk->ik", ",i,->i",
	} {
		equation := rename(r, equation)
		ask(o, "scalars", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
	}
	bare := tensor{Data: []float64{dyadic(r)}} // a nil shape is as good as an empty one
	ask(o, "scalars", "", bare)
	ask(o, "scalars", ",i->i", bare, random(r, 3))
	ask(o, "axes of size 1 are axes", "i->i", random(r, 1))
	ask(o, "axes of size 1 are axes", "ij->ji", random(r, 1, 1))
	ask(o, "axes of size 1 are axes", "ij,jk->ik", random(r, 1, 3), random(r, 3, 1))
}

// A sum over a size of 0 is 0, of a letter and behind an ellipsis, also beside NaN; a result may
// have no numbers; 1 beside 0 gives 0 (rules 6, 7 and 10).
func TestEmptyDimensions(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, equation := range []string{"i->i", "i->", "ij->i", "ij->ji", "i,j->ij", "i,j->i", "ij,jk->ik", "bij,bjk->bik", "ij,jk,kl->il", "ii->i", "ii->", "ij,j->i", "a,b,c->"} {
		letters := terms(equation)
		for _, c := range strings.Join(letters, "") { // each of them is 0 once
			size := sizesOf(equation, distinct(r))
			size[c] = 0
			ask(o, "a size of 0", equation, operandsOf(r, equation, size)...)
		}
	}
	none := tensor{Shape: []int{0}} // nil numbers
	for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := random(r, 3)
		x.Data[r.IntN(3)] = special
		ask(o, "a sum of nothing beside NaN", "i,j->i", x, none)
		ask(o, "a sum of nothing beside NaN", "j,i->", none, x)
		ask(o, "a sum of nothing beside NaN", "i,j,k->k", x, none, random(r, 2))
		ask(o, "a sum of nothing beside NaN", "k,i,j->k", random(r, 2), x, none)
		ask(o, "a sum of nothing beside NaN", "j,k,i->i", none, random(r, 2), x)
		nothingBeside(o, special)
	}
	ask(o, "1 beside 0", "i,i->i", random(r, 1), none)
	ask(o, "1 beside 0", "i,i->i", none, random(r, 1))
	ask(o, "1 beside 0", "i,i->", random(r, 1), none)
	ask(o, "1 beside 0", "i,i,j->j", random(r, 1), none, random(r, 3))
	ask(o, "1 beside 0", "ij,ij->ij", random(r, 3, 1), random(r, 3, 0))
	ask(o, "1 beside 0", "ij,ij->", random(r, 3, 1), random(r, 3, 0))
	for _, sizes := range [][2][]int{{{0}, {0}}, {{0}, {1}}, {{1}, {0}}, {{2, 0}, {0}}, {{2, 0}, {2, 1}}, {{0, 3}, {3}}, {{3}, {0, 3}}, {{0, 1}, {2}}, {{}, {0}}, {{0, 2}, {}}} {
		for _, equation := range []string{"...i,...i->...i", "...i,i...->...", "...,...->", "...i,...->i", "i...j,...jk->...ik"} {
			ask(o, "a size of 0 behind an ellipsis", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)), sizes[:]...)...)
		}
		for _, equation := range []string{"...i->...i", "i...->i", "...i->...", "...i->"} {
			ask(o, "a size of 0 behind an ellipsis", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)), sizes[0])...)
		}
	}
	for _, large := range []int{1 << 40, 1 << 62, math.MaxInt} {
		ask(o, "0 beside a large size", "...->", tensor{Shape: []int{large, large, 0}})
		ask(o, "0 beside a large size", "ij,jk->k", tensor{Shape: []int{large, 0}}, random(r, 0, 3))
		ask(o, "0 beside a large size", "jk,ij,il->k", random(r, 2, 3), tensor{Shape: []int{0, 2}}, tensor{Shape: []int{0, large}})
		ask(o, "0 beside a large size", "ij->", tensor{Shape: []int{0, large}})
		ask(o, "0 beside a large size", "ijk->j", tensor{Shape: []int{large, 0, large}})
		ask(o, "0 beside a large size of the result", "ij->ij", tensor{Shape: []int{large, 0}})
		ask(o, "0 beside a large size of the result", "i...->...i", tensor{Shape: []int{large, 0}})
		for _, equation := range []string{"ijk->ijk", "ijk->kij", "ijk->kji"} {
			ask(o, "0 beside large sizes of the result", equation, tensor{Shape: []int{large, large, 0}})
		}
	}
}

// nothingBeside asks for sums over no values beside a special number: those of an ellipsis, of a
// diagonal, and of an axis of size 1 in the operand that has the number.
func nothingBeside(o *observe.Observer, special float64) {
	r := o.Rand()
	n := 2 + r.IntN(3)
	beside := func(equation string, at int, shapes ...[]int) {
		var operands tensors
		for _, shape := range shapes {
			operands = append(operands, random(r, shape...))
		}
		for i := range operands[at].Data { // all of them, or one
			if len(shapes) == 2 && i%2 == 0 || i == 0 {
				operands[at].Data[i] = special
			}
		}
		ask(o, "a sum of nothing beside NaN", equation, operands...)
	}
	for _, equation := range []string{"i,...->i", "i,...->"} {
		for _, hidden := range [][]int{{0}, {0, n}, {n, 0}, {n, 0, 1}, {0, 0}} {
			beside(equation, 0, []int{3}, hidden)
			beside("...,i->"+equation[7:], 1, hidden, []int{3})
		}
	}
	beside("...,...->", 0, []int{3, 1}, []int{0})
	beside("...,...->", 1, []int{0}, []int{3, 1})
	beside("...,...->", 0, []int{1}, []int{n, 0})
	beside("...i,...->i", 0, []int{1, 3}, []int{0})
	beside("...,...i->i", 1, []int{n, 0}, []int{n, 1, 3})
	beside("i...,...->i", 0, []int{3}, []int{0, n})
	beside("...i,jk->k", 1, []int{0, n}, []int{n, 3})
	beside("i,...,k->k", 0, []int{3}, []int{0}, []int{n})
	beside("...,k,...i->ki", 1, []int{0, n}, []int{3}, []int{n, 2})
	beside("...,i,k->ik", 2, []int{0}, []int{3}, []int{n})
	beside("i,jj->i", 0, []int{3}, []int{0, 0})
	beside("i,jj...->i", 0, []int{3}, []int{n, n, 0})
	beside("i,i->", 0, []int{1}, []int{0})
	beside("ij,i->j", 0, []int{1, 3}, []int{0})
	beside("i,ij->j", 0, []int{1}, []int{0, 3})
	beside("i,ij,k->jk", 2, []int{0}, []int{1, 3}, []int{n})
}

// Spaces count for nothing, wherever they stand (rule 1).
func TestSpaces(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, equation := range []string{" ij->ji", "ij->ji ", "i j->ji", "ij ->ji", "ij-> ji", "ij->j  i", "ij ,jk", "ij, jk", " i j , j k -> i k ",
		" ... i -> i ... ", "i ... j", " ", " , ", " -> ", "ij -> "} {
		equation := rename(r, equation)
		ask(o, "spaces", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)), []int{2})...)
	}
	gap := strings.Repeat(" ", 1<<16+r.IntN(9))
	for _, equation := range []string{"i" + gap + "j->ji", "i" + gap + "...j->j" + gap + "...i"} {
		ask(o, "many spaces", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)), []int{2})...)
	}
}

// All 52 letters, and operands of many axes, with letters and behind an ellipsis: none is taken for
// another one (rules 1, 6 and 8).
func TestLetters(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, c := range alphabet {
		other := alphabet[(strings.IndexRune(alphabet, c)+1+r.IntN(51))%52:][:1]
		equation := string(c) + other + "->" + other + string(c)
		ask(o, "each letter", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
	}
	// Capitals are other letters than small ones.
	for range 3 {
		low := letters(r, 1)
		equation := low + "," + strings.ToUpper(low) + "->" + strings.ToUpper(low) + low
		ask(o, "capitals", equation, random(r, 2), random(r, 3))
		ask(o, "capitals", low+strings.ToUpper(low)+"->"+low, random(r, 3, 3))
	}
	for _, n := range []int{20, 32, 33, 52} {
		all := shuffled(r, alphabet)[:n]
		size := sizesOf(all, same(1))
		for range 6 { // a few of them are not 1
			size[rune(all[r.IntN(n)])] = 2 + r.IntN(2)
		}
		for _, equation := range []string{all + "->" + shuffled(r, all), all + "->" + shuffled(r, all)[:n/2], all + "," + shuffled(r, all) + "->", all[n/2:] + "," + all[:n/2] + all[n/2:] + "->" + all[n/3:]} {
			ask(o, "many axes", equation, operandsOf(r, equation, size)...)
		}
	}
	for _, n := range []int{127, 128, 129, 255, 256, 257, 258} { // one letter as many times
		l := letters(r, 2)
		i, j := l[:1], l[1:]
		two := slices.Repeat([]string{strings.Repeat(i, 2)}, n/3) // in 85 terms and fewer
		for k := range n - 2*len(two) {
			two[k%len(two)] += i
		}
		four := []string{strings.Repeat(i, n/4), strings.Repeat(i, n/4), strings.Repeat(i, n/4), strings.Repeat(i, n-n/4*3)}
		for k, inputs := range [][]string{two, four} {
			equation := strings.Join(inputs, ",")
			for _, equation := range []string{equation, equation + "," + j, equation + "->", equation + "->" + i, equation + "," + j + "->" + l} {
				size := map[rune]int{rune(i[0]): 2 - k, rune(j[0]): 3}
				var operands tensors
				for _, term := range terms(equation) {
					operands = append(operands, tensorOf(r, sign, shapeOf(term, size, nil)...))
				}
				ask(o, "a letter many times", equation, operands...)
			}
		}
	}
	for _, n := range []int{5, 11, 28} { // and up to 80 with an ellipsis
		all := shuffled(r, alphabet)
		size := sizesOf(all, same(1))
		size[rune(all[r.IntN(52)])], size[rune(all[r.IntN(52)])] = 2, 3
		hidden := make([]int, n)
		for i := range hidden {
			hidden[i] = 1
		}
		hidden[r.IntN(n)], hidden[r.IntN(n)] = 3, 2
		for _, equation := range []string{all[:26] + "..." + all[26:] + "->" + shuffled(r, all) + "...", "..." + all + "->" + all[10:] + "..." + all[:10], "..." + all[:10] + ",..." + all[5:] + "->" + all[20:] + "..."} {
			ask(o, "many axes and an ellipsis", equation, operandsOf(r, equation, size, hidden, hidden)...)
		}
	}
	newTable(o).allAxes()
}

// Ellipses of different length are aligned at their last axis, and sizes of 1 fit all
// (rules 6 and 7).
func TestEllipsisBroadcast(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 2 {
		a, b, c := 2+r.IntN(3), 5+r.IntN(2), 7
		for _, hidden := range [][][]int{
			{{a, b}, {b}}, {{b}, {a, b}}, {{}, {a, b}}, {{a, b}, {}}, {{a, b, c}, {c}}, {{c}, {a, b, c}}, {{b, c}, {a, b, c}},
			{{a, 1}, {b}}, {{1, b}, {a, 1}}, {{1}, {a, b}}, {{a, b}, {1, 1}}, {{a, 1, c}, {b, 1}}, {{1, 1, 1}, {a, b}},
			{{a, a}, {a}}, {{a}, {a, a, a}}, {{1, a}, {a, 1}},
		} {
			for _, equation := range []string{"...,...->...", "...i,...i->...", "i...,...->...i", "...ij,...jk->...ik", "j...,...k->k...j"} {
				ask(o, "ellipses of different length", equation, operandsOf(r, equation, sizesOf(equation, same(2)), hidden...)...)
			}
		}
	}
	// Without an arrow the axes of all ellipses come first, also where the first has fewer.
	for _, hidden := range [][2][]int{{{3}, {4, 3}}, {{4, 3}, {3}}, {{}, {2}}, {{1}, {4, 3}}, {{4, 1}, {3}}} {
		for _, equation := range []string{"...,...", "...i,...j", "j...,...i", "...ij,...jk"} {
			operands := operandsOf(r, equation, sizesOf(equation, distinct(r)), hidden[0], hidden[1])
			ask(o, "ellipses of different length", equation, operands...)
		}
	}
	ask(o, "three ellipses", "...,...,...->...", random(r, 3), random(r, 2, 1), random(r, 4, 1, 1))
	ask(o, "one ellipsis of two operands", "...i,i->...", random(r, 2, 3, 4), random(r, 4))
	ask(o, "one ellipsis of two operands", "i,...i->...", random(r, 4), random(r, 2, 3, 4))
}

// Axes behind an ellipsis that the output does not have are summed; an ellipsis in the
// output alone stands for no axes (rule 6).
func TestEllipsisSummed(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 2 {
		for _, equation := range []string{"...->", "...i->i", "i...->i", "...ij->ji", "i...j->", "...,...->", "...i,...j->ij", "i,...i->", "...ij,jk->ik",
			"...,...,...->", "...i,...i,...j->j", "...ij,...jk,...kl->il", "...i,j,...i,...->j"} {
			equation := rename(r, equation)
			hidden := [][]int{{2 + r.IntN(3)}, {2, 3}, {3, 1, 2}}[r.IntN(3)]
			operands := operandsOf(r, equation, sizesOf(equation, distinct(r)), hidden, hidden, hidden, hidden)
			ask(o, "summed ellipsis", equation, operands...)
		}
	}
	ask(o, "summed ellipses of different length", "...,...->", random(r, 3, 4), random(r, 4))
	ask(o, "summed ellipses of different length", "...i,...->i", random(r, 3, 4, 2), random(r, 4))
	ask(o, "summed ellipses of different length", "...,...,...->", random(r, 3, 4), random(r, 4), random(r, 3, 1))
	for _, equation := range []string{"i->...i", "ij->j...i", "i,j->...ij", "ij,jk->i...k"} {
		ask(o, "ellipsis in the output alone", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
	}
}

// Large and small numbers, long sums: nothing is rounded to less than a float64, and
// nothing is taken for 0 (rule 11).
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, e := range []float64{-280, -150, -40, 40, 150, 280} {
		for _, equation := range []string{"ij,jk->ik", "i,j->ij", "i,i->", "ij,ij->ij"} {
			large, small := math.Pow(10, e)*positive(r), math.Pow(10, -e+10*r.Float64())
			if e < 0 {
				small = math.Pow(10, -10*r.Float64())
			}
			operands := operandsOf(r, equation, sizesOf(equation, distinct(r)))
			for i, scale := range []float64{large, small} {
				for k := range operands[i].Data {
					operands[i].Data[k] = scale * positive(r)
				}
			}
			askRelative(o, equation, operands...)
		}
		x := tensorOf(r, positive, 3, 4)
		for i := range x.Data {
			x.Data[i] *= math.Pow(10, e)
		}
		askRelative(o, "ij->j", x)
		askRelative(o, "ij->ji", x)
	}
	for _, e := range []float64{-299, -295, -290, -285, 285, 290, 295, 299} {
		for _, equation := range []string{"ij,jk->ik", "i,j->ij", "i,i->", ",i->i", "ij,j,k->ik", "ij->j", "ij->ji", "i->i", "ii->i", "", "->", ",", ",,->", "ii", "...i->...", "i..., i -> ..."} {
			operands := operandsOf(r, equation, sizesOf(equation, same(2)))
			for i := range operands {
				for k := range operands[i].Data {
					operands[i].Data[k] = positive(r)
					if i == 0 {
						operands[i].Data[k] *= math.Pow(10, e)
					}
				}
			}
			askRelative(o, equation, operands...)
		}
	}
	unevenly(o)
	n := 70_000 + r.IntN(1000)
	askRelative(o, "i->", tensorOf(r, positive, n))
	askRelative(o, "i,i->", tensorOf(r, positive, n), tensorOf(r, positive, n))
	askRelative(o, "i,i,->", tensorOf(r, positive, n), tensorOf(r, positive, n), tensorOf(r, positive))
}

// unevenly asks for operands with very large and very small numbers, along i: in small and long ones,
// and in matrices as large as those that are multiplied in quarters.
func unevenly(o *observe.Observer) {
	r := o.Rand()
	for _, equation := range []string{"i->i", "ij->i", "ij->ji", "i,i->i", "ij,jk->ik", "jk,ki->ji", "ij,ij->ij", "bij,bjk->bik", ",i->i", "i,i,i->i", ",ij,i->ji", "ij,jk,kl->il", "jk,ij,k->i", "i,ij,i,j->i"} {
		askUneven(o, equation, 2+r.IntN(4), 2+r.IntN(2))
		askUneven(o, equation, 300+r.IntN(9), 2)
	}
	askUneven(o, "ij,jk->ik", 128, 128)
	askUneven(o, "jk,ki->ji", 128, 128)
	askUneven(o, "ij,kj->ik", 256, 256)
}

// askUneven makes numbers of one operand 200 to 290 powers of ten larger or smaller than 1, those of
// an i alike. Those of a second operand that has i are as many the other way. It records what the
// result adds up to for each i, over the size that its numbers have.
func askUneven(o *observe.Observer, equation string, n, others int) {
	r := o.Rand()
	size := sizesOf(equation, same(others))
	size['i'] = n
	scales := make([]float64, n)
	for i := range scales {
		scales[i] = math.Pow(10, (200+90*r.Float64())*float64(1-i%2*2))
	}
	r.Shuffle(n, func(i, j int) { scales[i], scales[j] = scales[j], scales[i] })
	along := func(term string, k int) int { // which i element k has
		_, behind, _ := strings.Cut(term, "i")
		return k / volume(shapeOf(behind, size, nil)) % n
	}
	inputs := terms(equation)
	var with []int // operands that have i
	operands := make(tensors, len(inputs))
	for at, term := range inputs {
		operands[at] = tensorOf(r, positive, shapeOf(term, size, nil)...)
		if strings.Contains(term, "i") {
			with = append(with, at)
		}
	}
	r.Shuffle(len(with), func(i, j int) { with[i], with[j] = with[j], with[i] })
	for place, at := range with[:min(len(with), 2)] {
		for k := range operands[at].Data {
			scale := scales[along(inputs[at], k)]
			if place == 1 {
				scale = 1 / scale
			}
			operands[at].Data[k] *= scale
		}
	}
	got, err := einsum.Einsum(equation, operands...)
	_, output, _ := strings.Cut(equation, "->")
	sums := make([]float64, n)
	for k, x := range got.Data {
		i := along(output, k)
		if len(with) == 1 {
			x /= scales[i]
		}
		sums[i] += x
	}
	o.Error("numbers of different size: error", err, kinds...)
	o.Ints("numbers of different size: shape", got.Shape)
	o.Floats("numbers of different size: numbers added up, over their size", sums, observe.Within(0, 1e-9))
}
