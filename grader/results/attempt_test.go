package results

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at is an hour of the day of the tests; 0 is a time that is not known.
func at(hour int) time.Time {
	if hour == 0 {
		return time.Time{}
	}
	return time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC)
}

// kept is the record of an attempt with one content, submitted and recorded at some hours.
func kept(attempt int, content string, submitted, recorded int) Record {
	return Record{Attempt: attempt, Content: content, Submitted: at(submitted), Recorded: at(recorded)}
}

func entry(content string, submitted int) Entry {
	return Entry{Content: content, Submitted: at(submitted)}
}

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		name    string
		history []Record
		entered []Attempt
		pending *Pending
		entry   Entry
		number  int
		hour    int  // that counts
		held    bool // there is a record of the attempt
	}{
		{"the first submission is attempt 1",
			nil, nil, nil, entry("a", 9), 1, 9, false},
		{"what differs from the last attempt is a new one",
			[]Record{kept(1, "a", 9, 10)}, nil, nil, entry("b", 11), 2, 11, false},
		{"what repeats the last attempt is that one, and keeps its time",
			[]Record{kept(1, "a", 9, 10)}, nil, nil, entry("a", 11), 1, 9, true},
		{"what repeats an older attempt later is a new one",
			[]Record{kept(1, "a", 9, 10), kept(2, "b", 11, 12)}, nil, nil, entry("a", 13), 3, 13, false},
		{"what repeats an older attempt at the same time is a run that is repeated",
			[]Record{kept(1, "a", 9, 10), kept(2, "b", 11, 12)}, nil, nil, entry("a", 9), 1, 9, true},
		{"what repeats an older attempt of a known time, at no known time, is that one",
			[]Record{kept(1, "a", 9, 10), kept(2, "b", 11, 12)}, nil, nil, entry("a", 0), 1, 9, true},
		{"what repeats an older attempt, neither time being known, is a new one",
			[]Record{kept(1, "a", 0, 10), kept(2, "b", 0, 12)}, nil, nil, entry("a", 0), 3, 0, false},
		{"an attempt that was graded anew is the same one",
			[]Record{kept(1, "a", 9, 10), kept(1, "a", 9, 20)}, nil, nil, entry("a", 11), 1, 9, true},
		{"a time that is known at last is the attempt's time",
			[]Record{kept(1, "a", 0, 10)}, nil, nil, entry("a", 9), 1, 9, true},
		{"a time after the attempt was graded is not its time",
			[]Record{kept(1, "a", 0, 10)}, nil, nil, entry("a", 11), 1, 0, true},
		{"a time after the attempt was graded first is not its time, though it was graded anew since",
			[]Record{kept(1, "a", 0, 10), kept(1, "a", 0, 20)}, nil, nil, entry("a", 11), 1, 0, true},
		{"a time that is not known takes no known time away",
			[]Record{kept(1, "a", 9, 10)}, nil, nil, entry("a", 0), 1, 9, true},

		{"what had no verdict has the time of then",
			nil, nil, &Pending{Content: "a", Submitted: at(9)}, entry("a", 11), 1, 9, false},
		{"what had no verdict has the time of then, also where none is known now",
			nil, nil, &Pending{Content: "a", Submitted: at(9)}, entry("a", 0), 1, 9, false},
		{"what had no verdict, and was handed in earlier than was known, has the earlier time",
			nil, nil, &Pending{Content: "a", Submitted: at(9)}, entry("a", 8), 1, 8, false},
		{"what had no verdict at an unknown time has the time of now",
			nil, nil, &Pending{Content: "a"}, entry("a", 11), 1, 11, false},
		{"the time of other work without a verdict is not its time",
			nil, nil, &Pending{Content: "b", Submitted: at(9)}, entry("a", 11), 1, 11, false},
		{"what had no verdict uses up no attempt",
			[]Record{kept(1, "a", 9, 10)}, nil, &Pending{Content: "b", Submitted: at(11)}, entry("c", 12), 2, 12, false},

		{"a number that another grading has entered is not given twice",
			[]Record{kept(1, "a", 9, 10)}, []Attempt{{entry("b", 11), 2, nil}}, nil, entry("c", 12), 3, 12, false},
		{"what repeats an attempt that is being graded is that one",
			nil, []Attempt{{entry("a", 9), 1, nil}}, nil, entry("a", 11), 1, 9, false},
		{"a time that is known at last is that of an attempt that is being graded",
			nil, []Attempt{{entry("a", 0), 1, nil}}, nil, entry("a", 11), 1, 11, false},
		{"what repeats the last record is a new attempt where another one is being graded",
			[]Record{kept(1, "a", 9, 10)}, []Attempt{{entry("b", 11), 2, nil}}, nil, entry("a", 12), 3, 12, false},
		{"after a gap, which a withdrawn number leaves, numbers go on",
			[]Record{kept(1, "a", 9, 10), kept(3, "c", 11, 12)}, nil, nil, entry("b", 13), 4, 13, false},
	} {
		got := Number(test.history, test.entered, test.pending, test.entry)
		assert.Equal(t, test.number, got.Number, test.name)
		assert.Equal(t, at(test.hour), got.Submitted, test.name)
		assert.Equal(t, test.held, got.Held != nil, test.name)
		assert.Equal(t, test.entry.Content, got.Content, test.name)
	}
}

