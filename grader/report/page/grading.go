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
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
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
		Policy     string
		Style      template.CSS
		Title      string
		Headline   string
		Status     string // what the score alone does not say
		Student    string
		Score, Max int
		Counted    string   // what it counts under the rules of the course; empty: no rules were applied
		Rules      []string // what each rule did
		Refused    bool
		Problems   []pageProblem
		Warnings   []string
		Missed     []pageCheck // what is worth a look, by links
		Sections   []pageSection
		Facts      []pageFact
	}
	pageProblem struct{ Place, Message string }
	pageSection struct {
		ID          string // of its heading
		Title       string
		Points, Max int
		Checks      []pageCheck
		Plot        template.HTML
	}
	pageCheck struct {
		ID, Class, Mark, Verdict, Points, Hint, Detail, Figures string

		Name   []string // parts between which a line may break
		Passed bool     // its hint is nothing to read before it is asked for
	}
	pageFact struct{ Name, Value string }
)

func newPage(r *verdict.Result, student string, counted *gradebook.Cell) (*pageData, error) {
	p := &pageData{
		Policy: pagePolicy(pageStyle), Style: template.CSS(pageStyle),
		Title: wording.Name(r.Exercise), Headline: wording.Headline(r), Status: pageStatus(r), Student: wording.Name(student),
		Score: r.Score, Max: wording.MaxPoints(r), Refused: r.Verdict != verdict.Graded,
		Warnings: wording.Warnings(r), Facts: pageFacts(r),
	}
	if said := wording.CountedResult(counted, wording.MaxPoints(r)); len(said) > 0 {
		p.Counted, p.Rules = said[0], said[1:]
	}
	for i, x := range r.Problems {
		if i == wording.MaxProblems {
			p.Problems = append(p.Problems, pageProblem{Place: fmt.Sprintf("… and %d more", len(r.Problems)-i)})
			break
		}
		p.Problems = append(p.Problems, pageProblem{wording.Place(x.File, x.Line, x.Rule), wording.Plain(x.Message)})
	}
	if p.Refused {
		return p, nil
	}
	for i, s := range wording.Sections(r.Checks) {
		section, err := newPageSection(fmt.Sprintf("checks%d", i+1), s)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, section)
		for _, c := range section.Checks {
			if c.Class == "bad" {
				p.Missed = append(p.Missed, c)
			}
		}
	}
	return p, nil
}

func pageStatus(r *verdict.Result) string {
	var said []string
	if r.Verdict != verdict.Graded {
		said = append(said, wording.Verdict(r.Verdict))
	}
	if n := wording.PointsNotRun(r); n > 0 {
		said = append(said, fmt.Sprintf("%d points not run", n))
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
		ID: id, Passed: c.Verdict == verdict.Passed,
		Name: breakable(wording.Name(c.Name)), Class: "bad", Mark: "✗", Verdict: wording.CheckVerdict(c), Points: wording.Points(c),
		Hint: wording.OneLine(c.Hint), Detail: wording.Plain(c.Detail), Figures: wording.Figures(c),
	}
	switch {
	case out.Passed:
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
