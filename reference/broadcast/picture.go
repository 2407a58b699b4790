package broadcast

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxCells is how many cells a picture may have, those of the operands and of the result
// together.
const MaxCells = 1000

// Operand is a tensor with a name for it.
type Operand struct {
	Name   string
	Tensor Tensor
}

var symbols = [...]string{Add: "+", Sub: "-", Mul: "*", Div: "/", Maximum: "max"}

// SVG draws how a and b make the result: b above it and a on its left, so that rows and
// columns meet in the elements that they make. Each element of an operand has a colour,
// and each of the result has those of its two sources.
func (op Op) SVG(a, b Operand) (string, error) {
	if err := op.check(); err != nil {
		return "", err
	}
	if err := drawable(a.Tensor, b.Tensor); err != nil {
		return "", err
	}
	z, err := op.Apply(a.Tensor, b.Tensor)
	if err != nil {
		return "", err
	}
	p := &picture{op: symbols[op], a: a, b: b, z: z}
	p.place()
	p.draw()
	return p.String(), nil
}

// drawable returns ErrPicture for a result that nobody should try to compute, and what is
// wrong with the operands.
func drawable(a, b Tensor) error {
	if err := check(a, b); err != nil {
		return err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return err
	}
	cells, ok := count(shape)
	if !ok || len(shape) > 2 || cells > MaxCells || len(a.Data)+len(b.Data)+cells > MaxCells {
		return fmt.Errorf("broadcast: a result of shape %v: %w", shape, ErrPicture)
	}
	return nil
}

// Sizes in units of the picture, which are pixels where nobody scales it. A character of
// the largest text is not wider than letter.
const (
	margin = 16
	line   = 26
	height = 38
	gap    = 44
	letter = 9
)

// colours are those of the elements of a and of b, one after the other and again from the
// first: cold ones and warm ones.
var colours = [2][]string{
	{"#2f7fd8", "#16a08c", "#7a5fd0", "#1fa3c9", "#4aa84f", "#4a5fc4"},
	{"#e0862e", "#d64d5f", "#c9a21b", "#c2559d", "#a8703f", "#e0643a"},
}

type picture struct {
	strings.Builder
	op            string
	a, b          Operand
	z             Tensor
	width, height int
	cell          int      // the width of a cell
	left, top     [3]int   // of the blocks of a, b and the result
	facts         []string // of each element of the result, where it comes from
}

// place says where everything is.
func (p *picture) place() {
	p.cell = height + 10
	for _, t := range []Tensor{p.a.Tensor, p.b.Tensor, p.z} {
		for _, x := range t.Data {
			p.cell = max(p.cell, letter*len(short(x))+14)
		}
	}
	rowsA, colsA := grid(p.a.Tensor.Shape)
	rowsB, colsB := grid(p.b.Tensor.Shape)
	rowsZ, colsZ := grid(p.z.Shape)
	right := margin + max(colsA*p.cell, letter*utf8.RuneCountInString(p.label(0))) + gap
	under := margin + line + rowsB*height + gap
	p.left, p.top = [3]int{margin, right, right}, [3]int{under, margin + line, under}
	p.width = right + max(max(colsB, colsZ)*p.cell, letter*utf8.RuneCountInString(p.label(1)), letter*utf8.RuneCountInString(p.label(2))) + margin
	p.height = under + max(rowsA, rowsZ)*height + line + margin
}

// grid is how many rows and columns a block has. Where one of them is 0 both are: the other
// one may be as large as an int can be, and there is nothing to draw.
func grid(shape []int) (rows, cols int) {
	rows, cols = size(shape, -2), size(shape, -1)
	if rows == 0 || cols == 0 {
		return 0, 0
	}
	return rows, cols
}

// label is what is written at the block of a, b or the result.
func (p *picture) label(k int) string {
	return []string{
		p.a.Name + " " + tuple(p.a.Tensor.Shape),
		p.b.Name + " " + tuple(p.b.Tensor.Shape),
		p.a.Name + " " + p.op + " " + p.b.Name + " " + tuple(p.z.Shape),
	}[k]
}

const style = `text{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px}` +
	`.paper{fill:#ffffff}.ink{fill:#1c2128}.quiet{fill:#57606a}.sign{font-size:20px}.edge{stroke:#8b949e;fill:none}` +
	`@media(prefers-color-scheme:dark){.paper{fill:#161b22}.ink{fill:#f0f3f6}.quiet{fill:#a8b1bb}}`

func (p *picture) draw() {
	cells := p.cells()
	facts := strings.Join(p.facts, "; ")
	if facts == "" {
		facts = "no elements"
	}
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">`+"\n", p.width, p.height)
	fmt.Fprintf(p, "<title id=\"title\">%s</title>\n", escape(p.label(0)+" "+p.op+" "+p.label(1)+" = "+tuple(p.z.Shape)))
	fmt.Fprintf(p, "<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", escape(facts), style)
	fmt.Fprintf(p, `<rect class="paper" x="0" y="0" width="%d" height="%d"/>`+"\n", p.width, p.height)
	p.labels()
	p.WriteString(cells + "</svg>\n")
}

