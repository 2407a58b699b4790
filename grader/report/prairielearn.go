package report

import (
	"bytes"
	"fmt"
	"io"

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// maxPrairieLearn is what PrairieLearn reads of a result, in bytes; shortMessage is
// what stays of a text in one that would be larger, in characters.
const (
	maxPrairieLearn = 1 << 20
	shortMessage    = 500
)

type (
	prairieLearnResult struct {
		Gradable     bool               `json:"gradable"`
		Score        *float64           `json:"score,omitempty"` // 0 to 1
		FormatErrors []string           `json:"format_errors,omitempty"`
		Message      string             `json:"message"`
		Tests        []prairieLearnTest `json:"tests,omitempty"`
	}
	prairieLearnTest struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Points      int    `json:"points"`
		MaxPoints   int    `json:"max_points"`
		Message     string `json:"message"`
	}
)

// writePrairieLearn writes r as results.json of PrairieLearn. A submission that was refused
// or does not compile is not gradable, with its problems as format errors: that costs
// the student no attempt.
func writePrairieLearn(w io.Writer, r *verdict.Result) error {
	doc := prairieLearnResult{Message: wording.Overview(r)}
	if r.Verdict == verdict.Graded {
		doc.Gradable, doc.Score = true, new(fraction(r))
		for _, c := range r.Checks {
			doc.Tests = append(doc.Tests, newPrairieLearnTest(c))
		}
	} else {
		doc.Message = wording.Name(r.Exercise) + ": " + wording.Verdict(r.Verdict)
		doc.FormatErrors = wording.Problems(r)
		if len(doc.FormatErrors) == 0 {
			doc.FormatErrors = []string{wording.Verdict(r.Verdict)}
		}
	}
	return writeWithin(w, doc)
}

func newPrairieLearnTest(c verdict.CheckResult) prairieLearnTest {
	t := prairieLearnTest{Name: wording.Name(c.Name), Points: c.Points, MaxPoints: c.MaxPoints, Message: wording.Paragraphs(wording.CheckVerdict(c), wording.Explain(c))}
	if c.Verdict.Earns() {
		t.Description = wording.OneLine(c.Hint)
	}
	return t
}

// fraction is the score as a part of 1.
func fraction(r *verdict.Result) float64 {
	if n := wording.MaxPoints(r); n > 0 {
		return float64(r.Score) / float64(n)
	}
	return 0
}

// writeWithin leaves out, visibly, what makes the document larger than is read: a
// grade without words is still one, and a document cut anywhere is none.
func writeWithin(w io.Writer, doc prairieLearnResult) error {
	var b bytes.Buffer
	if err := writeJSON(&b, doc); err != nil {
		return err
	}
	if b.Len() > maxPrairieLearn {
		for i := range doc.Tests {
			doc.Tests[i].Message, doc.Tests[i].Description = "", ""
		}
		doc.Message = shorten(doc.Message, shortMessage) + "\n… The messages of single tests are left out: they were too long."
		for i, e := range doc.FormatErrors {
			doc.FormatErrors[i] = shorten(e, shortMessage)
		}
		b.Reset()
		if err := writeJSON(&b, doc); err != nil {
			return err
		}
	}
	if b.Len() > maxPrairieLearn {
		return fmt.Errorf("%d bytes, more than the %d that PrairieLearn reads", b.Len(), maxPrairieLearn)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// prairieLearnNoVerdict is not gradable: no attempt is charged for a fault of ours.
func prairieLearnNoVerdict(message string) any { return prairieLearnResult{Message: message} }
