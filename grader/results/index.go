package results

import "slices"

// Index finds records in memory. Every store puts its records into one, in the order in
// which they were kept, so that all stores agree on which of them holds. The zero value is
// empty and ready. It is not safe for several goroutines at a time.
type Index struct {
	records []Record
	byKey   map[string]int
	cells   map[cell]*history
}

// cell is a student at an exercise.
type cell struct{ student, exercise string }

// history is one student's work at one exercise, as indices of records.
type history struct {
	records    []int
	attempts   map[int]int      // the record that holds for each attempt
	last       int              // the record that holds for the last attempt
	renumbered map[numbered]int // attempts that have another number here than they were kept with
}

// numbered is an attempt by the number that it was kept with.
type numbered struct {
	number  int
	content string
}

// Add adds a record, and returns it as it counts. In two stores that were joined, both runs
// may have given one number to different submissions: the later one then gets the next
// number. And both may have graded the same one: the earlier time counts.
func (x *Index) Add(r Record) Record {
	h := x.history(r)
	kept := numbered{r.Attempt, r.Content}
	if number, ok := h.renumbered[kept]; ok {
		r.Attempt = number
	} else if i, ok := h.attempts[r.Attempt]; ok && x.records[i].Content != r.Content {
		r.Attempt = x.records[h.last].Attempt + 1
		h.renumbered[kept] = r.Attempt
	}
	if i, ok := h.attempts[r.Attempt]; ok {
		first := x.records[i]
		if Earlier(first.Submitted, r.Submitted) {
			r.Submitted, r.Source = first.Submitted, first.Source
		}
		if Earlier(first.Listed, r.Listed) {
			r.Listed, r.ListedIn = first.Listed, first.ListedIn
		}
	}
	at := len(x.records)
	x.records = append(x.records, r)
	x.byKey[r.Key] = at
	if len(h.records) == 0 || r.Attempt >= x.records[h.last].Attempt {
		h.last = at
	}
	h.records, h.attempts[r.Attempt] = append(h.records, at), at
	return r
}

// history returns the history that a record belongs to, and begins it.
func (x *Index) history(r Record) *history {
	if x.cells == nil {
		x.byKey, x.cells = map[string]int{}, map[cell]*history{}
	}
	c := cell{r.Student, r.Exercise}
	h := x.cells[c]
	if h == nil {
		h = &history{attempts: map[int]int{}, renumbered: map[numbered]int{}}
		x.cells[c] = h
	}
	return h
}

// ByKey returns the newest record of a key.
func (x *Index) ByKey(key string) (Record, bool) {
	i, ok := x.byKey[key]
	if !ok {
		return Record{}, false
	}
	return x.records[i], true
}

// Last returns the record that holds for a student's last attempt at an exercise.
func (x *Index) Last(student, exercise string) (Record, bool) {
	h, ok := x.cells[cell{student, exercise}]
	if !ok {
		return Record{}, false
	}
	return x.records[h.last], true
}

// Of returns the record that holds for an attempt.
func (x *Index) Of(student, exercise string, number int) (Record, bool) {
	h, ok := x.cells[cell{student, exercise}]
	if !ok {
		return Record{}, false
	}
	i, ok := h.attempts[number]
	if !ok {
		return Record{}, false
	}
	return x.records[i], true
}

// Before returns the record that held for an attempt before the one that holds, and was
// decided by other means.
func (x *Index) Before(student, exercise string, number int) (Record, bool) {
	now, ok := x.Of(student, exercise, number)
	if !ok {
		return Record{}, false
	}
	h := x.cells[cell{student, exercise}]
	if len(h.records) == len(h.attempts) {
		return Record{}, false // none was graded anew, of thousands perhaps
	}
	for _, i := range slices.Backward(h.records) {
		if old := x.records[i]; old.Attempt == number && old.Key != now.Key {
			return old, true
		}
	}
	return Record{}, false
}

// History returns all records of a student at an exercise, in their order.
func (x *Index) History(student, exercise string) (list []Record) {
	if h, ok := x.cells[cell{student, exercise}]; ok {
		for _, i := range h.records {
			list = append(list, x.records[i])
		}
	}
	return list
}

// All returns all records, in the order in which they were kept. The caller does not change
// them.
func (x *Index) All() []Record { return x.records }

// Attempts returns the records that hold, in the order in which the attempts were first
// kept.
func (x *Index) Attempts() []Record { return Holding(x.records) }

// Holding returns of all records those that hold, as [Index.Attempts] does: a caller who
// holds a lock need not hold it meanwhile.
func Holding(records []Record) (list []Record) {
	type attempt struct {
		cell
		number int
	}
	at := map[attempt]int{}
	for _, r := range records {
		a := attempt{cell{r.Student, r.Exercise}, r.Attempt}
		if i, again := at[a]; again {
			list[i] = r
			continue
		}
		at[a] = len(list)
		list = append(list, r)
	}
	return list
}
