package results

import "time"

// Entry is a submission as it comes in.
type Entry struct {
	Student, Exercise string
	Content           string    // see [Content]
	Submitted         time.Time // zero: not known
	Source            string    // of that time
}

// Attempt is a submission among all that its student has handed in for the exercise. Its
// time is the one that counts: the earliest that is known of this content.
type Attempt struct {
	Entry
	Number int     // from 1
	Held   *Record // the record that holds for this attempt; nil: it has none yet
}

// Number says which attempt an entry is, for every store alike. The history is all records
// of the student at the exercise, in the order in which they were kept; entered are the
// attempts that have a number and no record yet, in the order of their numbers; pending is
// nil if the student has no submission without a verdict.
//
// What repeats the last attempt is the last attempt. What repeats an older one is that one
// if its time is the same too, as in a run that is done again, and else a new attempt.
func Number(history []Record, entered []Attempt, pending *Pending, e Entry) Attempt {
	if pending != nil && pending.Content == e.Content && pending.earlier(e.Submitted) {
		e.Submitted, e.Source = pending.Submitted, pending.Source
	}
	attempts := byNumber(history, entered)
	last := 0
	for n := range attempts {
		last = max(last, n)
	}
	for n := last; n > 0; n-- {
		a, ok := attempts[n]
		if !ok || a.Content != e.Content {
			continue
		}
		if n == last || !e.Submitted.IsZero() && a.Submitted.Equal(e.Submitted) {
			return a.at(e, history)
		}
	}
	return Attempt{Entry: e, Number: last + 1}
}

// byNumber holds the newest of each attempt.
func byNumber(history []Record, entered []Attempt) map[int]Attempt {
	attempts := map[int]Attempt{}
	for _, a := range entered {
		attempts[a.Number] = a
	}
	for _, r := range history {
		e := Entry{r.Student, r.Exercise, r.Content, r.Submitted, r.Source}
		attempts[r.Attempt] = Attempt{e, r.Attempt, &r}
	}
	return attempts
}

// at is the attempt with the time that counts after an entry of the same content. A time that
// is known stays. One that is not known becomes the entry's, unless the attempt was graded
// before that: what is graded has been handed in.
func (a Attempt) at(e Entry, history []Record) Attempt {
	if a.Submitted.IsZero() && !e.Submitted.After(a.graded(history)) {
		a.Submitted, a.Source = e.Submitted, e.Source
	}
	return a
}

// endOfTime is after every time that a submission can have.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// graded is when the attempt was kept first, which may have been graded anew since.
func (a Attempt) graded(history []Record) time.Time {
	for _, r := range history {
		if r.Attempt == a.Number {
			return r.Recorded
		}
	}
	return endOfTime
}
