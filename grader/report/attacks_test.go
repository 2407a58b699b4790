package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	markdowntext "github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"grade/grader"
	"grade/grader/vet"
)

// attacks are what a submission may try to say through a report.
var attacks = map[string]string{
	"colours":              "\x1b[31mred\x1b[2J",
	"window title":         "\x1b]0;pwn\x07",
	"hyperlink":            "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
	"bracketed paste":      "\x1b[200~rm -rf ~\x1b[201~",
	"C1 controls":          "\u009b31m \u009d0;pwn\u009c",
	"overwritten line":     "harmless\r::error::forged",
	"workflow command":     "::error file=x,line=1::forged",
	"after a newline":      "first\n::error::forged\n  ::set-output name=a::b",
	"old command":          "##[error]forged",
	"stop commands":        "::stop-commands::x\n::x::",
	"encoded newline":      "a%0A::error::forged%0D%0A::error::forged",
	"property":             "x.go,line=99,title=forged::forged",
	"script":               "<script>alert(1)</script>",
	"image with a handler": `<img src=x onerror="alert(1)">`,
	"attribute":            `" onmouseover="alert(1)" x='`,
	"script link":          "<a href=\"javascript:alert(1)\">x</a> javascript:alert(1)",
	"style":                "</style><style>*{display:none}</style>",
	"end of a page":        "</pre></td></tr></table></main></body></html><form action=https://evil.example><input>",
	"end of an SVG":        "</desc></svg><svg onload=alert(1)><foreignObject><iframe src=https://evil.example>",
	"comment":              "--><!-- <![CDATA[ ]]> ?>",
	"template":             "{{.Policy}} ${7*7} <%= 1 %>",
	"Markdown link":        "[click](https://evil.example) [a]: https://evil.example",
	"Markdown image":       "![pixel](https://evil.example/p.gif)",
	"Markdown table":       "| a | b |\n|---|---|\n| `x` | \\| |",
	"Markdown HTML":        "<details open><summary>forged</summary>",
	"closed fence":         "```\n# 100 of 100 points\n~~~~\n``````",
	"mention":              "@torvalds cc @org/team, fixes #1, GH-2, org/repo#3 a@b.example",
	"bare links":           "https://evil.example www.evil.example <https://evil.example>",
	"heading":              "# forged\n\nforged\n===\n- [x] forged\n1. forged\n> forged\n---",
	"end of CDATA":         "]]></failure></testcase><testcase name=\"forged\"/>",
	"entities":             "&lt;b&gt; &amp;#x3C;script&gt; &xxe; <!ENTITY x SYSTEM \"file:///etc/passwd\">",
	"no text":              "\xff\xfe\xc0\x80 \xed\xa0\x80 \x00 \x08 \ufffe \uffff",
	"separators":           "a\u2028b\u2029c\u0085d",
	"backwards":            "\u202egnorw\u2066\u200b\ufeff\U000e0041",
	"end of a string":      `"},"score":100,"tests":[{"`,
	"host path":            `..\..\/../../etc/passwd.go`,
	"very long":            strings.Repeat("A", 1<<17),
	"very many lines":      strings.Repeat("A\n", 1<<16),
}

// attacked is a grading in which s stands wherever a submission can put something, and
// besides that in what only an exercise can say.
func attacked(s string, v grader.Verdict) *grader.Result {
	r := mixed()
	r.Verdict = v
	r.Submission = grader.Submission{Dir: s, Hash: s, Files: []string{s, s}, Ignored: []string{s}}
	r.Problems = []vet.Problem{{File: s, Line: 7, Rule: s, Message: s}, {File: "a.go", Line: 3, Rule: "import", Message: s}}
	r.Warnings = []string{s, s}
	r.Checks[0].Detail, r.Checks[3].Detail = s, s
	r.Checks[0].Hint, r.Checks[1].Hint, r.Checks[3].Hint = s, s, s
	r.Checks[2].Reference.PeakSource, r.Checks[2].Submission.PeakSource = s, s
	return r
}

// attackedIdentity is of a submission whose student has named the folder.
func attackedIdentity(s string) Identity {
	id := identity()
	id.Folder = s
	return id
}

