package hidden

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"grade/observe"
	"grade/reference/broadcast"
)

const svgSpace = "http://www.w3.org/2000/svg"

// node is an element of a picture. Without an element it is nil, which has no attributes and no
// children.
type node struct {
	name     xml.Name
	attrs    map[string]string
	children []*node
	text     []byte // all text in it, that of its children too
}

// document is a picture that was read.
type document struct {
	wellFormed bool
	strict     bool  // there is nothing that is flawed
	root       *node // an empty one, if it is not well-formed
	all        []*node
	sorted     map[string][]*node // the cells of a tensor, as cells returns them
}

// parse reads a picture. What encoding/xml lets pass is looked for: a second root, text beside it,
// attributes that are there twice, a DOCTYPE. What is flawed is read all the same, so that it costs
// one test only.
func parse(text string) *document {
	broken := &document{root: &node{}, sorted: map[string][]*node{}}
	d := &document{wellFormed: true, strict: true, sorted: map[string][]*node{}}
	decoder := xml.NewDecoder(strings.NewReader(text))
	var open []*node
	for {
		begin := decoder.InputOffset()
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 && d.root != nil {
			return d
		}
		if err != nil {
			return broken
		}
		d.strict = d.strict && !flawed(token, begin, text[begin:decoder.InputOffset()])
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name, attrs: map[string]string{}}
			for _, a := range token.Attr {
				name := a.Name.Local
				if a.Name.Space != "" {
					name = a.Name.Space + ":" + name
				}
				if _, twice := n.attrs[name]; twice {
					return broken
				}
				n.attrs[name] = a.Value
			}
			if len(open) == 0 && d.root != nil {
				return broken
			}
			if len(open) == 0 {
				d.root = n
			} else {
				parent := open[len(open)-1]
				parent.children = append(parent.children, n)
			}
			d.all = append(d.all, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 0 && strings.TrimSpace(string(token)) != "" {
				return broken
			}
			for _, n := range open {
				n.text = append(n.text, token...)
			}
		case xml.Directive:
			return broken
		}
	}
}

// flawed reports whether something is not well-formed that encoding/xml reads: an XML declaration that
// is not at the very start of the document, or attributes without white space between them.
func flawed(token xml.Token, begin int64, raw string) bool {
	switch token := token.(type) {
	case xml.ProcInst:
		return strings.EqualFold(token.Target, "xml") && (begin > 0 || token.Target != "xml")
	case xml.StartElement:
		quote := byte(0) // within a value, the one that ends it
		for i := range len(raw) - 1 {
			switch c := raw[i]; {
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case quote != 0 && c == quote:
				if quote = 0; !strings.ContainsRune(" \t\r\n/>", rune(raw[i+1])) {
					return true
				}
			}
		}
	}
	return false
}

// attr is the value of an attribute, "" if there is none.
func (n *node) attr(name string) string {
	if n == nil {
		return ""
	}
	return n.attrs[name]
}

func (n *node) has(name string) bool {
	if n == nil {
		return false
	}
	_, ok := n.attrs[name]
	return ok
}

// inside are all elements of a name below n, at any depth.
func (n *node) inside(name string) (list []*node) {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.name.Local == name && c.name.Space == svgSpace {
			list = append(list, c)
		}
		list = append(list, c.inside(name)...)
	}
	return list
}

// only is the one element of a name below n; nil if there are none or several.
func (n *node) only(name string) *node {
	if list := n.inside(name); len(list) == 1 {
		return list[0]
	}
	return nil
}

// words is the text of an element, "-" if there is none.
func (n *node) words() string {
	if n == nil {
		return "-"
	}
	return string(n.text)
}

