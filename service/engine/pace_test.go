package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/service"
)

// How long an attempt waits depends on those before it alone, and not on who came later.
func TestWaitIsOfAPlace(t *testing.T) {
	s := newState(Config{Now: time.Now, Beat: time.Hour})
	e := &Engine{state: s}
	assert.Negative(t, e.QueueBehind(0).Wait, "no worker")
	assert.False(t, e.QueueBehind(0).Taken())
	s.hearWorker(service.WorkerState{Name: "ill", Slots: 1, Why: "it is starting"})
	assert.False(t, e.QueueBehind(0).Taken())
	s.hearWorker(service.WorkerState{Name: "w", Slots: 1})
	assert.True(t, e.QueueBehind(0).Taken())
	s.pace.took(time.Minute)
	s.busy[&handed{}] = &cell{}
	for i := range 20 {
		s.line.set(cellID{student: string(rune('a' + i))}, uint64(i+1))
	}
	assert.Equal(t, 30*time.Second, e.QueueBehind(0).Wait)
	assert.Equal(t, 90*time.Second, e.QueueBehind(1).Wait)
}
