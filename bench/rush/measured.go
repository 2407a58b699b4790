package main

import (
	"errors"
	"slices"
	"time"

	"grade/grader/results"
	"grade/grader/results/file"
)

// measured is what a real run says: how long its gradings took, and how long each upload
// waited.
type measured struct {
	gradings []time.Duration
	uploads  []upload
	waits    []wait
}

// readMeasured reads a folder of results. Results without a time of upload count for the
// times of gradings alone.
func readMeasured(dir string) (m measured, err error) {
	store, err := file.Read(dir)
	if err != nil {
		return m, err
	}
	records := store.Attempts()
	if len(records) == 0 {
		return m, errors.New(dir + " holds no result")
	}
	number := map[string]int{}
	for _, r := range records {
		m.gradings = append(m.gradings, took(r))
		if !r.Submitted.IsZero() && !r.Submitted.After(r.Recorded) {
			m.add(r, number)
		}
	}
	m.fromTheFirst()
	return m, nil
}

// took is how long a grading held its slot.
func took(r results.Record) time.Duration {
	return time.Duration(r.Result.Phases.TotalMs * float64(time.Millisecond))
}

// add takes an upload with its waits. Number names students and exercises.
func (m *measured) add(r results.Record, number map[string]int) {
	of := func(name string) int {
		if _, ok := number[name]; !ok {
			number[name] = len(number)
		}
		return number[name]
	}
	at := time.Duration(r.Submitted.UnixNano())
	verdict := r.Recorded.Sub(r.Submitted)
	m.uploads = append(m.uploads, upload{at, of("student " + r.Student), of("exercise " + r.Exercise)})
	m.waits = append(m.waits, wait{max(0, verdict-took(r)), verdict})
}

// fromTheFirst counts the times of uploads from the first one on, and sorts them.
func (m *measured) fromTheFirst() {
	slices.SortFunc(m.uploads, func(a, b upload) int { return int(a.at - b.at) })
	for i := len(m.uploads) - 1; i >= 0; i-- {
		m.uploads[i].at -= m.uploads[0].at
	}
}
