package golang

import (
	"bytes"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strconv"
	"strings"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// The caps on a compiler's output and on the problems made of it. The output is
// hostile: it quotes a student's names and strings, and can be long.
const (
	maxCompilerOutput  = 1 << 20 // bytes
	maxCompileProblems = 20
	maxMessage         = 400 // bytes
	maxContinued       = 4   // further lines of one message
)

// A diagnostic is one message of the compiler: file:line:column: text, and the
// lines below it that are indented.
type diagnostic struct {
	path string
	line int
	text string
	more []string
}

// parseDiagnostics finds the compiler's messages in the output of go build. It skips
// lines without a position: headings, traces of a compiler that crashed, messages of
// the linker.
func parseDiagnostics(output []byte) []diagnostic {
	output = output[:min(len(output), maxCompilerOutput)]
	var all []diagnostic
	open := false // whether the next line may continue the last message
	for line := range bytes.Lines(output) {
		line := string(bytes.TrimRight(line, "\r\n"))
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			if last := len(all) - 1; open && len(all[last].more) < maxContinued {
				all[last].more = append(all[last].more, text)
			}
			continue
		}
		var d diagnostic
		if d, open = parseDiagnostic(line); open {
			all = append(all, d)
		}
	}
	return all
}

// parseDiagnostic reads path.go:line:column: text; the column may be missing.
func parseDiagnostic(line string) (d diagnostic, ok bool) {
	i := strings.Index(line, ".go:")
	if i < 0 {
		return d, false
	}
	d.path = line[:i+len(".go")]
	number, rest, _ := strings.Cut(line[i+len(".go:"):], ":")
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 {
		return d, false
	}
	if column, text, ok := strings.Cut(rest, ":"); ok {
		if _, err := strconv.Atoi(column); err == nil {
			rest = text
		}
	}
	d.line, d.text = n, strings.TrimSpace(rest)
	return d, d.text != ""
}

// problems translates the compiler's output into problems in the student's files. It
// shows no message about another file, which would quote hidden tests.
func (a *api) problems(output []byte, s *submission.Snapshot) []verdict.Problem {
	t := translator{api: a, snapshot: s, student: map[string]bool{}, seen: map[verdict.Problem]bool{}, broken: map[int]string{}}
	for _, f := range s.Files {
		t.student[f.Name] = true
	}
	for _, d := range parseDiagnostics(output) {
		t.diagnostic(d)
	}
	t.translateItems()
	return t.problems[:min(len(t.problems), maxCompileProblems)]
}

// translator collects the problems of one build.
type translator struct {
	api      *api
	snapshot *submission.Snapshot
	student  map[string]bool // names of files
	problems []verdict.Problem
	seen     map[verdict.Problem]bool
	broken   map[int]string // index of an API item to the compiler's message about it
	order    []int          // of broken
}

func (t *translator) add(file string, line int, rule, message string) {
	p := verdict.Problem{File: file, Line: line, Rule: rule, Message: verdict.Clip(message, maxMessage)}
	if !t.seen[p] {
		t.seen[p] = true
		t.problems = append(t.problems, p)
	}
}

func (t *translator) diagnostic(d diagnostic) {
	file, own := t.inPackage(d.path)
	if !own || d.text == "too many errors" {
		return
	}
	if t.student[file] {
		t.add(file, d.line, "compile", t.places(d.text)+t.continued(d.more))
		return
	}
	if t.redeclared(d) {
		return
	}
	if item, ok := t.api.lines[d.line]; ok && file == submission.APIFile {
		if name, ok := strings.CutPrefix(d.text, "undefined: "); ok {
			if other, ok := t.api.names[name]; ok {
				item = other
			}
		}
		if _, ok := t.broken[item]; !ok {
			t.order = append(t.order, item)
			t.broken[item] = d.text
		}
	}
}

// inPackage returns the base name of a file in the submission's package. A path
// may be relative to the package, to the build tree or to nothing.
func (t *translator) inPackage(p string) (file string, ok bool) {
	dir, file := path.Split(strings.TrimPrefix(p, "./"))
	dir = strings.TrimSuffix(dir, "/")
	return file, dir == "" || dir == t.api.dir || strings.HasSuffix(dir, "/"+t.api.dir)
}

