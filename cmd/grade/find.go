package main

import (
	"errors"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/submission"
)

// findExercise is the exercise that --exercise names, or else the one whose package
// the submission is. Nothing else in a student's folder is asked.
func (o *submitOptions) findExercise(snap *submission.Snapshot) (*course.Exercise, error) {
	if o.exercise != "" {
		return o.app.exercise(o.exercise)
	}
	all, broken, err := o.app.exercises()
	if err != nil {
		return nil, err
	}
	e, err := intake.ExerciseOf("", snap, all)
	unknown := (*intake.UnknownExercise)(nil)
	if !errors.As(err, &unknown) {
		return e, err
	}
	if unknown.Doubt == intake.NoExercise && len(broken) > 0 {
		// The exercise meant may be one that cannot be loaded: then it is not the
		// student who has to do something.
		return nil, errors.Join(broken...)
	}
	return nil, sayExercise(unknown, all)
}

// sayExercise says what to do where a submission does not tell its exercise. Exercises of
// one package are no fault of the student's.
func sayExercise(unknown *intake.UnknownExercise, all []*course.Exercise) error {
	switch unknown.Doubt {
	case intake.NoPackage:
		return faulty("say it with --exercise; "+packagesOf(all), "cannot tell the exercise: %s", unknown.Message)
	case intake.NoExercise:
		return faulty("mend the package clause, or say --exercise; "+packagesOf(all), "%s", unknown.Message)
	}
	return &fault.Error{Message: unknown.Message, Advice: "say which with --exercise; " + packagesOf(unknown.Fits)}
}

// packagesOf says what can be submitted.
func packagesOf(list []*course.Exercise) string {
	if len(list) == 0 {
		return thereAre(nil)
	}
	var names []string
	for _, e := range list {
		s := e.Name
		if e.Package != e.Name {
			s += " (package " + e.Package + ")"
		}
		names = append(names, s)
	}
	return thereAre(names)
}