// readers parse a report as its reader does, and say what must hold of it.
var readers map[string]func(*testing.T, []byte, *grader.Result)

func init() {
	readers = map[string]func(*testing.T, []byte, *grader.Result){
		"html": readHTML, "markdown": readMarkdown, "github-summary": readMarkdown, "junit": readJUnit,
		"github-annotations": readAnnotations, "github-classroom-base64": readBase64, "text": readText,
		"json": readJSON, "classroom50": readValid("classroom50"), "github-classroom": readValid("github-classroom"), "exercism": readValid("exercism"),
		"gradescope": readValid("gradescope"), "prairielearn": readValid("prairielearn"),
	}
}

func TestNoAttackGetsThrough(t *testing.T) {
	for _, format := range FormatNames() {
		read := readers[format]
		require.NotNil(t, read, "no reader for %s", format)
		for attack, s := range attacks {
			for _, v := range grader.SubmissionVerdicts {
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
			r := attacked(s, grader.Graded)
			read(t, writtenFor(t, format, r, attackedIdentity(s)), r)
		}
	})
}

// readAsLog holds every report to what the log of a CI obeys: it may be printed.
func readAsLog(t *testing.T, out string) {
	t.Helper()
	ours := regexp.MustCompile(`^::(error|warning|notice) [^:]*::`)
	require.True(t, utf8.ValidString(out))
	for line := range strings.SplitSeq(out, "\n") {
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Fatalf("%q in %.200q", line[i:i+1], line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") && !ours.MatchString(line) {
			t.Fatalf("a workflow command: %.200q", line)
		}
	}
	assert.NotContains(t, out, "##[")
}

func readText(t *testing.T, out []byte, _ *grader.Result) { assertHarmless(t, string(out)) }

func readJSON(t *testing.T, out []byte, _ *grader.Result) {
	d := json.NewDecoder(bytes.NewReader(out))
	var v map[string]any
	require.NoError(t, d.Decode(&v))
	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF, "one document and nothing after it")
}

func readBase64(t *testing.T, out []byte, r *grader.Result) {
	line, ok := bytes.CutSuffix(out, []byte("\n"))
	require.True(t, ok)
	doc, err := base64.StdEncoding.DecodeString(string(line))
	require.NoError(t, err)
	readers["github-classroom"](t, doc, r)
}

// readValid reads JSON and holds it to the schema of its format.
func readValid(format string) func(*testing.T, []byte, *grader.Result) {
	compiled := sync.OnceValues(func() (*jsonschema.Schema, error) {
		return jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemas", format+".json"))
	})
	return func(t *testing.T, out []byte, r *grader.Result) {
		readJSON(t, out, r)
		schema, err := compiled()
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(doc))
	}
}

// annotationCommand is a line that the runner reads as one annotation: properties that
// hold no separator, and data.
var annotationCommand = regexp.MustCompile(`^::(error|warning|notice) ((?:file=[^:,\n]+(?:,line=\d+)?)?,?(?:title=[^:,\n]*)?)::`)

func readAnnotations(t *testing.T, out []byte, r *grader.Result) {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	want := len(r.Problems) + len(r.Warnings) + 1
	for _, c := range r.Checks {
		if r.Verdict == grader.Graded && c.Verdict != grader.Passed && !unasked(c) {
			want++
		}
	}
	require.Len(t, lines, want)
	for _, l := range lines {
		require.Regexp(t, annotationCommand, l)
	}
}

