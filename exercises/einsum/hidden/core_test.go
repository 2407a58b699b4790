package hidden

import (
	"math/rand/v2"
	"strings"
	"testing"

	"grade/observe"
)

// Two operands and an explicit output: letters in the output are kept, in its order, all
// others are summed (rules 2 and 3).
func TestProducts(t *testing.T) {
	o := observe.New(t)
	each(o, "two operands",
		"ij,jk->ik", "ij,jk->ki", "ji,kj->ik", "bij,bjk->bik", "bij,bkj->ibk", "i,j->ij", "i,j->ji", "i,i->", "i,i->i",
		"ij,ij->ij", "ij,ji->ij", "ij,j->i", "i,ij->j", "ij,j->ij", "ij,i->ji", "ijk,jkl->il", "aij,jkb->kbai",
		"ij,jk->j", "ij,jk->ijk", "ij,kl->il", "bqhd,bkhd->bhqk")
	for range 15 {
		equation := drawEquation(o, 2, 5)
		ask(o, "any two operands", equation, operandsOf(o.Rand(), equation, sizesOf(equation, upTo(o.Rand(), 4)))...)
	}
}

// One operand and an explicit output: axes in another order, sums over some or all axes,
// a copy (rules 2 and 3).
func TestOneOperand(t *testing.T) {
	o := observe.New(t)
	each(o, "one operand", "i->i", "ij->ij", "ij->ji", "ij->i", "ij->j",
		"ijk->ijk", "ijk->kij", "ijk->jki", "ijk->kji", "ijk->ik", "ijk->ki", "ijk->j",
		"abcd->dcba", "abcd->cadb", "abcd->bd", "abcd->da")
	for range 10 {
		equation := drawEquation(o, 1, 6)
		ask(o, "any one operand", equation, operandsOf(o.Rand(), equation, sizesOf(equation, upTo(o.Rand(), 3)))...)
	}
}

// drawEquation draws operands of different letters out of a few, and an output of one or
// more of them in any order.
func drawEquation(o *observe.Observer, operands, pool int) string {
	r := o.Rand()
	all := letters(r, pool)
	var inputs []string
	used := ""
	for range operands {
		term := shuffled(r, all)[:1+r.IntN(min(4, pool))]
		inputs = append(inputs, term)
		for _, c := range term {
			if !strings.ContainsRune(used, c) {
				used += string(c)
			}
		}
	}
	used = shuffled(r, used)
	return strings.Join(inputs, ",") + "->" + used[:1+r.IntN(len(used))]
}

