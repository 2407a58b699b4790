package report

import (
	"io"

	"grade/grader/report/page"
	"grade/grader/verdict"
)

// writeHTML writes r as a page for the student.
func writeHTML(w io.Writer, r *verdict.Result, id Identity) error {
	return page.Grading(w, r, id.Student, id.Counted)
}
