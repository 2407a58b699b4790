package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
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

	"grade/grader/report/wording"
	"grade/grader/verdict"
)

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

func readText(t *testing.T, out []byte, _ *verdict.Result) { assertHarmless(t, string(out)) }

func readJSON(t *testing.T, out []byte, _ *verdict.Result) {
	d := json.NewDecoder(bytes.NewReader(out))
	var v any
	require.NoError(t, d.Decode(&v))
	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF, "one document and nothing after it")
}

func readBase64(t *testing.T, out []byte, r *verdict.Result) {
	line, ok := bytes.CutSuffix(out, []byte("\n"))
	require.True(t, ok)
	doc, err := base64.StdEncoding.DecodeString(string(line))
	require.NoError(t, err)
	readers["github-classroom"](t, doc, r)
}

// readValid reads JSON and holds it to the schema of its format.
func readValid(format string) func(*testing.T, []byte, *verdict.Result) {
	compiled := sync.OnceValues(func() (*jsonschema.Schema, error) {
		return jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemas", format+".json"))
	})
	return func(t *testing.T, out []byte, r *verdict.Result) {
		readJSON(t, out, r)
		schema, err := compiled()
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(doc))
	}
}

// readCodeQuality finds an issue for whatever is wrong, each with a fingerprint of its own
// and at a place in the repository.
func readCodeQuality(t *testing.T, out []byte, r *verdict.Result) {
	require.Len(t, qualityOf(t, out), wrong(r))
}

func qualityOf(t *testing.T, out []byte) (issues []qualityIssue) {
	readValid("gitlab-codequality")(t, out, nil)
	require.NoError(t, json.Unmarshal(out, &issues))
	seen := map[string]bool{}
	for _, i := range issues {
		require.False(t, seen[i.Fingerprint], "one fingerprint of two")
		seen[i.Fingerprint] = true
		require.True(t, fs.ValidPath(i.Location.Path), "%.200q", i.Location.Path)
	}
	return issues
}

// wrong is how many problems and failed checks there are.
func wrong(r *verdict.Result) int {
	n := len(r.Problems)
	for _, c := range r.Checks {
		if r.Verdict == verdict.Graded && c.Verdict != verdict.Passed && !wording.NotAsked(c) {
			n++
		}
	}
	return n
}

// annotationCommand is a line that the runner reads as one annotation: properties that
// hold no separator, and data.
var annotationCommand = regexp.MustCompile(`^::(error|warning|notice) ((?:file=[^:,\n]+(?:,line=\d+)?)?,?(?:title=[^:,\n]*)?)::`)

func readAnnotations(t *testing.T, out []byte, r *verdict.Result) {
	require.Len(t, commandsOf(t, out), len(r.Problems)+len(wording.Troubles(r))+len(r.Warnings)+1)
}

func commandsOf(t *testing.T, out []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for _, l := range lines {
		require.Regexp(t, annotationCommand, l)
	}
	return lines
}

// junitOf reads XML strictly, holds it to the order that Jenkins' schema demands, and
// returns the names of the test cases of each suite.
func junitOf(t *testing.T, out []byte) (suites []string, cases map[string][]string) {
	children := map[string]string{
		"": "testsuites", "testsuites": "testsuite", "testsuite": "properties testcase system-out", "properties": "property",
		"testcase": "skipped error failure", "property": "", "skipped": "", "error": "", "failure": "", "system-out": "",
	}
	d := xml.NewDecoder(bytes.NewReader(out))
	open, last := []string{""}, map[int]int{}
	cases = map[string][]string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return suites, cases
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
			switch token.Name.Local {
			case "testsuite":
				suites = append(suites, token.Attr[0].Value)
			case "testcase":
				suite := suites[len(suites)-1]
				require.Equal(t, suite, token.Attr[1].Value, "the class is the suite's")
				cases[suite] = append(cases[suite], token.Attr[0].Value)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

func readJUnit(t *testing.T, out []byte, r *verdict.Result) {
	suites, cases := junitOf(t, out)
	require.Len(t, suites, 1)
	assert.Equal(t, checkNames(r), cases[suites[0]], "names are the checks'")
}

func checkNames(r *verdict.Result) (names []string) {
	for _, c := range r.Checks {
		names = append(names, c.Name)
	}
	return names
}

// readMarkdown finds nothing but one heading, one table, code and text, and a list of what
// each rule did.
func readMarkdown(t *testing.T, out []byte, r *verdict.Result) {
	count := markdownOf(t, out)
	assert.Equal(t, 1, count[ast.KindHeading])
	rows := 0
	if r.Verdict == verdict.Graded {
		rows = len(r.Checks)
	}
	assert.Equal(t, rows, count[extensionast.KindTableRow])
	assert.LessOrEqual(t, count[ast.KindList], 1)
}

// markdownOf parses GitHub's Markdown and counts what it consists of: nothing that a text
// in it could have made, and no text that GitHub makes a link of.
func markdownOf(t *testing.T, out []byte) map[ast.NodeKind]int {
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM))
	doc := gfm.Parser().Parse(markdowntext.NewReader(out))
	allowed := []ast.NodeKind{
		ast.KindDocument, ast.KindHeading, ast.KindParagraph, ast.KindText, ast.KindString, ast.KindCodeSpan, ast.KindFencedCodeBlock, ast.KindEmphasis,
		ast.KindList, ast.KindListItem, ast.KindTextBlock,
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
	var page bytes.Buffer
	require.NoError(t, gfm.Renderer().Render(&page, out, doc))
	rendered, err := html.Parse(&page)
	require.NoError(t, err)
	for n := range rendered.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "code" {
			require.NotRegexp(t, githubLinks, n.Data)
		}
	}
	return count
}