// Without an arrow the output is the letters that are written once, in order (rule 4).
func TestImplicit(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		l := sorted(letters(r, 4)) // a < b < c < d
		a, b, c, d := l[:1], l[1:2], l[2:3], l[3:]
		for _, equation := range []string{
			a + b, b + a, c + a + b, b + c + a, // written once: in order
			a + b + "," + b + c, c + b + "," + b + a, d + b + "," + c + b + a, // twice: summed
			a + "," + b, b + "," + a, a + "," + a, b + a + "," + a + b,
			a + b + "," + a + b, // nothing is left
		} {
			ask(o, "implicit output", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
		}
	}
	// Three times is not once, and it is summed as well.
	l := letters(r, 2)
	for _, equation := range []string{l[:1] + "," + l[:1] + "," + l[:1], l + "," + l[:1] + "," + l[:1]} {
		ask(o, "implicit output, three times", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
	}
	// Axes of an ellipsis come first (rule 6).
	for _, equation := range []string{"...", "...i", "i...", "j...i", "...ji", "...ij,...jk", "i...,...j", "b...a", "...,i"} {
		operands := operandsOf(r, equation, sizesOf(equation, distinct(r)), []int{4, 3}, []int{4, 3})
		ask(o, "implicit output, axes without letters", equation, operands...)
	}
}

// Without an arrow capitals come before small letters (rule 4).
func TestImplicitCapitals(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 6 {
		l := sorted(letters(r, 2)) // a < b
		a, b := l[:1], l[1:]
		for _, equation := range []string{a + strings.ToUpper(b), strings.ToUpper(b) + a, strings.ToUpper(a) + b, b + "," + a + strings.ToUpper(b)} {
			ask(o, "implicit output, a capital and a small letter", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
		}
	}
	for range 6 { // capitals and small letters, also the same letter in both
		low := letters(r, 1)
		capital := strings.ToUpper(low)
		other := "z"
		if low == "z" {
			other = "a"
		}
		for _, equation := range []string{low + capital, low + "," + capital, other + strings.ToUpper(other) + low + "," + low + capital} {
			ask(o, "implicit output, capitals", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
		}
	}
}

// An arrow with nothing behind it is an explicit output too: all is summed (rule 3).
func TestEmptyOutput(t *testing.T) {
	o := observe.New(t)
	each(o, "nothing behind the arrow", "i->", "ij->", "ijk->", "i,j->", "ij,jk->", "ij,j->", "ij,kl->", "a,b,c->", "ab,cd,ef->")
}

// A letter twice in one term walks along the diagonal of these axes; it is kept or summed
// like any other (rule 5).
func TestDiagonal(t *testing.T) {
	o := observe.New(t)
	each(o, "diagonal", "ii->i", "ii->", "iii->i", "iii->", "iij->ij", "iij->ji", "iji->j", "jii->ij", "ijij->ij", "iijj->ji", "ijji->")
	each(o, "diagonal, two operands", "ii,i->i", "ii,ij->j", "ij,jj->i", "ii,jj->ij", "ii,ii->i", "iij,jk->ik", "iij,jjk->ik")
	r := o.Rand()
	for n := 4; n <= 14; n++ { // as many axes, of which a diagonal is one
		l := letters(r, 2)
		i, j := l[:1], l[1:]
		some := strings.Repeat(i, n)
		mixed := shuffled(r, some+j)
		for _, equation := range []string{some + "->" + i, some + "->", mixed + "->" + l, mixed + "->" + j, some + "," + l + "->" + l} {
			ask(o, "a diagonal of many axes", equation, operandsOf(r, equation, sizesOf(equation, same(2)))...)
		}
		if n <= 7 {
			both := shuffled(r, some+strings.Repeat(j, n))
			ask(o, "a diagonal of many axes", both+"->"+l, operandsOf(r, both+"->"+l, sizesOf(both, same(2)))...)
		}
	}
	size := map[rune]int{'i': 2, 'j': 40_000 + r.IntN(1000)}
	for _, equation := range []string{"iij->i", "iij,j->i", "iji->i"} { // a step along the diagonal is more than 65,536 numbers
		ask(o, "a diagonal with long steps", equation, operandsOf(r, equation, size)...)
	}
	for _, equation := range []string{"ii", "jij", "iijk", "ii,jj"} { // rule 4: a letter written twice is not in the output
		ask(o, "diagonal, implicit output", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)))...)
	}
	for _, equation := range []string{"...ii->...i", "i...i->...", "ii...->i...", "...iji->...j", "ii->i...", "i...i", "ji...i", "i...ij"} { // rule 6
		ask(o, "diagonal beside an ellipsis", equation, operandsOf(r, equation, sizesOf(equation, distinct(r)), []int{2, 3})...)
	}
}

// An ellipsis stands for all axes that have no letter, at any place of a term (rule 6).
func TestEllipsis(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		for _, equation := range []string{
			"...->...", "...i->...i", "...i->i...", "i...->...i", "i...j->j...i", "...ij->...ji", "...i->...", "i...->...",
			"...ij,...jk->...ik", "i...,j...->ij...", "...i,...i->...", "...i,j->...ij", "i,...->...i", "b...ij,jk->b...ik",
			"...ij,jk...->k...i", "...ij,...jk,...kl->...il",
		} {
			equation := rename(r, equation)
			hidden := [][]int{{}, {2}, {2, 3}, {3, 1, 2}}[r.IntN(4)]
			operands := operandsOf(r, equation, sizesOf(equation, distinct(r)), hidden, hidden, hidden)
			ask(o, "ellipsis", equation, operands...)
		}
	}
}

