package markdown

import (
	"slices"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"grade/grader/report/terminal"
)

// columnGap is what stands between two columns.
const columnGap = " │ "

// table lays a table out in columns. Cells that are too wide for their column are
// broken into lines, and then a rule parts each row from the next.
func (r *renderer) table(n *east.Table, width int) []string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			s := r.inlines(c)
			if row.Kind() == east.KindTableHeader {
				s = r.Bold(s)
			}
			cells = append(cells, s)
		}
		rows = append(rows, cells)
	}
	widths := fit(natural(rows, len(n.Alignments)), width-terminal.Width(columnGap)*(len(n.Alignments)-1))
	var laid [][]string
	broken := false
	for _, cells := range rows {
		lines := r.row(cells, widths, n.Alignments)
		broken = broken || len(laid) > 0 && len(lines) > 1
		laid = append(laid, lines)
	}
	var lines []string
	for i, l := range laid {
		if i == 1 || i > 1 && broken {
			lines = append(lines, r.rule(widths))
		}
		lines = append(lines, l...)
	}
	return lines
}

// natural returns the width that each column needs to break no cell.
func natural(rows [][]string, n int) []int {
	widths := make([]int, n)
	for _, cells := range rows {
		for i, c := range cells {
			for line := range strings.SplitSeq(c, "\n") {
				widths[i] = max(widths[i], terminal.Width(line))
			}
		}
	}
	return widths
}

// fit narrows the widest columns, and only those, until all take no more than
// total together.
func fit(widths []int, total int) []int {
	widths = slices.Clone(widths)
	sum := 0
	for _, w := range widths {
		sum += w
	}
	const narrowest = 6
	for ; sum > total; sum-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
	}
	return widths
}

// row sets the cells of a row side by side, over as many lines as the longest needs.
func (r *renderer) row(cells []string, widths []int, align []east.Alignment) []string {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		wrapped[i] = r.wrap(c, widths[i])
		height = max(height, len(wrapped[i]))
	}
	lines := make([]string, height)
	for y := range height {
		parts := make([]string, len(cells))
		for i, w := range wrapped {
			s := ""
			if y < len(w) {
				s = w[y]
			}
			parts[i] = pad(s, widths[i], align[i])
		}
		lines[y] = strings.TrimRight(strings.Join(parts, r.Dim(columnGap)), " ")
	}
	return lines
}

func pad(s string, width int, a east.Alignment) string {
	if free := width - terminal.Width(s); free > 0 && a == east.AlignRight {
		return strings.Repeat(" ", free) + s
	}
	return terminal.Pad(s, width)
}

func (r *renderer) rule(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return r.Dim(strings.Join(parts, "─┼─"))
}
