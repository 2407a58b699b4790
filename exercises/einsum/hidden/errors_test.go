package hidden

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/einsum"
)

// askRelative asks for positive numbers of any size.
func askRelative(o *observe.Observer, equation string, operands ...tensor) {
	got, err := einsum.Einsum(equation, operands...)
	name := kind(equation) + "numbers of any size"
	o.Error(name+": error", err, kinds...)
	o.Ints(name+": shape", got.Shape)
	o.Floats(name+": numbers", got.Data, observe.Within(0, 1e-9))
}

// A character that no equation has is an error, and Pos is where it stands (rules 13, 14).
func TestBadCharacters(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	characters := []string{"0", "1", "9", "_", "+", "*", "(", "@", "[", "`", "{", "\t", "\n", "\r", "\x00", ";", ":", "é", "λ", "\u00a0", "\xff", "-", ">", ".", "ſ", "\u212a", "→", "…"}
	for _, low := range []string{" ", ",", "->", "...", letters(r, 1), strings.ToUpper(letters(r, 1))} {
		// Characters of which the last 8 bits, or the last 16, are what may stand there.
		for _, page := range []rune{1 + r.Int32N(0xd7), 0x100 * (1 + r.Int32N(16))} {
			characters = append(characters, strings.Map(func(c rune) rune { return c + page<<8 }, low))
		}
	}
	for _, bad := range characters {
		for _, equation := range []string{"ij,jk->ik", "ij,jk"} {
			equation := rename(r, equation)
			operands := operandsOf(r, equation, sizesOf(equation, distinct(r)))
			for _, at := range []int{0, 1 + r.IntN(len(equation)-1), len(equation)} {
				if at == 6 { // not within the arrow
					at = 4
				}
				refused(o, "a character that does not belong there", equation[:at]+bad+equation[at:], operands...)
			}
			refused(o, "a character between spaces", "  "+equation[:4]+" "+bad+" "+equation[4:], operands...)
		}
	}
}

// The place is right in long equations too (rule 14).
func TestLongEquations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for k := range 3 {
		n := []int{90, 129, 257}[k] + r.IntN(20)
		long := strings.Repeat("ij, ", n) // more than 256 characters
		operands := slices.Repeat(tensors{random(r, 2, 3)}, n)
		refused(o, "a bad character far behind", long+"i?", append(operands, random(r, 2))...)
		refused(o, "a bad output far behind", long+"k->ijz", append(operands, random(r, 2))...)
		if n < 128 { // TestOperandErrors has more
			refused(o, "a missing operand far behind", long+"i", operands...)
		}
		refused(o, "a size far behind", long+"kj", append(operands, random(r, 2, 4))...)
		refused(o, "a rank far behind", long+"kj", append(operands, random(r, 2))...)
	}
	gap := strings.Repeat(" ", 1<<16+r.IntN(9))
	a, b := random(r, 2, 3), random(r, 4, 5)
	refused(o, "a bad character behind many spaces", "i"+gap+"?j", a)
	refused(o, "a bad character in a term behind many spaces", "ij"+gap+",j?", a, b)
	refused(o, "a bad output behind many spaces", "ij"+gap+"->jk", a)
	refused(o, "a size behind many spaces", "ij"+gap+",ki", a, b)
	refused(o, "a rank behind many spaces", "ij"+gap+",k", a, b)
}

