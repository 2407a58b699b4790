package page

import (
	"fmt"
	"html/template"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// The layout of a plot, in points. It is as wide as a narrow phone, so that its
// letters are of the page's size there and nothing has to be scrolled.
const (
	plotWidth  = 340
	rowHeight  = 44 // of one check
	plotBorder = 54 // axis and its labels
	plotText   = 12
	plotName   = 30 // characters of a check's name
)

// maxRatio bounds a plot's axis, and its inverse bounds it below. A ratio beyond it is
// drawn at the edge, with its number beside it.
const maxRatio = 1000

// The colours of a plot are names: [inlineSVG] makes a class of each, and the page
// gives them their colours, for light and for dark.
var (
	inkColor  = color.RGBA{R: 1, A: 255}
	gridColor = color.RGBA{R: 2, A: 255}
	oneColor  = color.RGBA{R: 3, A: 255}
	limColor  = color.RGBA{R: 4, A: 255}
	goodColor = color.RGBA{R: 5, A: 255}
	badColor  = color.RGBA{R: 6, A: 255}
	barColor  = color.RGBA{R: 7, A: 255}
)

// ratioPlot draws the measured checks among checks: for each the ratio to the
// reference as a dot, or a diamond where it did not pass, the interval it surely lies
// in as a bar, and the limit as a mark, on a logarithmic axis. It is empty where
// nothing was measured.
func ratioPlot(id, title string, checks []verdict.CheckResult) (template.HTML, error) {
	rows := ratioRows{}
	for _, c := range checks {
		if c.Ratio != nil {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return "", nil
	}
	lo, hi := rows.scale()
	p := newPlot(lo, hi, len(rows))
	p.Add(rows)
	return drawn(p, vg.Length(rowHeight*len(rows)+plotBorder), id, title, rows.description())
}

// newPlot returns an empty plot with the given number of rows on the axis of ratios.
func newPlot(lo, hi float64, rows int) *plot.Plot {
	p := emptyPlot()
	p.X.Min, p.X.Max = lo, hi
	p.Y.Min, p.Y.Max = 0, float64(rows)
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(ratioTicks(lo, hi))
	p.X.Label.Text = "times the reference"
	return p
}

// emptyPlot returns a plot in the colours of the page.
func emptyPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.HideY()
	p.X.Label.Padding = 4
	for _, style := range []*plottext.Style{&p.X.Label.TextStyle, &p.X.Tick.Label} {
		style.Color, style.Font.Size = inkColor, plotText
	}
	p.X.LineStyle.Color, p.X.Tick.LineStyle.Color = gridColor, gridColor
	return p
}

// ratioRows are checks that were measured, the first one on top.
type ratioRows []verdict.CheckResult

// scale returns the part of the axis that shows every row with its limit, and the
// reference, with a little room for labels; never less than from a half to two.
func (rows ratioRows) scale() (lo, hi float64) {
	var figures []float64
	for _, c := range rows {
		figures = append(figures, figuresOf(c)...)
	}
	return ratioScale(figures)
}

func ratioScale(figures []float64) (lo, hi float64) {
	lo, hi = 0.5, 2
	for _, x := range figures {
		lo, hi = min(lo, bounded(x)), max(hi, bounded(x))
	}
	room := math.Pow(hi/lo, 0.08)
	return lo / room, hi * room
}

// figuresOf returns the ratios that a row shows.
func figuresOf(c verdict.CheckResult) []float64 {
	list := []float64{*c.Ratio}
	if c.Limit != nil {
		list = append(list, *c.Limit)
	}
	if c.Interval != nil {
		list = append(list, c.Interval[:]...)
	}
	return list
}

// bounded clamps x to the axis. NaN counts as the worst ratio.
func bounded(x float64) float64 {
	if math.IsNaN(x) {
		return maxRatio
	}
	return min(max(x, 1.0/maxRatio), maxRatio)
}

// ratioTicks are powers of two, or of ten where there would be too many. None is so
// near to an end of the axis that its label would be cut.
func ratioTicks(lo, hi float64) (ticks []plot.Tick) {
	const most = 8
	room := math.Pow(hi/lo, 0.045)
	lo, hi = lo*room, hi/room
	base := 2.0
	if math.Log2(hi/lo) > most {
		base = 10
	}
	first, last := math.Ceil(math.Log(lo)/math.Log(base)), math.Floor(math.Log(hi)/math.Log(base))
	for e := first; e <= last; e++ {
		x := math.Pow(base, e)
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprintf("%.3g×", x)})
	}
	return ticks
}

// description says in words what the plot shows.
func (rows ratioRows) description() string {
	s := ""
	for _, c := range rows {
		s += fmt.Sprintf("%s: %s, %s. ", wording.Name(c.Name), wording.Ratio(c), wording.CheckVerdict(c))
	}
	return s
}

// Plot draws the rows, from the top.
func (rows ratioRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(ratio float64) vg.Length { return x(bounded(ratio)) }
	for i, check := range rows {
		drawRow(c, check, at, y(float64(len(rows)-i)-0.7))
		c.FillText(plotLabel(), vg.Point{X: c.Min.X, Y: y(float64(len(rows)-i) - 0.32)}, rowLabel(check))
	}
}

func rowLabel(c verdict.CheckResult) string {
	s := fmt.Sprintf("%s  %.3g×", terminal.Truncate(wording.Name(c.Name), plotName), *c.Ratio)
	if c.Limit != nil {
		s += fmt.Sprintf(", limit %.3g×", *c.Limit)
	}
	return s
}

// drawRow draws one check at the height y.
func drawRow(c draw.Canvas, check verdict.CheckResult, at func(float64) vg.Length, y vg.Length) {
	line := func(col color.Color, width vg.Length) draw.LineStyle { return draw.LineStyle{Color: col, Width: width} }
	col := color.Color(goodColor)
	dot := draw.GlyphStyle{Radius: 4, Shape: draw.CircleGlyph{}}
	if !check.Verdict.Earns() {
		col, dot.Shape, dot.Radius = badColor, diamond{}, 5.5
	}
	c.StrokeLine2(line(gridColor, 1), c.Min.X, y, c.Max.X, y)
	c.StrokeLine2(draw.LineStyle{Color: oneColor, Width: 1.5, Dashes: []vg.Length{3, 2}}, at(1), y-9, at(1), y+9)
	if check.Limit != nil {
		c.StrokeLine2(line(limColor, 2.5), at(*check.Limit), y-9, at(*check.Limit), y+9)
	}
	if check.Interval != nil {
		c.StrokeLine2(line(col, 4), at(check.Interval[0]), y, at(check.Interval[1]), y)
	}
	dot.Color = col
	c.DrawGlyph(dot, vg.Point{X: at(*check.Ratio), Y: y})
}

// diamond is the glyph of a check that did not pass: what colours say, shapes say too.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetColor(s.Color)
	c.Fill(diamondAt(at, s.Radius))
}

func diamondAt(at vg.Point, radius vg.Length) (p vg.Path) {
	p.Move(vg.Point{X: at.X - radius, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y + radius})
	p.Line(vg.Point{X: at.X + radius, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - radius})
	p.Close()
	return p
}
