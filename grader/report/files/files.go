// Package files writes reports to their targets: a file, which is replaced as a whole or
// not at all, a file for each submission, or standard output. It refuses a target that
// cannot be written before anything is graded. It knows formats by their names and nothing
// of their content.
//
// A caller collects [Targets] with [Targets.Add], and calls Write when all is graded.
package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/verdict"
	"grade/grader/wholefile"
)

// Stdout stands for standard output in place of a file's name.
const Stdout = "-"

// Target is a format and the file to write it to.
type Target struct {
	report.Format
	File string // or Stdout; of a run over many submissions it may stand for many
}

// Targets lists the reports to write.
type Targets []Target

// Add parses FORMAT=FILE. It refuses what check refuses, and a file that another report is
// written to.
func (l *Targets) Add(value string, check func(Target) error) error {
	format, file, ok := strings.Cut(value, "=")
	f, known := report.FormatNamed(format)
	switch {
	case !known:
		return fmt.Errorf("there is no format %q; there are %s", format, strings.Join(report.FormatNames(), ", "))
	case !ok || file == "":
		return errors.New("want FORMAT=FILE, or FORMAT=- for standard output")
	case slices.ContainsFunc(*l, func(t Target) bool { return filepath.Clean(t.File) == filepath.Clean(file) }):
		return errors.New("another report goes there too")
	}
	t := Target{f, file}
	if err := check(t); err != nil {
		return err
	}
	*l = append(*l, t)
	return nil
}

// OfOne checks a report of a single grading.
func OfOne(t Target, id report.Identity) error {
	if !t.OfOne() {
		return fmt.Errorf("%s is of many submissions", t.Name)
	}
	if err := writable(t.File); err != nil {
		return err
	}
	return t.Lacks(id)
}

// OfMany checks a report about many submissions, or of each of them.
func OfMany(t Target) error {
	if t.NeedsIdentity() {
		return fmt.Errorf("%s is of one submission, which its environment names: use it with grade submit", t.Name)
	}
	if each(t.File) {
		if !t.OfOne() || !strings.Contains(t.File, forStudent) || !strings.Contains(t.File, forExercise) {
			return errors.New("a file for each submission needs a format of one, and both {student} and {exercise} in its name")
		}
		return nil
	}
	if !t.OfMany() {
		return fmt.Errorf("%s is of one submission: put {student} and {exercise} in the name of the file", t.Name)
	}
	return writable(t.File)
}

// writable finds out whether there can be a file of this name.
func writable(file string) error {
	if file == Stdout {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", file)
	}
	_, err := os.Stat(filepath.Dir(file))
	return err
}

// OnStdout returns the report that goes to standard output, if one does.
func (l Targets) OnStdout() (t Target, ok bool) {
	i := slices.IndexFunc(l, func(t Target) bool { return t.File == Stdout })
	if i < 0 {
		return t, false
	}
	return l[i], true
}

// ReplacesText reports whether a report takes the place of the text on standard output.
func (l Targets) ReplacesText() bool {
	t, ok := l.OnStdout()
	return ok && !t.Beside
}

// Write writes the reports of one grading: files first, then standard output, with the text
// before a report that does not replace it. A failure of one report stops no other.
func (l Targets) Write(out io.Writer, r *verdict.Result, id report.Identity, text func() error) error {
	var errs []error
	for _, t := range l {
		if t.File != Stdout {
			errs = append(errs, writeFile(t.File, func(f io.Writer) error { return t.Write(f, r, id) }))
		}
	}
	if !l.ReplacesText() {
		errs = append(errs, text())
	}
	if t, ok := l.OnStdout(); ok {
		errs = append(errs, t.Write(out, r, id))
	}
	return errors.Join(errs...)
}

// WriteNoVerdict writes the reports that can say that there is no verdict. It leaves all
// other reports as they are: an old grade is better than none.
func (l Targets) WriteNoVerdict(out io.Writer, message string) (failed []error) {
	for _, t := range l {
		var err error
		switch {
		case !t.TellsNoVerdict():
		case t.File == Stdout:
			err = t.WriteNoVerdict(out, message)
		default:
			err = writeFile(t.File, func(f io.Writer) error { return t.WriteNoVerdict(f, message) })
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// WriteCourse writes the reports about a gradebook. A failure of one report stops no other.
func (l Targets) WriteCourse(out io.Writer, b *gradebook.Book) error {
	var errs []error
	for _, t := range l {
		t.Format = t.LinkedTo(l.pagesFrom(t.File))
		switch {
		case each(t.File):
			errs = append(errs, writeEach(t, b))
		case t.File == Stdout:
			errs = append(errs, t.WriteCourse(out, b))
		default:
			errs = append(errs, writeFile(t.File, func(f io.Writer) error { return t.WriteCourse(f, b) }))
		}
	}
	return errors.Join(errs...)
}

// writeFile writes a report whole, or leaves the old one.
func writeFile(name string, write func(io.Writer) error) error {
	if err := wholefile.Write(name, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
