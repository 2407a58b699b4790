package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// A bar shows a ratio on a scale that ends at barScale times the limit, so that
// the limit's mark stands at the same place in every report.
const (
	barCells = 32
	barScale = 1.25
)

// hintWidth cuts the hint of a check that passed where lines are not broken: such a hint
// only explains the check's name.
const hintWidth = 120

// checks writes the checks kind by kind. It writes none for a submission that did not run,
// because the problems explain that.
func (t *text) checks(r *verdict.Result) {
	if r.Verdict != verdict.Graded {
		return
	}
	layout := measure(r.Checks)
	for _, g := range wording.Sections(r.Checks) {
		t.line("")
		t.line(t.Bold(g.Title) + fmt.Sprintf("  %d of %d", g.Points, g.Max))
		for _, c := range g.Checks {
			t.check(c, layout)
		}
	}
}

// columns are the widths that make checks line up.
type columns struct{ name, points int }

func measure(checks []verdict.CheckResult) columns {
	var c columns
	for _, x := range checks {
		c.name = max(c.name, terminal.Width(terminal.Escape(x.Name)))
		c.points = max(c.points, len(wording.Points(x)))
	}
	return c
}

// check writes one check: a line, and below it what it is about and what happened,
// where there is more to say than that all is well.
func (t *text) check(c verdict.CheckResult, cols columns) {
	head := "  " + checkHead(t.Palette, c, cols)
	if c.Ratio != nil {
		head += ", " + wording.Ratio(c)
	}
	hint := wording.OneLine(c.Hint)
	well := c.Verdict == verdict.Passed || c.Verdict == verdict.NotRun
	if well && c.Ratio == nil && hint != "" {
		head += "  " + t.Dim(t.rest(hint, terminal.Width(head)+2))
	}
	t.line(head)
	switch {
	case !well:
		t.quote(hint)
	case c.Ratio != nil:
		t.quote(t.rest(hint, terminal.Width("    "+gutter)))
	}
	t.quote(c.Detail)
	t.bars(c)
}

// rest shortens s to what is left of a line of which used columns are taken.
func (t *text) rest(s string, used int) string {
	width := t.width
	if width == 0 {
		width = hintWidth
	}
	if width-used < 10 {
		return ""
	}
	return terminal.Truncate(s, width-used)
}

// CheckLine returns one line for a check that is decided: mark, name, points, verdict.
func CheckLine(c verdict.CheckResult, o TextOptions) string {
	s := checkHead(terminal.NewPalette(o.Color), c, columns{name: 32, points: 5})
	return strings.TrimRight(s, " ")
}

func checkHead(p terminal.Palette, c verdict.CheckResult, cols columns) string {
	word := wording.CheckVerdict(c)
	mark, style := "✗", p.Red
	switch {
	case c.Verdict == verdict.Passed:
		mark, style = "✓", p.Green
	case c.Verdict == verdict.NotRun:
		mark, style = "·", p.Dim
	}
	if c.Verdict != verdict.Passed {
		word = style(word)
	}
	return style(mark) + " " + terminal.Pad(terminal.Escape(c.Name), cols.name) + "  " +
		strings.Repeat(" ", max(0, cols.points-len(wording.Points(c)))) + wording.Points(c) + "  " + word
}

// bars draw submission and reference on one scale, with the limit marked, and
// beside them the figures that they stand for.
func (t *text) bars(c verdict.CheckResult) {
	if c.Ratio == nil {
		return
	}
	scale := math.Max(*c.Ratio, 1)
	limit := math.NaN()
	if c.Limit != nil && *c.Limit > 0 {
		limit, scale = *c.Limit, *c.Limit*barScale
	}
	style := t.Green
	if c.Verdict != verdict.Passed {
		style = t.Red
	}
	indent := "    " + t.Dim(gutter)
	t.line(indent + "submission " + bar(*c.Ratio, limit, scale, style) + "  " + wording.Side(c.Kind, c.Submission))
	t.line(indent + "reference  " + bar(1, limit, scale, t.Cyan) + "  " + wording.Side(c.Kind, c.Reference))
}

// eighths are the parts of a cell that is filled partly.
var eighths = []rune("▏▎▍▌▋▊▉█")

// bar fills cells up to value, to an eighth of a cell, and puts a mark where the
// limit is. One that goes beyond the scale ends in an arrow.
func bar(value, limit, scale float64, style func(string) string) string {
	filled := int(math.Round(math.Min(value/scale*barCells, barCells+1) * float64(len(eighths))))
	if value > 0 {
		filled = max(filled, 1)
	}
	cells := slices.Repeat([]rune{'·'}, barCells)
	for i := range cells {
		if part := min(filled-i*len(eighths), len(eighths)); part > 0 {
			cells[i] = eighths[part-1]
		}
	}
	if filled > barCells*len(eighths) {
		cells[barCells-1] = '▶'
	}
	if math.IsNaN(limit) {
		return style(string(cells))
	}
	mark := int(limit / scale * barCells)
	return style(string(cells[:mark])) + "│" + style(string(cells[mark+1:]))
}
