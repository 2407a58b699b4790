package main

import (
	"errors"
	"fmt"
	"strings"

	"grade/exercises/course"
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
	if snap.Package == "" {
		return nil, faulty("say it with --exercise; "+packagesOf(all), "cannot tell the exercise: %s", noPackage(snap))
	}
	var found []*course.Exercise
	for _, e := range all {
		if e.Package == snap.Package {
			found = append(found, e)
		}
	}
	place := fmt.Sprintf("%s:%d", snap.PackageFile, snap.PackageLine)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		// The exercise meant may be one that cannot be loaded: then it is not the
		// student who has to do something.
		if len(broken) > 0 {
			return nil, errors.Join(broken...)
		}
		return nil, faulty("mend the package clause, or say --exercise; "+packagesOf(all),
			"%s: no exercise has a package %s", place, snap.Package)
	}
	return nil, usage("say which with --exercise; "+packagesOf(found), "%s: several exercises have a package %s", place, snap.Package)
}

// noPackage says why a snapshot has no package clause.
func noPackage(s *submission.Snapshot) string {
	if len(s.Files) == 0 && len(s.Problems) > 0 {
		return strings.TrimPrefix(fmt.Sprintf("%s: %s", s.Problems[0].File, s.Problems[0].Message), ": ")
	}
	if len(s.Files) > 0 {
		return s.Files[0].Name + ":1: no package clause"
	}
	return "no package clause"
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
