package main

import (
	"errors"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/submission"
)

// findExercise returns the exercise that --exercise names, or else the one with the
// submission's package. It reads nothing else in a student's folder.
func (o *submitOptions) findExercise(snap *submission.Snapshot) (*course.Exercise, error) {
	if o.exercise != "" {
		return o.app.exercise(o.exercise)
	}
	if e := o.likely(snap); e != nil {
		return e, nil
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
		// The student may mean an exercise that cannot be loaded, which is the author's
		// fault.
		return nil, errors.Join(broken...)
	}
	return nil, sayExercise(unknown, all)
}

// likely returns the exercise with the submission's package, without reading all others; nil
// where that takes a closer look.
func (o *submitOptions) likely(snap *submission.Snapshot) *course.Exercise {
	c, err := o.app.course()
	if err != nil || snap.Package == "" {
		return nil
	}
	few, err := c.LoadNaming(snap.Package)
	if err != nil {
		return nil
	}
	e, err := intake.ExerciseOf("", snap, few)
	if err != nil {
		return nil
	}
	return e
}

// sayExercise adds a hint to an unknown exercise. Several exercises with one package are no
// fault of the student's.
func sayExercise(unknown *intake.UnknownExercise, all []*course.Exercise) error {
	switch unknown.Doubt {
	case intake.Unreadable:
		return faulty("mend that, and submit again", "%s", unknown.Message)
	case intake.NoPackage:
		return faulty("say it with --exercise; "+packagesOf(all), "cannot tell the exercise: %s", unknown.Message)
	case intake.NoExercise:
		var packages []string
		for _, e := range all {
			packages = append(packages, e.Package)
		}
		return faulty(didYouMean(unknown.Package, packages)+"mend the package clause, or say --exercise; "+packagesOf(all), "%s", unknown.Message)
	}
	return &fault.Error{Message: unknown.Message, Advice: "say which with --exercise; " + packagesOf(unknown.Fits)}
}

// packagesOf lists the packages that can be submitted.
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
