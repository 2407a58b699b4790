package report

import (
	"encoding/csv"
	"io"
	"regexp"

	"grade/grader/gradebook"
	"grade/grader/report/wording"
)

// writeCSV writes b for a spreadsheet: a row for each student, a column for each exercise
// with the points that count, and the total in percent. A cell without a grade is empty, so
// that a fault of ours does not become a 0.
func writeCSV(w io.Writer, b *gradebook.Book) error {
	header := []string{"student"}
	for _, c := range b.Columns {
		header = append(header, cellText(c.Exercise))
	}
	rows := [][]string{append(header, "total")}
	for _, r := range b.Rows {
		row := []string{cellText(r.Student)}
		for _, c := range r.Cells {
			row = append(row, amount(c.Points))
		}
		rows = append(rows, append(row, amount(r.Total)))
	}
	return writeRows(w, rows)
}

// writeRows writes rows that end in a newline alone, as Canvas does.
func writeRows(w io.Writer, rows [][]string) error {
	c := csv.NewWriter(w)
	return c.WriteAll(rows)
}

// formula matches text that a spreadsheet would compute: at the start of a cell, or after a
// character that separates cells in a spreadsheet of another country, which ignores the
// quotes of this file. The signs exist in full width as well, on keyboards for Chinese and
// Japanese. A runner of GitHub obeys "::" if the file is printed in a log.
var formula = regexp.MustCompile(`(^|[,;|])([ "']*)([=+\-@＝＋－＠]|::)`)

// cellText makes a cell that a spreadsheet takes for text. It holds no control character.
func cellText(s string) string { return formula.ReplaceAllString(wording.Whole(s), "$1$2'$3") }

// amount writes points or percent, and nothing for nil.
func amount(x *float64) string {
	if x == nil {
		return ""
	}
	return gradebook.Number(*x)
}
