package grader

import (
	"fmt"
	"slices"

	"grade/grader/lang"
	"grade/grader/verdict"
)

// tell is the verdict on a race, in words. One between two lines of the hidden test's own is
// the submission's too, because the reference shows none: it runs at the same time what the
// reference runs one after the other. A race counts wherever it is said to be, because the
// submission can write such words itself.
func tell(race lang.Race, test string) (verdict.Verdict, string, []verdict.Place) {
	if !slices.ContainsFunc(race.Accesses, func(a lang.Access) bool { return !a.Test }) {
		return verdict.DataRace, "data race in " + test + ": this submission runs functions of the hidden test at the same time, and they use the same memory", nil
	}
	var places []verdict.Place
	for _, a := range race.Accesses {
		if a.Place.File != "" && !slices.Contains(places, a.Place) {
			places = append(places, a.Place)
		}
	}
	const unordered = ", with no lock or channel that puts one before the other"
	if len(places) == 0 {
		return verdict.DataRace, "data race in " + test + ": two goroutines use the same memory at the same time" + unordered + "; the detector names no line of this submission", nil
	}
	first := race.Accesses[0]
	detail := fmt.Sprintf("data race in %s: line %d of %s %s ", test, first.Place.Line, first.Place.File, act(first))
	switch {
	case len(race.Accesses) < 2:
		detail += "memory that another goroutine uses at the same time"
	case race.Accesses[1].Place == first.Place:
		detail += fmt.Sprintf("memory that another goroutine %s in the same line at the same time", act(race.Accesses[1]))
	case race.Accesses[1].Test:
		detail += fmt.Sprintf("memory that the hidden test %s at the same time", act(race.Accesses[1]))
	case race.Accesses[1].Place.File == "":
		detail += fmt.Sprintf("memory that another goroutine %s at the same time", act(race.Accesses[1]))
	default:
		other := race.Accesses[1]
		detail += fmt.Sprintf("what line %d of %s %s at the same time", other.Place.Line, other.Place.File, act(other))
	}
	return verdict.DataRace, detail + unordered, places
}

func act(a lang.Access) string {
	if a.Write {
		return "writes"
	}
	return "reads"
}
