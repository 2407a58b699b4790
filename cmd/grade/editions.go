package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"grade/exercises/course"
)

// edition is an exercise as it is somewhere.
type edition struct {
	dir      string // of its course
	exercise *course.Exercise
}

// editions finds both. Call forget when they are not needed any more, in any case.
func (o *diffOptions) editions(ctx context.Context) (before, after edition, forget func(), err error) {
	temp, err := os.MkdirTemp("", "grade-diff-")
	forget = func() { o.app.closed(os.RemoveAll(temp)) }
	if err != nil {
		return before, after, func() {}, err
	}
	if before, err = o.edition(ctx, o.old, filepath.Join(temp, "old")); err != nil {
		return before, after, forget, err
	}
	if after, err = o.edition(ctx, o.new, filepath.Join(temp, "new")); err != nil {
		return before, after, forget, err
	}
	switch a, b := before.exercise, after.exercise; {
	case a.Name != b.Name:
		err = usage("give two versions of one exercise", "OLD is the exercise %s, and NEW is %s", a.Name, b.Name)
	case a.Package != b.Package:
		err = usage("no submission could be graded under both", "OLD is about a package %s, and NEW about %s", a.Package, b.Package)
	}
	return before, after, forget, err
}

// edition finds what an argument means; a revision is written to temp.
func (o *diffOptions) edition(ctx context.Context, arg, temp string) (edition, error) {
	const hint = "give the folder of an exercise, such as course/exercises/gradclip, its name, or REVISION:NAME"
	abs, err := filepath.Abs(arg)
	if err != nil {
		return edition{}, err
	}
	name, above := filepath.Base(abs), filepath.Dir(abs)
	colon := strings.LastIndex(arg, ":") // a revision may hold one itself
	_, err = os.Stat(filepath.Join(abs, "exercise.yaml"))
	switch {
	case err == nil && filepath.Base(above) == "exercises":
		return load(filepath.Dir(above), name)
	case colon > 0 && course.IsName(arg[colon+1:]):
		revision, name := arg[:colon], arg[colon+1:]
		if err := checkOut(ctx, o.app.courseDir, revision, name, temp); err != nil {
			return edition{}, fmt.Errorf("%s: %w", arg, err)
		}
		if _, err := os.Stat(filepath.Join(temp, "exercises", name)); err != nil {
			return edition{}, usage(hint, "%s: there was no such exercise", arg)
		}
		return load(temp, name)
	case course.IsName(arg) && o.app.courseDir != "":
		e, err := o.app.exercise(arg)
		return edition{o.app.courseDir, e}, err
	}
	return edition{}, usage(hint, "%s: no exercise in a course", arg)
}

func load(dir, name string) (edition, error) {
	e, err := course.Open(os.DirFS(dir)).Load(name)
	return edition{dir, e}, err
}

// checkOut writes what an exercise of the course in dir was at a revision below to.
func checkOut(ctx context.Context, dir, revision, name, to string) error {
	tree, err := git(ctx, dir, "rev-parse", "--verify", "--end-of-options", revision+":./")
	if err != nil {
		return err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	// In the folder itself git would look for that folder in the tree once more.
	repository := strings.TrimSuffix(string(top), "\n")
	files, err := git(ctx, repository, "ls-tree", "-r", "-z", strings.TrimSpace(string(tree)), "--", "go.mod", "exercises/"+name, "reference/"+name)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		about, file, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(about); len(f) == 3 && strings.HasPrefix(f[0], "100") { // no link, no repository
			if err := takeOut(ctx, repository, f[2], root, file); err != nil {
				return fmt.Errorf("read %s of %s out of git: %w", file, revision, err)
			}
		}
	}
	return nil
}

// takeOut writes an object of a repository to a file. What git archive leaves out or
// changes on its way, by attributes of the course's, belongs to an exercise as well.
func takeOut(ctx context.Context, repository, object string, root *os.Root, file string) error {
	data, err := git(ctx, repository, "cat-file", "blob", object)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(file), 0o777); err != nil {
		return err
	}
	return root.WriteFile(file, data, 0o666)
}
