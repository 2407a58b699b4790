package page

import (
	"fmt"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// mendFirst is how many things to mend a page shows unfolded: more are not mended before
// the next grading.
const mendFirst = 3

// What a student is to do next, and how it went so far.
type (
	pageTrouble struct {
		pageCheck
		Followers []string
	}
	pageCode struct {
		Place string
		Lines []wording.CodeLine
	}
	pageAttempt struct {
		Number, Submitted, Points string
		Score, Max                int
		Notes                     string
	}
)

// troublesOf lists what is to be mended, each with a link to its row in the tables.
func troublesOf(r *verdict.Result, ids map[string]string) (list []pageTrouble) {
	for _, x := range wording.Troubles(r) {
		list = append(list, pageTrouble{newPageCheck(ids[x.Check.Name], x.Check), x.Followers(0)})
	}
	return list
}

// codesOf returns the source at the places of a check.
func codesOf(c verdict.CheckResult) (list []pageCode) {
	for _, p := range c.Places[:min(len(c.Places), wording.MaxPlaces)] {
		list = append(list, pageCode{wording.Place(p.File, p.Line, ""), wording.Code(p.Line, p.Excerpt)})
	}
	return list
}

// attemptsOf lists a student's attempts at an exercise, if there are several, the newest
// first.
func attemptsOf(c *gradebook.Cell) (list []pageAttempt) {
	if c == nil || len(c.Attempts) < 2 {
		return nil
	}
	for i := len(c.Attempts) - 1; i >= 0; i-- {
		list = append(list, newPageAttempt(c, &c.Attempts[i]))
	}
	return list
}

func newPageAttempt(c *gradebook.Cell, a *gradebook.Attempt) pageAttempt {
	out := pageAttempt{Number: fmt.Sprint(a.Number), Points: fmt.Sprint(a.Result.Score), Score: a.Result.Score, Max: wording.MaxPoints(a.Result), Submitted: "–"}
	if !a.Submitted.IsZero() {
		out.Submitted = a.Submitted.Format("2006-01-02 15:04 MST")
	}
	var notes []string
	if a.Result.Verdict != verdict.Graded {
		notes = append(notes, wording.Verdict(a.Result.Verdict))
	}
	if a == c.Counts {
		notes = append(notes, "counts")
	}
	if a == c.Shown() {
		notes = append(notes, "shown here")
	}
	out.Notes = strings.Join(notes, ", ")
	return out
}
