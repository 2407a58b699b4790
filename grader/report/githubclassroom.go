package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

type (
	runnerResult struct {
		Version  int          `json:"version"`
		Status   string       `json:"status"`
		MaxScore int          `json:"max_score"`
		Message  *string      `json:"message"`
		Tests    []runnerTest `json:"tests"`
	}
	runnerTest struct {
		Name          string  `json:"name"`
		Status        string  `json:"status"`
		Score         int     `json:"score"`
		Message       *string `json:"message"`
		TestCode      string  `json:"test_code"`
		Filename      string  `json:"filename"`
		Line          int     `json:"line_no"`
		ExecutionTime string  `json:"execution_time"`
	}
)

// writeGitHubClassroom writes r as the result of a runner of GitHub Classroom's
// autograding, which its reporter adds up.
//
// The reporter adds up twice: its table shows the share of tests that passed, times the
// maximum, and its notice the sum of the tests' scores. Both agree if all tests weigh the
// same, so a check of 15 points beside ones of 10 becomes three tests of 5.
func writeGitHubClassroom(w io.Writer, r *verdict.Result) error {
	doc := runnerResult{Version: 1, Status: "pass", MaxScore: wording.MaxPoints(r), Tests: []runnerTest{}}
	weight := commonWeight(r.Checks)
	for _, c := range r.Checks {
		tests := runnerTests(c, weight)
		doc.Tests = append(doc.Tests, tests...)
		if c.Points < c.MaxPoints {
			doc.Status = "fail"
		}
	}
	if r.Verdict != verdict.Graded {
		doc.Status, doc.Message = "error", new(wording.Overview(r))
	}
	return writeJSON(w, doc)
}

// writeGitHubClassroomBase64 writes the same as a step's output carries it to the
// reporter: base64, in one line.
func writeGitHubClassroomBase64(w io.Writer, r *verdict.Result) error {
	var b bytes.Buffer
	if err := writeGitHubClassroom(&b, r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, base64.StdEncoding.EncodeToString(b.Bytes()))
	return err
}

// commonWeight returns the greatest common divisor of the checks' points.
func commonWeight(checks []verdict.CheckResult) int {
	weight := 0
	for _, c := range checks {
		for _, n := range []int{c.MaxPoints, c.Points} {
			for n != 0 {
				weight, n = n, weight%n
			}
		}
	}
	return max(weight, 1)
}

// runnerTests splits a check into tests of one weight. The first that failed says why, and
// the others name it.
func runnerTests(c verdict.CheckResult, weight int) []runnerTest {
	n, passed := c.MaxPoints/weight, c.Points/weight
	var list []runnerTest
	for i := range n {
		t := runnerTest{Name: part(c, i, n), Status: "pass", Score: weight, ExecutionTime: checkSeconds(c) + "s"}
		switch {
		case i == passed:
			t.Message = new(wording.Paragraphs(wording.CheckVerdict(c), wording.Explain(c)))
		case i > passed:
			t.Message = new("see " + part(c, passed, n))
		}
		if i >= passed {
			t.Status, t.Score = missed(c), 0
		}
		list = append(list, t)
	}
	return list
}

// part names the test i of the n that a check is.
func part(c verdict.CheckResult, i, n int) string {
	if n == 1 {
		return wording.Name(c.Name)
	}
	return fmt.Sprintf("%s (%d of %d)", wording.Name(c.Name), i+1, n)
}
