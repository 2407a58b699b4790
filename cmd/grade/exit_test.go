package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/results"
)

// Where exercises keep submissions from a verdict, a hint names the command that says why, once
// for each exercise; where the machine does, there is none.
func TestAtFault(t *testing.T) {
	item := func(exercise string, err error, r *results.Record) batch.Item {
		return batch.Item{Submission: intake.Submission{Exercise: exercise}, Err: err, Record: r}
	}
	broken, without := fault.Exercise(errors.New("the reference does not start")), errors.New("3 of 4 submissions")
	a := &app{started: true}
	err := a.atFault(&noVerdict{without}, []batch.Item{item("sum", broken, nil), item("mean", broken, nil), item("sum", broken, nil), item("max", nil, &results.Record{})})
	assert.Equal(t, hintCheck("mean", "sum"), a.hint(nil, err))
	assert.Equal(t, exitNoVerdict, a.code(t.Context(), err))
	assert.EqualError(t, err, "no verdict: 3 of 4 submissions")
	err = a.atFault(&noVerdict{without}, []batch.Item{item("sum", errors.New("no space left"), nil)})
	assert.NotContains(t, a.hint(nil, err), "exercise check")
}