// continued returns the further lines of a message about a student's file. It drops
// a line that names a place in any other file.
func (t *translator) continued(more []string) string {
	text := ""
	for _, line := range more {
		if strings.Contains(line, ".go:") {
			d, ok := parseDiagnostic(strings.TrimSpace(line))
			file, own := t.inPackage(d.path)
			if !ok || !own || !t.student[file] {
				continue
			}
			line = file + ":" + strconv.Itoa(d.line) + ": " + d.text
		}
		text += "; " + strings.TrimSpace(line)
	}
	return text
}

// places shortens the places in a message to names of the student's files. Those in any
// other file are not told.
func (t *translator) places(text string) string {
	return placeInText.ReplaceAllStringFunc(text, func(at string) string {
		p, line, _ := strings.Cut(strings.TrimPrefix(at, "at "), ".go:")
		file, own := t.inPackage(p + ".go")
		if !own {
			return "outside this package"
		}
		if !t.student[file] {
			return "in a file that the exercise provides"
		}
		line, _, _ = strings.Cut(line, ":")
		return "at " + file + ":" + line
	})
}

// placeInText matches where a message says that something else is.
var placeInText = regexp.MustCompile(`\bat [^\s"'` + "`" + `(),;]+\.go:[0-9]+:[0-9]+`)

// redeclared handles a name that both the student and a file of the exercise declare.
// The compiler may report either place; the student sees their own.
func (t *translator) redeclared(d diagnostic) bool {
	name, ok := strings.CutSuffix(d.text, " redeclared in this block")
	if !ok || !token.IsIdentifier(name) {
		return false
	}
	for _, line := range d.more {
		other, ok := parseDiagnostic(strings.TrimSpace(line))
		if file, own := t.inPackage(other.path); ok && own && t.student[file] {
			t.add(file, other.line, "compile", name+" is declared in a file that the exercise provides; remove this declaration")
		}
	}
	return true
}

// translateItems reports for each broken item of the API the declaration that the
// exercise wants and the student's. An item that is broken although its declaration is
// right suffers from another; it is reported only if there is no other problem.
func (t *translator) translateItems() {
	have := map[key]*declaration{}
	for _, d := range declarations(t.snapshot.Files) {
		if have[d.key()] == nil {
			have[d.key()] = d
		}
	}
	if len(t.broken) > 0 || len(t.problems) == 0 {
		t.shadowed(have)
	}
	var suffering []int
	for _, i := range t.order {
		item := t.api.items[i]
		d := have[item.key]
		switch {
		case d == nil:
			t.missing(item, have, t.broken[i])
		case d.canon() == item.canon:
			suffering = append(suffering, i)
		default:
			t.add(d.file, d.line, "api", "want "+clipHalf(item.want)+", have "+clipHalf(d.text()))
		}
	}
	if len(t.problems) > 0 {
		return
	}
	for _, i := range suffering {
		d := have[t.api.items[i].key]
		t.add(d.file, d.line, "api", "want "+clipHalf(t.api.items[i].want)+": "+plainer(t.broken[i]))
	}
}

// missing reports an item that the student's files do not declare. The compiler says
// something else of an item that an embedded type promotes.
func (t *translator) missing(item apiItem, have map[key]*declaration, text string) {
	file, line := t.snapshot.PackageFile, t.snapshot.PackageLine
	if d := have[key{name: item.key.owner}]; d != nil {
		file, line = d.file, d.line
	}
	for _, sign := range []string{"undefined", "unknown field"} {
		if strings.Contains(text, sign) {
			t.add(file, line, "api", "the exercise wants "+clipHalf(item.want)+", which is missing")
			return
		}
	}
	t.add(file, line, "api", "want "+clipHalf(item.want)+": "+plainer(text))
}

// shadowed reports predeclared names that the API uses and the student's package
// redeclares.
func (t *translator) shadowed(have map[key]*declaration) {
	for _, name := range types.Universe.Names() {
		if d := have[key{name: name}]; d != nil && t.api.uses[name] {
			t.add(d.file, d.line, "api", "the exercise's API uses Go's predeclared "+name+"; give this declaration another name")
		}
	}
}

// plainer removes the grader's prefix from the names in a compiler's message.
func plainer(text string) string { return strings.ReplaceAll(text, apiPrefix, "") }

// clipHalf cuts a text so that a message has room for two.
func clipHalf(text string) string { return verdict.Clip(text, maxMessage/2-10) }
