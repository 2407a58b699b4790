package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/broadcast"
)

// drawn are shapes of pictures: results of one and two dimensions.
func drawn(r *rand.Rand) (list []pair) {
	for _, p := range pairs(r) {
		if len(p[0]) <= 2 && len(p[1]) <= 2 {
			list = append(list, p)
		}
	}
	return append(list, pair{{1, 12}, {11, 1}}, pair{{11}, {2, 1}}) // indices of two digits
}

// pictures draws all shapes by all operations.
func pictures(o *observe.Observer, look func(op operation, d *document)) {
	r := o.Rand()
	for i, p := range drawn(r) {
		op := operations[i%len(operations)]
		look(op, draw(o, op, named("x"+string(rune('a'+r.IntN(26))), tensorOf(r, positive, p[0])), named("y"+string(rune('a'+r.IntN(26))), tensorOf(r, positive, p[1]))))
	}
	for _, op := range operations {
		look(op, draw(o, op, named("tens", tensorOf(r, dyadic, []int{3, 1})), named("ones", tensorOf(r, dyadic, []int{4}))))
	}
}

// The document is an svg of the right namespace, with a viewBox, a role and a title and desc that its
// label names (rules 19 and 20).
func TestPictureDocument(t *testing.T) {
	o := observe.New(t)
	pictures(o, func(op operation, d *document) {
		o.Bool("an XML declaration only at the very start, and white space between attributes", d.strict || !d.wellFormed)
		o.String("root", d.root.name.Space+" "+d.root.name.Local)
		o.String("role", d.root.attr("role"))
		_, ok := d.view()
		o.Bool("viewBox", ok)
		title, desc := d.child(0), d.child(1)
		if title == nil || desc == nil {
			o.Bool("title and desc", false)
			return
		}
		o.Strings("first children", []string{title.name.Space, title.name.Local, desc.name.Space, desc.name.Local})
		identified(o, d)
	})
}

// identified records whether title and desc have ids of one word, by which the root names them, and
// how many ids are there twice.
func identified(o *observe.Observer, d *document) {
	title, desc := d.child(0).attr("id"), d.child(1).attr("id")
	o.Bool("ids", title != "" && desc != "" && !strings.ContainsAny(title+desc, " \t\n"))
	o.Bool("ids of title and desc are named", d.root.attr("aria-labelledby") == title+" "+desc)
	ids := map[string]int{}
	for _, n := range d.all {
		if n.has("id") {
			ids[n.attr("id")]++
		}
	}
	twice := 0
	for _, n := range ids {
		twice += n - 1
	}
	o.Int("ids that are there twice", twice)
}

// Each element of a, b and the result is one cell, with its index, its value, one rect and one
// text (rules 21 and 22).
func TestPictureCells(t *testing.T) {
	o := observe.New(t)
	pictures(o, func(op operation, d *document) { contents(o, op, d) })
}

// Each cell of the result says of which elements it was made, in data-a, data-b and in its title
// (rules 21 and 23).
func TestPictureSources(t *testing.T) {
	o := observe.New(t)
	pictures(o, func(op operation, d *document) { sources(o, op, d) })
}

// Cells and labels are within the viewBox, no two cells overlap, columns go to the right and rows
// down, and nothing moves them (rules 24 and 25).
func TestPictureLayout(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	look := func(op operation, d *document) {
		layout(o, d)
		moving := 0
		for _, n := range d.all {
			if n.has("transform") || slices.Contains([]string{"use", "symbol", "image", "script", "foreignObject"}, n.name.Local) || n != d.root && n.name.Local == "svg" {
				moving++
			}
		}
		o.Int("what may move cells", moving)
	}
	pictures(o, look)
	add := operations[0]
	for _, p := range []pair{{{40, 1}, {20}}, {{20}, {40, 1}}, {{30, 10}, {30, 10}}, {{300}, {1}}, {{1, 3}, {120, 1}}, {{3, 1}, {1, 120}}, {{9, 9}, {9}}, {{2, 1}, {2, 9}}, {{2, 9}, {1, 9}}} {
		look(add, draw(o, add, named(strings.Repeat("long name ", r.IntN(9)), tensorOf(r, wide, p[0])), named(strings.Repeat("W", r.IntN(99)), tensorOf(r, dyadic, p[1]))))
	}
	for _, p := range []pair{{nil, nil}, {{1}, {1}}, {{4}, {4}}, {{3, 1}, {4}}, {{4}, {3, 1}}, {{2, 3}, {3}}, {{3}, {2, 3}}, {{5, 1}, {1}}} {
		x, y := tensorOf(r, wide, p[0]), tensorOf(r, wide, p[1])
		for _, of := range [][2]tensor{{x, tensorOf(r, dyadic, p[1])}, {tensorOf(r, dyadic, p[0]), y}, {x, y}, {x, x}} {
			for _, op := range operations { // no names, so that numbers are what is wide: those of a, of b, of the result
				look(op, draw(o, op, named("", of[0]), named("", of[1])))
			}
		}
	}
}

