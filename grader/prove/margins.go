package prove

import (
	"fmt"
	"math"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// separation is the factor between a limit and the highest ratio that must pass, and
// between the lowest that must fail and the limit.
const separation = 1.5

// Margin shows how well the limit of a measured check separates right from wrong.
type Margin struct {
	Check    string   `json:"check"`
	Limit    float64  `json:"limit"`
	Highest  *Reading `json:"highest"`  // of submissions that must pass; null: none was measured
	Lowest   *Reading `json:"lowest"`   // of submissions that must fail; null: none was measured
	Proposed float64  `json:"proposed"` // limit at the same distance from both; 0: unknown

	told bool // that the limit stops Highest
}

// Reading is a measured ratio.
type Reading struct {
	Submission string  `json:"submission"`
	Ratio      float64 `json:"ratio"`
}

// reading is the ratio of a submission in a check.
type reading struct {
	check string
	right bool // it has to pass
	told  bool // it has to, and does not, which is a finding already
	Reading
}

// read records the ratios of a submission that must pass; of another one, those for which a
// check that it declares has stopped it. What it does besides may be near any limit.
func (c *Checking) read(name string, right bool, declared map[string]verdict.Verdict, r *verdict.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, got := range r.Checks {
		if got.Ratio != nil && (right || stopped(got) && got.Verdict == declared[got.Name]) {
			c.readings = append(c.readings, reading{got.Name, right, right && stopped(got), Reading{name, *got.Ratio}})
		}
	}
}

// separate compares each limit with the measured ratios.
func (c *Checking) separate() {
	margins, faults := separate(c.exercise.Checks, c.readings)
	c.report.Margins = append(c.report.Margins, margins...)
	for _, f := range faults {
		c.find(c.configFile(), f.Line, "%s", f.Message)
	}
}

// separate compares the limits of checks with measured ratios. The findings have lines
// of exercise.yaml, and no file.
func separate(checks []course.Check, readings []reading) (margins []Margin, faults []Finding) {
	for _, check := range checks {
		if !check.Kind.Measured() {
			continue
		}
		m := Margin{Check: check.Name, Limit: check.Limit}
		for _, r := range readings {
			switch {
			case r.check != check.Name:
			case r.right && (m.Highest == nil || r.Ratio > m.Highest.Ratio):
				m.Highest, m.told = &r.Reading, r.told
			case !r.right && (m.Lowest == nil || r.Ratio < m.Lowest.Ratio):
				m.Lowest = &r.Reading
			}
		}
		m.Proposed = proposed(m.Highest, m.Lowest)
		margins = append(margins, m)
		faults = append(faults, m.faults(check.Line)...)
	}
	return margins, faults
}

// faults reports a limit that is too near to a ratio that must pass or to one that must
// fail. A side without a measurement has no fault.
func (m Margin) faults(line int) (list []Finding) {
	fault := func(r *Reading, want string) {
		list = append(list, Finding{Line: line, Message: fmt.Sprintf("%s: %s takes %.2f times the reference's, and the limit is %.4g: %s", m.Check, r.Submission, r.Ratio, m.Limit, want)})
	}
	if m.Highest != nil && m.Highest.Ratio*separation > m.Limit && !m.told {
		fault(m.Highest, fmt.Sprintf("want at least %.2g times as much", separation))
	}
	if m.Lowest != nil && m.Limit*separation > m.Lowest.Ratio {
		fault(m.Lowest, fmt.Sprintf("want it at least %.2g times above the limit", separation))
	}
	return list
}

// proposed returns the geometric mean of the two, which is at the same factor from both,
// with two digits; without the lower one, it keeps twice the distance from the higher. It
// returns 0 for a mean of 1 or less, which is no valid limit.
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
	if x <= 1 {
		return 0
	}
	return twoDigits(x, math.Round)
}

// twoDigits rounds a positive number to two digits.
func twoDigits(x float64, round func(float64) float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return round(x/unit) * unit
}
