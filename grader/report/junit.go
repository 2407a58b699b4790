package report

import (
	"encoding/xml"
	"io"
	"math"
	"strconv"

	"grade/grader/gradebook"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// The elements of JUnit XML, in the order and with the attributes that Jenkins'
// junit-10.xsd allows. Points are properties of the suite: those of a test case are
// known to some readers only, and the schema has none.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Time     string       `xml:"time,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`

		ms float64
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
func writeJUnit(w io.Writer, r *verdict.Result) error {
	return writeSuites(w, wording.Whole(r.Exercise), newJUnitSuite(wording.Whole(r.Exercise), r))
}

// writeJUnitCourse writes b with one suite for each student's exercise, named after both,
// so that a reader finds them again in a later run. A submission without a verdict has one
// test case, which is an error.
func writeJUnitCourse(w io.Writer, b *gradebook.Book) error {
	var suites []junitSuite
	for _, s := range wording.Submissions(b) {
		suites = append(suites, newJUnitEntry(s))
	}
	return writeSuites(w, wording.Title(b), suites...)
}

func writeSuites(w io.Writer, name string, suites ...junitSuite) error {
	doc := junitSuites{Name: name, Suites: suites}
	ms := 0.0
	for _, s := range suites {
		doc.Tests, doc.Failures, doc.Errors, ms = doc.Tests+s.Tests, doc.Failures+s.Failures, doc.Errors+s.Errors, ms+s.ms
	}
	doc.Time = seconds(ms)
	out, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(out)+"\n")
	return err
}

func newJUnitSuite(name string, r *verdict.Result) junitSuite {
	suite := junitSuite{
		Name: name, Tests: len(r.Checks), Time: seconds(r.Phases.TotalMs), ms: r.Phases.TotalMs,
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"), Properties: junitProperties(r), Out: wording.Overview(r),
	}
	for _, c := range r.Checks {
		suite.add(r, c)
	}
	return suite
}

func newJUnitEntry(s wording.Submission) junitSuite {
	name := wording.Whole(s.String())
	suite := junitSuite{Name: name, Time: seconds(0)}
	if r := s.Result(); r != nil {
		suite = newJUnitSuite(name, r)
	}
	if s.Cell.Points != nil {
		suite.Properties = append(suite.Properties, junitProperty{"counted_points", amount(s.Cell.Points)})
	}
	if s.Cell.Counts != nil {
		suite.Properties = append(suite.Properties, junitProperty{"counted_attempt", strconv.Itoa(s.Cell.Counts.Number)})
	}
	if s.Shown != nil {
		suite.Properties = append(suite.Properties, junitProperty{"attempt", strconv.Itoa(s.Shown.Number)})
	}
	suite.Out = wording.Paragraphs(append([]string{s.Headline(), suite.Out}, wording.Notes(s.Cell)...)...)
	if m := s.Cell.Missing; m != nil {
		suite.Tests++
		suite.Errors++
		suite.Cases = append(suite.Cases, junitCase{
			Name: "verdict", Class: name, Time: seconds(0), Error: &junitOutcome{Type: "no_verdict", Message: "no verdict", Text: wording.NoVerdict(m)},
		})
	}
	return suite
}

// add adds a check. Its class is the suite's name, so that the same check of two students
// has two names.
func (s *junitSuite) add(r *verdict.Result, c verdict.CheckResult) {
	test := junitCase{Name: wording.Whole(c.Name), Class: s.Name, Time: checkSeconds(c)}
	outcome := &junitOutcome{Type: wording.Whole(string(c.Verdict)), Message: wording.CheckVerdict(c), Text: wording.Explain(c)}
	switch {
	case r.Verdict != verdict.Graded:
		s.Errors++
		test.Error = &junitOutcome{Type: wording.Whole(string(r.Verdict)), Message: wording.Verdict(r.Verdict), Text: wording.Paragraphs(wording.Problems(r)[:min(1, len(r.Problems))]...)}
	case wording.NotAsked(c):
		s.Skipped++
		test.Skipped = outcome
	case !c.Verdict.Earns():
		s.Failures++
		test.Failure = outcome
	}
	s.Cases = append(s.Cases, test)
}

// junitProperties returns points and figures, by the names of the checks.
func junitProperties(r *verdict.Result) []junitProperty {
	number := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', 6, 64)
	}
	list := []junitProperty{
		{"verdict", wording.Whole(string(r.Verdict))}, {"score", strconv.Itoa(r.Score)}, {"max_score", strconv.Itoa(wording.MaxPoints(r))},
		{"official", strconv.FormatBool(r.Sandbox.Official)}, {"seed", wording.Whole(r.Seed)}, {"toolchain", wording.Whole(r.Toolchain)},
	}
	for _, c := range r.Checks {
		n := wording.Whole(c.Name)
		list = append(list, junitProperty{n + ".points", strconv.Itoa(c.Points)}, junitProperty{n + ".max_points", strconv.Itoa(c.MaxPoints)})
		if c.Ratio != nil {
			list = append(list, junitProperty{n + ".ratio", number(c.Ratio)}, junitProperty{n + ".limit", number(c.Limit)})
		}
	}
	return list
}

// seconds writes milliseconds as JUnit's readers want them.
func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 3, 64) }

// checkSeconds is the CPU time of a check, as [seconds]. A hidden test's is told in
// doublings of 10 ms: a submission that knows its input could send ten bits of it by
// how long it spins.
func checkSeconds(c verdict.CheckResult) string {
	ms := c.Submission.CPUMs
	if c.Ratio == nil && ms > 0 {
		ms = 10 * math.Exp2(math.Ceil(math.Log2(max(ms, 10)/10)))
	}
	return seconds(ms)
}