// wide draws a number whose text is long.
func wide(r *rand.Rand) float64 { return -math.Pow(10, -200-r.Float64()) }

// The words of title, desc and labels, and their places (rule 23).
func TestPictureWords(t *testing.T) {
	o := observe.New(t)
	pictures(o, func(op operation, d *document) {
		words(o, op, d)
		o.Bool("a name of the result", d.label("result").has("data-name"))
		counted(o, d)
		within := 0
		for _, of := range tensors {
			for _, n := range d.cells(of) {
				if slices.ContainsFunc(n.inside("text"), func(n *node) bool { return n.has("data-label") }) {
					within++
				}
			}
		}
		o.Int("labels within cells", within)
	})
}

// Names may be any strings, also empty: what XML asks for is escaped, what rule 26 lists becomes
// U+FFFD, and all other characters stay (rule 26). Two operands may have one name. Whatever the names
// are, the ids of title and desc are single words, and each id is there once (rule 20).
func TestPictureNames(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	names := []string{
		"", " ", "<", ">", "&", `"`, "'", "&amp;", "&lt;b&gt;", "]]>", "<!--", "-->", "--", "<![CDATA[x]]>", "</svg>", "</text>", "</title>", "<?x?>", `" id="title`, "%d %s %!", `\n`, "$1 ${a}",
		"größer", "数", "🙂", "x\u0301", "\u2028", "\x7f", "\u00a0x\u00a0", "\ufeff", "\ufffd", "a\tb", "a\nb", "a\rb", "a\r\nb", "\x00", "\x1b[1m", "\x1f", "\ufffe", "\uffff",
		"\u0080", "\u0085", "\u009f", "\u00ad", "\u200b", "\u202e", "\ud7ff", "\ue000", "\ufdd0", "\ufdef", "\ufff9", "\ufffc", "\U00010000", "\U0001fffe", "\U0001ffff", "\U0010fffe", "\U0010ffff", "\U000e0001",
		"x" + string(rune((1+r.IntN(16))<<16|0xfffe)), string(rune((1+r.IntN(16))<<16|0xffff)) + "x", string(rune(0x80 + r.IntN(32))), string(rune(0xfdd0 + r.IntN(32))),
		"\xff", "\xff\xfe", "a\xc3", "\xc3(", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "+", " = ", "[0, 0]", "; ", "(3, 4)", "title", "desc", "result", "a", "b", strings.Repeat("<", 300),
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names {
		other := names[(i+1)%len(names)]
		op := operations[i%len(operations)]
		d := draw(o, op, named(name, tensorOf(r, positive, []int{2, 1})), named(other, tensorOf(r, positive, []int{2})))
		words(o, op, d)
		o.Bool("names are there, be they empty or not", d.label("a").has("data-name") && d.label("b").has("data-name"))
		sources(o, op, d)
		identified(o, d)
		d = draw(o, op, named(name, tensorOf(r, positive, []int{2})), named(name, tensorOf(r, positive, []int{2})))
		words(o, op, d)
		sources(o, op, d)
		identified(o, d)
	}
	for range 20 { // any bytes
		b := make([]byte, 1+r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		op := operations[r.IntN(len(operations))]
		words(o, op, draw(o, op, named(string(b), tensorOf(r, positive, nil)), named(string(b[1:]), tensorOf(r, positive, []int{1}))))
	}
}

// Results without dimensions, of one dimension and without elements are drawn, too (rules 21 to 25
// and 27).
func TestPictureRanks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := 2 + r.IntN(5)
	for _, p := range []pair{
		{nil, nil}, {nil, {1}}, {nil, {1, 1}}, {{1}, nil}, {nil, {n}}, {{n}, nil}, {{n, 1}, nil}, {nil, {n, n}}, {{n}, {n}}, {{1}, {n}}, {{n}, {1, n}}, {{n}, {n, 1}},
		{{0}, {0}}, {{0}, {1}}, {{0}, nil}, {nil, {0}}, {{n, 0}, {n, 1}}, {{n, 1}, {n, 0}}, {{0, n}, {n}}, {{n}, {0, n}}, {{0, n}, {0, 1}}, {{n, 1}, {0}}, {{0, 0}, {1}}, {{0, 1 << 62}, {0, 1}},
		{{1 << 62, 0}, {1}}, {{1}, {1 << 62, 0}}, {{1 << 57, 0}, {1, 0}}, {{0, 1 << 57}, {0, 1}},
		{{1}, {0}}, {{1}, {0, 0}}, {{0}, {n, 1}}, {{1, n}, {0, n}}, {{0, 1}, {1, n}}, {{n}, {0, 1}},
	} {
		for _, op := range operations {
			d := draw(o, op, named("left", tensorOf(r, positive, p[0])), named("right", tensorOf(r, positive, p[1])))
			contents(o, op, d)
			sources(o, op, d)
			words(o, op, d)
			layout(o, d)
		}
		if product(together(p[0], p[1])) == 0 { // the cells of an operand are all that is wide
			d := draw(o, operations[0], named("", tensorOf(r, wide, p[0])), named("", tensorOf(r, wide, p[1])))
			layout(o, d)
		}
	}
}

// Numbers are written as rules 21 to 23 say: all digits in data-value and titles, four in the text, and
// NaN, infinities and -0 as they are.
func TestPictureNumbers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 0.1, 1.0 / 3, 1e21, 1e20, 123456789, 12345, 99999, 0.00012345, 1e-7, math.MaxFloat64, -math.SmallestNonzeroFloat64, math.Pi * 1e100,
		1 << 53, 100, 1e6, float64(r.IntN(1e6)) / 1e3, -r.ExpFloat64() * 1e5, r.Float64() * 1e-5,
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, op := range operations {
		d := draw(o, op, named("x", numbers([]int{len(list), 1}, list)), named("y", numbers([]int{4}, []float64{0.2, math.NaN(), 1, -3 - r.Float64()})))
		contents(o, op, d)
		sources(o, op, d)
		words(o, op, d)
		layout(o, d)
	}
}

