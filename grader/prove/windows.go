package prove

import (
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/measure"
	"grade/grader/measure/quantile"
	"grade/grader/verdict"
)

// windows collects the reference's measured windows, by check: its hear is for
// [grader.Options.Judged].
type windows map[string][]time.Duration

func (w windows) hear(run grader.Run) {
	if run.Check.Kind != verdict.Speed {
		return
	}
	if p, detail, err := measure.NewPair(run.Reference, run.Submission); err == nil && detail == "" {
		w[run.Check.Name] = append(w[run.Check.Name], p.Reference)
	}
}

// findings are the workloads that a machine twice as fast could not judge. Their lines
// are of exercise.yaml.
func (w windows) findings(checks []course.Check) (list []Finding) {
	for _, c := range checks {
		if len(w[c.Name]) == 0 {
			continue
		}
		if typical := median(w[c.Name]); typical < measure.MinWindow {
			list = append(list, Finding{Line: c.Line, Message: fmt.Sprintf("%s: the reference's window takes %v of CPU time: want at least %v, so that faster machines can judge it too", c.Name, typical.Round(100*time.Microsecond), measure.MinWindow)})
		}
	}
	return list
}

func median(of []time.Duration) time.Duration {
	var values []float64
	for _, d := range of {
		values = append(values, float64(d))
	}
	slices.Sort(values)
	return time.Duration(quantile.Median(values))
}
