package page

import (
	"cmp"
	"fmt"
	"slices"

	"grade/grader/gradebook"
	"grade/grader/measure/quantile"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// exerciseStats sums up all students' submissions of one exercise. Each student has one
// attempt in it: the one that counts, or else the last.
type exerciseStats struct {
	name    string
	points  []float64 // that count, sorted, in percent
	graded  int       // built and tested
	refused int       // refused, or do not compile
	missing int       // without a verdict, and without an older grade
	checks  []checkStats

	attempts    int       // of all students
	first, last []float64 // points of those who have several attempts, sorted, in percent
}

// checkStats sums up one check over all submissions in which it was tried.
type checkStats struct {
	name, kind    string
	tried, failed int
	limit         float64 // 0: none
	ratios        []ratioDot
}

// ratioDot is one submission's figure.
type ratioDot struct {
	ratio  float64
	passed bool
}

// statsOf computes the figures of column i of the gradebook.
func statsOf(b *gradebook.Book, i int) *exerciseStats {
	s := &exerciseStats{name: b.Columns[i].Exercise}
	checks := map[string]*checkStats{}
	var order []string
	for _, row := range b.Rows {
		c := row.Cells[i]
		if c.Points != nil {
			s.points = append(s.points, 100**c.Points/float64(max(1, b.Columns[i].Max)))
		} else if c.Missing != nil {
			s.missing++
		}
		s.follow(c, b.Columns[i].Max)
		if a := counting(c); a != nil {
			order = s.add(a.Result, checks, order)
		}
	}
	slices.Sort(s.points)
	slices.Sort(s.first)
	slices.Sort(s.last)
	for _, name := range order {
		slices.SortFunc(checks[name].ratios, func(a, b ratioDot) int { return cmp.Compare(a.ratio, b.ratio) })
		s.checks = append(s.checks, *checks[name])
	}
	return s
}

// follow adds a student's attempts, before the course's rules.
func (s *exerciseStats) follow(c gradebook.Cell, most int) {
	n := len(c.Attempts)
	if s.attempts += n; n < 2 {
		return
	}
	percent := func(a gradebook.Attempt) float64 { return 100 * float64(a.Result.Score) / float64(max(1, most)) }
	s.first, s.last = append(s.first, percent(c.Attempts[0])), append(s.last, percent(c.Attempts[n-1]))
}

// attemptWords say how often students tried, and what that gained them.
func (s *exerciseStats) attemptWords() string {
	words := wording.Plural(s.attempts, "attempt")
	if n := len(s.first); n > 0 {
		words += fmt.Sprintf("; of %s with several, the median of the first is %.4g points, of the last %.4g", wording.Plural(n, "student"), quantile.Median(s.first), quantile.Median(s.last))
	}
	return words
}

// counting returns the attempt that counts, or else the last, or nil.
func counting(c gradebook.Cell) *gradebook.Attempt {
	switch {
	case c.Counts != nil:
		return c.Counts
	case len(c.Attempts) > 0:
		return &c.Attempts[len(c.Attempts)-1]
	}
	return nil
}

func (s *exerciseStats) add(r *verdict.Result, checks map[string]*checkStats, order []string) []string {
	if r.Verdict != verdict.Graded {
		s.refused++
		return order
	}
	s.graded++
	for _, c := range r.Checks {
		if wording.NotAsked(c) {
			continue
		}
		if checks[c.Name] == nil {
			checks[c.Name] = &checkStats{name: c.Name, kind: c.Kind}
			order = append(order, c.Name)
		}
		checks[c.Name].add(c)
	}
	return order
}

func (c *checkStats) add(r verdict.CheckResult) {
	c.tried++
	passed := r.Verdict.Earns()
	if !passed {
		c.failed++
	}
	if r.Limit != nil {
		c.limit = bounded(*r.Limit)
	}
	if r.Ratio != nil {
		c.ratios = append(c.ratios, ratioDot{bounded(*r.Ratio), passed})
	}
}

// worst returns the checks that failed at least once, the most frequent first.
func (s *exerciseStats) worst() []checkStats {
	list := slices.Clone(s.checks)
	list = slices.DeleteFunc(list, func(c checkStats) bool { return c.failed == 0 })
	slices.SortStableFunc(list, func(a, b checkStats) int { return cmp.Compare(b.share(), a.share()) })
	return list
}

// share returns the share of submissions in which a check did not pass.
func (c checkStats) share() float64 { return float64(c.failed) / float64(c.tried) }

// measured returns the checks with figures, memory before speed as in the report of one
// grading.
func (s *exerciseStats) measured() (list []checkStats) {
	for _, k := range wording.Kinds {
		for _, c := range s.checks {
			if c.kind == k.Kind && len(c.ratios) > 0 {
				list = append(list, c)
			}
		}
	}
	return list
}

// histogramBars is how many there are: ten points each, and those with all of them.
const histogramBars = 11

func histogram(percent []float64) (bars [histogramBars]int) {
	for _, p := range percent {
		bars[int(min(max(p, 0), 100)/10)]++
	}
	return bars
}

// scoreWords say in a line how points are distributed.
func (s *exerciseStats) scoreWords() string {
	words := wording.Plural(len(s.points), "grade")
	if n := len(s.points); n > 0 {
		words += fmt.Sprintf(": median %.4g, from %.4g to %.4g points", quantile.Median(s.points), s.points[0], s.points[n-1])
	}
	if s.refused > 0 {
		words += fmt.Sprintf("; %d refused or not compiling", s.refused)
	}
	if s.missing > 0 {
		words += fmt.Sprintf("; %d without a verdict", s.missing)
	}
	return words
}

// ratioWords say the median and the ends of what was measured.
func (c checkStats) ratioWords() (middle, lowest, highest string) {
	times := func(x float64) string { return fmt.Sprintf("%.2f×", x) }
	var sorted []float64
	for _, d := range c.ratios {
		sorted = append(sorted, d.ratio)
	}
	return times(quantile.Median(sorted)), times(sorted[0]), times(sorted[len(sorted)-1])
}

// beyond counts the measured submissions that did not pass.
func (c checkStats) beyond() (n int) {
	for _, d := range c.ratios {
		if !d.passed {
			n++
		}
	}
	return n
}
