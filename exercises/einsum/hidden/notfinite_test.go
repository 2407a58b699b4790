package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// NaN and infinities go through products and sums as in float64, also beside a 0, and
// change no other element (rule 12).
func TestNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	inf := math.Inf(1)
	for _, special := range []float64{math.NaN(), inf, -inf} {
		for _, equation := range []string{"i,i->i", "i,i->", "ij,jk->ik", "bij,bjk->bik", "i,j->ij", "ij,j->i", "ij,ij->ij"} {
			for _, side := range []int{0, 1} {
				size := sizesOf(equation, distinct(r))
				var operands tensors
				for _, term := range terms(equation) {
					operands = append(operands, tensorOf(r, positive, shapeOf(term, size, nil)...))
				}
				x, y := operands[side].Data, operands[1-side].Data
				x[r.IntN(len(x))] = special
				ask(o, "a special number", equation, operands...)
				clear(y)
				ask(o, "a special number beside 0", equation, operands...)
				clear(x)
				x[r.IntN(len(x))] = special
				ask(o, "a special number among 0", equation, operands...)
			}
		}
		for _, equation := range []string{"i->i", "i->", "ij->i", "ij->ji"} {
			operands := operandsOf(r, equation, sizesOf(equation, same(3)))
			operands[0].Data[r.IntN(3)] = special
			ask(o, "a special number in one operand", equation, operands...)
		}
	}
	specialOnAxes(o)
	x := random(r, 2, 4)
	x.Data[1], x.Data[2], x.Data[5] = inf, -inf, inf
	ask(o, "both infinities", "ij->i", x)
	ask(o, "both infinities", "ij,j->i", x, tensorOf(r, positive, 4))
	nanAmongMany(o)
	nanBesideSums(o)
	specialAmongLarge(o)
	infinitiesFarApart(o)
}

// specialOnAxes puts a special number on a diagonal or beside it, beside a scalar, and into
// an operand of size 1.
func specialOnAxes(o *observe.Observer) {
	r := o.Rand()
	for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, equation := range []string{"ii->i", "ii->", "iij->j", "iji->ij", "...ii->...i", "ii,i->i", "ii,ij->j", "ij,jj->i"} {
			at := slices.IndexFunc(terms(equation), repeats)
			for k := range 9 { // in each place of the diagonal, and beside it
				operands := operandsOf(r, equation, sizesOf(equation, same(3)))
				x := operands[at].Data
				x[k*len(x)/9] = special
				ask(o, "a special number on a diagonal or beside it", equation, operands...)
			}
		}
		for _, equation := range []string{",ij->ij", "ij,->ji", ",,i->i", ",->", ",i,->", ",ii->i"} {
			for at := range terms(equation) {
				operands := operandsOf(r, equation, sizesOf(equation, same(3)))
				for _, x := range operands {
					x.Data[0] = 0
				}
				if len(operands) > 2 && !math.IsNaN(special) {
					continue // of three operands only NaN is graded
				}
				operands[at].Data[0] = special
				ask(o, "a special number beside a scalar", equation, operands...)
			}
		}
		for _, equation := range []string{"ij,ij->ij", "ij,ij->i", "ij,jk->ik", "...i,...i->...", "bij,bjk->bik"} {
			if !math.IsNaN(special) && equation != "ij,ij->ij" {
				continue // where a letter is summed that is of size 1 in one operand, only NaN is graded
			}
			operands := operandsOf(r, equation, sizesOf(equation, distinct(r)), []int{2}, []int{2})
			for k := range operands[0].Shape {
				operands[0].Shape[k] = 1
			}
			operands[0].Data = []float64{special}
			clear(operands[1].Data)
			ask(o, "a special number of size 1", equation, operands...)
			operands[0].Data[0] = 0
			operands[1].Data[len(operands[1].Data)-1] = special
			ask(o, "a special number beside a 0 of size 1", equation, operands...)
		}
	}
}

// nanAmongMany puts NaN into each of three operands and more, in short and in longer rows,
// and makes none, one or all of the others 0.
func nanAmongMany(o *observe.Observer) {
	r := o.Rand()
	for _, equation := range []string{"i,ij,->j", "ij,jk,kl->il", "ij,kl,jk->il", "i,ij,j->", "i,j,k->ijk", "i,i,i->i", "i,i,i->", ",,ij->ji", "bn,onm,bm->bo", "ij,j,k->i", "i,ij,j,->ji"} {
		for _, n := range []int{2 + r.IntN(2), 8 + r.IntN(2)} {
			for at := range terms(equation) {
				for zero := -1; zero <= len(terms(equation)); zero++ {
					operands := operandsOf(r, equation, sizesOf(equation, same(n)))
					for i, x := range operands {
						if i != at && (i == zero || zero == len(operands)) {
							clear(x.Data)
						}
					}
					x := operands[at].Data
					x[r.IntN(len(x))] = math.NaN()
					ask(o, "NaN among three operands and more", equation, operands...)
				}
			}
		}
	}
	for _, equation := range []string{"ij,ij,ij->ij", "ij,jk,k->i", "i,i,i->"} { // which all values of its letters share
		for at := range terms(equation) {
			operands := operandsOf(r, equation, sizesOf(equation, same(3)))
			for i := range operands {
				clear(operands[i].Data)
			}
			operands[at] = tensor{Shape: slices.Repeat([]int{1}, len(operands[at].Shape)), Data: []float64{math.NaN()}}
			ask(o, "NaN of size 1 among three operands", equation, operands...)
		}
	}
}

