package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

//go:embed html.tmpl
var pageTemplate string

//go:embed html.css
var pageStyle string

var page = template.Must(template.New("page").Parse(pageTemplate))

// pagePolicy forbids a page everything but its own style sheet, which is named by
// what is in it: no script, no image, no request, whatever a text in it may do.
func pagePolicy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// writeHTML writes r as a page for the student: one file that needs nothing else, readable
// on a phone, in light and in dark, by eye and by ear. Verdicts stand in words, and
// the plots' figures in the table as well.
func writeHTML(w io.Writer, r *verdict.Result, id Identity) error {
	data, err := newPage(r, id)
	if err != nil {
		return err
	}
	return page.Execute(w, data)
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
		Standing   string   // what it counts under the rules of the course; empty: no rules were asked
		Rules      []string // what each did
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

func newPage(r *verdict.Result, id Identity) (*pageData, error) {
	p := &pageData{
		Policy: pagePolicy(pageStyle), Style: template.CSS(pageStyle),
		Title: name(r.Exercise), Headline: headline(r), Status: pageStatus(r), Student: name(id.Student),
		Score: r.Score, Max: most(r), Refused: r.Verdict != verdict.Graded,
		Warnings: warningList(r), Facts: pageFacts(r),
	}
	if said := standing(id.Standing, most(r)); len(said) > 0 {
		p.Standing, p.Rules = said[0], said[1:]
	}
	for i, x := range r.Problems {
		if i == maxProblems {
			p.Problems = append(p.Problems, pageProblem{Place: fmt.Sprintf("… and %d more", len(r.Problems)-i)})
			break
		}
		p.Problems = append(p.Problems, pageProblem{place(x.File, x.Line, x.Rule), plain(x.Message)})
	}
	if p.Refused {
		return p, nil
	}
	for i, s := range group(r.Checks) {
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
		said = append(said, word(r.Verdict))
	}
	if n := pointsNotRun(r); n > 0 {
		said = append(said, fmt.Sprintf("%d points not run", n))
	}
	if !r.Sandbox.Official {
		said = append(said, "unofficial")
	}
	return strings.Join(said, ", ")
}

func newPageSection(id string, s *section) (pageSection, error) {
	out := pageSection{ID: id, Title: s.title, Points: s.points, Max: s.max}
	for i, c := range s.checks {
		out.Checks = append(out.Checks, newPageCheck(fmt.Sprintf("%s-%d", id, i+1), c))
	}
	var err error
	out.Plot, err = ratioPlot(id+"-plot", s.title+" as multiples of the reference", s.checks)
	return out, err
}

func newPageCheck(id string, c verdict.CheckResult) pageCheck {
	out := pageCheck{
		ID: id, Passed: c.Verdict == verdict.Passed,
		Name: breakable(name(c.Name)), Class: "bad", Mark: "✗", Verdict: verdictWord(c), Points: points(c),
		Hint: oneLine(c.Hint), Detail: plain(c.Detail), Figures: figures(c),
	}
	switch {
	case out.Passed:
		out.Class, out.Mark = "good", "✓"
	case unasked(c):
		out.Class, out.Mark = "none", "·"
	}
	return out
}

// breakable is a name in the parts between which a line may break: behind a slash, and
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

// pageFacts are how the grade was come by; what there is nothing to say of is left out.
func pageFacts(r *verdict.Result) (list []pageFact) {
	for _, f := range []pageFact{
		{"Files", names(r.Submission.Files)}, {"Ignored", names(r.Submission.Ignored)},
		{"Time", phases(r.Phases)}, {"Graded", terminal.Escape(graded(r))}, {"Seed", name(r.Seed)},
	} {
		if strings.TrimSpace(f.Value) != "" {
			list = append(list, f)
		}
	}
	return list
}
