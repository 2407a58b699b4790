package golang

import (
	"bytes"
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// What is read of a compiler's output, and what is told of it. The output is
// hostile: a student's names and strings are in it, and there can be a lot.
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

// parseDiagnostics finds the compiler's messages in what go build wrote. What
// has no position belongs to nobody and is passed over: headings, traces of a
// compiler that crashed, the linker's words.
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

// Problems translates what the compiler wrote about a build tree into what a
// student is told. It is empty where nothing of it concerns the student's files.
func (a *API) Problems(output []byte, s *submission.Snapshot) []verdict.Problem {
	t := translation{api: a, snapshot: s, student: map[string]bool{}, seen: map[verdict.Problem]bool{}, broken: map[int]string{}}
	for _, f := range s.Files {
		t.student[f.Name] = true
	}
	for _, d := range parseDiagnostics(output) {
		t.diagnostic(d)
	}
	t.translateItems()
	return t.problems[:min(len(t.problems), maxCompileProblems)]
}

// translation is the work of Problems.
type translation struct {
	api      *API
	snapshot *submission.Snapshot
	student  map[string]bool // names of files
	problems []verdict.Problem
	seen     map[verdict.Problem]bool
	broken   map[int]string // index of an API item to what the compiler says of it
	order    []int          // of broken
}

func (t *translation) add(file string, line int, rule, message string) {
	p := verdict.Problem{File: file, Line: line, Rule: rule, Message: verdict.Clip(message, maxMessage)}
	if !t.seen[p] {
		t.seen[p] = true
		t.problems = append(t.problems, p)
	}
}

func (t *translation) diagnostic(d diagnostic) {
	file, own := t.inPackage(d.path)
	if !own || d.text == "too many errors" {
		return
	}
	if t.student[file] {
		t.add(file, d.line, "compile", d.text+t.continued(d.more))
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
func (t *translation) inPackage(p string) (file string, ok bool) {
	dir, file := path.Split(strings.TrimPrefix(p, "./"))
	dir = strings.TrimSuffix(dir, "/")
	return file, dir == "" || dir == t.api.dir || strings.HasSuffix(dir, "/"+t.api.dir)
}

// continued returns the further lines of a message about a student's file. Lines
// that name a place are about somebody's other file, unless it is the student's.
func (t *translation) continued(more []string) string {
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

// redeclared handles a name that is declared both by the student and in a file
// that the exercise provides: the compiler may blame either.
func (t *translation) redeclared(d diagnostic) bool {
	name, ok := strings.CutSuffix(d.text, " redeclared in this block")
	if !ok || !token.IsIdentifier(name) {
		return false
	}
	for _, line := range d.more {
		other, ok := parseDiagnostic(strings.TrimSpace(line))
		if file, own := t.inPackage(other.path); ok && own && t.student[file] {
			t.add(file, other.line, "compile", name+" is declared in a file that comes with the exercise; remove this one")
		}
	}
	return true
}

// translateItems says of each broken item of the API what was wanted and what
// the student has instead. An item that only suffers from another one is named
// if there is nothing better to say.
func (t *translation) translateItems() {
	have := map[string]*declaration{}
	for _, d := range declarations(t.snapshot.Files) {
		if have[d.key()] == nil {
			have[d.key()] = d
		}
	}
	if len(t.broken) > 0 || len(t.problems) == 0 {
		t.hidden(have)
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

// missing reports an item that the student's files do not declare. It is there
// nevertheless if it is promoted from an embedded type.
func (t *translation) missing(item apiItem, have map[string]*declaration, text string) {
	file, line := t.snapshot.PackageFile, t.snapshot.PackageLine
	owner, _, member := strings.Cut(item.key, ".")
	if d := have[owner]; d != nil && member {
		file, line = d.file, d.line
	}
	for _, sign := range []string{"undefined", "unknown field"} {
		if strings.Contains(text, sign) {
			t.add(file, line, "api", "want "+clipHalf(item.want)+"; it is missing")
			return
		}
	}
	t.add(file, line, "api", "want "+clipHalf(item.want)+": "+plainer(text))
}

// hidden reports names of Go itself that the API uses and the student's package
// gives another meaning.
func (t *translation) hidden(have map[string]*declaration) {
	for _, name := range types.Universe.Names() {
		if d := have[name]; d != nil && t.api.uses[name] {
			t.add(d.file, d.line, "api", name+" has its usual meaning in what the exercise asks for; call this one something else")
		}
	}
}

// plainer takes our own names out of a compiler's message.
func plainer(text string) string { return strings.ReplaceAll(text, apiPrefix, "") }

// clipHalf leaves room for as much again in a message.
func clipHalf(text string) string { return verdict.Clip(text, maxMessage/2-10) }