// Up to 1,000 cells are drawn and no more, of up to two dimensions; what is larger by far is refused at
// once (rule 27).
func TestPictureLimits(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	refused := func(op operation, p pair) {
		text, err := op.SVG(named("x", tensorOf(r, positive, p[0])), named("y", tensorOf(r, positive, p[1])))
		o.Error("too much: error", err, kinds...)
		o.Bool("too much: nothing but the error", text == "")
	}
	for k, op := range operations {
		for i, p := range []pair{ // 1,000 cells, each of the sizes by the first operation and by another one
			{{10, 1}, {90}}, {{6, 1}, {1, 142}}, {{142}, {6, 1}}, {{76, 1}, {12}}, {nil, {499}}, {{499}, nil}, {{333}, {333}}, {{333}, {1, 333}}, {{500}, {0, 500}}, {{2, 166}, {1}}, {{0, 1000}, nil}, {{1000, 0}, {1000, 1}}, {{1000}, {0, 1}}, {{0, 1}, {1, 1000}},
		} {
			if k > 0 && i%4 != k-1 {
				continue
			}
			d := draw(o, op, named("x", tensorOf(r, positive, p[0])), named("y", tensorOf(r, positive, p[1])))
			counted(o, d)
			if k == 0 {
				layout(o, d)
			}
		}
		for _, p := range []pair{
			{{5, 1}, {166}}, {{2, 1}, {1, 333}}, {{333, 1}, {2}}, {nil, {500}}, {{500}, {1}}, {{1001}, {0, 1}}, {{334}, {334}}, {{1001, 0}, {1001, 1}}, {{25, 20}, {25, 20}}, {{2000}, {1}}, {{100, 100}, nil},
			{{1, 1, 1}, {1}}, {{1}, {1, 1, 1}}, {{2, 2, 2}, {2}}, {{0, 1, 1}, {1}}, {{1, 0, 1, 1}, nil}, {{1, 1, 2}, {1, 1, 2}}, {{2, 2}, {1, 2, 2}},
			{{1 << 17, 1}, {1 << 17}}, {{1, 1 << 16}, {1 << 18, 1}}, {{1 << 17, 1, 1}, {1 << 17, 1}}, {{1, 1, 1 << 17}, {1 << 17, 1}}, {{1, 1 << 17, 1, 1}, {1 << 17}},
		} {
			refused(op, p)
		}
	}
}

// A picture of what is wrong is refused with the same errors as the operation (rule 16).
func TestPictureErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	refused := func(op broadcast.Op, a, b tensor) {
		text, err := op.SVG(named("x", a), named("y", b))
		place(o, "picture", err)
		o.Bool("picture: nothing but the error", text == "")
	}
	for _, op := range operations {
		for _, p := range unfit(o) {
			if len(p[0]) <= 2 && len(p[1]) <= 2 {
				refused(op.Op, tensorOf(r, positive, p[0]), tensorOf(r, positive, p[1]))
			}
		}
		good := tensorOf(r, positive, []int{1, 1})
		for _, bad := range []tensor{{}, {Shape: []int{3}, Data: []float64{1, 2}}, {Shape: []int{1}, Data: []float64{1, 2}}, {Shape: []int{-1}}, {Shape: []int{-1, -2}, Data: []float64{1, 2}}, {Shape: []int{1 << 32, 1 << 32}}} {
			refused(op.Op, bad, good)
			refused(op.Op, good, bad)
		}
	}
	good := tensorOf(r, positive, []int{2})
	for _, op := range []broadcast.Op{-1, broadcast.Maximum + 1, 256, 1 << 32, broadcast.Op(6 + r.IntN(100)), math.MinInt} {
		refused(op, good, good)
	}
}
