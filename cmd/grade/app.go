package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade"
	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/report"
	"grade/grader/report/progress"
	"grade/grader/report/terminal"
)

// app holds what all commands share: the streams, the clock, the course.
type app struct {
	in  io.Reader
	out terminal.Stream // results
	err terminal.Stream // progress and errors
	now func() time.Time

	courseDir string // --course; empty: the course that the binary carries
	here      bool   // no --course was given, and the course is that of the current folder
	started   bool   // a command has begun: its arguments were understood
	lost      *output
	line      *progress.Line // while gradings last and a person is watching
}

func newApp(in io.Reader, out, err io.Writer) *app {
	a := &app{in: in, out: terminal.NewStream(out, os.Getenv), err: terminal.NewStream(err, os.Getenv), now: time.Now}
	a.lost = &output{to: out}
	a.out.Writer = a.lost
	return a
}

// sameCourse is what a command that is suggested has to say to be about the same course.
func (a *app) sameCourse() string {
	if a.courseDir == "" || a.here {
		return ""
	}
	return " --course " + shellWord(a.courseDir)
}

// usage returns an error of the caller's, with a hint.
func usage(hint, format string, args ...any) error {
	return &fault.Error{Message: fmt.Sprintf(format, args...), Advice: hint}
}

// hinted adds a hint in this command's words to an error of a library.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// Hint says what to do.
func (e *hinted) Hint() string { return e.hint }

// withHint adds a hint to an error of the caller's, unless the library has a better one.
func withHint(hint string, err error) error {
	if u := (*fault.Error)(nil); errors.As(err, &u) && u.Advice == "" {
		return &hinted{err, hint}
	}
	return err
}

// faulty returns an error of the student's. The message has no folder of this machine in
// it.
func faulty(hint, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &fault.Error{Message: message, Advice: hint, Told: message}
}

// course opens the course that --course names, or the one that is built in.
func (a *app) course() (*course.Course, error) {
	if a.courseDir == "" {
		return course.Open(grade.Course), nil
	}
	const hint = "give a folder that holds exercises/ and reference/"
	dir := filepath.Join(a.courseDir, "exercises")
	switch info, err := os.Stat(dir); {
	case err != nil:
		return nil, &fault.Error{Message: "open course " + a.courseDir, Advice: hint, Err: err}
	case !info.IsDir():
		return nil, usage(hint, "open course %s: %s is not a folder", a.courseDir, dir)
	}
	return course.Open(course.Folder(a.courseDir)), nil
}

// names returns the names of the course's exercises.
func (a *app) names() ([]string, error) {
	c, err := a.course()
	if err != nil {
		return nil, err
	}
	return c.Names()
}

// exercise loads the exercise of that name.
func (a *app) exercise(name string) (*course.Exercise, error) {
	c, err := a.course()
	if err != nil {
		return nil, err
	}
	names, err := c.Names()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		return nil, noExercise(name, names)
	}
	return c.Load(name)
}

// exercises loads the exercises that can be loaded, sorted by name, and returns the errors
// of the others.
func (a *app) exercises() (list []*course.Exercise, broken []error, err error) {
	c, err := a.course()
	if err != nil {
		return nil, nil, err
	}
	return c.LoadAll()
}

// allExercises loads all exercises, or fails.
func (a *app) allExercises() ([]*course.Exercise, error) {
	all, broken, err := a.exercises()
	return all, errors.Join(append(broken, err)...)
}

// noExercise says what there is in place of an exercise. A name is not a path, but who gives
// the path of one means it.
func noExercise(name string, names []string) error {
	return usage(didYouMean(path.Base(filepath.ToSlash(name)), names)+thereAre(names), "there is no exercise %q", name)
}

func thereAre(names []string) string {
	if len(names) == 0 {
		return "the course has no exercises"
	}
	return "the course has: " + strings.Join(names, ", ")
}

// textOptions returns the options of a report on standard output: it is brief on a terminal,
// unless all is asked for.
func (a *app) textOptions(verbose bool) report.TextOptions {
	return report.TextOptions{Color: a.out.Color, Width: a.out.Width, Brief: a.out.IsTerminal() && !verbose, Verbose: verbose}
}

// closed prints an error from cleaning up, which withholds no result.
func (a *app) closed(err error) {
	if err != nil {
		fmt.Fprintln(a.err, "grade: "+terminal.Escape(err.Error()))
	}
}

// note writes a line to the log of a job.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.err, "grade: "+terminal.Escape(fmt.Sprintf(format, args...)))
}

// maxWarnings is how many warnings of one kind are printed.
const maxWarnings = 20

// warn prints warnings.
func (a *app) warn(list []string) {
	for _, w := range list[:min(len(list), maxWarnings)] {
		a.note("warning: %s", w)
	}
	if n := len(list) - maxWarnings; n > 0 {
		a.note("warning: … and %d more", n)
	}
}

// print writes to standard output. An error, such as a full disk, ends the command.
func (a *app) print(format string, args ...any) error {
	if _, err := fmt.Fprintf(a.out, format, args...); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
