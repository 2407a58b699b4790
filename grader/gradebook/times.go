package gradebook

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"grade/exercises/course"
)

// Times are the hours at which submissions were handed in, as whoever collected them knows
// it.
type Times struct {
	names [][2]string
	at    map[handedIn]time.Time
}

// handedIn is an attempt. Logins know no case: the student is in lower case.
type handedIn struct {
	student, exercise string
	attempt           int // 0: the last one
}

// ReadTimes reads a table with the columns student, exercise, submitted and, if there is
// more than one attempt, attempt, in any order; others are passed over. Zone is that of
// times that state none. Without an attempt a time is that of the last one.
func ReadTimes(r io.Reader, zone *time.Location) (*Times, error) {
	t := &Times{at: map[handedIn]time.Time{}}
	err := readTable(r, []string{"student", "exercise", "submitted"}, func(row map[string]string) error {
		at, err := course.ParseMoment(row["submitted"], zone)
		if err != nil {
			return err
		}
		one := handedIn{student: strings.ToLower(row["student"]), exercise: row["exercise"]}
		if n := row["attempt"]; n != "" {
			if one.attempt, err = strconv.Atoi(n); err != nil || one.attempt < 1 {
				return fmt.Errorf("attempt %q: want a whole number from 1 on", n)
			}
		}
		if _, ok := t.at[one]; ok {
			return fmt.Errorf("a second time for %s, %s; say which attempt each is of, in a column attempt", row["student"], one.exercise)
		}
		t.at[one], t.names = at, append(t.names, [2]string{row["student"], one.exercise})
		return nil
	})
	return t, err
}

// Names are the students and exercises that the table names, a pair each.
func (t *Times) Names() [][2]string {
	if t == nil {
		return nil
	}
	return t.names
}

// Of is when an attempt was handed in; zero: the table does not say. Last tells whether
// it is the last one.
func (t *Times) Of(student, exercise string, attempt int, last bool) (at time.Time) {
	if t == nil {
		return time.Time{}
	}
	one := handedIn{strings.ToLower(student), exercise, attempt}
	at, ok := t.at[one]
	if one.attempt = 0; !ok && last {
		at = t.at[one]
	}
	return at
}
