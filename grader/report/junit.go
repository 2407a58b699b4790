package report

import (
	"encoding/xml"
	"io"
	"strconv"

	"grade/grader"
)

// The elements of JUnit XML, in the order and with the attributes that Jenkins'
// junit-10.xsd allows. Points are properties of the suite: those of a test case are
// known to some readers only, and the schema has none.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Time     string     `xml:"time,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitOutcome `xml:"skipped"`
		Error   *junitOutcome `xml:"error"`
		Failure *junitOutcome `xml:"failure"`
	}
	junitOutcome struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes r as JUnit XML: one suite, in which each check is a test case of the
// check's name, in the exercise's order, whatever came of it.
//
// A check that did not pass is a failure. All checks of a submission that was refused
// or does not compile are errors; one that was not asked for is skipped, and one that was
// not reached is a failure: skipped ones count for nothing with some readers. The time
// of a test case is the submission's CPU time where that was measured.
func writeJUnit(w io.Writer, r *grader.Result) error {
	suite := junitSuite{
		Name: whole(r.Exercise), Tests: len(r.Checks), Time: seconds(r.Phases.TotalMs),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"), Properties: junitProperties(r), Out: overview(r),
	}
	for _, c := range r.Checks {
		suite.add(r, c)
	}
	doc := junitSuites{Name: suite.Name, Time: suite.Time, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suite: suite}
	out, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(out)+"\n")
	return err
}

func (s *junitSuite) add(r *grader.Result, c grader.CheckResult) {
	test := junitCase{Name: whole(c.Name), Class: whole(r.Exercise), Time: seconds(c.Submission.CPUMs)}
	outcome := &junitOutcome{Type: whole(string(c.Verdict)), Message: verdict(c), Text: explain(c)}
	switch {
	case r.Verdict != grader.Graded:
		s.Errors++
		test.Error = &junitOutcome{Type: whole(string(r.Verdict)), Message: word(r.Verdict), Text: paragraphs(problemList(r)[:min(1, len(r.Problems))]...)}
	case unasked(c):
		s.Skipped++
		test.Skipped = outcome
	case c.Verdict != grader.Passed:
		s.Failures++
		test.Failure = outcome
	}
	s.Cases = append(s.Cases, test)
}

// junitProperties say points and figures, by the names of the checks.
func junitProperties(r *grader.Result) []junitProperty {
	number := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', 6, 64)
	}
	list := []junitProperty{
		{"verdict", whole(string(r.Verdict))}, {"score", strconv.Itoa(r.Score)}, {"max_score", strconv.Itoa(most(r))},
		{"official", strconv.FormatBool(r.Sandbox.Official)}, {"seed", whole(r.Seed)}, {"toolchain", whole(r.Toolchain)},
	}
	for _, c := range r.Checks {
		n := whole(c.Name)
		list = append(list, junitProperty{n + ".points", strconv.Itoa(c.Points)}, junitProperty{n + ".max_points", strconv.Itoa(c.MaxPoints)})
		if c.Ratio != nil {
			list = append(list, junitProperty{n + ".ratio", number(c.Ratio)}, junitProperty{n + ".limit", number(c.Limit)})
		}
	}
	return list
}

// seconds writes milliseconds as JUnit's readers want them.
func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 3, 64) }