// Half arrows and ellipses, second ones, and what is in an output and may not be, are
// errors, and Pos is where they begin (rules 13, 14).
func TestBadSyntax(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, equation := range []string{
		"ij-ji", "ij>ji", "ij- >ji", "ij=>ji", "ij-->ji", "ij->>ji", "ij->ji->", "ij->ji->ij", "ij->-ji",
		"i->i,", "ij->i,j", "ij->,ij",
		".ij", "..ij", "i.j", "i..j", "ij.", "ij..", "i. ..j", ".. .ij", "....ij", ".....ij", "......ij", "...i...j", "...ij...", "i... ...j", "... i ... j",
		"...ij->......", "...ij->...i...", "...ij->....", "...ij->..ij", "ij->.ij",
		"ij->ii", "ij->iji", "ij->jij", "ij->i i", "ij-> j ii", "...ij->i...i",
		"ij->k", "ij->ijk", "ij->kij", "->i", "...->i", "i...->...j", "  ij -> i k",
	} {
		spaces := strings.Repeat(" ", r.IntN(3))
		equation := spaces + rename(r, equation)
		inputs, _, _ := strings.Cut(equation, "->")
		var operand tensor // with two axes, or one or none where the equation has no more letters
		switch {
		case strings.TrimSpace(inputs) == "":
			operand = random(r)
		case strings.Contains(inputs, ".") || strings.Count(inputs, "") > 2:
			operand = random(r, 3, 3)
		default:
			operand = random(r, 3)
		}
		refused(o, "a bad equation", equation, operand)
	}
	for _, equation := range []string{"ij,jk->ikk", "ij,jk->ikl", "ij,jk->ki->", "ij,j..k", "ij,...j...k", "ij,jk->i,k", "ij,jk-ik"} {
		equation := rename(r, equation)
		refused(o, "a bad equation for two", equation, random(r, 2, 2), random(r, 2, 2))
	}
	for range 3 { // a capital is another letter
		low := letters(r, 1)
		refused(o, "a letter that is only known as another", low+"->"+strings.ToUpper(low), random(r, 3))
	}
	// Syntax comes first: the operands do not matter.
	refused(o, "no operands", "i->")
	refused(o, "a bad equation without operands", "i->ii")
	refused(o, "a bad equation for operands that do not fit", "ij,jk->iz", random(r, 2), random(r, 3, 4, 5))
	refused(o, "too few operands, and one that does not fit", "ij,jk", random(r, 2))
}

// Terms and operands are equally many, or Operand is the first one that is missing on
// either side (rules 13, 14).
func TestOperandErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, equation := range []string{"->", "i->i", "i,i->i", "i,j->ij", "i,,i->", "i,i,i,i,i->i", "", "i", "i,j"} {
		equation := rename(r, equation)
		operands := operandsOf(r, equation, sizesOf(equation, same(2)))
		n := len(operands)
		for _, m := range []int{0, n - 1, n + 1, n + 2 + r.IntN(3)} {
			for len(operands) < m {
				operands = append(operands, random(r, 2))
			}
			if m == 0 {
				refused(o, "no operands", equation)
			} else if m != n {
				refused(o, "operands missing or too many", equation, operands[:m]...)
			}
		}
		if strings.Contains(equation, "->") {
			ask(o, "operands as many as terms", equation, operands[:n]...)
		}
	}
	for _, n := range []int{127, 128, 129, 255, 256, 257, 1<<15 + 1 + r.IntN(9), 1<<16 + 1 + r.IntN(9)} {
		// The first operand does not fit, which is told after their number: so who does not
		// count them ends here, and does not multiply them all.
		equation := strings.Repeat(",", n-1)
		operands := slices.Repeat(tensors{random(r)}, n+2)
		operands[0] = random(r, 2)
		for _, m := range []int{0, n - 1, n + 1, n + 2} {
			refused(o, "one of very many operands missing or too many", equation+"->", operands[:m]...)
		}
	}
}

// An operand has as many axes as its term has letters; with an ellipsis at least as many
// (rules 13, 14).
func TestRankErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, term := range []string{"", "i", "ij", "ijk", "...", "...i", "i...", "i...j", " ij", "i j "} {
		for rank := range 5 {
			shape := slices.Repeat([]int{2}, rank)
			letters := len(terms(term)[0])
			fits := rank == letters
			if strings.Contains(term, "...") {
				fits = rank >= letters-3
			}
			for range 2 {
				equation := rename(r, term) + "->"
				if fits {
					ask(o, "as many axes as letters", equation, random(r, shape...))
					ask(o, "as many axes as letters, second operand", ","+equation, random(r), random(r, shape...))
				} else {
					refused(o, "more axes than letters, or fewer", equation, random(r, shape...))
					refused(o, "more axes than letters, or fewer, second operand", ","+equation, random(r), random(r, shape...))
				}
			}
		}
	}
}

