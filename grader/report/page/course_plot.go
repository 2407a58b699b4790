package page

import (
	"fmt"
	"html/template"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"grade/grader/report/terminal"
	"grade/grader/report/wording"
)

// The layout of the plots of a course, in points, beside that of [ratioPlot].
const (
	scoresHeight = 150
	barRow       = 36 // of one check in a plot of failures
	stripRow     = 78 // of one check with a dot for each student
	dotRadius    = 2.6
	dotStep      = 2*dotRadius + 0.6 // between dots beside and above each other
	dotLevels    = 4                 // of dots above the middle, and as many below it
)

// scoresPlot draws how many students have how many points.
func scoresPlot(id string, s *exerciseStats) (template.HTML, error) {
	if len(s.points) == 0 {
		return "", nil
	}
	bars := scoreBars(histogram(s.points))
	p := emptyPlot()
	p.X.Min, p.X.Max = -0.5, histogramBars-0.5
	p.Y.Min, p.Y.Max = 0, 1
	var ticks []plot.Tick
	for i := range bars {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: fmt.Sprint(10 * i)})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Label.Text, p.X.Padding = "points (each bar starts at its number)", 0
	p.Add(bars)
	return drawn(p, scoresHeight, id, "Distribution of points in "+wording.Name(s.name), bars.description())
}

// scoreBars is a plotter of a histogram.
type scoreBars [histogramBars]int

func (b scoreBars) description() (s string) {
	for i, n := range b {
		if n > 0 {
			s += fmt.Sprintf("%s points: %s. ", barName(i), wording.Plural(n, "student"))
		}
	}
	return s
}

func barName(i int) string {
	if i == histogramBars-1 {
		return "All 100"
	}
	return fmt.Sprintf("%d to below %d", 10*i, 10*i+10)
}

// Plot draws the bars, each with its number above it.
func (b scoreBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	most := 1
	for _, n := range b {
		most = max(most, n)
	}
	room := vg.Length(plotText + 4) // for the number above the highest bar
	for i, n := range b {
		if n == 0 {
			continue
		}
		height := (y(1) - y(0) - room) * vg.Length(n) / vg.Length(most)
		fillRect(c, barColor, x(float64(i)-0.4), y(0), x(float64(i)+0.4), y(0)+height)
		label := plotLabel()
		label.XAlign = draw.XCenter
		c.FillText(label, vg.Point{X: x(float64(i)), Y: y(0) + height + 3}, fmt.Sprint(n))
	}
}

// failuresPlot draws for each check how many submissions failed it, of how many.
func failuresPlot(id, exercise string, checks []checkStats) (template.HTML, error) {
	if len(checks) == 0 {
		return "", nil
	}
	p := emptyPlot()
	p.HideX()
	p.X.Min, p.X.Max = 0, 1
	p.Y.Min, p.Y.Max = 0, float64(len(checks))
	p.Add(failureBars(checks))
	return drawn(p, vg.Length(barRow*len(checks)), id, "The checks of "+wording.Name(exercise)+" that fail most", failureBars(checks).description())
}

type failureBars []checkStats

func (b failureBars) description() (s string) {
	for _, c := range b {
		s += wording.Name(c.name) + ": " + c.failedWords() + ". "
	}
	return s
}

func (c checkStats) failedWords() string { return fmt.Sprintf("%d of %d", c.failed, c.tried) }

// Plot draws a row for each check, from the top: its name and number, and below them the
// part that failed within the whole.
func (b failureBars) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for i, check := range b {
		top, width := y(float64(len(b)-i)), c.Max.X-c.Min.X
		c.FillText(plotLabel(), vg.Point{X: c.Min.X, Y: top - 15}, terminal.Truncate(wording.Name(check.name), plotName)+"  "+check.failedWords())
		fillRect(c, gridColor, c.Min.X, top-29, c.Max.X, top-20)
		fillRect(c, badColor, c.Min.X, top-29, c.Min.X+width*vg.Length(check.share()), top-20)
	}
}

