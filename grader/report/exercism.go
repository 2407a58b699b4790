package report

import (
	"fmt"
	"io"
	"unicode/utf8"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// The caps of Exercism, in characters.
const (
	exercismMessage = 65535
	exercismOutput  = 500
)

type (
	exercismResult struct {
		Version int            `json:"version"`
		Status  string         `json:"status"`
		Message *string        `json:"message"`
		Tests   []exercismTest `json:"tests"`
	}
	exercismTest struct {
		Name    string  `json:"name"`
		Status  string  `json:"status"`
		Message *string `json:"message"`
		Output  *string `json:"output"`
	}
)

// writeExercism writes r as results.json of an Exercism test runner, version 3. Tests
// stand in the exercise's order. The status is "error" only where no test ran, as for
// a submission that was refused, and then the message says why; else "pass" if every
// check passed. A hidden test's source is not among what a student may see, so there
// is no test_code: this is for practice exercises.
func writeExercism(w io.Writer, r *verdict.Result) error {
	doc := exercismResult{Version: 3, Status: "pass", Tests: []exercismTest{}}
	if r.Verdict != verdict.Graded {
		doc.Status, doc.Message = "error", new(shorten(wording.Overview(r), exercismMessage))
		return writeJSON(w, doc)
	}
	for _, c := range r.Checks {
		t := newExercismTest(c)
		if t.Status != "pass" {
			doc.Status = "fail"
		}
		doc.Tests = append(doc.Tests, t)
	}
	return writeJSON(w, doc)
}

func newExercismTest(c verdict.CheckResult) exercismTest {
	t := exercismTest{Name: wording.Name(c.Name), Status: status(c)}
	if t.Status != "pass" {
		t.Message = new(shorten(wording.Paragraphs(wording.CheckVerdict(c), wording.Explain(c)), exercismMessage))
	} else if f := wording.Figures(c); f != "" {
		t.Output = new(shorten(f, exercismOutput))
	}
	return t
}

// status returns a check's status in Exercism's words.
func status(c verdict.CheckResult) string {
	if c.Verdict.Earns() {
		return "pass"
	}
	return missed(c)
}

// missed returns the status of a check that did not pass. It is never "pass". The words are
// Exercism's, and GitHub Classroom uses them too.
func missed(c verdict.CheckResult) string {
	if c.Verdict == verdict.NotRun {
		return "error"
	}
	return "fail"
}

// shorten cuts s to n characters, the cut visible.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	const mark = "\n… cut"
	r := []rune(s)
	return fmt.Sprint(string(r[:n-utf8.RuneCountInString(mark)]), mark)
}
