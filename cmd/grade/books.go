package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/wholefile"
)

// What stands in a file's name for the submission that the file is about.
const (
	forStudent  = "{student}"
	forExercise = "{exercise}"
)

// bookReports are the reports about many submissions that were asked for.
type bookReports struct {
	values  []string // of --report
	targets []reportTarget
}

func (r *bookReports) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&r.values, "report", nil, "write a report, `FORMAT=FILE`, as often as given; with {student} and {exercise} in FILE, one for each submission; see: grade help reports")
	_ = cmd.RegisterFlagCompletionFunc("report", completeReportsIf(func(report.Format) bool { return true }))
}

// check refuses, before anything is graded, what could not be written afterwards.
func (r *bookReports) check() (err error) {
	r.targets, err = parseTargets(r.values, func(t reportTarget) error {
		if each(t.file) {
			if !t.OfOne() || !strings.Contains(t.file, forStudent) || !strings.Contains(t.file, forExercise) {
				return errors.New("a file for each submission needs a format of one, and both {student} and {exercise} in its name")
			}
			return t.Lacks(report.Identity{})
		}
		if !t.OfMany() {
			return fmt.Errorf("%s is of one submission: put {student} and {exercise} in the name of the file", t.Name)
		}
		return writable(t.file)
	})
	return err
}

// each reports whether a file's name stands for many.
func each(file string) bool {
	return strings.Contains(file, forStudent) || strings.Contains(file, forExercise)
}

// write writes the reports about a book; out is standard output. What cannot be written keeps no
// other report back.
func (r *bookReports) write(out io.Writer, b *gradebook.Book) error {
	var errs []error
	for _, t := range r.targets {
		switch {
		case each(t.file):
			errs = append(errs, writeEach(t, b))
		case t.file == toStdout:
			errs = append(errs, t.WriteCourse(out, b))
		default:
			errs = append(errs, writeFile(t.file, func(f io.Writer) error { return t.WriteCourse(f, b) }))
		}
	}
	return errors.Join(errs...)
}

// onStdout reports whether a report takes the place of the text.
func (r *bookReports) onStdout() bool {
	return slices.ContainsFunc(r.targets, func(t reportTarget) bool { return t.file == toStdout && !t.Beside })
}

// writeEach writes a report of each submission that has a verdict. What lies below the
// folder before the first placeholder may be a student's, in a checkout: no link there is
// followed.
func writeEach(t reportTarget, b *gradebook.Book) error {
	dir, pattern := splitEach(t.file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	for _, e := range b.Entries() {
		result := e.Cell.Result()
		if result == nil {
			continue
		}
		name := filepath.Clean(strings.NewReplacer(forStudent, fileName(e.Student), forExercise, fileName(e.Exercise)).Replace(pattern))
		id := report.Identity{Student: e.Student, Folder: e.Folder, Counted: &e.Cell}
		if err := writeBelow(root, name, func(f io.Writer) error { return t.Write(f, result, id) }); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", filepath.Join(dir, name), err))
		}
	}
	return errors.Join(errs...)
}

// splitEach is the folder that holds the files of all submissions, and their names in it.
func splitEach(file string) (dir, pattern string) {
	fixed, _, _ := strings.Cut(file, forStudent)
	fixed, _, _ = strings.Cut(fixed, forExercise)
	dir = filepath.Dir(fixed + "x")
	pattern, err := filepath.Rel(dir, file)
	if err != nil {
		return ".", file // both are below the same folder: it cannot be
	}
	return dir, pattern
}

// writeBelow writes a file below root, unless a link is on the way.
func writeBelow(root *os.Root, name string, write func(io.Writer) error) error {
	for at := name; at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, which is not followed: take it away", at)
		}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return wholefile.WriteIn(root, name, write)
}

// longestName is as much of a name as stands in a file's, in bytes, which may have 255 in all.
const longestName = 200

// fileName is a name as one segment of a path, and no other name's. Of a long one there is
// the start, and a hash behind a comma, which is in no other.
func fileName(s string) string {
	if strings.Trim(s, ".") == "" {
		s = strings.ReplaceAll(s, ".", "%2E")
	} else {
		s = url.PathEscape(s)
	}
	if len(s) <= longestName {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return s[:longestName/2] + "," + hex.EncodeToString(sum[:16])
}

// rulesFlag adds the flag that names a grade.yaml.
func rulesFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "policy", "", "take deadlines and weights from this `FILE`, not from a grade.yaml of the course or of the current folder")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml")
}

// resultsFlag adds the flag that names a folder of results.
func resultsFlag(cmd *cobra.Command, dir *string, what string) {
	cmd.Flags().StringVar(dir, "results", "grade-results", what)
	_ = cmd.MarkFlagDirname("results")
}
