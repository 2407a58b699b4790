package broadcast

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const MaxCells = 1000

type Operand struct {
	Name   string
	Tensor Tensor
}

// writable replaces what no XML can hold, byte by byte.
func writable(s string) string {
	var out []byte
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if r < ' ' || r == utf8.RuneError || r&0xfffe == 0xfffe && r < 0x10000 {
			r = utf8.RuneError
		}
		switch r {
		case '<', '>', '&', '"', '\'':
			out = append(out, "&#x"+strconv.FormatInt(int64(r), 16)+";"...)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

type index []int

func (i index) join(between string) string {
	s := ""
	for k, n := range i {
		if k > 0 {
			s += between
		}
		s += strconv.Itoa(n)
	}
	return s
}

// stack is three tables, one under the other.
type stack struct {
	body   strings.Builder
	y      int
	widest int
	facts  []string
}

const cellWidth, cellHeight = 90, 24

func (s *stack) label(of, name, text string) {
	s.y += 30
	attr := ""
	if of != "result" {
		attr = ` data-name="` + writable(name) + `"`
	}
	fmt.Fprintf(&s.body, "<text x=\"0\" y=\"%d\" data-label=%q%s>%s</text>\n", s.y, of, attr, writable(text))
	s.y += 10
}

// table draws the cells of a tensor. extra says what else a cell has, and its title.
func (s *stack) table(of string, t Tensor, extra func(i index, value string) (attrs, title string)) {
	sizes := append([]int{1, 1}, t.Shape...)
	rows, cols := sizes[len(sizes)-2], sizes[len(sizes)-1]
	if len(t.Data) == 0 {
		return
	}
	k := 0
	for row := range rows {
		for col := range cols {
			x := t.Data[k]
			k++
			value := strconv.FormatFloat(x, 'g', -1, 64)
			at := index{row, col}[2-len(t.Shape):]
			attrs, title := extra(at, value)
			left, top := col*cellWidth, s.y+row*cellHeight
			fmt.Fprintf(&s.body, `<g data-tensor="%s" data-index="%s" data-value="%s"%s>%s<rect x="%d.0" y="%d" width="%d" height="%d" fill="none" stroke="black"/>`,
				of, at.join(","), value, attrs, title, left, top, cellWidth, cellHeight)
			fmt.Fprintf(&s.body, `<g><text x="%d" y="%d"><tspan>%s</tspan></text></g></g>`+"\n", left+4, top+16, strconv.FormatFloat(x, 'g', 4, 64))
		}
	}
	s.y += rows * cellHeight
	s.widest = max(s.widest, cols*cellWidth)
}

func (op Op) SVG(a, b Operand) (string, error) {
	if op < Add || Maximum < op {
		return "", ErrOp
	}
	if err := fault(a.Tensor, b.Tensor); err != nil {
		return "", err
	}
	shape, err := Shapes(a.Tensor.Shape, b.Tensor.Shape)
	if err != nil {
		return "", err
	}
	n, ok := numel(shape)
	if !ok || len(shape) > 2 || n > MaxCells || n+len(a.Tensor.Data)+len(b.Tensor.Data) > MaxCells {
		return "", ErrPicture
	}
	z, err := op.Apply(a.Tensor, b.Tensor)
	if err != nil {
		return "", err
	}
	sign := strings.Fields("+ - * / max")[op]
	label := func(name string, shape []int) string { return name + " (" + index(shape).join(", ") + ")" }
	s := &stack{widest: 10}
	none := func(index, string) (string, string) { return "", "" }
	s.label("a", a.Name, label(a.Name, a.Tensor.Shape))
	s.table("a", a.Tensor, none)
	s.label("b", b.Name, label(b.Name, b.Tensor.Shape))
	s.table("b", b.Tensor, none)
	s.label("result", "", label(a.Name+" "+sign+" "+b.Name, shape))
	s.table("result", z, func(i index, value string) (string, string) {
		from := func(t Tensor) index {
			own := index{}
			for d, n := range t.Shape {
				at := i[len(i)-len(t.Shape)+d]
				if n == 1 {
					at = 0
				}
				own = append(own, at)
			}
			return own
		}
		x, y := from(a.Tensor), from(b.Tensor)
		fact := a.Name + "[" + x.join(", ") + "] " + sign + " " + b.Name + "[" + y.join(", ") + "] = " + value
		s.facts = append(s.facts, fact)
		return ` data-a="` + x.join(",") + `" data-b="` + y.join(",") + `"`, "<title>" + writable(fact) + "</title>"
	})
	desc := "no elements"
	if len(s.facts) > 0 {
		desc = strings.Join(s.facts, "; ")
	}
	return fmt.Sprintf("<!-- made by SVG -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"picture-title picture-desc\" viewBox=\"-5 0 %d %d\">\n<title id=\"picture-title\">%s</title><desc id=\"picture-desc\">%s</desc>\n%s</svg>",
		s.widest+10, s.y+5, writable(label(a.Name, a.Tensor.Shape)+" "+sign+" "+label(b.Name, b.Tensor.Shape)+" = ("+index(shape).join(", ")+")"), writable(desc), s.body.String()), nil
}
