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
	assert.Negative(t, e.Wait(0), "no worker")
	s.hearWorker(service.WorkerState{Name: "w", Slots: 1})
	s.pace.took(time.Minute)
	s.busy[&handed{}] = &cell{}
	for i := range 20 {
		s.line.set(cellID{student: string(rune('a' + i))}, uint64(i+1))
	}
	assert.Equal(t, 30*time.Second, e.Wait(0))
	assert.Equal(t, 90*time.Second, e.Wait(1))
}
