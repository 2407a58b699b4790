package course

import (
	"cmp"
	"fmt"

	"grade/exercises/course/document"
	"grade/grader/verdict"
)

// RaceName is the name of the one check of kind race.
const RaceName = "race"

// raceCheck returns the check of an entry that lists tests to race.
func (c checkConfig) raceCheck(byDefault Feedback, p *document.Faults) Check {
	for _, fault := range c.raceFaults() {
		p.Add(configFile, c.line, "%s: %s", RaceName, fault)
	}
	return Check{
		Name: RaceName, Kind: verdict.Race, Race: c.race, Points: c.points, Hint: c.hint,
		Feedback: cmp.Or(c.feedback, byDefault), Anchor: c.anchor, Line: c.line,
	}
}

func (c checkConfig) raceFaults() (faults []string) {
	fault := func(is bool, what string) {
		if is {
			faults = append(faults, what)
		}
	}
	fault(c.has["points"] == 0, "points are missing")
	fault(c.has["points"] > 0 && c.points < 1, "a check carries at least one point")
	fault(c.points > maxRace, fmt.Sprintf("it carries at most %d points: that no race was seen is the word of the submission's process", maxRace))
	fault(len(c.race) == 0, "the list of tests is empty")
	fault(c.has["hint"] == 0, "hint is missing: what a student reads when the race detector sees a race")
	fault(c.kind != "" && c.kind != verdict.Race, "a list of tests to race is of kind race")
	fault(c.has["limit"] != 0, "limit: only a benchmark has one")
	fault(c.has["needs"] != 0, "needs: only a test or a benchmark has them: the race detector's word rests on no other check")
	fault(c.selfReported, "it is not self-reported: the values that its tests observe are compared")
	return faults
}

// meetRace compares the tests to race with the functions in hidden.
func (c checkConfig) meetRace(hidden map[string]*hiddenFunc, p *document.Faults) {
	for _, name := range c.race {
		if !isTestName(name, "Test") || hidden[name] == nil {
			p.Add(configFile, c.line, "%s: no test %s in %s", RaceName, name, hiddenDir)
		}
	}
}
