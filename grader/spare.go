package grader

import (
	"slices"
	"sync"

	"grade/exercises/course"
)

// spareBoxes is how many boxes wait for another grading, at most.
const spareBoxes = 8

// spares are stations of references that wait for the next grading of the same
// exercise: of their boxes none but our own programs have ever run in, so that one
// serves many gradings, where a submission's serves one.
type spares struct {
	mu   sync.Mutex
	list []spare // the one that has waited longest comes first
}

type spare struct {
	hash string // of the exercise
	*station
}

// take returns a station with a box for an exercise, or nil.
func (s *spares) take(e *course.Exercise) *station {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(one spare) bool { return one.hash == e.Hash })
	if i < 0 {
		return nil
	}
	found := s.list[i].station
	s.list = slices.Delete(s.list, i, i+1)
	return found
}

// put keeps a station whose box is as good as new, and closes any other: one that
// is pinned to a CPU, or never got to run, or may use other CPUs than a new one.
func (s *spares) put(e *course.Exercise, one *station, cpus []int) {
	if !one.loaded || one.cpu != nil || !slices.Equal(one.spec.CPUs, cpus) {
		one.close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, spare{e.Hash, one})
	if len(s.list) > spareBoxes {
		s.list[0].close()
		s.list = slices.Delete(s.list, 0, 1)
	}
}

// Close ends the boxes that wait for another grading.
func (g *Grader) Close() {
	g.spares.mu.Lock()
	defer g.spares.mu.Unlock()
	for _, one := range g.spares.list {
		one.close()
	}
	g.spares.list = nil
}
