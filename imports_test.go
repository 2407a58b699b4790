package grade_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "grade"

// arrow is what the files of one package may import of this module: every file,
// and besides that its tests, which may always import the package they test.
type arrow struct{ all, tests []string }

// arrows are the architecture. A name may hold one star, which stands for an
// exercise and means the same one on both sides.
var arrows = map[string]arrow{
	".":                {tests: []string{"grader/turn"}},
	"bench":            {all: []string{".", "bench/gotest", "exercises/course", "grader/measure/quantile", "grader/verdict", "sandbox", "sandbox/toolchain"}},
	"bench/batch":      {all: []string{"bench/class", "bench/gotest", "exercises/course/fixture", "grader", "grader/prove", "grader/results/file", "grader/submission", "grader/verdict"}},
	"bench/class":      {all: []string{"exercises/course", "exercises/course/fixture"}},
	"bench/crowd":      {all: []string{".", "exercises/course"}},
	"bench/deadline":   {all: []string{".", "bench/class", "exercises/course", "exercises/course/fixture", "grader/measure/quantile", "grader/results", "grader/results/file", "grader/submission", "service/client"}},
	"bench/gotest":     {all: []string{".", "exercises/course", "grader/lang/golang", "grader/verdict", "sandbox", "sandbox/docker"}},
	"bench/mutants":    {all: []string{".", "exercises/course", "grader/mutate", "grader/prove"}},
	"bench/references": {all: []string{"grader/measure/quantile"}},
	"bench/rush":       {all: []string{"grader/measure/quantile", "grader/results", "grader/results/file"}},

	"observe":      {all: []string{"observe/wire"}},
	"observe/wire": {},

	"exercises/*/hidden":                 {all: []string{"observe", "reference/*"}},
	"exercises/course":                   {all: []string{"exercises/course/document", "grader/verdict"}, tests: []string{"exercises/course/coursetest", "exercises/schema"}},
	"exercises/course/coursetest":        {all: []string{"exercises/schema"}},
	"exercises/course/document":          {},
	"exercises/course/fixture":           {all: []string{"exercises/course", "exercises/course/document", "exercises/course/fixture/edits", "grader/submission", "grader/verdict"}, tests: []string{"exercises/course/coursetest"}},
	"exercises/course/fixture/edits":     {},
	"exercises/course/fixture/workspace": {all: []string{"exercises/course", "exercises/course/document", "exercises/course/fixture", "exercises/course/fixture/edits", "grader/wholefile"}, tests: []string{"exercises/course/coursetest", "grader/tree"}},
	"exercises/course/readme":            {all: []string{"exercises/course"}},
	"exercises/course/scaffold":          {all: []string{"exercises/course", "exercises/schema", "grader/fault", "grader/wholefile"}},
	"exercises/course/versions":          {all: []string{"exercises/course", "grader/fault"}, tests: []string{"exercises/course/scaffold"}},
	"exercises/schema":                   {tests: []string{"exercises/course", "exercises/course/coursetest", "exercises/course/fixture", "grader/verdict"}},
	"reference/*":                        {},

	"sandbox":             {},
	"sandbox/checkup":     {all: []string{"sandbox/docker", "sandbox/toolchain"}},
	"sandbox/conformance": {all: []string{"sandbox", "sandbox/toolchain"}},
	"sandbox/docker":      {all: []string{"sandbox", "sandbox/protocol", "sandbox/toolchain"}, tests: []string{".", "grader/lang/golang", "sandbox/conformance"}},
	"sandbox/process":     {all: []string{"sandbox", "sandbox/protocol", "sandbox/toolchain"}, tests: []string{".", "grader/lang/golang", "sandbox/conformance"}},
	"sandbox/protocol":    {all: []string{"sandbox"}},
	"sandbox/sandboxtest": {all: []string{"sandbox"}},
	"sandbox/supervisor":  {all: []string{"sandbox", "sandbox/protocol"}},
	"sandbox/toolchain":   {all: []string{"sandbox"}},

	"grader":                          {all: []string{"exercises/course", "grader/boxes", "grader/fault", "grader/judge", "grader/lang", "grader/measure", "grader/submission", "grader/verdict", "grader/wholefile", "observe/wire", "sandbox"}, tests: []string{"exercises/course/coursetest", "grader/lang/golang", "sandbox/sandboxtest"}},
	"grader/batch":                    {all: []string{"exercises/course", "grader/fault", "grader/gradebook", "grader/intake", "grader/results", "grader/submission", "grader/verdict"}, tests: []string{"grader/results/file", "grader/tree"}},
	"grader/boxes":                    {all: []string{"sandbox"}, tests: []string{"sandbox/sandboxtest"}},
	"grader/fault":                    {},
	"grader/gradebook":                {all: []string{"exercises/course", "grader/fault", "grader/verdict"}},
	"grader/heap":                     {},
	"grader/intake":                   {all: []string{"exercises/course", "grader/fault", "grader/intake/repository", "grader/submission", "grader/verdict"}, tests: []string{"grader/tree"}},
	"grader/intake/changed":           {all: []string{"exercises/course", "grader/fault", "grader/gradebook", "grader/intake", "grader/intake/forge", "grader/intake/repository", "grader/submission", "grader/verdict"}, tests: []string{"grader/batch", "grader/intake/gittest", "grader/results/file"}},
	"grader/intake/forge":             {},
	"grader/intake/gittest":           {},
	"grader/intake/repository":        {tests: []string{"grader/heap"}},
	"grader/judge":                    {all: []string{"exercises/course", "exercises/course/fixture", "grader/fault", "grader/verdict", "observe/wire", "sandbox"}, tests: []string{"grader/lang/golang"}},
	"grader/lang":                     {all: []string{"exercises/course", "grader/submission", "grader/verdict", "sandbox"}},
	"grader/lang/golang":              {all: []string{"exercises/course", "grader/fault", "grader/lang", "grader/lang/golang/vet", "grader/submission", "grader/verdict", "observe/wire", "sandbox"}, tests: []string{"grader/heap", "grader/tree"}},
	"grader/lang/golang/compile":      {all: []string{"grader/lang/golang/vet", "grader/lang/golang/vet/typed", "grader/submission", "grader/verdict"}, tests: []string{"grader/tree"}},
	"grader/lang/golang/vet":          {all: []string{"grader/submission", "grader/verdict"}},
	"grader/lang/golang/vet/typed":    {all: []string{"grader/lang/golang/vet", "grader/verdict"}},
	"grader/measure":                  {all: []string{"grader/fault", "grader/measure/quantile", "grader/verdict", "sandbox"}},
	"grader/measure/quantile":         {},
	"grader/mutate":                   {},
	"grader/prove":                    {all: []string{"exercises/course", "exercises/course/document", "exercises/course/fixture", "grader", "grader/fault", "grader/judge", "grader/measure", "grader/measure/quantile", "grader/mutate", "grader/submission", "grader/verdict", "observe/wire"}, tests: []string{"exercises/course/coursetest", "exercises/course/scaffold", "grader/tree", "sandbox"}},
	"grader/report":                   {all: []string{"exercises/course", "grader/gradebook", "grader/report/page", "grader/report/terminal", "grader/report/wording", "grader/verdict"}, tests: []string{"grader/report/sample"}},
	"grader/report/browser":           {tests: []string{"grader/gradebook", "grader/report", "grader/report/browser/look", "grader/report/sample", "grader/verdict"}},
	"grader/report/browser/look":      {},
	"grader/report/files":             {all: []string{"grader/gradebook", "grader/report", "grader/verdict", "grader/wholefile"}, tests: []string{"exercises/course"}},
	"grader/report/page":              {all: []string{"grader/gradebook", "grader/measure/quantile", "grader/report/terminal", "grader/report/wording", "grader/verdict"}, tests: []string{"exercises/course", "grader/report/sample"}},
	"grader/report/progress":          {all: []string{"grader", "grader/batch", "grader/report", "grader/report/terminal"}, tests: []string{"grader/verdict"}},
	"grader/report/sample":            {all: []string{"exercises/course", "grader/gradebook", "grader/verdict"}},
	"grader/report/summary":           {all: []string{"grader/batch", "grader/gradebook", "grader/intake/changed", "grader/prove", "grader/report", "grader/report/terminal", "grader/report/wording", "grader/results", "grader/verdict"}, tests: []string{"grader/fault", "grader/intake"}},
	"grader/report/terminal":          {},
	"grader/report/terminal/markdown": {all: []string{"grader/report/terminal"}},
	"grader/report/wording":           {all: []string{"grader/gradebook", "grader/report/terminal", "grader/verdict"}},
	"grader/results":                  {all: []string{"exercises/course", "grader/submission", "grader/verdict"}, tests: []string{"."}},
	"grader/results/file":             {all: []string{"grader/fault", "grader/results", "grader/submission", "grader/wholefile"}, tests: []string{"exercises/course", "grader/results/storetest", "grader/verdict"}},
	"grader/results/storetest":        {all: []string{"grader/results", "grader/submission", "grader/verdict"}},
	"grader/submission":               {all: []string{"grader/fault", "grader/verdict"}, tests: []string{"grader/tree"}},
	"grader/tree":                     {},
	"grader/turn":                     {},
	"grader/verdict":                  {},
	"grader/wholefile":                {},

	"service/client":            {all: []string{"grader", "grader/fault", "grader/submission", "grader/verdict", "grader/wholefile"}},
	"service/people":            {all: []string{"grader/gradebook", "service"}, tests: []string{"service/engine", "service/people/peopletest"}},
	"service/people/peopletest": {},
	"service/site":              {all: []string{"exercises/course", "exercises/course/readme", "exercises/course/scaffold", "grader", "grader/batch", "grader/fault", "grader/gradebook", "grader/report", "grader/report/page", "grader/report/summary", "grader/report/wording", "grader/results", "grader/submission", "grader/verdict", "service", "service/people"}, tests: []string{"exercises/course/coursetest", "service/engine", "service/people/peopletest", "service/worker"}},
	"service":                   {all: []string{"grader", "grader/results", "grader/submission", "grader/verdict"}},
	"service/engine":            {all: []string{"exercises/course", "grader", "grader/fault", "grader/results", "grader/results/file", "grader/submission", "grader/verdict", "grader/wholefile", "service"}, tests: []string{"exercises/course/coursetest", "grader/results/storetest"}},
	"service/worker":            {all: []string{"exercises/course", "grader", "grader/fault", "grader/results", "grader/submission", "grader/verdict", "service", "service/engine"}, tests: []string{"exercises/course/coursetest", "grader/batch", "grader/gradebook", "grader/results/file"}},

	"cmd/grade": {all: []string{".", "exercises/course", "exercises/course/fixture", "exercises/course/fixture/edits", "exercises/course/fixture/workspace", "exercises/course/readme", "exercises/course/scaffold", "exercises/course/versions", "grader", "grader/batch", "grader/boxes", "grader/fault", "grader/gradebook", "grader/intake", "grader/intake/changed", "grader/intake/forge", "grader/intake/repository", "grader/lang/golang", "grader/lang/golang/vet", "grader/prove", "grader/report", "grader/report/files", "grader/report/progress", "grader/report/summary", "grader/report/terminal", "grader/report/terminal/markdown", "grader/results", "grader/results/file", "grader/submission", "grader/verdict", "grader/wholefile", "sandbox", "sandbox/checkup", "sandbox/docker", "sandbox/process", "sandbox/toolchain", "service/client", "service/engine", "service/people", "service/site", "service/worker"}, tests: []string{"grader/measure", "grader/judge", "grader/turn", "service", "grader/intake/gittest", "grader/report/browser/look"}},
}