// Sizes of one letter are equal or 1, within an operand equal; so are those behind
// ellipses. Pos is the letter that does not fit to what is before it (rules 13, 14).
func TestSizeErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, sizes := range [][2]int{{0, 2}, {2, 0}, {0, 5}, {5, 0}, {0, 7}} { // 0 fits 0 and 1 alone
		a, b := sizes[0], sizes[1]
		for _, equation := range []string{"ij,jk->ik", "j,j->", "j,j", "...j,j...->...", "j ,j, j->j"} {
			x, y := tensorOf(r, dyadic, 2, a), tensorOf(r, dyadic, b, 2)
			if !strings.Contains(equation, "k") && !strings.Contains(equation, "...") {
				x, y = tensorOf(r, dyadic, a), tensorOf(r, dyadic, b)
			}
			operands := tensors{x, y, random(r, 1)}
			refused(o, "0 beside another size", equation, operands[:len(terms(equation))]...)
		}
		if a+b < 9 {
			refused(o, "0 beside another size behind an ellipsis", "...i,...i", random(r, a, 2), random(r, b, 2))
			refused(o, "0 beside another size on a diagonal", "ii->i", random(r, a, b))
			refused(o, "0 beside another size on a diagonal", "iji->", random(r, a, 1, b))
		}
	}
	refused(o, "0 beside 1 on a diagonal", "ii->i", random(r, 0, 1))
	refused(o, "0 beside 1 on a diagonal", "x,jiki->", random(r, 2), random(r, 2, 1, 2, 0))
	n := 2 + r.IntN(4)
	for _, other := range []int{n - 2, n - 1, n, n + 1, 2 * n, 1} {
		for _, c := range []struct {
			equation string
			operands tensors
			pairs    bool // sizes of two operands, where 1 fits
		}{
			{"ij,jk->ik", tensors{random(r, 2, n), random(r, other, 3)}, true},
			{"i,i", tensors{random(r, n), random(r, other)}, true},
			{"i,i->i", tensors{random(r, other), random(r, n)}, true},
			{" i j , k j ", tensors{random(r, 2, n), random(r, 3, other)}, true},
			{"i,i,i->", tensors{random(r, n), random(r, 1), random(r, other)}, true},
			{"i,i,i->", tensors{random(r, 1), random(r, n), random(r, other)}, true},
			{"bij,bjk", tensors{random(r, 2, 3, n), random(r, 2, other, 2)}, true},
			{"...,...", tensors{random(r, n), random(r, other)}, true},
			{"...,...,...->...", tensors{random(r, 1), random(r, n), random(r, other)}, true},
			{"...,...,...->...", tensors{random(r, n), random(r, 1), random(r, other)}, true},
			{"...i,j...->ij...", tensors{random(r, n, 2, 3), random(r, 3, other, 2)}, true},
			{"i ... , ...", tensors{random(r, 3, 2, n), random(r, other)}, true},
			{"ii", tensors{random(r, n, other)}, false},
			{"ii->i", tensors{random(r, other, n)}, false},
			{"jiki->kj", tensors{random(r, 2, n, 3, other)}, false},
			{"ij,jj->i", tensors{random(r, 2, n), random(r, n, other)}, false},
			{"ij,jj->i", tensors{random(r, 2, n), random(r, other, n)}, false}, // also if that is the size in another operand
			{"j,kji,jij->", tensors{random(r, n), random(r, 2, 1, 3), random(r, other, 3, n)}, false},
			{"i...i", tensors{random(r, n, 2, other)}, false},
		} {
			if other == n || other == 1 && c.pairs {
				if !c.pairs || !strings.Contains(c.equation, "->") || strings.Contains(c.equation, "...") {
					continue // other tests are about these
				}
				ask(o, "sizes that fit", c.equation, c.operands...)
			} else {
				refused(o, "sizes that do not fit", c.equation, c.operands...)
			}
		}
		if other != n && other != 1 {
			otherLengths(o, n, other)
		}
	}
}

// otherLengths asks for sizes that do not fit behind ellipses of different length: where the later one
// is the longer, and on axes that the first one has not.
func otherLengths(o *observe.Observer, n, other int) {
	r := o.Rand()
	for _, c := range []struct {
		equation string
		operands tensors
	}{
		{"...i,...i", tensors{random(r, n, 2), random(r, 3, other, 2)}},
		{"...,...i->...i", tensors{random(r, n, 3), random(r, 2, other, 3, 2)}},
		{"...,...", tensors{random(r, 2, n, 3), random(r, other, 1)}},
		{"...,...,...->...", tensors{random(r, 3), random(r, n, 3), random(r, other, 3)}},
		{"...,...,...->", tensors{random(r, 1), random(r, n, 1, 3), random(r, 2, other, 1, 1)}},
	} {
		refused(o, "ellipses of different length: sizes that do not fit", c.equation, c.operands...)
	}
}