// labels writes what is beside the cells: names, shapes and the sign of the operation.
func (p *picture) labels() {
	rows, _ := grid(p.z.Shape)
	for k, y := range []int{p.top[0] - 10, p.top[1] - 10, p.top[2] + rows*height + 20} {
		name := ""
		if k < 2 {
			name = ` data-name="` + escape([]string{p.a.Name, p.b.Name}[k]) + `"`
		}
		fmt.Fprintf(p, `<text class="ink" data-label="%s"%s x="%d" y="%d">%s</text>`+"\n", roles[k], name, p.left[k], y, escape(p.label(k)))
	}
	fmt.Fprintf(p, `<text class="quiet sign" x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", p.left[2]-gap/2, p.top[2]-gap/2+5, escape(p.op))
}

var roles = [...]string{"a", "b", "result"}

// cells draws all cells, and notes where those of the result come from.
func (p *picture) cells() string {
	var all strings.Builder
	for k, t := range []Tensor{p.a.Tensor, p.b.Tensor} {
		for i, x := range t.Data {
			index := unravel(i, t.Shape)
			fmt.Fprintf(&all, `<g data-tensor="%s" data-index="%s" data-value="%s">`, roles[k], comma(index), long(x))
			p.cellAt(&all, k, index, x, colours[k][i%len(colours[k])], "")
		}
	}
	for i, x := range p.z.Data {
		index := unravel(i, p.z.Shape)
		a, b := source(index, p.a.Tensor.Shape), source(index, p.b.Tensor.Shape)
		fact := fmt.Sprintf("%s%s %s %s%s = %s", p.a.Name, brackets(a), p.op, p.b.Name, brackets(b), long(x))
		p.facts = append(p.facts, fact)
		fmt.Fprintf(&all, `<g data-tensor="result" data-index="%s" data-a="%s" data-b="%s" data-value="%s"><title>%s</title>`,
			comma(index), comma(a), comma(b), long(x), escape(fact))
		p.cellAt(&all, 2, index, x, colour(0, a, p.a.Tensor.Shape), colour(1, b, p.b.Tensor.Shape))
	}
	return all.String()
}

// colour is that of the element of an operand.
func colour(k int, index, shape []int) string {
	i := 0
	for d, at := range index {
		i = i*shape[d] + at
	}
	return colours[k][i%len(colours[k])]
}

// cellAt draws a cell in one colour, or in two with a diagonal between them.
func (p *picture) cellAt(w *strings.Builder, block int, index []int, x float64, one, two string) {
	row, col := place(index)
	left, top := p.left[block]+col*p.cell, p.top[block]+row*height
	right, bottom := left+p.cell, top+height
	if two == "" {
		two = one
	}
	fmt.Fprintf(w, `<polygon fill="%s" fill-opacity="0.35" points="%d,%d %d,%d %d,%d"/>`, one, left, top, left, bottom, right, bottom)
	fmt.Fprintf(w, `<polygon fill="%s" fill-opacity="0.35" points="%d,%d %d,%d %d,%d"/>`, two, left, top, right, top, right, bottom)
	fmt.Fprintf(w, `<rect class="edge" x="%d" y="%d" width="%d" height="%d"/>`, left, top, p.cell, height)
	fmt.Fprintf(w, `<text class="ink" x="%d" y="%d" text-anchor="middle">%s</text></g>`+"\n", left+p.cell/2, top+height/2+5, short(x))
}

// place is the row and the column of an element in its block.
func place(index []int) (row, col int) {
	switch n := len(index); n {
	case 0:
		return 0, 0
	case 1:
		return 0, index[0]
	default:
		return index[n-2], index[n-1]
	}
}

// unravel is the index of element i.
func unravel(i int, shape []int) []int {
	index := make([]int, len(shape))
	for k, n := range slices.Backward(shape) {
		index[k], i = i%n, i/n
	}
	return index
}

// source is the index of the element of an operand that an element of the result is made
// of.
func source(index, shape []int) []int {
	from := slices.Clone(index[len(index)-len(shape):])
	for k, n := range shape {
		if n == 1 {
			from[k] = 0
		}
	}
	return from
}

func list(numbers []int, separator string) string {
	texts := make([]string, len(numbers))
	for k, n := range numbers {
		texts[k] = strconv.Itoa(n)
	}
	return strings.Join(texts, separator)
}

func comma(index []int) string    { return list(index, ",") }
func brackets(index []int) string { return "[" + list(index, ", ") + "]" }
func tuple(shape []int) string    { return "(" + list(shape, ", ") + ")" }

// A number is written with all digits that tell it from others, or with four, for the
// eye.
func long(x float64) string  { return strconv.FormatFloat(x, 'g', -1, 64) }
func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// escape makes a text fit for XML. What XML 1.0 cannot hold (section 2.2), all control
// characters below the space and bytes that are no UTF-8 become U+FFFD.
func escape(s string) string {
	clean := strings.Map(func(r rune) rune { // a byte that is no UTF-8 is U+FFFD already
		if r < ' ' || r == '\uFFFE' || r == '\uFFFF' {
			return utf8.RuneError
		}
		return r
	}, s)
	return entities.Replace(clean)
}
