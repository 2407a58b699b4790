package exercises

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Problem is one fault of an exercise: the course's, never a student's.
type Problem struct {
	Doing string // such as "load exercise autograd"
	File  string // below the exercise's folder; of the reference, below the course's
	Line  int    // 0: the file as a whole
	Err   error  // what is wrong
}

func (p *Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s: %s: %v", p.Doing, where, p.Err)
}

func (p *Problem) Unwrap() error { return p.Err }

// problems collects faults, so that an author sees all of them at once.
type problems struct {
	doing string
	list  []*Problem
}

func (p *problems) add(file string, line int, format string, args ...any) {
	p.list = append(p.list, &Problem{p.doing, file, line, fmt.Errorf(format, args...)})
}

// join returns all of them as one error, by file and line; nil if there are none.
func (p *problems) join() error {
	slices.SortStableFunc(p.list, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	errs := make([]error, len(p.list))
	for i, problem := range p.list {
		errs[i] = problem
	}
	return errors.Join(errs...)
}
