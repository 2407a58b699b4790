package file

import (
	"slices"

	"grade/grader/results"
)

// Enter numbers a submission when it comes in.
func (s *Store) Enter(e results.Entry) (results.Attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := owner{e.Student, e.Exercise}
	var pending *results.Pending
	if p, ok := s.wait[results.PendingID{Student: e.Student, Exercise: e.Exercise}]; ok {
		pending = &p
	}
	a := results.Number(s.log.History(o.student, o.exercise), s.entered[o], pending, e)
	if a.Held == nil {
		s.entered[o] = append(s.entered[o], a)
	}
	return a, nil
}

// Withdraw gives back the number of an attempt that came to no verdict, when every caller
// that entered it has withdrawn it.
func (s *Store) Withdraw(a results.Attempt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := owner{a.Student, a.Exercise}
	i := slices.IndexFunc(s.entered[o], func(b results.Attempt) bool { return b.Number == a.Number })
	if i >= 0 {
		s.entered[o] = slices.Delete(s.entered[o], i, i+1)
	}
	return nil
}

// recorded removes an attempt that has a record now from the entered ones.
func (s *Store) recorded(r results.Record) {
	o := owner{r.Student, r.Exercise}
	s.entered[o] = slices.DeleteFunc(s.entered[o], func(a results.Attempt) bool { return a.Number == r.Attempt })
}
