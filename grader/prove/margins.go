package prove

import (
	"math"
	"path"

	"grade/exercises"
	"grade/grader"
)

// Margin is how well the limit of a measured check separates right from wrong.
type Margin struct {
	Check    string   `json:"check"`
	Limit    float64  `json:"limit"`
	Highest  *Reading `json:"highest"`  // of what must pass; null: nothing was measured
	Lowest   *Reading `json:"lowest"`   // of what must fail; null: no submission is shipped that does
	Proposed float64  `json:"proposed"` // between the two, at the same distance from both; 0: cannot be told
}

// Reading is a ratio that was measured.
type Reading struct {
	Submission string  `json:"submission"`
	Ratio      float64 `json:"ratio"`
}

// separation is the distance that a limit keeps from what it must let pass, and
// from what it must not.
const separation = 1.5

// reading is the ratio that a submission had in a check.
type reading struct {
	check string
	right bool // it has to pass
	Reading
}

// read takes down the ratios of what has to pass, and of what a limit has stopped.
func (c *checking) read(name string, right bool, r *grader.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, got := range r.Checks {
		stopped := got.Verdict == grader.TooSlow || got.Verdict == grader.TooMuchMemory
		if got.Ratio != nil && (right || stopped) {
			c.readings = append(c.readings, reading{got.Name, right, Reading{name, *got.Ratio}})
		}
	}
}

// margins holds each limit against what was measured.
func (c *checking) margins() {
	file := path.Join("exercises", c.exercise.Name, "exercise.yaml")
	for _, check := range c.exercise.Checks {
		if check.Kind == exercises.Correctness {
			continue
		}
		m := Margin{Check: check.Name, Limit: check.Limit}
		for _, r := range c.readings {
			switch {
			case r.check != check.Name:
			case r.right && (m.Highest == nil || r.Ratio > m.Highest.Ratio):
				m.Highest = &r.Reading
			case !r.right && (m.Lowest == nil || r.Ratio < m.Lowest.Ratio):
				m.Lowest = &r.Reading
			}
		}
		m.Proposed = proposed(m.Highest, m.Lowest)
		c.report.Margins = append(c.report.Margins, m)
		if m.Highest != nil && m.Highest.Ratio*separation > m.Limit {
			c.find(file, check.Line, "%s: %s takes %.2f times the reference's, and the limit is %.4g: want at least %.2g times as much", m.Check, m.Highest.Submission, m.Highest.Ratio, m.Limit, separation)
		}
		if m.Lowest != nil && m.Limit*separation > m.Lowest.Ratio {
			c.find(file, check.Line, "%s: %s takes %.2f times the reference's, and the limit is %.4g: want it at least %.2g times above the limit", m.Check, m.Lowest.Submission, m.Lowest.Ratio, m.Limit, separation)
		}
	}
}

// proposed is the geometric mean of the two, which is as far from one as from the
// other; without one of them, it keeps twice the distance from the other. It has two digits.
func proposed(highest, lowest *Reading) float64 {
	var x float64
	switch {
	case highest != nil && lowest != nil:
		x = math.Sqrt(highest.Ratio * lowest.Ratio)
	case highest != nil:
		x = 2 * separation * highest.Ratio
	default:
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Round(x/unit) * unit
}
