package broadcast

import (
	"fmt"
	"strconv"
	"strings"
)

const MaxCells = 1000

type Operand struct {
	Name   string
	Tensor Tensor
}

// element is one of XML.
type element struct {
	name     string
	attrs    [][2]string
	text     string
	children []*element
}

func (e *element) set(name string, value any) *element {
	e.attrs = append(e.attrs, [2]string{name, fmt.Sprint(value)})
	return e
}

func (e *element) add(name, text string) *element {
	c := &element{name: name, text: text}
	e.children = append(e.children, c)
	return c
}

func (e *element) write(w *strings.Builder) {
	w.WriteString("<" + e.name)
	for _, a := range e.attrs {
		w.WriteString(" " + a[0] + "='" + safe(a[1]) + "'")
	}
	w.WriteString(">" + safe(e.text))
	for _, c := range e.children {
		c.write(w)
	}
	w.WriteString("</" + e.name + ">")
}

func safe(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x20 || r == 0xFFFE || r == 0xFFFF || r == 0xFFFD:
			b.WriteString("\uFFFD")
		case strings.ContainsRune("<>&'\"", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func write(list []int, sep string) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, sep)
}

// plate is where a tensor is drawn.
type plate struct {
	of, name string
	t        Tensor
	left     int
}

func (op Op) SVG(a, b Operand) (string, error) {
	if op < 0 || op > Maximum {
		return "", ErrOp
	}
	if err := valid(a.Tensor, b.Tensor); err != nil {
		return "", err
	}
	shape, err := Shapes(a.Tensor.Shape, b.Tensor.Shape)
	if err != nil {
		return "", err
	}
	if n := elements(shape); len(shape) > 2 || n < 0 || n > MaxCells || n+len(a.Tensor.Data)+len(b.Tensor.Data) > MaxCells {
		return "", ErrPicture
	}
	z, _ := op.Apply(a.Tensor, b.Tensor)
	sign := [...]string{"+", "-", "*", "/", "max"}[op]
	svg := &element{name: "svg"}
	title, desc := svg.add("title", "").set("id", "t"), svg.add("desc", "").set("id", "d")
	tuple := func(t Tensor) string { return "(" + write(t.Shape, ", ") + ")" }
	plates := []*plate{{"a", a.Name + " " + tuple(a.Tensor), a.Tensor, 0}, {"b", b.Name + " " + tuple(b.Tensor), b.Tensor, 0}, {"result", a.Name + " " + sign + " " + b.Name + " " + tuple(z), z, 0}}
	title.text = plates[0].name + " " + sign + " " + plates[1].name + " = " + tuple(z)
	left, bottom := 10, 0
	var facts []string
	for k, p := range plates {
		p.left = left
		label := svg.add("text", p.name).set("x", left).set("y", 20).set("data-label", p.of)
		if k < 2 {
			label.set("data-name", []string{a.Name, b.Name}[k])
		}
		wide := len(p.t.Shape) > 0
		cols := 1
		if wide {
			cols = p.t.Shape[len(p.t.Shape)-1]
		}
		for i, x := range p.t.Data {
			index := []int{i / cols, i % cols}[2-len(p.t.Shape):]
			g := svg.add("g", "").set("data-tensor", p.of).set("data-index", write(index, ",")).set("data-value", strconv.FormatFloat(x, 'g', -1, 64))
			at, top := left+i%cols*100, 30+i/cols*30
			bottom = max(bottom, top+30)
			g.add("rect", "").set("x", at).set("y", top).set("width", 100).set("height", 30).set("fill", "none").set("stroke", "gray")
			g.add("text", strconv.FormatFloat(x, 'g', 4, 64)).set("x", at+5).set("y", top+20)
			if k < 2 {
				continue
			}
			var from [2]string
			for n, t := range []Tensor{a.Tensor, b.Tensor} {
				own := append([]int{}, index[len(index)-len(t.Shape):]...)
				for d := range own {
					own[d] = min(own[d], t.Shape[d]-1)
				}
				from[n] = write(own, ", ")
			}
			g.set("data-a", strings.ReplaceAll(from[0], " ", "")).set("data-b", strings.ReplaceAll(from[1], " ", ""))
			fact := a.Name + "[" + from[0] + "] " + sign + " " + b.Name + "[" + from[1] + "] = " + strconv.FormatFloat(x, 'g', -1, 64)
			g.add("title", fact)
			facts = append(facts, fact)
		}
		if len(p.t.Data) > 0 {
			left += cols * 100
		}
		left += 50
	}
	if desc.text = strings.Join(facts, "; "); len(facts) == 0 {
		desc.text = "no elements"
	}
	svg.set("xmlns", "http://www.w3.org/2000/svg").set("viewBox", fmt.Sprintf("0 0 %d %d", left+10, bottom+40)).set("role", "img").set("aria-labelledby", "t d")
	var w strings.Builder
	w.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n")
	svg.write(&w)
	return w.String(), nil
}
