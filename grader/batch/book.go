package batch

import (
	"fmt"
	"time"

	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/results"
)

// Book computes the gradebook from the kept records and the pending submissions, under the
// rules of a course. It marks the items of a run, and uses their outcome in place of what
// is kept.
func Book(p *gradebook.Policy, records []results.Record, waiting []results.Pending, run []Item) *gradebook.Book {
	current, ran := map[string]bool{}, map[results.PendingID]bool{}
	var without []results.Pending
	worked := workers(records, waiting, run)
	for _, f := range run {
		ran[f.PendingID()] = true
		switch {
		case f.Record != nil:
			current[attemptOf(*f.Record)] = true
		case f.Exercise == "" && fault.KindOf(f.Err) == fault.Student && worked[f.Student]:
			// A stray folder takes no total away; the run's own report tells of it.
		default:
			without = append(without, f.Pending(time.Time{}))
		}
	}
	for _, w := range waiting {
		if !ran[w.ID()] {
			without = append(without, w)
		}
	}
	return p.Book(attemptsOf(records, current), missing(without))
}

// workers returns the students with work at an exercise.
func workers(records []results.Record, waiting []results.Pending, run []Item) map[string]bool {
	worked := map[string]bool{}
	for _, r := range records {
		worked[r.Student] = true
	}
	for _, w := range waiting {
		worked[w.Student] = worked[w.Student] || w.Exercise != ""
	}
	for _, f := range run {
		worked[f.Student] = worked[f.Student] || f.Exercise != ""
	}
	return worked
}

func attemptsOf(records []results.Record, current map[string]bool) (list []gradebook.Attempt) {
	for _, r := range records {
		list = append(list, gradebook.Attempt{
			Student: r.Student, Exercise: r.Exercise, Number: r.Attempt,
			Submitted: r.Submitted, Source: r.Source, Listed: r.Listed, ListedIn: r.ListedIn, Folder: r.Folder, Result: r.Result,
			Current: current[attemptOf(r)],
		})
	}
	return list
}

func missing(waiting []results.Pending) (list []gradebook.Missing) {
	for _, w := range waiting {
		list = append(list, gradebook.Missing{Student: w.Student, Exercise: w.Exercise, Folder: w.Folder, Why: w.Why, Told: w.PublicReason})
	}
	return list
}

// attemptOf names the attempt of a record.
func attemptOf(r results.Record) string {
	return fmt.Sprintf("%q %q %d", r.Student, r.Exercise, r.Attempt)
}

// About returns the records of the submissions that a run is about, with their earlier
// attempts. A run's reports show no other submission.
func About(records []results.Record, run []Item) (list []results.Record) {
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

// Applied returns the records as they will be when the regraded ones are applied.
func Applied(records []results.Record, list []Regraded) []results.Record {
	anew := map[string]*results.Record{}
	for _, x := range list {
		anew[attemptOf(x.Old)] = x.New
	}
	applied := make([]results.Record, len(records))
	for i, r := range records {
		if applied[i] = r; anew[attemptOf(r)] != nil {
			applied[i] = *anew[attemptOf(r)]
		}
	}
	return applied
}