// An axis of size 1 fits any size of the same letter in another operand (rule 7).
func TestBroadcast(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for round := range 2 {
		for _, equation := range []string{"i,i->i", "i,i->", "ij,ij->ij", "ij,ij->", "ij,ji->i", "ij,jk->ik", "bij,bjk->bik", "ij,j->ij", "ijk,ik->kj", "i,i,i->i"} {
			if round == 1 { // and once as everybody writes them
				equation = rename(r, equation)
			}
			size := sizesOf(equation, distinct(r))
			whole := operandsOf(r, equation, size)
			for i := range whole {
				for axis := range whole[i].Shape { // each axis of each operand
					operands := append(tensors{}, whole...)
					shape := append([]int{}, whole[i].Shape...)
					shape[axis] = 1
					operands[i] = random(r, shape...)
					ask(o, "size 1", equation, operands...)
				}
			}
		}
	}
	for _, equation := range []string{"ij,ij->ij", "ij,ij->ji", "ij,ij->"} {
		n, m := 2+r.IntN(3), 2+r.IntN(3)
		ask(o, "size 1 on either side", equation, random(r, n, 1), random(r, 1, m))
		ask(o, "size 1 on both sides", equation, random(r, 1, m), random(r, 1, 1))
	}
	ask(o, "a diagonal of size 1", "ii,i->i", random(r, 1, 1), random(r, 3))
	ask(o, "a diagonal of size 1", "i,ii->i", random(r, 3), random(r, 1, 1))
	ask(o, "a diagonal of size 1", "ij,jij->i", random(r, 2, 3), random(r, 1, 2, 1))
	ask(o, "a letter of three sizes", "i,i,i->i", random(r, 1), random(r, 3), random(r, 1))
}

// Three operands and more, in whichever order they are multiplied: letters in all of
// them, in two that are not neighbours, in one (rules 2 and 8).
func TestManyOperands(t *testing.T) {
	o := observe.New(t)
	each(o, "many operands",
		"ij,jk,kl->il", "ij,jk,kl->li", "ij,kl,jk->il", "i,ij,j->", "i,j,k->ijk", "i,i,i->i", "i,i,i->",
		"bn,onm,bm->bo", "ij,jk,kl,lm->im", "ij,jk,ki->", "ij,ik,il->jkl", "ij,ik,il->ijkl", "ab,bc,cd->b",
		"ij,j,jk,k->i", "ijk,ij,jk,ik->", "a,b,ab,c,bc->ac")
	r := o.Rand()
	for range 15 {
		equation := drawEquation(o, 3+r.IntN(4), 5)
		ask(o, "any operands", equation, operandsOf(r, equation, sizesOf(equation, upTo(r, 3)))...)
	}
	for _, n := range []int{10, 27, 60, 110} { // of small numbers, so that products stay exact
		l := letters(r, 2)
		for _, equation := range []string{
			strings.Repeat(l[:1]+",", n-1) + l[:1] + "->" + l[:1],
			strings.Repeat(l[:1]+",", n-1) + l + "->" + l[1:],
		} {
			var operands tensors
			for _, term := range terms(equation) {
				operands = append(operands, tensorOf(r, sign, shapeOf(term, map[rune]int{rune(l[0]): 3, rune(l[1]): 2}, nil)...))
			}
			operands[r.IntN(n)].Data[r.IntN(3)] *= 1 + float64(r.IntN(9))
			ask(o, "very many operands", equation, operands...)
		}
		chain := letters(r, min(n, 25)+1)
		var inputs []string
		var operands tensors
		for i := range len(chain) - 1 {
			inputs = append(inputs, chain[i:i+2])
			operands = append(operands, tensorOf(r, sign, 2, 2))
		}
		ask(o, "a chain of very many operands", strings.Join(inputs, ",")+"->"+chain[len(chain)-1:]+chain[:1], operands...)
	}
	// Large ones in any order: neighbours share no letter, and their product would not fit.
	for range 3 {
		chain := letters(r, 12+r.IntN(14))
		var inputs []string
		var operands tensors
		for i := range len(chain) - 1 {
			inputs, operands = append(inputs, chain[i:i+2]), append(operands, permutation(r, 40))
		}
		r.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		ask(o, "a chain of many large operands", strings.Join(inputs, ",")+"->"+chain[:1]+chain[len(chain)-1:], operands...)
	}
}

// permutation draws a matrix with a 1 or -1 in each row and each column: products of any
// number of those are exact.
func permutation(r *rand.Rand, n int) tensor {
	t := tensor{Shape: []int{n, n}, Data: make([]float64, n*n)}
	for i, j := range r.Perm(n) {
		t.Data[i*n+j] = sign(r)
	}
	return t
}
