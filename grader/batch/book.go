package batch

import (
	"fmt"
	"time"

	"grade/grader/gradebook"
)

// Book is what is kept, and what has no verdict, under the rules of a course; what a run was
// about is as the run left it, and stands out.
func Book(p *gradebook.Policy, records []Record, waiting []Waiting, run []Fate) *gradebook.Book {
	current, ran := map[string]bool{}, map[Waited]bool{}
	var without []Waiting
	for _, f := range run {
		ran[f.Waited()] = true
		if f.Record != nil {
			current[f.Record.attempt()] = true
		} else {
			without = append(without, f.Waiting(time.Time{}))
		}
	}
	for _, w := range waiting {
		if !ran[w.Waited()] {
			without = append(without, w)
		}
	}
	return p.Book(attemptsOf(records, current), missing(without))
}

func attemptsOf(records []Record, current map[string]bool) (list []gradebook.Attempt) {
	for _, r := range records {
		list = append(list, gradebook.Attempt{
			Student: r.Student, Exercise: r.Exercise, Number: r.Attempt,
			Submitted: r.Submitted, Source: r.Source, Folder: r.Folder, Result: r.Result,
			Current: current[r.attempt()],
		})
	}
	return list
}

func missing(waiting []Waiting) (list []gradebook.Missing) {
	for _, w := range waiting {
		list = append(list, gradebook.Missing{Student: w.Student, Exercise: w.Exercise, Folder: w.Folder, Why: w.Why, Told: w.Told})
	}
	return list
}

// attempt tells attempts apart.
func (r Record) attempt() string { return fmt.Sprintf("%q %q %d", r.Student, r.Exercise, r.Attempt) }

// About are the records of the submissions that a run is about, with their earlier attempts:
// of what others have, its reports tell nothing.
func About(records []Record, run []Fate) (list []Record) {
	about := map[[2]string]bool{}
	for _, f := range run {
		about[[2]string{f.Student, f.Exercise}] = true
	}
	for _, r := range records {
		if about[[2]string{r.Student, r.Exercise}] {
			list = append(list, r)
		}
	}
	return list
}

// Applied are the records as they are once what was regraded holds.
func Applied(records []Record, list []Regraded) []Record {
	anew := map[string]*Record{}
	for _, x := range list {
		anew[x.Old.attempt()] = x.New
	}
	applied := make([]Record, len(records))
	for i, r := range records {
		if applied[i] = r; anew[r.attempt()] != nil {
			applied[i] = *anew[r.attempt()]
		}
	}
	return applied
}
