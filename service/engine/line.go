package engine

import "slices"

// line is the queue as a list of places, smallest first. A cell has one place at most. The
// zero value is empty.
//
// It follows from the log and not from the stream of jobs: a work queue does not say what
// is in it, and after a restart jobs are queued again in another order at times.
type line struct {
	places []uint64
	of     map[cellID]uint64
}

// set gives a cell its place; 0: it waits for nothing. It reports whether that is a change.
func (l *line) set(id cellID, place uint64) bool {
	if l.of == nil {
		l.of = map[cellID]uint64{}
	}
	was := l.of[id]
	if was == place {
		return false
	}
	if i, ok := slices.BinarySearch(l.places, was); ok {
		l.places = slices.Delete(l.places, i, i+1)
	}
	delete(l.of, id)
	if place != 0 {
		i, _ := slices.BinarySearch(l.places, place)
		l.places = slices.Insert(l.places, i, place)
		l.of[id] = place
	}
	return true
}

// before counts those with a smaller place.
func (l *line) before(place uint64) int {
	i, _ := slices.BinarySearch(l.places, place)
	return i
}

// first returns the cells in the line, the first ones first.
func (l *line) cells() []cellID {
	list := make([]cellID, 0, len(l.of))
	for id := range l.of {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b cellID) int {
		if l.of[a] < l.of[b] {
			return -1
		}
		return 1
	})
	return list
}