// nanBesideSums asks for sums of a letter that one operand alone has, which are 0 though
// its numbers are not: also that 0 leaves no NaN out.
func nanBesideSums(o *observe.Observer) {
	r := o.Rand()
	for _, equation := range []string{"ij,k->i", "i,k->i", "k,ij->ji", "i,kj->ij", "ij,k->", "ij,k,jl->il"} {
		operands := operandsOf(r, equation, sizesOf(equation, same(4)))
		for i, term := range terms(equation) {
			x := operands[i].Data
			if term[0] != 'k' {
				x[r.IntN(len(x))] = math.NaN()
				continue
			}
			for k := range len(x) / 2 { // the second half takes the first one away
				x[len(x)/2+k] = -x[k]
			}
		}
		ask(o, "NaN beside a sum that is 0", equation, operands...)
	}
}

// specialAmongLarge makes each axis long, one at a time, and clears the other operand.
// Infinities are left out where a letter is summed in one operand alone.
func specialAmongLarge(o *observe.Observer) {
	r := o.Rand()
	for _, c := range []struct {
		equation   string
		infinities bool
	}{
		{"ij,jk->ik", true}, {"bij,bjk->bik", true}, {"ij,ik->jk", true}, {"i,ij->j", true}, {"i,j->ji", true}, {"i,i->", true}, {"ij->j", true}, {"ij->ji", true},
		{"ij,k->i", false}, {"i,ij,->j", false}, {"ij,jk,kl->il", false}, {"i,ij,j->", false}, {"i,i,i->i", false},
	} {
		specials := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
		if !c.infinities {
			specials = specials[:1]
		}
		all := sizesOf(c.equation, same(2+r.IntN(2)))
		for _, long := range lettersOf(all) {
			for _, n := range []int{65 + r.IntN(9), 257 + r.IntN(9), 1<<10 + 1 + r.IntN(9)} {
				size := sizesOf(c.equation, same(all[long]))
				size[long] = n
				for at := range terms(c.equation) {
					operands := operandsOf(r, c.equation, size)
					x := operands[at].Data
					for i := range operands {
						clear(operands[i].Data)
					}
					x[r.IntN(len(x))] = specials[r.IntN(len(specials))]
					x[len(x)-1] = specials[r.IntN(len(specials))]
					askPlaces(o, "a special number beside 0, large", c.equation, operands...)
				}
			}
		}
	}
	for _, c := range []struct { // all axes at once
		equation string
		draw     func() int
	}{
		{"ij,jk->ik", func() int { return 65 + r.IntN(9) }}, {"bij,bjk->bik", func() int { return 65 + r.IntN(9) }}, {"ij,ik->jk", func() int { return 65 + r.IntN(9) }},
		{"ij,jk->ik", same(256)}, {"bij,bjk->bik", same(128)}, {"ij,ik->jk", same(128)}, // which halve
	} {
		for at, special := range []float64{math.NaN(), math.Inf(1 - 2*r.IntN(2))} {
			size := sizesOf(c.equation, c.draw)
			if _, ok := size['b']; ok {
				size['b'] = 2
			}
			operands := operandsOf(r, c.equation, size)
			clear(operands[1-at].Data)
			operands[at].Data[r.IntN(len(operands[at].Data))] = special
			askPlaces(o, "a special number beside 0, large", c.equation, operands...)
		}
	}
}

// askPlaces records how many numbers are NaN and infinite, and where they are.
func askPlaces(o *observe.Observer, name, equation string, operands ...tensor) {
	got, err := einsum.Einsum(equation, operands...)
	o.Error(name+": error", err, kinds...)
	nan, infinite, place := 0, 0, 0.0
	for i, x := range got.Data {
		if math.IsNaN(x) {
			nan++
			place += math.Sqrt(float64(i))
		} else if math.IsInf(x, 0) {
			infinite++
			place -= math.Sqrt(float64(i))
		}
	}
	o.Int(name+": how many are NaN", nan)
	o.Int(name+": how many are infinite", infinite)
	o.Float(name+": where they are", place)
}

// infinitiesFarApart puts two infinities of either sign into long sums, whose parts may be
// added up by themselves.
func infinitiesFarApart(o *observe.Observer) {
	r := o.Rand()
	ones := func(*rand.Rand) float64 { return 1 }
	for _, n := range []int{9, 70, 300, 5000} {
		for k := range 4 {
			x := random(r, n+r.IntN(9))
			last := len(x.Data) - 1
			x.Data[r.IntN(4)] = math.Inf(1 - k%2*2)
			x.Data[last-r.IntN(4)] = math.Inf(1 - k/2*2)
			ask(o, "two infinities in a long sum", "i->", x)
			ask(o, "two infinities in a long sum", "i,i->", x, tensorOf(r, sign, last+1))
			ask(o, "two infinities in a long sum", "i,ij->j", x, tensorOf(r, ones, last+1, 2))
		}
	}
}
