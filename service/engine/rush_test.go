//go:build linux

package engine

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/service"
)

// A whole class hands in within a moment: every upload is kept and has its own place, in
// the order in which the log has them, and one who hands in all the time has one place.
func TestRush(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(t.Context(), Config{DataDir: dir, Grader: "g"})
	require.NoError(t, err)
	_, _, err = e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	const class, eager = 300, 50
	took := make([]time.Duration, class+eager)
	var all sync.WaitGroup
	for i := range class + eager {
		all.Go(func() {
			u := uploadOf(i)
			u.Student = fmt.Sprintf("s%03d", i)
			if i >= class {
				u.Student = "eager"
			}
			begun := time.Now()
			_, err := e.HandIn(t.Context(), u)
			took[i] = time.Since(begun)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	slices.Sort(took)
	t.Logf("%d uploads at once: acknowledged after %v at the median, %v at the latest", len(took), took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	assert.Equal(t, class+1, e.Queue().Waiting)
	list := e.Attempts("eager", "gears")
	require.Len(t, list, eager)
	for i, a := range list {
		assert.Equal(t, i+1, a.Number)
		if i < eager-1 {
			assert.Equal(t, service.Replaced, a.Stage)
		}
	}
	order := placesOf(e)
	require.NoError(t, e.Close())

	e, err = Open(t.Context(), Config{DataDir: dir, Grader: "g"})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	assert.Equal(t, order, placesOf(e), "after a restart each cell has its place")
}

// placesOf lists the cells in the queue, in its order.
func placesOf(e *Engine) []cellID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.line.cells()
}
