package course

import (
	"cmp"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course/document"
	"grade/grader/verdict"
)

// Lint reports what an author should mend although the exercise can be graded: rules
// that the README leaves out, disagreements of README, starter and reference about the
// API, and a starter that imports the solution. Like [Course.Load], it names every
// fault as a [document.Fault].
func (c *Course) Lint(name string) error {
	e, err := c.Load(name)
	if err != nil {
		return err
	}
	p := &document.Faults{Doing: "check exercise " + name}
	l := linter{Faults: p, exercise: e, reference: apiOf(path.Join(referenceDir, name), e.Reference)}
	l.readme()
	l.pictures()
	l.starter()
	l.imports()
	l.embeds()
	return p.Join()
}

type linter struct {
	*document.Faults
	exercise  *Exercise
	reference []declared
}

// readme compares the README with the checks, and with the part of the reference's API
// that a student has to write: functions by their signatures, other declarations by
// their names.
func (l linter) readme() {
	l.described()
	l.points()
	shown := map[string]declared{}
	for _, block := range goBlocks(l.exercise.Readme) {
		for _, d := range block {
			if _, twice := shown[d.name]; !twice {
				shown[d.name] = d
			}
		}
	}
	for _, want := range l.reference {
		got, ok := shown[want.name]
		switch {
		case slices.Contains(l.exercise.Provided, path.Base(want.file)):
		case !ok && !strings.HasPrefix(want.signature, "func") && l.mentions(want.name):
		case !ok:
			l.Add(readmeFile, 0, "the API lacks %s, which the reference has at %s:%d: show it in a block of Go", want, want.file, want.line)
		case got.signature != want.signature:
			l.Add(readmeFile, got.line, "%s here is %s; in the reference it is %s", want.name, got.signature, want.signature)
		}
	}
}

// described requires that the README describes every check: under the heading that
// exercise.yaml names, or else by the check's name.
func (l linter) described() {
	headings := anchors(l.exercise.Readme)
	for i, check := range l.exercise.Checks {
		again := slices.ContainsFunc(l.exercise.Checks[:i], func(c Check) bool { return c.Func == check.Func })
		name := cmp.Or(check.Func, check.Name)
		switch {
		case check.Anchor != "" && !slices.Contains(headings, check.Anchor):
			l.Add(configFile, check.Line, "%s: no heading of %s has the anchor %q: it has %s", check.Name, readmeFile, check.Anchor, strings.Join(headings, ", "))
		case check.Anchor == "" && !again && !l.mentions(name):
			l.Add(configFile, check.Line, "%s: %s does not describe it: name it there, beside the rule that it checks, or give it the anchor of a heading", name, readmeFile)
		}
	}
}

// points compares the points of checks in the README's tables with exercise.yaml: in a table
// whose last column is headed "points", a row that begins with a check's name or function.
func (l linter) points() {
	inTable, n := false, 0
	for line := range strings.Lines(string(withoutBlocks(l.exercise.Readme))) {
		n++
		first, last, ok := outerCells(line)
		inTable = ok && (inTable || strings.EqualFold(last, "points"))
		if !inTable {
			continue
		}
		names := namesIn(first)
		l.known(n, names)
		if said, err := strconv.Atoi(last); err == nil && len(names) > 0 {
			l.pointsOf(n, names[0], said)
		}
	}
}

// namesIn returns the words of a row's first cell: names of checks, of functions, or others.
// Where a kind follows a function, as in "BenchmarkTrain, speed", both are one name.
func namesIn(cell string) (names []string) {
	for _, word := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune("`*,/ ", r) }) {
		if i := len(names) - 1; i >= 0 && verdict.Kind(word).Measured() && isTestName(names[i], "Benchmark") {
			names[i] += "/" + word
		} else {
			names = append(names, word)
		}
	}
	return names
}

// called returns the checks of that name, or of the function of that name.
func (l linter) called(name string) (list []Check) {
	for _, c := range l.exercise.Checks {
		if c.Name == name || c.Func == name {
			list = append(list, c)
		}
	}
	return list
}