// readJUnit reads XML strictly and holds it to the order that Jenkins' schema demands.
func readJUnit(t *testing.T, out []byte, r *grader.Result) {
	children := map[string]string{
		"": "testsuites", "testsuites": "testsuite", "testsuite": "properties testcase system-out", "properties": "property",
		"testcase": "skipped error failure", "property": "", "skipped": "", "error": "", "failure": "", "system-out": "",
	}
	d := xml.NewDecoder(bytes.NewReader(out))
	open, cases, last := []string{""}, 0, map[int]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			allowed := strings.Fields(children[open[len(open)-1]])
			at := slices.Index(allowed, token.Name.Local)
			require.GreaterOrEqual(t, at, 0, "<%s> in <%s>", token.Name.Local, open[len(open)-1])
			require.GreaterOrEqual(t, at, last[len(open)], "<%s> stands too late", token.Name.Local)
			last[len(open)], last[len(open)+1] = at, 0
			open = append(open, token.Name.Local)
			if token.Name.Local == "testcase" {
				require.Equal(t, r.Checks[cases].Name, token.Attr[0].Value, "names are the checks'")
				cases++
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	assert.Equal(t, len(r.Checks), cases)
}

// readMarkdown parses GitHub's Markdown and finds nothing in it but ours: headings,
// one table, code and text.
func readMarkdown(t *testing.T, out []byte, r *grader.Result) {
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM))
	doc := gfm.Parser().Parse(markdowntext.NewReader(out))
	allowed := []ast.NodeKind{
		ast.KindDocument, ast.KindHeading, ast.KindParagraph, ast.KindText, ast.KindString, ast.KindCodeSpan, ast.KindFencedCodeBlock, ast.KindEmphasis,
		extensionast.KindTable, extensionast.KindTableHeader, extensionast.KindTableRow, extensionast.KindTableCell,
	}
	count := map[ast.NodeKind]int{}
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		count[n.Kind()]++
		require.Contains(t, allowed, n.Kind(), "%s", n.Kind())
		return ast.WalkContinue, nil
	}))
	assert.Equal(t, 1, count[ast.KindHeading])
	rows := 0
	if r.Verdict == grader.Graded {
		rows = len(r.Checks)
	}
	assert.Equal(t, rows, count[extensionast.KindTableRow])

	var page bytes.Buffer
	require.NoError(t, gfm.Renderer().Render(&page, out, doc))
	rendered, err := html.Parse(&page)
	require.NoError(t, err)
	for n := range rendered.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "code" {
			require.NotRegexp(t, githubLinks, n.Data)
		}
	}
}

// githubLinks are what GitHub makes mentions and links of after it has rendered text.
var githubLinks = regexp.MustCompile(`(?i)@\w|#\d|GH-\d|://|www\.\w`)

// pageElements are all that a page consists of, and the attributes they may have.
var pageElements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "id", "style": "", "body": "", "main": "", "header": "",
	"h1": "", "h2": "id", "p": "class", "strong": "", "meter": "min max value aria-hidden", "section": "aria-labelledby", "ul": "class", "li": "",
	"code": "", "wbr": "", "pre": "", "figure": "", "figcaption": "", "table": "aria-labelledby", "thead": "", "tbody": "class id", "nav": "aria-labelledby", "a": "href", "details": "", "summary": "", "tr": "class",
	"th": "scope class", "td": "class colspan", "span": "class aria-hidden", "dl": "", "dt": "", "dd": "",
	"svg": "viewBox role aria-labelledby", "desc": "id", "g": "transform", "path": "d fill stroke-width stroke-dasharray class",
	"text": "x y transform font-size fill class",
}

func readHTML(t *testing.T, out []byte, r *grader.Result) {
	doc, err := html.Parse(bytes.NewReader(out))
	require.NoError(t, err)
	count := map[string]int{}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Fatalf("a comment: %s", n.Data)
		case html.ElementNode:
			allowed, ok := pageElements[n.Data]
			require.True(t, ok, "<%s>", n.Data)
			count[n.Data]++
			if n.Data == "style" {
				sum := sha256.Sum256([]byte(n.FirstChild.Data))
				require.Contains(t, pagePolicy, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
			}
			for _, a := range n.Attr {
				require.Contains(t, strings.Fields(allowed), a.Key, "<%s %s>", n.Data, a.Key)
				require.True(t, a.Key != "href" || strings.HasPrefix(a.Val, "#checks"), "a link to %s", a.Val)
			}
		}
	}
	checks := len(r.Checks)
	if r.Verdict != grader.Graded {
		checks = 0
	}
	assert.Equal(t, checks, count["tbody"])
	assert.Equal(t, 1, count["style"])
	assert.Equal(t, 1, count["h1"])
}
