package summary

import (
	"fmt"
	"io"
	"strings"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/intake/changed"
	"grade/grader/report"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// Push is the summary of a run about a push or a pull request.
type Push struct {
	Points, Max             int // of those with a verdict
	Graded, Cached, Without int
	Ours                    int  // without a verdict through no fault of a student's
	Passed                  bool // all points, of all
}

// NewPush sums up the items of a run; passed tells that the push changed nothing that it
// must not.
func NewPush(items []batch.Item, passed bool) (s Push) {
	s.Graded, s.Cached, s.Without = batch.Count(items)
	s.Ours = batch.Ours(items)
	s.Passed = s.Without == 0 && passed
	for _, f := range items {
		if f.Record == nil {
			continue
		}
		r := f.Record.Result
		s.Points, s.Max = s.Points+r.Score, s.Max+r.MaxScore
		s.Passed = s.Passed && r.AllPoints(nil)
	}
	return s
}

// Outputs returns the outputs of a job: numbers, and true or false, but no text of a
// submission.
func (s Push) Outputs() string {
	return fmt.Sprintf("points=%d\nmax-points=%d\ngraded=%d\nno-verdict=%d\npassed=%t\n", s.Points, s.Max, s.Graded+s.Cached, s.Without, s.Passed)
}

// Text returns a line for each submission, and one that sums up. Each begins with a word of
// ours: a runner obeys some lines, and a folder's name could begin like one.
func (s Push) Text(items []batch.Item) string {
	var b strings.Builder
	for _, f := range items {
		who := terminal.Escape(f.Student) + "  " + terminal.Escape(f.Exercise)
		switch {
		case f.Record == nil:
			fmt.Fprintf(&b, "no verdict  %s  %s\n", who, terminal.Escape(f.Err.Error()))
		case f.Record.Result.Verdict != verdict.Graded:
			fmt.Fprintf(&b, "graded      %s  %d of %d  %s\n", who, f.Record.Result.Score, f.Record.Result.MaxScore, refusal(f.Record.Result))
		default:
			fmt.Fprintf(&b, "graded      %s  %d of %d\n", who, f.Record.Result.Score, f.Record.Result.MaxScore)
		}
	}
	fmt.Fprintf(&b, "graded %d, cached %d, no verdict %d\n", s.Graded, s.Cached, s.Without)
	return b.String()
}

// WriteStep writes the summary of a job's step: the changes between two commits, and the
// gradebook about them. Besides the gradebook it names no student: the log has the names of
// folders.
func WriteStep(f io.Writer, s changed.Span, found changed.Found, items []batch.Item, b *gradebook.Book) error {
	for _, x := range []struct {
		names []string
		said  string
	}{
		{found.Foreign, "Other students' folders were changed: they are not graded, and should not be changed here. The log names them.\n\n"},
		{found.Unknown, "A changed folder has the name of no exercise of the course, and was not graded: is it misspelt? The log says which.\n\n"},
		{found.Archives, "An archive is not graded here: commit the folder that it holds. The log names it.\n\n"},
		{found.Malformed, "A folder has a tree that git does not write, such as one with a name twice, and was not graded. The log names it.\n\n"},
		{found.Links, "A link or a submodule stands in place of a folder of submissions: put the folder back. The log names it.\n\n"},
	} {
		if len(x.names) > 0 {
			if _, err := io.WriteString(f, x.said); err != nil {
				return err
			}
		}
	}
	if len(items) == 0 {
		_, err := fmt.Fprintf(f, "No submission to grade in %s.\n", s)
		return err
	}
	if len(b.Rows) == 0 {
		_, err := fmt.Fprintf(f, "Submissions of staff are not in the gradebook: the log has what was graded in %s.\n", s)
		return err
	}
	format, _ := report.FormatNamed("github-summary")
	return format.WriteCourse(f, b)
}