// known looks for tests and benchmarks in a row that are no checks.
func (l linter) known(line int, names []string) {
	for _, name := range names {
		function, _, _ := strings.Cut(name, "/")
		if (isTestName(function, "Test") || isTestName(function, "Benchmark")) && len(l.called(name)) == 0 {
			l.Add(readmeFile, line, "there is no check %s in %s", name, configFile)
		}
	}
}

// pointsOf looks at one row.
func (l linter) pointsOf(line int, name string, said int) {
	var has []string
	for _, c := range l.called(name) {
		if c.Points == said {
			return
		}
		has = append(has, strconv.Itoa(c.Points))
	}
	if len(has) > 0 {
		l.Add(readmeFile, line, "%s gives %d points here; in %s it gives %s", name, said, configFile, strings.Join(has, " or "))
	}
}

// outerCells returns the first and the last cell of a row of a table.
func outerCells(line string) (first, last string, ok bool) {
	line, begins := strings.CutPrefix(strings.TrimSpace(line), "|")
	line, ends := strings.CutSuffix(line, "|")
	cells := strings.Split(line, "|")
	return strings.TrimSpace(cells[0]), strings.TrimSpace(cells[len(cells)-1]), begins && ends && len(cells) > 1
}

// mentions reports whether the README contains a word.
func (l linter) mentions(word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).Match(l.exercise.Readme)
}

// pictures requires that the README shows what lies beside it, and nothing else.
func (l linter) pictures() {
	shown := images(l.exercise.Readme)
	for _, i := range shown {
		if !slices.ContainsFunc(l.exercise.Pictures, func(f File) bool { return f.Name == i.file }) {
			l.Add(readmeFile, i.line, "%s is not a picture beside it: put a file of type %s there", i.file, strings.Join(pictureTypes, " or "))
		}
	}
	for _, f := range l.exercise.Pictures {
		if !slices.ContainsFunc(shown, func(i image) bool { return i.file == f.Name }) {
			l.Add(f.Name, 0, "%s does not show it: add ![what it shows](%s), or remove the file", readmeFile, f.Name)
		}
	}
}

// starter compares the starter's declarations with the reference's, both ways.
func (l linter) starter() {
	has := apiOf(starterDir, l.exercise.Starter)
	find := func(list []declared, name string) *declared {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
		return nil
	}
	for _, want := range l.reference {
		got := find(has, want.name)
		switch {
		case got == nil:
			l.Add(starterDir, 0, "the starter lacks %s, which the reference has at %s:%d", want, want.file, want.line)
		case got.signature != want.signature:
			l.Add(got.file, got.line, "%s here is %s; in the reference it is %s", want.name, got.signature, want.signature)
		}
	}
	for _, got := range has {
		if find(l.reference, got.name) == nil {
			l.Add(got.file, got.line, "the reference lacks %s", got)
		}
	}
}

// imports reports imports of the starter that give the solution away or that students
// cannot resolve. It reads every Go file, tests and subfolders included.
func (l linter) imports() {
	for _, f := range l.exercise.Starter {
		if !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, f.Name, f.Data, parser.ImportsOnly)
		if err != nil {
			continue // Load reports it
		}
		for _, i := range tree.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			line := fset.Position(i.Pos()).Line
			switch {
			case strings.HasPrefix(p, path.Join(l.exercise.Module, referenceDir)+"/"):
				l.Add(path.Join(starterDir, f.Name), line, "imports %q, which is a solution: remove the import", p)
			case p == l.exercise.Module, strings.HasPrefix(p, l.exercise.Module+"/"), p == kit:
				l.Add(path.Join(starterDir, f.Name), line, "imports %q, which students do not have: remove the import", p)
			}
		}
	}
}

// embeds reports files that are embedded into the hidden tests, because a submission
// runs in the same program and can read expected values in them. Values in the source
// itself are found in package prove, which knows the reference's.
func (l linter) embeds() {
	for _, f := range l.exercise.Hidden {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, f.Name, f.Data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // Load reports it
		}
		for _, group := range tree.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:embed ") {
					l.Add(path.Join(hiddenDir, f.Name), fset.Position(c.Pos()).Line, "embeds a file into the program that a submission runs in: make inputs from o.Rand(), and leave expected values to the reference")
				}
			}
		}
	}
}