// plain are the packages that use the standard library and nothing else. What
// travels into a sandbox is compiled there, where there are no modules; what
// reads a hostile file or stream shall be small enough to be read.
var plain = []string{
	"observe", "observe/wire", "sandbox", "sandbox/protocol", "sandbox/supervisor",
	"grader/verdict", "grader/fault", "grader/measure/quantile", "grader/submission", "grader/lang/golang/compile", "grader/lang/golang/vet", "grader/lang/golang/vet/typed", "reference/*",
	"grader/intake/forge", "grader/intake/repository",
}

// suites are packages for tests: they may use what tests use, and nothing but
// tests may use them.
var suites = []string{"exercises/course/coursetest", "grader/heap", "grader/intake/gittest", "grader/report/browser/look", "grader/report/sample", "grader/results/storetest", "grader/tree", "grader/turn", "sandbox/conformance", "sandbox/sandboxtest", "service/people/peopletest"}

// file is a Go file of the module, with its package's folder.
type file struct {
	name, dir string
	test      bool
	imports   []string
}

// Parsing happens in this process: a test that asked the go command would be
// answered from the test cache, which does not see the files the command reads.
func files(t *testing.T) (list []file) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"starter", "submissions", "testdata"}, d.Name()) || len(d.Name()) > 1 && d.Name()[0] == '.' {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != "." {
				return filepath.SkipDir // another module
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{name: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go")}
		f.dir = path.Dir(f.name)
		for _, i := range parsed.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		list = append(list, f)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

// match reports whether dir is meant by a name of the tables, and what its star
// stands for.
func match(name, dir string) (star string, ok bool) {
	before, after, starred := strings.Cut(name, "*")
	if !starred {
		return "", name == dir
	}
	rest, ok := strings.CutPrefix(dir, before)
	if !ok {
		return "", false
	}
	star, ok = strings.CutSuffix(rest, after)
	return star, ok && star != "" && !strings.Contains(star, "/")
}

// row finds the arrows of a package and puts its star in their place.
func row(dir string) (name string, a arrow, ok bool) {
	for name, a := range arrows {
		if star, ok := match(name, dir); ok {
			replaced := func(list []string) (out []string) {
				for _, p := range list {
					out = append(out, strings.ReplaceAll(p, "*", star))
				}
				return out
			}
			return name, arrow{replaced(a.all), replaced(a.tests)}, true
		}
	}
	return "", arrow{}, false
}

// inModule is the folder that an import path of this module stands for.
func inModule(p string) (dir string, ok bool) {
	if p == module {
		return ".", true
	}
	return strings.CutPrefix(p, module+"/")
}

// Every import of this module is in the table, and every row has a package.
func TestImportArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range files(t) {
		name, a, ok := row(f.dir)
		if !ok {
			t.Errorf("%s: package %s has no row in the table of imports_test.go: say what it may import", f.name, f.dir)
			continue
		}
		seen[name] = true
		for _, p := range f.imports {
			dir, ok := inModule(p)
			allowed := slices.Contains(a.all, dir) || f.test && (dir == f.dir || slices.Contains(a.tests, dir))
			if ok && !allowed {
				t.Errorf("%s imports %s, which the table of imports_test.go does not allow", f.name, p)
			}
		}
	}
	for name := range arrows {
		if !seen[name] {
			t.Errorf("the table of imports_test.go has a row for %s, and there is no such package", name)
		}
	}
}

// Every arrow of the table is used: one that is not says that a package may
// know what it need not.
func TestImportArrowsAreUsed(t *testing.T) {
	used := map[string][]string{}
	for _, f := range files(t) {
		imports := used[f.dir] // a package without any has its arrows checked too
		for _, p := range f.imports {
			if dir, ok := inModule(p); ok {
				imports = append(imports, dir)
			}
		}
		used[f.dir] = imports
	}
	for dir, imports := range used {
		_, a, ok := row(dir)
		if !ok {
			continue // TestImportArrows tells
		}
		for _, p := range slices.Concat(a.all, a.tests) {
			if !slices.Contains(imports, p) {
				t.Errorf("no file of %s imports %s: take it out of the table of imports_test.go", dir, p)
			}
		}
	}
}

// What travels, and what reads hostile input, uses the standard library only;
// what is for tests is used by tests only.
func TestStandardLibraryOnly(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		strict := slices.ContainsFunc(plain, func(name string) bool { _, ok := match(name, f.dir); return ok })
		for _, p := range f.imports {
			first, _, _ := strings.Cut(p, "/")
			if strict && first != module && strings.Contains(first, ".") {
				t.Errorf("%s imports %s, and %s may use the standard library only", f.name, p, f.dir)
			}
			dir, _ := inModule(p)
			if strings.Contains(p, "testify") && !slices.Contains(suites, f.dir) || slices.Contains(suites, dir) {
				t.Errorf("%s imports %s and is no test", f.name, p)
			}
		}
	}
}

// homonyms are names of the grader's own that an exercise has too, by file.
var homonyms = map[string]string{"grader/measure.go": "sampler"} // what takes samples of a workload

// The grader and the sandboxes know no exercise: adding one is adding a folder.
func TestNoExerciseByName(t *testing.T) {
	configs, err := filepath.Glob("exercises/*/exercise.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, configs)
	for _, config := range configs {
		name := regexp.QuoteMeta(path.Base(path.Dir(filepath.ToSlash(config))))
		named := regexp.MustCompile(`(^|[^\w/])` + name + `($|[^\w/])|(exercises|reference)/` + name + `\b`)
		for _, f := range files(t) {
			if f.test || slices.Contains(suites, f.dir) || !strings.HasPrefix(f.dir, "grader") && !strings.HasPrefix(f.dir, "sandbox") {
				continue
			}
			for _, s := range literals(t, f.name) {
				if named.MatchString(s) && s != homonyms[f.name] {
					t.Errorf("%s names an exercise: %q", f.name, s)
				}
			}
		}
	}
}

// literals are the strings and the names in a file.
func literals(t *testing.T, name string) (list []string) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	parsed, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil {
				list = append(list, s)
			}
		case *ast.Ident:
			list = append(list, n.Name)
		}
		return true
	})
	return list
}
