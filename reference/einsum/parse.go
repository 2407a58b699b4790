package einsum

import (
	"slices"
	"strings"
)

// A label names an axis. Letters are labels, and negative numbers are the axes that an
// ellipsis stands for, counted from its end: -1 is the last of them. So they are aligned
// at the end, and in the order of labels they stand before all letters.
type label int

// ellipsis stands for all axes of a "..." in a term that has not met its operand yet.
const ellipsis label = 0

// symbol is a label and its offset in the equation.
type symbol struct {
	label label
	pos   int
}

// term is the symbols of one operand, or of the output.
type term struct {
	symbols []symbol
	pos     int // where it begins
}

// index is the place of l among the symbols, or -1.
func (t term) index(l label) int {
	return slices.IndexFunc(t.symbols, func(s symbol) bool { return s.label == l })
}

// equation is what was written, in terms.
type equation struct {
	terms  []term
	output *term // nil: implicit
}

// parse reads an equation such as "ij,jk->ik".
func parse(text string) (equation, error) {
	inputs, output, explicit := strings.Cut(text, "->")
	var eq equation
	pos := 0
	for part := range strings.SplitSeq(inputs, ",") {
		t, err := parseTerm(part, pos)
		if err != nil {
			return eq, err
		}
		eq.terms = append(eq.terms, t)
		pos += len(part) + len(",")
	}
	if !explicit {
		return eq, nil
	}
	t, err := parseTerm(output, len(inputs)+len("->"))
	if err != nil {
		return eq, err
	}
	eq.output = &t
	return eq, eq.checkOutput()
}

// parseTerm reads the letters and the ellipsis of one term, which begins at offset pos.
func parseTerm(text string, pos int) (term, error) {
	t := term{pos: pos}
	for i := 0; i < len(text); i++ {
		s := symbol{pos: pos + i}
		switch c := text[i]; {
		case c == ' ':
			continue
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			s.label = label(c)
		case strings.HasPrefix(text[i:], "...") && t.index(ellipsis) < 0:
			s.label = ellipsis
			i += len("...") - 1
		default:
			return t, syntaxError(s.pos)
		}
		t.symbols = append(t.symbols, s)
	}
	return t, nil
}

// checkOutput looks for letters of the output that stand there twice or in no term.
func (eq equation) checkOutput() error {
	for i, s := range eq.output.symbols {
		known := s.label == ellipsis
		for _, t := range eq.terms {
			known = known || t.index(s.label) >= 0
		}
		if !known || eq.output.index(s.label) < i {
			return syntaxError(s.pos)
		}
	}
	return nil
}

// outputLabels are the axes of the result, in order.
func (eq equation) outputLabels(s sizes) []label {
	if eq.output == nil {
		return eq.implicitLabels(s)
	}
	var labels []label
	for _, o := range eq.output.symbols {
		if o.label == ellipsis {
			labels = append(labels, s.ellipsis()...)
		} else {
			labels = append(labels, o.label)
		}
	}
	return labels
}

// implicitLabels are the axes of all ellipses, and the letters that were written once.
func (eq equation) implicitLabels(s sizes) []label {
	count := map[label]int{}
	for _, t := range eq.terms {
		for _, c := range t.symbols {
			count[c.label]++
		}
	}
	labels := s.ellipsis()
	for l, n := range count {
		if l != ellipsis && n == 1 {
			labels = append(labels, l)
		}
	}
	slices.Sort(labels)
	return labels
}
