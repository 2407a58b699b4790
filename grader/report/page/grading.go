package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

//go:embed grading.tmpl
var pageTemplate string

//go:embed grading.css
var pageStyle string

var gradingPage = template.Must(template.New("page").Parse(pageTemplate))

// pagePolicy forbids a page everything but its own style sheet, which is named by
// what is in it: no script, no image, no request, whatever a text in it may do.
func pagePolicy(style string) string {
	return "default-src 'none'; style-src " + sourceHash(style) + "; base-uri 'none'; form-action 'none'"
}

// sourceHash names a style sheet or a script in a policy by what is in it.
func sourceHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Grading writes r as a page for the student: one file that needs nothing else, readable
// on a phone, in light and in dark, by eye and by ear. Verdicts stand in words, and
// the plots' figures in the table as well.
func Grading(w io.Writer, r *verdict.Result, student string, counted *gradebook.Cell) error {
	data, err := newPage(r, student, counted)
	if err != nil {
		return err
	}
	return gradingPage.Execute(w, data)
}

// The page's data: words that html/template escapes, and two parts that are ours, the
// style sheet and the plots.
type (
	pageData struct {
		Policy   string
		Style    template.CSS
		Title    string
		Headline string
		Status   string // what the score alone does not say
		Student  string
		Score    string // what counts
		Value    float64
		Max      int
		Before   string   // what counts, and what the submission has without the course's rules; empty: none were applied
		Rules    []string // what each rule did
		Refused  bool
		Problems []pageProblem
		Warnings []string
		Mend     []pageTrouble // first
		Later    []pageTrouble
		Attempts []pageAttempt
		Sections []pageSection
		Facts    []pageFact
	}
	pageProblem struct {
		pageCode
		Message string
	}
	pageSection struct {
		ID          string // of its heading
		Title       string
		Points, Max int
		Checks      []pageCheck
		Plot        template.HTML
	}
	pageCheck struct {
		ID, Class, Mark, Verdict, Points, Hint, Detail, Figures string

		Name []string // parts between which a line may break
		Code []pageCode
	}
	pageFact struct{ Name, Value string }
)

func newPage(r *verdict.Result, student string, counted *gradebook.Cell) (*pageData, error) {
	p := &pageData{
		Policy: pagePolicy(pageStyle), Style: template.CSS(pageStyle),
		Title: wording.Name(r.Exercise), Headline: wording.Headline(r), Status: pageStatus(r), Student: wording.Name(student),
		Score: fmt.Sprint(r.Score), Value: float64(r.Score), Max: wording.MaxPoints(r), Refused: r.Verdict != verdict.Graded,
		Problems: pageProblems(r), Warnings: wording.Warnings(r), Attempts: attemptsOf(counted), Facts: pageFacts(r),
	}
	if counted == nil {
		p.Max = r.MaxScore // what was asked for
	}
	p.count(r, counted)
	if p.Refused {
		return p, nil
	}
	ids := map[string]string{} // of the rows of checks
	for i, s := range wording.Sections(r.Checks) {
		section, err := newPageSection(fmt.Sprintf("checks%d", i+1), s)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, section)
		for j, c := range section.Checks {
			ids[s.Checks[j].Name] = c.ID
		}
	}
	troubles := troublesOf(r, ids)
	p.Mend, p.Later = troubles[:min(len(troubles), mendFirst)], troubles[min(len(troubles), mendFirst):]
	return p, nil
}

// count puts what counts under the rules of the course in the place of the score, which is
// told below it.
func (p *pageData) count(r *verdict.Result, c *gradebook.Cell) {
	said := wording.CountedResult(c, p.Max)
	if len(said) == 0 {
		return
	}
	score := r.Score
	if c.Counts != nil {
		score = c.Counts.Result.Score // the page may be of another attempt
	}
	p.Before, p.Rules = fmt.Sprintf("%s; %d before the course's rules", said[0], score), said[1:]
	if c.Points != nil {
		p.Score, p.Value, p.Headline = gradebook.Number(*c.Points), *c.Points, wording.Counts(*c, p.Max)
	}
}

func pageProblems(r *verdict.Result) (list []pageProblem) {
	for i, x := range r.Problems {
		if i == wording.MaxProblems {
			return append(list, pageProblem{pageCode: pageCode{Place: fmt.Sprintf("… and %d more", len(r.Problems)-i)}})
		}
		list = append(list, pageProblem{pageCode{wording.Place(x.File, x.Line, x.Rule), wording.Code(x.Line, x.Excerpt)}, wording.Plain(x.Message)})
	}
	return list
}

func pageStatus(r *verdict.Result) string {
	var said []string
	if r.Verdict != verdict.Graded {
		said = append(said, wording.Verdict(r.Verdict))
	}
	notRun, notAsked := wording.PointsNotRun(r)
	if notRun > 0 {
		said = append(said, fmt.Sprintf("%d points not run", notRun))
	}
	if notAsked > 0 {
		said = append(said, fmt.Sprintf("%d points not asked for", notAsked))
	}
	if !r.Sandbox.Official {
		said = append(said, "unofficial")
	}
	return strings.Join(said, ", ")
}

func newPageSection(id string, s *wording.Section) (pageSection, error) {
	out := pageSection{ID: id, Title: s.Title, Points: s.Points, Max: s.Max}
	for i, c := range s.Checks {
		out.Checks = append(out.Checks, newPageCheck(fmt.Sprintf("%s-%d", id, i+1), c))
	}
	var err error
	out.Plot, err = ratioPlot(id+"-plot", s.Title+" as multiples of the reference", s.Checks)
	return out, err
}

func newPageCheck(id string, c verdict.CheckResult) pageCheck {
	out := pageCheck{
		ID: id, Code: codesOf(c),
		Name: breakable(wording.Name(c.Name)), Class: "bad", Mark: "✗", Verdict: wording.CheckVerdict(c), Points: wording.Points(c),
		Hint: wording.OneLine(c.Hint), Detail: wording.Paragraphs(wording.Plain(c.Detail), wording.Cause(c)), Figures: wording.Figures(c),
	}
	switch {
	case c.Verdict.Earns():
		out.Class, out.Mark = "good", "✓"
	case wording.NotAsked(c):
		out.Class, out.Mark = "none", "·"
	}
	return out
}

// breakable splits a name into parts between which a line may break: behind a slash, and
// before a word within a word. A phone has no room for TestArgumentsUnchanged.
func breakable(s string) (parts []string) {
	start, last := 0, ' '
	for i, r := range s {
		if i > 0 && (last == '/' || unicode.IsLower(last) && unicode.IsUpper(r)) {
			parts, start = append(parts, s[start:i]), i
		}
		last = r
	}
	return append(parts, s[start:])
}

// pageFacts lists how the submission was graded. A fact without a value is left out.
func pageFacts(r *verdict.Result) (list []pageFact) {
	for _, f := range []pageFact{
		{"Files", wording.Files(r.Submission.Files)}, {"Ignored", wording.Files(r.Submission.Ignored)},
		{"Time", wording.Phases(r.Phases)}, {"Graded", terminal.Escape(wording.GradedBy(r))}, {"Seed", wording.Name(r.Seed)},
	} {
		if strings.TrimSpace(f.Value) != "" {
			list = append(list, f)
		}
	}
	return list
}
