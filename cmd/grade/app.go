package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"grade"
	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/report"
	"grade/grader/report/terminal"
)

// app is what all commands share: the streams, the clock, the course.
type app struct {
	in  io.Reader
	out stream // results
	err stream // progress and errors
	now func() time.Time

	courseDir string // --course; empty: the course that the binary carries
	started   bool   // a command has begun: its arguments were understood
}

func newApp(in io.Reader, out, err io.Writer) *app {
	return &app{in: in, out: newStream(out, os.Getenv), err: newStream(err, os.Getenv), now: time.Now}
}

// stream is where output goes, and what can be shown there.
type stream struct {
	io.Writer
	live  bool // a terminal on which a line can be drawn again
	color bool
	width int // columns; 0: not a terminal, lines are not broken
}

// maxWidth keeps prose readable on a wide screen.
const maxWidth = 100

func newStream(w io.Writer, env func(string) string) stream {
	s := stream{Writer: w}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.live = env("TERM") != "dumb"
	s.color = s.live && env("NO_COLOR") == ""
	s.width = 80
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.width = min(width, maxWidth)
	}
	return s
}

// terminal reports whether a person is watching.
func (s stream) terminal() bool { return s.width > 0 }

func (s stream) palette() terminal.Palette { return terminal.NewPalette(s.color) }

func (s stream) textOptions() report.TextOptions {
	return report.TextOptions{Color: s.color, Width: s.width}
}

// usage is an error of whoever typed the command.
func usage(hint, format string, args ...any) error {
	return &fault.UsageError{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// faulty is one of the student whose submission it is about. The message has no folder
// of this machine in it.
func faulty(hint, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &fault.UsageError{Message: message, Hint: hint, Student: message}
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
		return nil, &fault.UsageError{Message: "open course " + a.courseDir, Hint: hint, Err: err}
	case !info.IsDir():
		return nil, usage(hint, "open course %s: %s is not a folder", a.courseDir, dir)
	}
	return course.Open(os.DirFS(a.courseDir)), nil
}

// exercise loads the exercise that was asked for by name.
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
		return nil, usage(thereAre(names), "there is no exercise %q", name)
	}
	return c.Load(name)
}

// exercises loads what can be loaded of the course, sorted by name, and says what
// could not.
func (a *app) exercises() (list []*course.Exercise, broken []error, err error) {
	c, err := a.course()
	if err != nil {
		return nil, nil, err
	}
	names, err := c.Names()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		e, err := c.Load(name)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		list = append(list, e)
	}
	return list, broken, nil
}

// allExercises loads the course, all of which must be in order.
func (a *app) allExercises() ([]*course.Exercise, error) {
	all, broken, err := a.exercises()
	return all, errors.Join(append(broken, err)...)
}

func thereAre(names []string) string {
	if len(names) == 0 {
		return "the course has no exercises"
	}
	return "the course has: " + strings.Join(names, ", ")
}

// closed tells what went wrong when all was done, which keeps no result back.
func (a *app) closed(err error) {
	if err != nil {
		fmt.Fprintln(a.err, "grade: "+terminal.Escape(err.Error()))
	}
}

// print writes to the results. An error, such as a full disk, ends the command.
func (a *app) print(format string, args ...any) error {
	if _, err := fmt.Fprintf(a.out, format, args...); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
