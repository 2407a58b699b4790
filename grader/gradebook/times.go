package gradebook

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"grade/exercises"
)

// Times are the hours at which submissions were handed in, as whoever collected them knows
// it.
type Times struct{ list []handedIn }

type handedIn struct {
	student, exercise string
	attempt           int // 0: the last one
	at                time.Time
}

// ReadTimes reads a table with the columns student, exercise, submitted and, if there is
// more than one attempt, attempt, in any order; others are passed over. Zone is that of
// times that state none. Without an attempt a time is that of the last one.
func ReadTimes(r io.Reader, zone *time.Location) (*Times, error) {
	t := &Times{}
	err := readTable(r, []string{"student", "exercise", "submitted"}, func(row map[string]string) error {
		at, err := exercises.ParseMoment(row["submitted"], zone)
		if err != nil {
			return err
		}
		one := handedIn{student: row["student"], exercise: row["exercise"], at: at}
		if n := row["attempt"]; n != "" {
			if one.attempt, err = strconv.Atoi(n); err != nil || one.attempt < 1 {
				return fmt.Errorf("attempt %q: want a whole number from 1 on", n)
			}
		}
		if slices.ContainsFunc(t.list, func(o handedIn) bool {
			return o.student == one.student && o.exercise == one.exercise && o.attempt == one.attempt
		}) {
			return fmt.Errorf("a second time for %s, %s; say which attempt each is of, in a column attempt", one.student, one.exercise)
		}
		t.list = append(t.list, one)
		return nil
	})
	return t, err
}

// Names are the students and exercises that the table names, a pair each.
func (t *Times) Names() (list [][2]string) {
	if t == nil {
		return nil
	}
	for _, one := range t.list {
		list = append(list, [2]string{one.student, one.exercise})
	}
	return list
}

// Of is when an attempt was handed in; zero: the table does not say. Last tells whether
// it is the last one.
func (t *Times) Of(student, exercise string, attempt int, last bool) (at time.Time) {
	if t == nil {
		return time.Time{}
	}
	for _, one := range t.list {
		if one.student != student || one.exercise != exercise {
			continue
		}
		if one.attempt == attempt {
			return one.at
		}
		if one.attempt == 0 && last {
			at = one.at
		}
	}
	return at
}
