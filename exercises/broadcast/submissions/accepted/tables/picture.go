package broadcast

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const MaxCells = 1000

type Operand struct {
	Name   string
	Tensor Tensor
}

var signs = [...]string{"+", "-", "*", "/", "max"}

// clean makes a name fit for XML.
func clean(s string) string {
	var out bytes.Buffer
	for _, r := range []rune(s) {
		switch r {
		case '<':
			out.WriteString("&lt;")
		case '>':
			out.WriteString("&gt;")
		case '&':
			out.WriteString("&amp;")
		case '"':
			out.WriteString("&quot;")
		case 0xfffe, 0xffff:
			out.WriteRune(0xfffd)
		default:
			if r < 0x20 {
				r = 0xfffd
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}

func numbers(list []int) string {
	s := fmt.Sprint(list)
	return strings.ReplaceAll(s[1:len(s)-1], " ", ", ")
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// indices are those of all elements of a shape.
func indices(shape []int) [][]int {
	list := [][]int{{}}
	for _, n := range shape {
		var next [][]int
		for _, index := range list {
			for i := range n {
				next = append(next, append(slices.Clone(index), i))
			}
		}
		list = next
	}
	return list
}

func (op Op) SVG(a, b Operand) (string, error) {
	if !op.exists() {
		return "", ErrOp
	}
	if err := right(a.Tensor, b.Tensor); err != nil {
		return "", err
	}
	shape, err := Shapes(a.Tensor.Shape, b.Tensor.Shape)
	if err != nil {
		return "", err
	}
	n, err := size(shape)
	if err != nil || len(shape) > 2 || n > MaxCells || n+len(a.Tensor.Data)+len(b.Tensor.Data) > MaxCells {
		return "", fmt.Errorf("%w of %v", ErrPicture, shape)
	}
	z, err := op.Apply(a.Tensor, b.Tensor)
	if err != nil {
		return "", err
	}
	labels := []string{
		a.Name + " (" + numbers(a.Tensor.Shape) + ")",
		b.Name + " (" + numbers(b.Tensor.Shape) + ")",
		a.Name + " " + signs[op] + " " + b.Name + " (" + numbers(z.Shape) + ")",
	}
	// From the result outwards: the viewBox begins below 0.
	const w, h = 7.5, 2.25
	cellsOf := func(t Tensor) float64 { return float64(pad(t.Shape, 2)[1]) }
	rowsOf := func(t Tensor) float64 { return float64(pad(t.Shape, 2)[0]) }
	offsets := [3][2]float64{{-w*cellsOf(a.Tensor) - 3, 0}, {0, -h*rowsOf(b.Tensor) - 5}, {0, 0}}
	left, top := offsets[0][0]-1, offsets[1][1]-5
	if len(a.Tensor.Data) == 0 {
		offsets[0][0], left = -10, -11
	}
	if len(b.Tensor.Data) == 0 {
		offsets[1][1], top = -10, -15
	}
	wide, high := max(1, 3*w), 3*h
	for i, t := range []Tensor{a.Tensor, b.Tensor, z} {
		if len(t.Data) > 0 {
			wide = max(wide, offsets[i][0]+w*cellsOf(t))
			high = max(high, offsets[i][1]+h*rowsOf(t))
		}
	}
	var body, facts []string
	for i, t := range []Tensor{a.Tensor, b.Tensor, z} {
		name := ""
		if i == 0 {
			name = fmt.Sprintf(` data-name="%s"`, clean(a.Name))
		} else if i == 1 {
			name = fmt.Sprintf(` data-name="%s"`, clean(b.Name))
		}
		of := []string{"a", "b", "result"}[i]
		body = append(body, fmt.Sprintf(`<text font-size="1.5" data-label="%s"%s x="%g" y="%g">%s</text>`, of, name, offsets[i][0], offsets[i][1]-1, clean(labels[i])))
		if len(t.Data) == 0 {
			continue
		}
		for k, index := range indices(t.Shape) {
			at := pad(index, 2)
			if len(index) == 0 {
				at = []int{0, 0}
			} else if len(index) == 1 {
				at = []int{0, index[0]}
			}
			x, y := offsets[i][0]+w*float64(at[1]), offsets[i][1]+h*float64(at[0])
			more, title := "", ""
			if i == 2 {
				var own [2]string
				for n, operand := range []Tensor{a.Tensor, b.Tensor} {
					from := slices.Clone(index[len(index)-len(operand.Shape):])
					for d := range from {
						from[d] %= operand.Shape[d]
					}
					own[n] = numbers(from)
				}
				fact := fmt.Sprintf("%s[%s] %s %s[%s] = %s", a.Name, own[0], signs[op], b.Name, own[1], exact(t.Data[k]))
				facts = append(facts, fact)
				title = "<title>" + clean(fact) + "</title>"
				more = fmt.Sprintf(` data-a="%s" data-b="%s"`, strings.ReplaceAll(own[0], " ", ""), strings.ReplaceAll(own[1], " ", ""))
			}
			body = append(body, fmt.Sprintf(`<g data-tensor="%s" data-index="%s" data-value="%s"%s>%s<rect fill="none" stroke="#888" stroke-width="0.1" x="%g" y="%g" width="%g" height="%g"/><text font-size="1" x="%g" y="%g">%s</text></g>`,
				of, strings.ReplaceAll(numbers(index), " ", ""), exact(t.Data[k]), more, title, x, y, w, h, x+0.3, y+1.5, strconv.FormatFloat(t.Data[k], 'g', 4, 64)))
		}
	}
	if len(facts) == 0 {
		facts = []string{"no elements"}
	}
	head := fmt.Sprintf(`<svg:svg xmlns:svg="http://www.w3.org/2000/svg" xmlns="http://www.w3.org/2000/svg" viewBox="%g %g %g %g" role="img" aria-labelledby="what how">`, left, top, wide-left+1, high-top+1)
	head += "<title id=\"what\">" + clean(labels[0]+" "+signs[op]+" "+labels[1]+" = ("+numbers(z.Shape)+")") + "</title>"
	head += "<desc id=\"how\">" + clean(strings.Join(facts, "; ")) + "</desc>"
	return head + strings.Join(body, "\n") + "</svg:svg>", nil
}
