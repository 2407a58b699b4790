package results

import "time"

// Entry is a submission as it comes in.
type Entry struct {
	Student, Exercise string
	Content           string    // see [Content]
	Submitted         time.Time // zero: not known
	Source            string    // of that time
	Listed            time.Time // by the row of a table of times for the student's last attempt; zero: there is none
	ListedIn          string    // the name of that table
}

// Attempt is one of a student's submissions for an exercise. Its time is the one that
// counts: the earliest that is known for this content.
type Attempt struct {
	Entry
	Number int     // from 1
	Held   *Record // the record that holds for this attempt; nil: it has none yet
}

// Number decides which attempt an entry is, for every store alike. The history holds all
// records of the student at the exercise, in the order in which they were kept; entered
// holds the attempts that have a number and no record yet, in the order of their numbers;
// pending is nil if the student has no submission without a verdict.
//
// An entry with the content of the last attempt is that attempt. An entry with the content
// of an older one is that attempt if its time is the same too, as when a run is repeated,
// or is not known where that of the attempt is, as when a scheduled run looks at all that
// there is: such a run says nothing of when it was handed in. Else it is a new one.
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
		if n == last || !a.Submitted.IsZero() && (e.Submitted.IsZero() || a.Submitted.Equal(e.Submitted)) {
			return a.at(e, history).listed(e, attempts)
		}
	}
	a := Attempt{Entry: e, Number: last + 1}
	a.Listed, a.ListedIn = time.Time{}, ""
	return a.listed(e, attempts)
}

// listed returns the attempt with the time of a row for the last attempt. The earliest time
// that the table had for a content stays, like that of [Attempt.at]. A row that is no later
// than another attempt's is that one's: the table is older than the submission.
func (a Attempt) listed(e Entry, attempts map[int]Attempt) Attempt {
	if !Earlier(e.Listed, a.Listed) {
		return a
	}
	for n, other := range attempts {
		if n != a.Number && !other.Listed.IsZero() && !e.Listed.After(other.Listed) {
			return a
		}
	}
	a.Listed, a.ListedIn = e.Listed, e.ListedIn
	return a
}

// Earlier reports whether a time is known and before another one, which may be unknown.
func Earlier(at, other time.Time) bool {
	return !at.IsZero() && (other.IsZero() || at.Before(other))
}

// byNumber returns the newest version of each attempt.
func byNumber(history []Record, entered []Attempt) map[int]Attempt {
	attempts := map[int]Attempt{}
	for _, a := range entered {
		attempts[a.Number] = a
	}
	for _, r := range history {
		e := Entry{r.Student, r.Exercise, r.Content, r.Submitted, r.Source, r.Listed, r.ListedIn}
		attempts[r.Attempt] = Attempt{e, r.Attempt, &r}
	}
	return attempts
}

// at returns the attempt with the time that counts after an entry of the same content. A
// known time stays. An unknown one becomes the entry's, unless the attempt was graded
// before that time: graded work has been handed in.
func (a Attempt) at(e Entry, history []Record) Attempt {
	if a.Submitted.IsZero() && !e.Submitted.After(a.graded(history)) {
		a.Submitted, a.Source = e.Submitted, e.Source
	}
	return a
}

// endOfTime is after every time that a submission can have.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// graded returns when the attempt was first kept; it may have been graded anew since.
func (a Attempt) graded(history []Record) time.Time {
	for _, r := range history {
		if r.Attempt == a.Number {
			return r.Recorded
		}
	}
	return endOfTime
}
