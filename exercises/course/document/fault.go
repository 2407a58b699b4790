// Package document reads the YAML files that authors write, node by node, and reports
// their faults with file and line. It knows YAML and neither exercises nor courses:
// its caller passes a table of [Fields] with a setter for each.
//
// [File.Read] reads a file; [Line], [Whole], [OneOf] and the like make setters.
// [Faults] collects every fault, so that an author sees all of them at once.
package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Fault is one fault in a file of a course: its author's, never a student's.
type Fault struct {
	Doing string // such as "load exercise autograd"
	File  string // below the exercise's folder; of the reference, below the course's
	Line  int    // 0: the file as a whole
	Err   error  // what is wrong
}

func (p *Fault) Error() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s: %s: %v", p.Doing, where, p.Err)
}

func (p *Fault) Unwrap() error { return p.Err }

// Faults collects faults.
type Faults struct {
	Doing string
	List  []*Fault
}

// Add adds a fault; line 0 stands for the file as a whole.
func (p *Faults) Add(file string, line int, format string, args ...any) {
	p.List = append(p.List, &Fault{p.Doing, file, line, fmt.Errorf(format, args...)})
}

// Join returns all faults as one error, by file and line; nil if there are none.
func (p *Faults) Join() error {
	slices.SortStableFunc(p.List, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	errs := make([]error, len(p.List))
	for i, problem := range p.List {
		errs[i] = problem
	}
	return errors.Join(errs...)
}
