package prove

import (
	"fmt"

	"grade/exercises/course"
	"grade/grader"
	"grade/observe/wire"
)

// needs finds names of observations in exercise.yaml that a check does not record: they
// excuse nothing, mostly because of a typo or of a test that has changed.
type needs struct {
	checks []course.Check
	heard  map[string]bool  // checks that were run
	used   map[pattern]bool // names that stand for an observation of the reference
}

// pattern is a name of observations beside a needed test.
type pattern struct{ check, need, name string }

func newNeeds(checks []course.Check) *needs {
	return &needs{checks, map[string]bool{}, map[pattern]bool{}}
}

// hear takes what a run of the reference has recorded.
func (n *needs) hear(run grader.Run) {
	s, err := wire.Decode(run.Reference.Observations)
	if err != nil {
		return
	}
	n.heard[run.Check.Name] = true
	for _, need := range run.Check.Needs {
		for _, name := range need.Observations {
			for _, r := range s.Records {
				if course.MatchesObservation(name, r.Name) {
					n.used[pattern{run.Check.Name, need.Check, name}] = true
				}
			}
		}
	}
}

// findings returns the names that stand for nothing. They have lines of exercise.yaml, and
// no file.
func (n *needs) findings() (list []Finding) {
	for _, c := range n.checks {
		for _, need := range c.Needs {
			for _, name := range need.Observations {
				if n.heard[c.Name] && !n.used[pattern{c.Name, need.Check, name}] {
					list = append(list, Finding{Line: c.Line, Message: fmt.Sprintf("%s: needs: it records no observation %q with the reference, so that nothing rests on %s by that name", c.Name, name, need.Check)})
				}
			}
		}
	}
	return list
}
