package golang

import (
	"fmt"
	"go/parser"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/grader/heap"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// A problem has the line of the student's own declaration.
func TestAPIProblemLines(t *testing.T) {
	api := apiOf(t, "reference/p", "package p\n\ntype V struct{}\n\nfunc (v *V) Add(o *V) *V { return v }\nfunc (v *V) Sub(o *V) *V { return v }\nfunc F(int) {}\n")
	s := &submission.Snapshot{PackageFile: "a.go", PackageLine: 2, Files: []submission.File{
		{Name: "a.go", Data: []byte("// about\npackage p\n\nfunc (v *V) Add(o V) *V { return v }\n")},
		{Name: "b.go", Data: []byte("package p\n\n\n\n\ntype V struct{}\n")},
	}}
	line := func(part string) int {
		i := strings.Index(string(api.file), part)
		require.Positive(t, i, part)
		return strings.Count(string(api.file)[:i], "\n") + 1
	}
	output := fmt.Sprintf("# grade/reference/p\nreference/p/zz_api.go:%d:7: cannot use ...\nreference/p/zz_api.go:%d:7: (*V).Sub undefined (...)\nreference/p/zz_api.go:%d:7: undefined: F\n",
		line(".Add }"), line(".Sub }"), line("= F }"))
	require.Equal(t, []verdict.Problem{
		{File: "a.go", Line: 4, Rule: "api", Message: "want func (v *V) Add(o *V) *V, have func (v *V) Add(o V) *V"},
		{File: "b.go", Line: 6, Rule: "api", Message: "the exercise wants func (v *V) Sub(o *V) *V, which is missing"},
		{File: "a.go", Line: 2, Rule: "api", Message: "the exercise wants func F(int), which is missing"},
	}, api.problems([]byte(output), s))
}

// A message about another file is not shown.
func TestAPIProblemsLeakNothing(t *testing.T) {
	api := apiOf(t, "reference/p", "package p\n\nfunc F(int) {}\n")
	s := &submission.Snapshot{PackageFile: "a.go", PackageLine: 1, Files: []submission.File{
		{Name: "a.go", Data: []byte("package p\n\nfunc F(int) {}\n")}, {Name: "observe.go", Data: []byte("package p\n")}}}
	for name, tt := range map[string]struct {
		output string
		want   []string
	}{
		"hidden test":       {"# grade/exercises/p/hidden [x.test]\nexercises/p/hidden/p_test.go:5:3: canary\n\thave (canary)\n\twant (canary)\n", nil},
		"hidden in place":   {"./p_test.go:5:3: canary\n", nil},
		"the kit":           {"observe/observe.go:5:3: canary\n\tcanary\n", nil},
		"heading":           {"# grade/reference/p\n\tcanary\n", nil},
		"import chain":      {"package grade/exercises/p/hidden\n\timports grade/reference/p: a.go:3:1: canary\n", nil},
		"compiler crash":    {"# grade/reference/p\npanic: canary\n\ngoroutine 1 [running]:\ncmd/compile/internal.x(...)\n\tcmd/compile/internal/x.go:12 +0x1d\n", nil},
		"stack overflow":    {"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: canary\n", nil},
		"linker":            {"# grade/exercises/p/hidden.test\n/usr/local/go/pkg/tool/link: canary\na.o: relocation target canary not defined\n", nil},
		"killed":            {"go build grade/reference/p: /usr/local/go/pkg/tool/compile: signal: killed\n", nil},
		"nothing":           {"", nil},
		"other declaration": {"reference/p/a.go:3:6: F redeclared in this block\n\texercises/p/hidden/p_test.go:4:6: canary\n", []string{"a.go:3 F redeclared in this block"}},
		"too many":          {"reference/p/a.go:3:6: x\nreference/p/a.go:3:6: too many errors\n", []string{"a.go:3 x"}},
		"provided file":     {"reference/p/given.go:3:6: F redeclared in this block\n\treference/p/a.go:3:6: other declaration of F\n", []string{"a.go:3 F is declared in a file that the exercise provides; remove this declaration"}},
		"crash at a line":   {"reference/p/a.go:3:6: internal compiler error: bad\n\nPlease file a bug report\n", []string{"a.go:3 internal compiler error: bad"}},
		"same directory":    {"./a.go:3:6: x\n", []string{"a.go:3 x"}},
		"absolute":          {"/work/x y/reference/p/a.go:3:6: x\r\n", []string{"a.go:3 x"}},
		"no column":         {"reference/p/a.go:3: x: y\n", []string{"a.go:3 x: y"}},
		"foreign a.go":      {"/secret/a.go:3:6: canary\nother/reference/q/a.go:1:1: canary\n", nil},
		"own declaration":   {"reference/p/a.go:9:6: method T.F already declared at reference/p/a.go:3:6\n", []string{"a.go:9 method T.F already declared at a.go:3"}},
		"provided method":   {"reference/p/a.go:9:6: method T.F already declared at reference/p/given.go:3:6\n", []string{"a.go:9 method T.F already declared in a file that the exercise provides"}},
		"library":           {"./a.go:9:6: in call to slices.Max, cannot infer S (declared at /usr/local/go/src/slices/sort.go:5:10)\n", []string{"a.go:9 in call to slices.Max, cannot infer S (declared outside this package)"}},
		"a place in a text": {"./a.go:9:6: cannot use \"b.go:1:2\" (untyped string constant) as int value\n", []string{"a.go:9 cannot use \"b.go:1:2\" (untyped string constant) as int value"}},
		"twice":             {"./a.go:3:6: x\n./a.go:3:6: x\n", []string{"a.go:3 x"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range api.problems([]byte(tt.output), s) {
				got = append(got, fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Message))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestAPIProblemsAreCapped(t *testing.T) {
	api := apiOf(t, "reference/p", "package p\n\nfunc F(int) {}\n")
	s := &submission.Snapshot{Files: []submission.File{{Name: "a.go", Data: []byte("package p\n")}}}
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "./a.go:%d:1: %s\n", i+1, strings.Repeat("é", 1000))
	}
	problems := api.problems([]byte(b.String()), s)
	require.Len(t, problems, maxCompileProblems)
	require.LessOrEqual(t, len(problems[0].Message), maxMessage)
}

// A type of a few hundred bytes whose groups of parameters multiply is not written out,
// whatever the exercise wants under its name.
func TestAPIProblemsOfMultipliedParameters(t *testing.T) {
	group := "(" + strings.Repeat("_, ", 500) + "_ "
	multiplied := "func" + group + "func" + group + "int))"
	for want, have := range map[string]string{
		"func New(x float64) int { return 0 }":     "type New " + multiplied,
		"type New int":                             "type New " + multiplied,
		"type New[T any] struct{}":                 "type New[T " + multiplied + "] struct{}",
		"type New struct{ X int }":                 "type New struct{ X " + multiplied + " }",
		"type New int\nfunc (New) X() {}":          "type New int\nfunc (New) X" + strings.TrimPrefix(multiplied, "func") + "{}",
		"type New interface{ X() }":                "type New interface{ X" + strings.TrimPrefix(multiplied, "func") + " }",
		"const New = 1":                            "type New " + multiplied,
		"var New int":                              "var New " + multiplied,
		"func New(x float64) (y int) { return 0 }": "func New() " + multiplied + " { return nil }",
	} {
		t.Run(want, func(t *testing.T) {
			api := apiOf(t, "reference/p", "package p\n\n"+want+"\n")
			files := []submission.File{{Name: "a.go", Data: []byte("package p\n\n" + have + "\n")}}
			for _, d := range declarations(files) {
				require.LessOrEqual(t, len(d.canon()), 2*maxSpelled)
			}
			output := ""
			for line := range api.lines {
				output += fmt.Sprintf("./zz_api.go:%d:7: New is not as it should be\n", line)
			}
			problems := api.problems([]byte(output), &submission.Snapshot{Files: files, PackageFile: "a.go", PackageLine: 1})
			require.NotEmpty(t, problems)
			for _, p := range problems {
				require.LessOrEqual(t, len(p.Message), maxMessage)
			}
		})
	}
}

// The name of a type is not held once for each of its fields: a long one would fill the memory.
func TestAPIProblemsOfALongName(t *testing.T) {
	const name, fields = 32 << 10, 10_000
	var source strings.Builder
	fmt.Fprintf(&source, "package p\n\ntype %s struct {\n", strings.Repeat("x", name))
	for i := range fields {
		fmt.Fprintf(&source, "f%d int\n", i)
	}
	source.WriteString("}\n")
	api := apiOf(t, "reference/p", "package p\n\nfunc New() {}\n")
	s := &submission.Snapshot{Files: []submission.File{{Name: "a.go", Data: []byte(source.String())}}, PackageFile: "a.go", PackageLine: 1}
	output := ""
	for line := range api.lines {
		output += fmt.Sprintf("./zz_api.go:%d:7: undefined: New\n", line)
	}
	require.Less(t, heap.Allocated(func() { require.NotEmpty(t, api.problems([]byte(output), s)) }), uint64(name*fields/10))
}

// The length is that of what is written out: a shared type counts as often as it is written,
// and that of fields of a struct once.
func TestSpelledLen(t *testing.T) {
	for _, text := range []string{
		"int", "func(a, b, c map[string]int) (x, y error)", "func(func(a, b func(c, d int) int), ...string)",
		"struct{a, b, c map[string]int}", "interface{Add(a, b int) (c, d int)}", "map[string]func(a, b int) func(c, d int)", "func(_, _, _ func(_, _, _ func(_, _, _ int)))",
	} {
		e, err := parser.ParseExpr(text)
		require.NoError(t, err)
		require.Len(t, new(spelling).spell(e), spelledLen(e), text)
	}
}

// Problems are few, harmless and about the student's files, whatever the output is.
func FuzzAPIProblems(f *testing.F) {
	api, err := newAPI("reference/p", map[string][]byte{"p.go": []byte(apiReference)})
	require.NoError(f, err)
	f.Add([]byte("./a.go:1:2: x\n\thave\n"), []byte("package p\nfunc New() {}\n"))
	f.Add([]byte("reference/p/zz_api.go:20:2: undefined: New\n"), []byte("package p\ntype error int\n"))
	f.Add([]byte("./given.go:1:2: F redeclared in this block\n\t./a.go:3:1: other declaration of F\n"), []byte("package p\ntype Value[T any] struct{ x, y T }\n"))
	f.Fuzz(func(t *testing.T, output, source []byte) {
		for i := range 150 {
			output = fmt.Appendf(output, "\nreference/p/zz_api.go:%d:1: undefined: %s", i, source)
		}
		s := &submission.Snapshot{Files: []submission.File{{Name: "a.go", Data: source}}, PackageFile: "a.go", PackageLine: 1}
		problems := api.problems(output, s)
		require.LessOrEqual(t, len(problems), maxCompileProblems)
		for _, p := range problems {
			require.Equal(t, "a.go", p.File)
			require.LessOrEqual(t, len(p.Message), maxMessage)
			require.False(t, strings.ContainsAny(p.Message, "\n\t\r\x1b"), "%q", p.Message)
		}
	})
}
