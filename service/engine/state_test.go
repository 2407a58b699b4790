package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
)

// told folds what the log has of a student's work at an exercise.
type told struct {
	*testing.T
	state *state
	names names
	id    cellID
	seq   uint64
	log   []attemptEntry // the hand-ins among it
}

func newTold(t *testing.T) *told {
	return &told{T: t, state: newState(Config{Now: time.Now, Beat: time.Hour}), names: names{"c"}, id: cellID{"ada", "gears"}}
}

func (w *told) fold(subject string, v any) {
	w.Helper()
	data, err := json.Marshal(v)
	require.NoError(w, err)
	w.seq++
	require.NoError(w, w.state.fold(subject, data, w.seq, time.Now()))
}

func (w *told) handIn(number int, beside bool) {
	w.Helper()
	a := attemptEntry{Schema: attemptSchema, Student: w.id.student, Exercise: w.id.exercise, Number: number, Beside: beside, Keeps: w.state.cell(w.id).begun()}
	w.log = append(w.log, a)
	w.fold(w.names.cell(kindAttempt, w.id), a)
}

// restart forgets all that the log of hand-ins does not have.
func (w *told) restart() {
	w.state = newState(Config{Now: time.Now, Beat: time.Hour})
	for _, a := range w.log {
		w.fold(w.names.cell(kindAttempt, w.id), a)
	}
}

func (w *told) failure(number int, again bool) {
	w.Helper()
	w.fold(w.names.numbered(kindFailure, w.id, number), failureEntry{Schema: failureSchema, Again: again})
}

func (w *told) stages() (list []service.Stage) {
	c := w.state.cell(w.id)
	for _, h := range c.handed {
		list = append(list, w.state.stageOf(c, h))
	}
	return list
}

// turn is the number of the attempt that is queued.
func (w *told) turn() int {
	if h := w.state.waiting(w.state.cell(w.id)); h != nil {
		return h.Number
	}
	return 0
}

// A later attempt takes the place of one that waits, unless it counts for less, a worker has
// had the earlier one, or staff has it graded again: each of these has its turn after it.
func TestWhatIsReplaced(t *testing.T) {
	const waiting, grading, replaced, failed = service.Waiting, service.Grading, service.Replaced, service.NoVerdict
	t.Run("an ordinary one", func(t *testing.T) {
		w := newTold(t)
		w.handIn(1, false)
		w.handIn(2, false)
		assert.Equal(t, []service.Stage{replaced, waiting}, w.stages())
		assert.Equal(t, 2, w.turn())
	})
	t.Run("by one that counts for less", func(t *testing.T) {
		w := newTold(t)
		w.handIn(1, false)
		w.handIn(2, true)
		assert.Equal(t, []service.Stage{waiting, waiting}, w.stages())
		w.failure(2, false)
		assert.Equal(t, []service.Stage{waiting, failed}, w.stages())
		assert.Equal(t, 1, w.turn(), "its turn is next")
		w.handIn(3, true)
		w.handIn(4, false)
		assert.Equal(t, []service.Stage{replaced, failed, replaced, waiting}, w.stages())
	})
	t.Run("one that a worker has lost", func(t *testing.T) {
		w := newTold(t)
		w.handIn(1, false)
		require.NotNil(t, w.state.begun(service.JobID{Student: "ada", Exercise: "gears", Number: 1}, "w"))
		w.handIn(2, false)
		assert.Equal(t, []service.Stage{grading, waiting}, w.stages())
		w.state.release("w", func(service.JobID) bool { return false })
		assert.Equal(t, []service.Stage{waiting, waiting}, w.stages())
		w.failure(2, false)
		assert.Equal(t, 1, w.turn())
	})
	t.Run("one that a worker had before a restart", func(t *testing.T) {
		w := newTold(t)
		w.handIn(1, false)
		require.NotNil(t, w.state.begun(service.JobID{Student: "ada", Exercise: "gears", Number: 1}, "w"))
		w.handIn(2, false)
		w.handIn(3, false)
		w.restart()
		assert.Equal(t, []service.Stage{waiting, replaced, waiting}, w.stages())
	})
	t.Run("one that is to be graded again", func(t *testing.T) {
		w := newTold(t)
		w.handIn(1, false)
		w.failure(1, false)
		w.handIn(2, false)
		assert.Equal(t, []service.Stage{failed, waiting}, w.stages())
		w.failure(1, true)
		assert.Equal(t, []service.Stage{waiting, waiting}, w.stages())
		w.failure(2, false)
		assert.Equal(t, 1, w.turn())
	})
}

// A student who hands in all night long makes no message take long: with each of them looking
// at all attempts, and each of these at all later ones, this test would not end.
func TestManyAttempts(t *testing.T) {
	const night = 20_000
	w := newTold(t)
	for n := range night {
		w.handIn(n+1, false)
	}
	assert.Equal(t, night, w.turn())
	e := &Engine{state: w.state}
	list := e.Attempts(w.id.student, w.id.exercise)
	require.Len(t, list, night)
	assert.Equal(t, service.Replaced, list[night-2].Stage)
}

// A replaced attempt becomes another by a worker that has it all the same, or by a failure.
func TestReplacedIsNotTheEnd(t *testing.T) {
	w := newTold(t)
	w.handIn(1, false)
	w.handIn(2, false)
	one := w.state.begun(service.JobID{Student: "ada", Exercise: "gears", Number: 1}, "w")
	require.NotNil(t, one)
	assert.Equal(t, service.Grading, one.stage)
	w.failure(1, false)
	assert.Equal(t, service.NoVerdict, one.stage)
	w.failure(1, true)
	assert.Equal(t, service.Waiting, one.stage)
	w.failure(2, false)
	assert.Equal(t, 1, w.turn())
}

// When a later attempt has ended, an earlier one that still waits is queued again at once,
// behind those that came meanwhile. That is the place which its student is told before, too.
func TestTurnPasses(t *testing.T) {
	w := newTold(t)
	ahead := func() int {
		a, _ := (&Engine{state: w.state}).Attempt("ada", "gears", 1)
		return a.Ahead
	}
	w.handIn(1, false)
	w.state.line.set(cellID{"grace", "gears"}, 100)
	assert.Equal(t, 0, ahead())
	w.handIn(2, true)
	assert.Equal(t, 2, ahead(), "attempt 2 and grace's")
	require.NotNil(t, w.state.begun(service.JobID{Student: "ada", Exercise: "gears", Number: 2}, "w"))
	assert.Empty(t, w.state.wake)
	assert.Equal(t, 1, ahead(), "grace's")
	w.failure(2, false)
	assert.Equal(t, 1, w.turn())
	assert.Len(t, w.state.wake, 1)
	assert.True(t, w.state.jobless[w.id])
	assert.Equal(t, w.seq, w.state.line.of[w.id])
}