// The record that an attempt holds is the newest one.
func TestNumberHoldsTheNewest(t *testing.T) {
	history := []Record{kept(1, "a", 9, 10), kept(2, "b", 11, 12), kept(1, "a", 9, 20)}
	got := Number(history, nil, nil, entry("a", 9))
	require.NotNil(t, got.Held)
	assert.Equal(t, at(20), got.Held.Recorded)
}

// The time that a table had for a content stays, like the time of its submission.
func TestNumberKeepsTheTablesTime(t *testing.T) {
	in := func(r Record, listed int) Record {
		r.Listed, r.ListedIn = at(listed), "times.csv"
		return r
	}
	one := in(kept(1, "a", 12, 12), 9)
	for _, test := range []struct {
		name    string
		history []Record
		content string
		row     int // of the table
		number  int
		listed  int
	}{
		{"the first submission has the row's time", nil, "a", 9, 1, 9},
		{"without a row there is none", nil, "a", 0, 1, 0},
		{"a new attempt has the newer row", []Record{one}, "b", 11, 2, 11},
		{"a row that is older than a new attempt is not its", []Record{one}, "b", 9, 2, 0},
		{"a row that is earlier than an older attempt's is not its", []Record{one}, "b", 8, 2, 0},
		{"the same again, later, keeps the time", []Record{one}, "a", 11, 1, 9},
		{"an earlier time is a correction", []Record{one}, "a", 8, 1, 8},
		{"a table that was exported late is heard", []Record{one, kept(2, "b", 13, 13)}, "b", 11, 2, 11},
		{"a row that is gone takes no time away", []Record{one}, "a", 0, 1, 9},
		{"what was kept before there were such times has the row's", []Record{kept(1, "a", 12, 12)}, "a", 9, 1, 9},
	} {
		e := entry(test.content, 14)
		e.Listed, e.ListedIn = at(test.row), "times.csv"
		got := Number(test.history, nil, nil, e)
		assert.Equal(t, test.number, got.Number, test.name)
		assert.Equal(t, at(test.listed), got.Listed, test.name)
		assert.Equal(t, test.listed > 0, got.ListedIn != "", test.name)
	}
}

// Who does not know of such times, such as a worker of a service, takes none away.
func TestIndexKeepsTheTablesTime(t *testing.T) {
	var x Index
	first := kept(1, "a", 9, 10)
	first.Listed, first.ListedIn = at(8), "times.csv"
	x.Add(first)
	got := x.Add(kept(1, "a", 9, 20))
	assert.Equal(t, at(8), got.Listed)
	assert.Equal(t, "times.csv", got.ListedIn)
}
