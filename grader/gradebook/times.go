package gradebook

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"grade/exercises/course"
)

// Times holds the times of submission in a table that the teacher has collected.
type Times struct {
	rows []TimesRow
	at   map[handedIn]time.Time
}

// TimesRow is whom a row of the table is about, and its line in the file.
type TimesRow struct {
	Student, Exercise string
	Line              int
}

// handedIn names an attempt. The student is in lower case, because logins are compared
// without case.
type handedIn struct {
	student, exercise string
	attempt           int // 0: the last attempt
}

// ReadTimes reads a table with the columns student, exercise, submitted and, for several
// attempts, attempt, in any order; it skips other columns. Zone is that of times that state
// none. A row without an attempt is about the last one.
func ReadTimes(r io.Reader, zone *time.Location) (*Times, error) {
	t := &Times{at: map[handedIn]time.Time{}}
	err := readTable(r, []string{"student", "exercise", "submitted"}, func(line int, row map[string]string) error {
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
		t.at[one], t.rows = at, append(t.rows, TimesRow{row["student"], one.exercise, line})
		return nil
	})
	return t, err
}

// Rows returns the rows of the table, in its order.
func (t *Times) Rows() []TimesRow {
	if t == nil {
		return nil
	}
	return t.rows
}

// Mentions reports whether a row is about a student at an exercise; or, if that is empty, at
// any.
func (t *Times) Mentions(student, exercise string) bool {
	return slices.ContainsFunc(t.Rows(), func(r TimesRow) bool {
		return strings.EqualFold(r.Student, student) && (exercise == "" || exercise == r.Exercise)
	})
}

// At returns when an attempt was handed in, by the row with its number, or for attempt 0 by
// the row without a number, which is about the last attempt. It is zero if the table does
// not say.
func (t *Times) At(student, exercise string, attempt int) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.at[handedIn{strings.ToLower(student), exercise, attempt}]
}
