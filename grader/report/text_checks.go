package report

import (
	"cmp"
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

// mendFirst is how many things to mend a report ends with: more are not mended before the
// next grading.
const mendFirst = 3

// briefLater is how many of the others a screen has room for.
const briefLater = 8

// briefNames is how many of the checks that failed together a screen names.
const briefNames = 6

// checks writes the points by kind, and then what is to be mended. It writes neither for a
// submission that did not run, because the problems explain that.
func (t *text) checks(r *verdict.Result) {
	if r.Verdict != verdict.Graded {
		return
	}
	layout := measure(r.Checks)
	t.sections(r, layout)
	troubles := wording.Troubles(r)
	first, later := troubles[:min(len(troubles), mendFirst)], troubles[min(len(troubles), mendFirst):]
	if len(later) > 0 {
		t.heading("Mend later", t.Brief, "grade submit -v says more of each")
		for i, x := range later {
			if t.Brief && i == briefLater {
				t.line(fmt.Sprintf("  … and %d more", len(later)-i))
				break
			}
			t.later(x, layout)
		}
	}
	if len(first) > 0 {
		t.heading("Mend first", false, "")
		for _, x := range first {
			t.trouble(x, layout)
		}
	}
}

func (t *text) heading(title string, noted bool, note string) {
	t.line("")
	if noted {
		t.line(t.Bold(title) + t.Dim("  ("+note+")"))
		return
	}
	t.line(t.Bold(title))
}

// sections writes a line for each kind of check, and below it what passed: all of it where
// that was asked for, else what was measured.
func (t *text) sections(r *verdict.Result, cols columns) {
	t.line("")
	for _, s := range wording.Sections(r.Checks) {
		head := t.Bold(terminal.Pad(s.Title, len("Correctness")))
		t.line(fmt.Sprintf("%s  %2d of %d points, %s", head, s.Points, s.Max, passedWords(s.Checks)))
		for _, c := range s.Checks {
			switch {
			case c.Verdict.Earns() && t.Verbose || c.Verdict == verdict.NotRun && t.Verbose && wording.NotAsked(c):
				t.check(c, cols)
			case c.Verdict.Earns() && c.Ratio != nil:
				t.hang("  ", "      ", checkHead(t.Palette, c, cols)+", "+wording.Ratio(c))
			}
		}
	}
}

// passedWords counts the checks that passed, of those that were asked for.
func passedWords(checks []verdict.CheckResult) string {
	passed, asked := 0, 0
	for _, c := range checks {
		if wording.NotAsked(c) {
			continue
		}
		if asked++; c.Verdict.Earns() {
			passed++
		}
	}
	if asked == 0 {
		return wording.Verdict(verdict.NotRun)
	}
	return fmt.Sprintf("%d of %s passed", passed, wording.Plural(asked, "check"))
}

// trouble writes a failed check, and which others failed with it.
func (t *text) trouble(x wording.Trouble, cols columns) {
	t.check(x.Check, cols)
	names := 0
	if t.Brief {
		names = briefNames
	}
	for _, s := range x.Followers(names) {
		t.hang("    ", "    ", s)
	}
}

// later writes a trouble that can wait: in a line, where the report is brief.
func (t *text) later(x wording.Trouble, cols columns) {
	if !t.Brief {
		t.trouble(x, cols)
		return
	}
	head := "  " + checkHead(t.Palette, x.Check, cols)
	if n := len(x.Needs) + len(x.Same); n > 0 {
		head += fmt.Sprintf(", and %s", wording.Plural(n, "more check"))
	}
	t.hang("", "      ", head+"  "+t.Dim(t.rest(wording.OneLine(x.Check.Hint), terminal.Width(head)+2)))
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
	well := c.Verdict.Earns() || c.Verdict == verdict.NotRun
	if well && c.Ratio == nil && hint != "" {
		head += "  " + t.Dim(t.rest(hint, terminal.Width(head)+2))
	}
	t.hang("", "      ", head)
	switch {
	case !well:
		t.quote(hint)
	case c.Ratio != nil:
		t.quote(t.rest(hint, terminal.Width("    "+gutter)))
	}
	t.quote(wording.Paragraphs(c.Detail, wording.Cause(c)))
	t.places(c)
	t.bars(c)
}

// places writes the lines of the source at which a check went wrong.
func (t *text) places(c verdict.CheckResult) {
	indent := "    " + t.Dim(gutter)
	for _, s := range wording.Places(c) {
		t.line(indent + t.rest(s, terminal.Width(indent)))
	}
}

// rest shortens s to what is left of a line of which used columns are taken.
func (t *text) rest(s string, used int) string {
	width := cmp.Or(t.Width, hintWidth)
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
	case c.Verdict.Earns():
		mark, style = "✓", p.Green
	case c.Verdict == verdict.NotRun:
		mark, style = "·", p.Dim
	}
	if !c.Verdict.Earns() {
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
	if !c.Verdict.Earns() {
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