// githubLinks are what GitHub makes mentions and links of after it has rendered text.
var githubLinks = regexp.MustCompile(`(?i)@\w|#\d|GH-\d|://|www\.\w`)

// pageElements are all that a page consists of, and the attributes they may have.
var pageElements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "id", "style": "", "body": "", "main": "", "header": "",
	"h1": "", "h2": "id", "p": "class", "strong": "", "meter": "min max value aria-hidden", "section": "aria-labelledby", "ul": "class", "li": "",
	"code": "", "wbr": "", "pre": "class", "figure": "", "figcaption": "", "table": "aria-labelledby class", "thead": "", "tbody": "class id", "nav": "aria-labelledby", "a": "href", "details": "", "summary": "", "tr": "class",
	"th": "scope class", "td": "class colspan", "span": "class aria-hidden", "dl": "", "dt": "", "dd": "",
	"svg": "viewBox role aria-labelledby aria-describedby", "desc": "id", "g": "transform", "path": "d fill stroke-width stroke-dasharray class",
	"text": "x y transform font-size fill class",
}

func readHTML(t *testing.T, out []byte, r *verdict.Result) {
	count := pageOf(t, out, pageElements)
	checks := len(r.Checks)
	if r.Verdict != verdict.Graded {
		checks = 0
	}
	if bytes.Contains(out, []byte(`<h2 id="attempts">`)) {
		checks++ // a table that no text of a submission can make: headings have no other ids
	}
	assert.Equal(t, checks, count["tbody"])
	assert.Equal(t, 1, count["h1"])
}

// pageOf counts the elements of a page, which has none but those allowed, with no more
// attributes, no link that leads out, and one style sheet, which its policy names.
func pageOf(t *testing.T, out []byte, elements map[string]string) map[string]int {
	doc, err := html.Parse(bytes.NewReader(out))
	require.NoError(t, err)
	count, policy, links, ids := map[string]int{}, "", []string{}, map[string]bool{}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Fatalf("a comment: %s", n.Data)
		case html.ElementNode:
			allowed, ok := elements[n.Data]
			require.True(t, ok, "<%s>", n.Data)
			count[n.Data]++
			switch n.Data {
			case "style":
				require.Contains(t, policy, "default-src 'none'; style-src "+hashOf(n)+";")
			case "script":
				require.True(t, strings.HasSuffix(policy, "; script-src "+hashOf(n)), "one script, by what is in it")
			}
			for _, a := range n.Attr {
				require.Contains(t, strings.Fields(allowed), a.Key, "<%s %s>", n.Data, a.Key)
				switch {
				case n.Data == "meta" && strings.HasPrefix(a.Val, "default-src"):
					policy = a.Val
				case a.Key == "id":
					require.False(t, ids[a.Val], "two of the name %s", a.Val)
					ids[a.Val] = true
				case a.Key == "href" && strings.HasSuffix(a.Val, ".html"):
					require.Regexp(t, `^(\./|[a-z]+/)[^:#?]+\.html$`, a.Val, "a page beside this one")
				case slices.Contains([]string{"href", "aria-labelledby", "aria-describedby"}, a.Key):
					links = append(links, strings.Fields(strings.TrimPrefix(a.Val, "#"))...)
				}
			}
		}
	}
	for _, l := range links {
		require.True(t, ids[l], "a link to %s", l)
	}
	assert.Equal(t, 1, count["style"])
	assert.LessOrEqual(t, count["script"], 1)
	return count
}

// hashOf is what a policy calls a style sheet or a script.
func hashOf(n *html.Node) string {
	sum := sha256.Sum256([]byte(n.FirstChild.Data))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