// stripsPlot draws for each measured check a dot for every submission, on the axis of
// [ratioPlot], with the limit marked.
func stripsPlot(id, exercise string, checks []checkStats) (template.HTML, error) {
	if len(checks) == 0 {
		return "", nil
	}
	var figures []float64
	for _, c := range checks {
		figures = append(figures, c.ratios[0].ratio, c.ratios[len(c.ratios)-1].ratio)
		if c.limit > 0 {
			figures = append(figures, c.limit)
		}
	}
	lo, hi := ratioScale(figures)
	p := newPlot(lo, hi, len(checks))
	p.Add(strips(checks))
	return drawn(p, vg.Length(stripRow*len(checks)+plotBorder), id, "Time and memory of all submissions of "+wording.Name(exercise)+" as multiples of the reference", strips(checks).description())
}

type strips []checkStats

func (s strips) description() (words string) {
	for _, c := range s {
		words += wording.Name(c.name) + ": " + c.stripWords() + ". "
	}
	return words
}

func (c checkStats) stripWords() string {
	middle, lowest, highest := c.ratioWords()
	s := fmt.Sprintf("%d measured, median %s, from %s to %s", len(c.ratios), middle, lowest, highest)
	if c.limit > 0 {
		s += fmt.Sprintf(", limit %.4g×", c.limit)
	}
	return s + fmt.Sprintf(", %d not passed", c.beyond())
}

// Plot draws the strips, from the top.
func (s strips) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, check := range s {
		top := y(float64(len(s) - i))
		middle := top - 16 - (stripRow-16)/2
		label := terminal.Truncate(wording.Name(check.name), plotName)
		if check.limit > 0 {
			label += fmt.Sprintf(", limit %.3g×", check.limit)
		}
		c.FillText(plotLabel(), vg.Point{X: c.Min.X, Y: top - 13}, label)
		c.StrokeLine2(draw.LineStyle{Color: gridColor, Width: 1}, c.Min.X, middle, c.Max.X, middle)
		half := vg.Length(dotStep * (dotLevels + 0.8))
		c.StrokeLine2(draw.LineStyle{Color: oneColor, Width: 1.5, Dashes: []vg.Length{3, 2}}, x(1), middle-half, x(1), middle+half)
		if check.limit > 0 {
			c.StrokeLine2(draw.LineStyle{Color: limColor, Width: 2.5}, x(check.limit), middle-half, x(check.limit), middle+half)
		}
		check.drawDots(c, x, middle)
	}
}

// drawDots draws those that passed as one path and the others as another: a page with a
// path for each dot of a large course is several times as long.
func (c checkStats) drawDots(canvas draw.Canvas, x func(float64) vg.Length, middle vg.Length) {
	var good, bad vg.Path
	var at swarm
	for _, d := range c.ratios {
		p := vg.Point{X: x(d.ratio)}
		p.Y = middle + at.place(p.X)
		if d.passed {
			good.Move(vg.Point{X: p.X + dotRadius, Y: p.Y})
			good.Arc(p, dotRadius, 0, 2*math.Pi)
			good.Close()
			continue
		}
		bad = append(bad, diamondAt(p, dotRadius+1.6)...)
	}
	for _, part := range []struct {
		color color.Color
		path  vg.Path
	}{{goodColor, good}, {badColor, bad}} {
		if len(part.path) > 0 {
			canvas.SetColor(part.color)
			canvas.Fill(part.path)
		}
	}
}

// swarm puts dots that come from left to right beside or above each other.
type swarm struct {
	taken [2*dotLevels + 1]bool
	last  [2*dotLevels + 1]vg.Length // of the dot that is on a level
}

// place returns the distance of the next dot from the middle. Without room it overlaps
// another dot.
func (s *swarm) place(x vg.Length) vg.Length {
	for i := range s.taken {
		if s.taken[i] && x-s.last[i] < dotStep {
			continue
		}
		s.taken[i], s.last[i] = true, x
		offset := vg.Length((i+1)/2) * dotStep // 0, 1, -1, 2, -2 and so on
		if i%2 == 0 {
			offset = -offset
		}
		return offset
	}
	return 0
}

func plotLabel() plottext.Style {
	return plottext.Style{Color: inkColor, Font: font.From(plot.DefaultFont, plotText), Handler: plot.DefaultTextHandler}
}

func fillRect(c draw.Canvas, col color.Color, x0, y0, x1, y1 vg.Length) {
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	c.SetColor(col)
	c.Fill(p)
}

// drawn is a plot as a part of a page.
func drawn(p *plot.Plot, height vg.Length, id, title, description string) (template.HTML, error) {
	c := vgsvg.New(plotWidth, height)
	p.Draw(draw.New(c))
	return inlineSVG(c, id, title, description)
}