// number is an attribute as a finite number: as many digits as one likes, no unit.
func (n *node) number(name string) (float64, bool) {
	x, err := strconv.ParseFloat(n.attr(name), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// child is the child of the root with an index; nil if there is none.
func (d *document) child(i int) *node {
	if i >= len(d.root.children) {
		return nil
	}
	return d.root.children[i]
}

// cells are those of a, b or the result, sorted by their index.
func (d *document) cells(of string) (list []*node) {
	if list, ok := d.sorted[of]; ok {
		return list
	}
	places := map[*node][]int{}
	for _, n := range d.all {
		if n.attr("data-tensor") == of && n.has("data-tensor") {
			list = append(list, n)
			places[n] = index(n)
		}
	}
	slices.SortStableFunc(list, func(a, b *node) int { return slices.Compare(places[a], places[b]) })
	d.sorted[of] = list
	return list
}

// index reads data-index, for sorting and for places.
func index(n *node) (list []int) {
	for part := range strings.SplitSeq(n.attr("data-index"), ",") {
		i, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return list
		}
		list = append(list, i)
	}
	return list
}

// each is what f says of the cells of a tensor.
func (d *document) each(of string, f func(*node) string) []string {
	list := []string{}
	for _, n := range d.cells(of) {
		list = append(list, f(n))
	}
	return list
}

// label is the element with the label of a tensor; nil if there is not exactly one.
func (d *document) label(of string) (found *node) {
	for _, n := range d.all {
		if n.attr("data-label") != of || !n.has("data-label") {
			continue
		}
		if found != nil || n.name.Local != "text" || n.name.Space != svgSpace {
			return nil
		}
		found = n
	}
	return found
}

// total is one number for the values of the result's cells.
func (d *document) total(weights []float64) (sum float64) {
	for i, n := range d.cells("result") {
		x, _ := n.number("data-value")
		sum += weights[i] * x
	}
	return sum
}

// strangers are how many elements with data-tensor are no cells.
func (d *document) strangers() (n int) {
	for _, e := range d.all {
		if e.has("data-tensor") && (e.name.Local != "g" || e.name.Space != svgSpace || !slices.Contains(tensors, e.attr("data-tensor"))) {
			n++
		}
	}
	return n
}

var tensors = []string{"a", "b", "result"}

// named is a tensor with a name.
func named(name string, t tensor) broadcast.Operand { return broadcast.Operand{Name: name, Tensor: t} }

// draw draws two tensors and reads the picture.
func draw(o *observe.Observer, op operation, a, b broadcast.Operand) *document {
	text, err := op.SVG(a, b)
	o.Error("picture: error", err, kinds...)
	d := parse(text)
	o.Bool("well-formed", d.wellFormed)
	return d
}

// counted records how many cells there are, and that nothing else looks like one.
func counted(o *observe.Observer, d *document) {
	for _, of := range tensors {
		o.Int("cells of "+of, len(d.cells(of)))
	}
	o.Int("data-tensor where there is no cell", d.strangers())
}

// contents records what is in the cells, in the order of their indices.
func contents(o *observe.Observer, op operation, d *document) {
	counted(o, d)
	for _, of := range tensors {
		value := "values"
		if of == "result" {
			value = op.name + ": values of the result"
		}
		o.Bool("indices are there, be they empty or not", !slices.ContainsFunc(d.cells(of), func(n *node) bool { return !n.has("data-index") }))
		o.Strings("indices", d.each(of, func(n *node) string { return n.attr("data-index") }))
		o.Strings(value, d.each(of, func(n *node) string { return n.attr("data-value") }))
		o.Strings(value+", as text", d.each(of, func(n *node) string { return n.only("text").words() }))
		o.Strings("rects", d.each(of, func(n *node) string { return strconv.Itoa(len(n.inside("rect"))) }))
	}
}

// sources records where cells of the result came from.
func sources(o *observe.Observer, op operation, d *document) {
	counted(o, d)
	o.Strings("sources in a", d.each("result", func(n *node) string { return n.attr("data-a") }))
	o.Strings("sources in b", d.each("result", func(n *node) string { return n.attr("data-b") }))
	o.Bool("sources are there, be they empty or not", !slices.ContainsFunc(d.cells("result"), func(n *node) bool { return !n.has("data-a") || !n.has("data-b") }))
	operands := slices.Concat(d.cells("a"), d.cells("b"))
	o.Bool("cells of operands with sources", slices.ContainsFunc(operands, func(n *node) bool { return n.has("data-a") || n.has("data-b") }))
	// The number stands at the end of a title, and is that of the operation.
	o.Strings("titles, without their number", d.each("result", func(n *node) string {
		words, _, _ := strings.Cut(n.only("title").words(), " = ")
		return words
	}))
	o.Strings(op.name+": titles", d.each("result", func(n *node) string { return n.only("title").words() }))
}

// words records title, desc and labels.
func words(o *observe.Observer, op operation, d *document) {
	o.String("title", d.child(0).words())
	o.String(op.name+": desc", d.child(1).words())
	for _, of := range tensors {
		n := d.label(of)
		o.String("label of "+of, n.words())
		o.String("name of "+of, n.attr("data-name"))
	}
}

// box is where a rect is.
type box struct{ x, y, width, height float64 }

// boxOf reads the rect of a cell.
func boxOf(n *node) (b box, ok bool) {
	rect := n.only("rect")
	fine := [4]bool{}
	b.x, fine[0] = rect.number("x")
	b.y, fine[1] = rect.number("y")
	b.width, fine[2] = rect.number("width")
	b.height, fine[3] = rect.number("height")
	return b, fine == [4]bool{true, true, true, true} && b.width >= 1 && b.height >= 1
}

// slack is what touches and does not overlap.
const slack = 1e-3

func (b box) holds(x, y float64) bool {
	return b.x-slack <= x && x <= b.x+b.width+slack && b.y-slack <= y && y <= b.y+b.height+slack
}

func (b box) overlaps(c box) bool {
	return b.x+slack < c.x+c.width && c.x+slack < b.x+b.width && b.y+slack < c.y+c.height && c.y+slack < b.y+b.height
}

// view reads the viewBox of the root.
func (d *document) view() (box, bool) {
	parts := strings.Fields(d.root.attr("viewBox"))
	var list [4]float64
	if len(parts) != 4 {
		return box{}, false
	}
	for i := range list {
		x, err := strconv.ParseFloat(parts[i], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return box{}, false
		}
		list[i] = x
	}
	b := box{list[0], list[1], list[2], list[3]}
	return b, b.width > 0 && b.height > 0
}

// layout records how many cells and labels are where they may be.
func layout(o *observe.Observer, d *document) {
	counted(o, d)
	view, ok := d.view()
	o.Bool("viewBox", ok)
	var boxes []box
	proper, within, texts, ordered := 0, 0, 0, 0
	for _, of := range tensors {
		columns, rows := map[int]float64{}, map[int]float64{}
		for _, n := range d.cells(of) {
			b, ok := boxOf(n)
			if !ok {
				continue
			}
			proper++
			boxes = append(boxes, b)
			if view.holds(b.x, b.y) && view.holds(b.x+b.width, b.y+b.height) {
				within++
			}
			text := n.only("text")
			x, okX := text.number("x")
			y, okY := text.number("y")
			if okX && okY && b.holds(x, y) {
				texts++
			}
			i := append([]int{0, 0}, index(n)...)
			if along(columns, i[len(i)-1], b.x) && along(rows, i[len(i)-2], b.y) {
				ordered++
			}
		}
	}
	o.Int("cells with a rect", proper)
	o.Int("cells within the viewBox", within)
	o.Int("cells with their text within", texts)
	o.Int("cells in their row and column", ordered)
	o.Int("cells that overlap", overlaps(boxes))
	labels := 0
	for _, of := range tensors {
		x, okX := d.label(of).number("x")
		y, okY := d.label(of).number("y")
		if okX && okY && view.holds(x, y) {
			labels++
		}
	}
	o.Int("labels within the viewBox", labels)
}

// along says whether place i is where it was, or behind all smaller and before all larger ones.
func along(places map[int]float64, i int, at float64) bool {
	if before, ok := places[i]; ok {
		return math.Abs(before-at) < slack
	}
	for k := range maps.Keys(places) {
		if k < i && places[k]+slack > at || k > i && places[k] < at+slack {
			return false
		}
	}
	places[i] = at
	return true
}

func overlaps(boxes []box) (n int) {
	for i, b := range boxes {
		for _, c := range boxes[:i] {
			if b.overlaps(c) {
				n++
			}
		}
	}
	return n
}
