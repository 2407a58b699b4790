package report

import (
	"encoding/csv"
	"io"
	"regexp"

	"grade/grader/gradebook"
	"grade/grader/report/wording"
)

// writeCSV writes b for a spreadsheet: a row a student, a column an exercise with the
// Points that count, and the total in percent. What there is no grade of is empty, so
// that nobody's fault becomes a 0.
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

// formula is what a spreadsheet computes: at the start of a cell, or behind what separates
// cells for a spreadsheet of another country, which the quotes of this file mean nothing
// to. A keyboard for Chinese or Japanese has the signs in full width as well. Colons are
// what a runner of GitHub obeys, should the file be printed in a log.
var formula = regexp.MustCompile(`(^|[,;|])([ "']*)([=+\-@＝＋－＠]|::)`)

// cellText is text in a cell that stays text. Nothing in it is a control character.
func cellText(s string) string { return formula.ReplaceAllString(wording.Whole(s), "$1$2'$3") }

// amount writes points or percent; nothing where there are none.
func amount(x *float64) string {
	if x == nil {
		return ""
	}
	return gradebook.Number(*x)
}
