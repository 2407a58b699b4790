package intake

import (
	"fmt"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Doubt is the reason why a submission's exercise is not known. The zero value is invalid.
type Doubt string

// The values of Doubt.
const (
	NoPackage  Doubt = "no package"  // the submission states no package
	Unreadable Doubt = "unreadable"  // every file that could state it is refused
	NoExercise Doubt = "no exercise" // no exercise has that name or package
	Ambiguous  Doubt = "ambiguous"   // several exercises have the package
)

// UnknownExercise is the error of [ExerciseOf].
type UnknownExercise struct {
	Doubt   Doubt
	Message string             // names files as the submission has them, and no folder of this machine
	Package string             // that the submission states
	Fits    []*course.Exercise // the candidates, where the doubt is Ambiguous
}

func (e *UnknownExercise) Error() string { return e.Message }

// ExerciseOf returns the exercise of that name or, without a name, the only one with the
// submission's package. Only the package clause counts, because the rest of a submission is
// not to be trusted. If several exercises fit, it returns an error rather than the first.
func ExerciseOf(name string, s *submission.Snapshot, all []*course.Exercise) (*course.Exercise, error) {
	if name != "" {
		i := slices.IndexFunc(all, func(e *course.Exercise) bool { return e.Name == name })
		if i < 0 {
			return nil, &UnknownExercise{Doubt: NoExercise, Message: fmt.Sprintf("there is no exercise %q", name)}
		}
		return all[i], nil
	}
	if s.Package == "" && len(s.Files) == 0 && len(s.Problems) > 0 {
		return nil, &UnknownExercise{Doubt: Unreadable, Message: missingClause(s)}
	}
	if s.Package == "" {
		return nil, &UnknownExercise{Doubt: NoPackage, Message: missingClause(s)}
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(e *course.Exercise) bool { return e.Package != s.Package })
	place := fmt.Sprintf("%s:%d", s.PackageFile, s.PackageLine)
	switch len(fits) {
	case 0:
		name := verdict.Printable(s.Package) // which may be as long as the file
		return nil, &UnknownExercise{Doubt: NoExercise, Package: name, Message: fmt.Sprintf("%s: no exercise has a package %s", place, name)}
	case 1:
		return fits[0], nil
	}
	return nil, &UnknownExercise{Doubt: Ambiguous, Message: fmt.Sprintf("%s: several exercises have a package %s", place, s.Package), Fits: fits}
}

// missingClause says where a snapshot lacks its package clause.
func missingClause(s *submission.Snapshot) string {
	switch {
	case len(s.Files) > 0:
		return s.Files[0].Name + ":1: no package clause"
	case len(s.Problems) > 0:
		return strings.TrimPrefix(fmt.Sprintf("%s: %s", s.Problems[0].File, s.Problems[0].Message), ": ")
	}
	return "no package clause"
}
