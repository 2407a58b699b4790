package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// What GitHub takes, in bytes: its caps count characters, of which there are no more.
const (
	maxComment = 65_000        // of 65,536 in a comment
	maxSummary = 1<<20 - 4<<10 // in a step's summary, with room for what stands before it
)

// writeMarkdown writes r as a comment on GitHub or a like place: the grade, what to mend
// first, and below it a table of the checks.
//
// Text of a student stands in code only, behind a fence longer than any in it: there
// it is no link, image, mention, table or HTML. Hints and warnings are escaped text.
// There is no HTML at all.
func writeMarkdown(w io.Writer, r *verdict.Result, id Identity) error {
	return markdownWithin(w, r, id, maxComment)
}

// writeSummary writes the same for the summary of a step of GitHub Actions, with its cap.
func writeSummary(w io.Writer, r *verdict.Result, id Identity) error {
	return markdownWithin(w, r, id, maxSummary)
}

func markdownWithin(w io.Writer, r *verdict.Result, id Identity, limit int) error {
	m := &markdown{limit: limit}
	m.block("## " + escapeMarkdown(wording.OneLine(r.Exercise)) + ": " + wording.Headline(r))
	m.counted(wording.CountedResult(id.Counted, wording.MaxPoints(r)))
	m.problems(r)
	table := tableOf(r)
	m.limit -= len(table) // a table that names every check says more than the last of many hints
	m.mend(r)
	m.limit += len(table)
	if table != "" {
		m.block(table)
	}
	for _, s := range wording.Warnings(r) {
		m.block("**Note:** " + escapeMarkdown(s))
	}
	m.footer(r)
	if m.cut > 0 {
		m.b.WriteString("\n… The rest is too long for this place: the text report has all of it.\n")
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

// markdown is a document of blocks. Each is closed in itself, so that one that does
// not fit can be left out.
type markdown struct {
	b     strings.Builder
	limit int // bytes
	cut   int // blocks left out
}

// cutRoom is left for the line that says what was left out.
const cutRoom = 100

func (m *markdown) block(lines ...string) {
	s := strings.Join(lines, "\n") + "\n"
	if m.b.Len()+len(s)+cutRoom > m.limit {
		m.cut++
		return
	}
	if m.b.Len() > 0 {
		m.b.WriteByte('\n')
	}
	m.b.WriteString(s)
}

// counted writes what counts, and below it what each rule did.
func (m *markdown) counted(said []string) {
	if len(said) == 0 {
		return
	}
	lines := []string{"**" + said[0] + "**"}
	for _, rule := range said[1:] {
		lines = append(lines, "- "+escapeMarkdown(rule))
	}
	m.block(slices.Insert(lines, 1, "")...)
}

func (m *markdown) problems(r *verdict.Result) {
	for i, p := range r.Problems {
		if i == wording.MaxProblems {
			m.block(fmt.Sprintf("… and %d more", len(r.Problems)-i))
			break
		}
		m.block(codeSpan(wording.Place(p.File, p.Line, p.Rule)), "", fenced(wording.Paragraphs(wording.Plain(p.Message), wording.Source(p.Source))))
	}
	if r.Verdict != verdict.Graded {
		m.block("Nothing was run. Fix the problems above and submit again.")
	}
}

// tableOf returns a table of all checks, or nothing for a submission that did not run.
func tableOf(r *verdict.Result) string {
	if r.Verdict != verdict.Graded {
		return ""
	}
	rows := []string{"| Check | Points | Verdict |", "|---|---:|---|"}
	for _, s := range wording.Sections(r.Checks) {
		for _, c := range s.Checks {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |", cell(codeSpan(wording.Name(c.Name))), wording.Points(c), mark(c)+" "+cell(ratioWords(c))))
		}
	}
	return strings.Join(rows, "\n")
}

// mend writes what to mend, in that order, with the checks that failed for the same reason.
func (m *markdown) mend(r *verdict.Result) {
	for _, x := range wording.Troubles(r) {
		c := x.Check
		lines := []string{"**" + codeSpan(wording.Name(c.Name)) + "** " + wording.CheckVerdict(c)}
		if h := wording.OneLine(c.Hint); h != "" {
			lines = append(lines, "", escapeMarkdown(h))
		}
		if d := wording.What(c); d != "" {
			lines = append(lines, "", fenced(d))
		}
		for _, s := range x.Followers(0) {
			lines = append(lines, "", escapeMarkdown(s))
		}
		m.block(lines...)
	}
}

func (m *markdown) footer(r *verdict.Result) {
	said := "graded by " + terminal.Escape(wording.GradedBy(r)) + "\nseed " + wording.Name(r.Seed)
	if files := wording.Files(r.Submission.Files); files != "" {
		said += "\nfiles " + files
	}
	if files := wording.Files(r.Submission.Ignored); files != "" {
		said += "\nignored " + files
	}
	m.block(fenced(said))
}

// mark returns a sign for the verdict of a check; the word stands beside it.
func mark(c verdict.CheckResult) string {
	switch c.Verdict {
	case verdict.Passed, verdict.Waived:
		return "✅"
	case verdict.NotRun:
		return "⬜"
	}
	return "❌"
}

// ratioWords returns the verdict and, if there is a measurement, its share of the limit.
func ratioWords(c verdict.CheckResult) string {
	if c.Ratio == nil {
		return wording.CheckVerdict(c)
	}
	return wording.CheckVerdict(c) + ", " + wording.Ratio(c)
}

// cell makes one line fit for a table. GFM splits rows before it looks for code.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// codeSpan puts one line into code that nothing in it can end.
func codeSpan(s string) string {
	if s == "" {
		return "(no name)"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	ticks := strings.Repeat("`", longestRun(s)+1)
	return ticks + s + ticks
}

// fenced puts lines into a block of code that nothing in them can end.
func fenced(s string) string {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + "text\n" + s + "\n" + fence
}

// longestRun returns the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, c := range s {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

var (
	markup = regexp.MustCompile("[\\\\`*_\\[\\]<>&~|!$#]|^[-+=:]|^[0-9]+[.)]")
	// autolinks are what GitHub makes links and mentions of in plain text, where an
	// escape does not count: it looks at what has been rendered.
	autolinks = regexp.MustCompile(`(?i)@|\\#|:/|www\.|\bGH-`)
)

// escapeMarkdown writes one line of text as Markdown that shows it. What would be a
// link or a mention has a blank of no width in it. Blanks at its start would make it code.
func escapeMarkdown(s string) string {
	s = strings.TrimLeft(s, " ")
	s = markup.ReplaceAllStringFunc(s, func(m string) string { return m[:len(m)-1] + `\` + m[len(m)-1:] })
	return autolinks.ReplaceAllStringFunc(s, func(m string) string {
		if m == ":/" {
			return ":&#8203;/"
		}
		return m + "&#8203;"
	})
}