// An operand has as many numbers as its shape says, and no size below 0 (rules 13, 14).
func TestBadTensors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []struct {
		letters string
		tensor  tensor
	}{
		{"", tensor{}}, {"", numbers(r, 2)}, {"i", numbers(r, 2, 3)}, {"i", numbers(r, 4, 3)}, {"i", numbers(r, 1, 0)}, {"i", numbers(r, 0, 1)},
		{"ij", numbers(r, 5, 2, 3)}, {"ij", numbers(r, 7, 2, 3)}, {"ij", numbers(r, 3, 0, 3)}, {"ij", numbers(r, 0, 2, 3)},
		{"i", numbers(r, 0, -1)}, {"i", numbers(r, 3, -3)}, {"ij", numbers(r, 6, -2, -3)}, {"ij", numbers(r, 0, -2, 0)}, {"ij", numbers(r, 0, 0, -2)},
		{"ij", numbers(r, 0, 1<<32, 1<<32)}, {"ij", numbers(r, 0, 1<<62, 4)}, {"ijk", numbers(r, 8, 1<<62, 4, 8)},
		{"ij", numbers(r, 2, 1<<63-1, 1<<63-2)}, {"i", numbers(r, 0, math.MaxInt)},
		{"ijk", numbers(r, 1<<3, 1<<31, 1<<33, 3)}, {"...", numbers(r, 5, 2, 3)},
	} {
		refused(o, "a bad operand", rename(r, bad.letters), bad.tensor)
		refused(o, "a bad operand", bad.letters+"->", bad.tensor)
		refused(o, "a bad second operand", " x ,"+bad.letters, random(r, 2), bad.tensor)
	}
	// Sizes whose product is a number of numbers that there are, and 2 to the power of 64 or 32,
	// or some times that.
	for range 12 {
		q := uint64(5 + 2*r.IntN(500))
		for times := uint64(1); times <= 2; times++ {
			_, rest := bits.Div64(times, 0, q)
			n := q - rest
			p, _ := bits.Div64(times, n, q)
			if r.IntN(2) == 0 { // so that the product does not even get smaller
				n, p = n+q, p+1
			}
			for _, shape := range [][]int{{int(p), int(q)}, {int(q), int(p)}, {int(q), 1, int(p)}, {1, int(p), int(q)}} {
				refused(o, "sizes whose product overflows to what there is", "ijk"[:len(shape)], numbers(r, int(n), shape...))
				refused(o, "sizes whose product overflows to what there is", "...->", numbers(r, int(n), shape...))
				refused(o, "sizes whose product overflows to what there is", "x,"+"ijk"[:len(shape)]+"->", random(r, 2), numbers(r, int(n), shape...))
			}
		}
		n := 1 + r.IntN(9)
		for _, shape := range [][]int{{1<<32 + n}, {1<<33 + n}, {1<<31 + n}, {1<<16 + n}, {1<<8 + n}, {1<<62 + n}} {
			refused(o, "sizes that have more bits than there are numbers", "i->", numbers(r, n, shape...))
		}
	}
	for _, shape := range [][]int{{1 << 32, 1 << 31, 2}, {1 << 21, 1 << 22, 1 << 21}, {1 << 16, 1 << 16, 1 << 16, 1 << 16}, {2, 1 << 62}, {4, 1 << 62}, {math.MaxInt, math.MaxInt}} {
		for _, n := range []int{0, 1, 2} {
			refused(o, "sizes whose product is 0 or below, or 1", "...->", numbers(r, n, shape...))
		}
	}
}

// numbers is a tensor that may have more or fewer numbers than its shape says.
func numbers(r *rand.Rand, n int, shape ...int) tensor {
	t := tensor{Shape: shape}
	for range n {
		t.Data = append(t.Data, dyadic(r))
	}
	return t
}
