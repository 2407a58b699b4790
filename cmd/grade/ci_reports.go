package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/report/terminal"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/verdict"
)

// tell writes every report, and says in the exit status how it went.
func (o *ciOptions) tell(s span, ledger *file.Store, fates []batch.Item, found findings) error {
	book := o.rules.book(recordsOf(ledger.Attempts(), fates), nil, fates)
	book.Part()
	sum := sumUp(fates, found.passed())
	err := errors.Join(
		o.print(fates, sum),
		o.reports.write(o.app.out, book),
		o.annotate(book),
		appendTo(o.forge.Summary, func(f *os.File) error { return writeCISummary(f, s, found, book) }),
		appendTo(o.forge.Outputs, func(f *os.File) error { _, err := f.WriteString(sum.outputs()); return err }),
	)
	switch {
	case err != nil:
		return err
	case sum.without > 0:
		return &noVerdict{fmt.Errorf("%d of %d submissions; run this job again", sum.without, len(fates))}
	case !sum.passed:
		return errPointsMissing
	}
	return nil
}

// recordsOf are the records of the submissions that a run is about, with their earlier
// attempts: of what others have, it tells nothing.
func recordsOf(records []results.Record, fates []batch.Item) (list []results.Record) {
	about := map[[2]string]bool{}
	for _, f := range fates {
		about[[2]string{f.Student, f.Exercise}] = true
	}
	for _, r := range records {
		if about[[2]string{r.Student, r.Exercise}] {
			list = append(list, r)
		}
	}
	return list
}

// summed is what a run comes to.
type summed struct {
	points, max             int // of those with a verdict
	graded, cached, without int
	passed                  bool // all points, of all
}

func sumUp(fates []batch.Item, passed bool) (s summed) {
	s.graded, s.cached, s.without = batch.Count(fates)
	s.passed = s.without == 0 && passed
	for _, f := range fates {
		if f.Record == nil {
			continue
		}
		r := f.Record.Result
		s.points, s.max = s.points+r.Score, s.max+r.MaxScore
		s.passed = s.passed && allPoints(r, nil)
	}
	return s
}

// outputs are numbers, and true or false: nothing in them is anybody's text.
func (s summed) outputs() string {
	return fmt.Sprintf("points=%d\nmax-points=%d\ngraded=%d\nno-verdict=%d\npassed=%t\n", s.points, s.max, s.graded+s.cached, s.without, s.passed)
}

// print writes a line for each submission, and one that sums up. Each begins with a word of
// ours: a runner obeys some lines that begin as a folder's name can.
func (o *ciOptions) print(fates []batch.Item, s summed) error {
	if o.json {
		return o.write(newBatchResult(fates), nil)
	}
	if o.reports.onStdout() {
		return nil
	}
	var b strings.Builder
	for _, f := range fates {
		who := terminal.Escape(f.Student) + "  " + terminal.Escape(f.Exercise)
		switch {
		case f.Record == nil:
			fmt.Fprintf(&b, "no verdict  %s  %s\n", who, terminal.Escape(f.Err.Error()))
		case f.Record.Result.Verdict != verdict.Graded:
			fmt.Fprintf(&b, "graded      %s  %d of %d  %s\n", who, f.Record.Result.Score, f.Record.Result.MaxScore, f.Record.Result.Verdict)
		default:
			fmt.Fprintf(&b, "graded      %s  %d of %d\n", who, f.Record.Result.Score, f.Record.Result.MaxScore)
		}
	}
	return o.app.print("%sgraded %d, cached %d, no verdict %d\n", b.String(), s.graded, s.cached, s.without)
}

// annotate writes workflow commands, where somebody reads them.
func (o *ciOptions) annotate(b *gradebook.Book) error {
	const format = "github-annotations"
	asked := slices.ContainsFunc(o.reports.targets, func(t reportTarget) bool { return t.Name == format && t.file == toStdout })
	if !o.forge.Annotates || asked || o.json || o.reports.onStdout() {
		return nil
	}
	f, _ := report.FormatNamed(format)
	return f.WriteCourse(o.app.out, b)
}

// writeCISummary writes the summary of a step. What is said besides the book names
// nobody: whose folders they are stands in the log.
func writeCISummary(f *os.File, s span, found findings, b *gradebook.Book) error {
	for _, x := range []struct {
		names []string
		said  string
	}{
		{found.foreign, "Other students' folders were changed: they are not graded, and should not be changed here. The log names them.\n\n"},
		{found.unknown, "What was changed in no exercise of the course is not graded: is a folder's name misspelt? The log says which.\n\n"},
		{found.links, "A link or a submodule stands in place of a folder of submissions: put the folder back. The log names it.\n\n"},
	} {
		if len(x.names) > 0 {
			if _, err := f.WriteString(x.said); err != nil {
				return err
			}
		}
	}
	if len(b.Rows) == 0 {
		_, err := fmt.Fprintf(f, "No submission to grade in %s.\n", s)
		return err
	}
	format, _ := report.FormatNamed("github-summary")
	return format.WriteCourse(f, b)
}

// appendTo appends to a file of the runner's; without a name it does nothing.
func appendTo(name string, write func(*os.File) error) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
