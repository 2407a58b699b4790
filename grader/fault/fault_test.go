package fault

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each error has one person who can mend it, wherever it is wrapped, and only the
// student's has words for the student.
func TestKindOf(t *testing.T) {
	disk := errors.New("no space left")
	for name, c := range map[string]struct {
		err  error
		kind Kind
		told string
	}{
		"a submission that cannot be read": {&Error{Message: "no Go file in /home/ada", Told: "no Go file"}, Student, "no Go file"},
		"a folder that is not there":       {&Error{Message: "there is no folder /x"}, Caller, ""},
		"a cause of ours below":            {&Error{Message: "open /x", Err: disk}, Caller, ""},
		"an exercise":                      {Check("TestA", Exercise(disk)), Author, ""},
		"an exercise that a caller named":  {&Error{Message: "no such", Err: Exercise(disk)}, Caller, ""},
		"a disk":                           {disk, Ours, ""},
		"nothing":                          {nil, Ours, ""},
	} {
		for _, err := range []error{c.err, fmt.Errorf("submit: %w", c.err)} {
			assert.Equal(t, c.kind, KindOf(err), name)
			assert.Equal(t, c.told, Told(err), name)
		}
	}
}

// A mark leaves an error's words as they are, and names the check.
func TestMarks(t *testing.T) {
	err := Check("TestA", Exercise(errors.New("too short")))
	assert.EqualError(t, err, "too short")
	assert.ErrorIs(t, err, ErrExercise)
	assert.Equal(t, "TestA", CheckOf(fmt.Errorf("judge: %w", err)))
	assert.Empty(t, CheckOf(errors.New("x")))
	name, cause := AboutCheck(fmt.Errorf("grade the starter: %w", err))
	assert.Equal(t, "TestA", name)
	assert.EqualError(t, cause, "too short")
	name, cause = AboutCheck(errors.New("x"))
	assert.Empty(t, name)
	assert.NoError(t, cause)
}
