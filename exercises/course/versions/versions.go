// Package versions finds an exercise as it is or was: in a folder of a course, in a course
// by its name, or in the repository of a course at a revision. It trusts that repository,
// because it belongs to the exercise's author; package grader/intake/repository reads those
// of students.
package versions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
)

// Version is one version of an exercise.
type Version struct {
	Dir      string // of its course
	Exercise *course.Exercise
}

// Pair is two versions of one exercise.
type Pair struct {
	Old, New Version
	temp     string
}

// Close removes what was checked out of git.
func (p *Pair) Close() error {
	if p.temp == "" {
		return nil
	}
	return os.RemoveAll(p.temp)
}

// Find finds two versions of one exercise. Each argument is the folder of an exercise, in
// its course; or the name of an exercise of the course in dir, which may be empty for no
// course; or REVISION:NAME, as the course in dir was in git. Versions that cannot be
// compared are a [fault.Error]. The caller always calls Close.
func Find(ctx context.Context, dir, before, after string) (p *Pair, err error) {
	p = &Pair{}
	if p.temp, err = os.MkdirTemp("", "grade-diff-"); err != nil {
		return p, err
	}
	if p.Old, err = find(ctx, dir, before, filepath.Join(p.temp, "old")); err != nil {
		return p, err
	}
	if p.New, err = find(ctx, dir, after, filepath.Join(p.temp, "new")); err != nil {
		return p, err
	}
	switch a, b := p.Old.Exercise, p.New.Exercise; {
	case a.Name != b.Name:
		return p, refuse("give two versions of one exercise", "OLD is the exercise %s, and NEW is %s", a.Name, b.Name)
	case a.Package != b.Package:
		return p, refuse("no submission could be graded under both", "OLD is about a package %s, and NEW about %s", a.Package, b.Package)
	}
	return p, nil
}

func refuse(hint, format string, args ...any) error {
	return &fault.Error{Message: fmt.Sprintf(format, args...), Advice: hint}
}

// find resolves one argument; it writes a revision to temp.
func find(ctx context.Context, dir, arg, temp string) (Version, error) {
	const hint = "give the folder of an exercise, such as course/exercises/gradclip, its name, or REVISION:NAME"
	abs, err := filepath.Abs(arg)
	if err != nil {
		return Version{}, err
	}
	name, above := filepath.Base(abs), filepath.Dir(abs)
	colon := strings.LastIndex(arg, ":") // a revision may hold one itself
	_, err = os.Stat(filepath.Join(abs, "exercise.yaml"))
	switch {
	case err == nil && filepath.Base(above) == course.ExercisesDir:
		return load(filepath.Dir(above), name)
	case colon > 0 && course.IsName(arg[colon+1:]):
		revision, name := arg[:colon], arg[colon+1:]
		if err := CheckOut(ctx, dir, revision, name, temp); err != nil {
			return Version{}, fmt.Errorf("%s: %w", arg, err)
		}
		if _, err := os.Stat(filepath.Join(temp, course.ExercisesDir, name)); err != nil {
			return Version{}, refuse(hint, "%s: there was no such exercise", arg)
		}
		return load(temp, name)
	case course.IsName(arg) && dir != "":
		return named(dir, arg)
	}
	return Version{}, refuse(hint, "%s: no exercise in a course", arg)
}

// named returns an exercise of the course in dir.
func named(dir, name string) (Version, error) {
	c := course.Open(course.Folder(dir))
	names, err := c.Names()
	if err != nil {
		return Version{}, err
	}
	if !slices.Contains(names, name) {
		return Version{}, refuse("the course has: "+strings.Join(names, ", "), "there is no exercise %q", name)
	}
	return load(dir, name)
}

func load(dir, name string) (Version, error) {
	e, err := course.Open(course.Folder(dir)).Load(name)
	return Version{dir, e}, err
}
