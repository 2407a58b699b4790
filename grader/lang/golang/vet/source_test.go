package vet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// lines shows problems as file:line rule.
func lines(problems []verdict.Problem) []string {
	var all []string
	for _, p := range problems {
		all = append(all, fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Rule))
	}
	return all
}

func TestSource(t *testing.T) {
	const p = "package p\n"
	for name, tt := range map[string]struct {
		source string
		want   []string // line and rule
	}{
		"honest": {p + `import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)
// go: no directive. //go:noinline is none either, here.
/* line 5 */
var n atomic.Int64
func F(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, time.Now().UTC(), math.Pi, rand.N(5), fmt.Sprint("println(1)"))
	if errors.Is(ctx.Err(), io.EOF) { return fmt.Errorf("x: %w", ctx.Err()) }
	return nil
}
`, nil},
		"other package":          {"\n\npackage q\n", []string{"3 package"}},
		"main":                   {"package main\n", []string{"1 package"}},
		"test package":           {"package p_test\n", []string{"1 package"}},
		"unsafe":                 {p + `import "unsafe"`, []string{"2 import"}},
		"reflect":                {p + `import "reflect"`, []string{"2 import"}},
		"raw string":             {p + "import `syscall`", []string{"2 import"}},
		"renamed":                {p + `import m "runtime"`, []string{"2 import"}},
		"for its effect":         {p + `import _ "net/http/pprof"`, []string{"2 import"}},
		"group":                  {p + "import (\n\"math\"\n\"os\"\n\"plugin\"\n)", []string{"4 import", "5 import"}},
		"second declaration":     {p + "import \"math\"\nimport \"runtime/debug\"", []string{"3 import"}},
		"cgo":                    {p + "// int x;\nimport \"C\"", []string{"3 import"}},
		"module":                 {p + `import "grade/exercises/p/hidden"`, []string{"2 import"}},
		"network":                {p + `import "github.com/x/y"`, []string{"2 import"}},
		"relative":               {p + `import "../hidden"`, []string{"2 import"}},
		"internal":               {p + `import "internal/abi"`, []string{"2 import"}},
		"unlisted":               {p + `import "encoding/json"`, []string{"2 import"}},
		"dot":                    {p + `import . "math"`, []string{"2 import"}},
		"dot and denied":         {p + `import . "os"`, []string{"2 import", "2 import"}},
		"print":                  {p + "import \"fmt\"\nfunc F() { fmt.Println() }", []string{"3 selector"}},
		"print as value":         {p + "import \"fmt\"\nvar f = fmt.Print", []string{"3 selector"}},
		"scan":                   {p + "import \"fmt\"\nfunc F() {\n\tvar x int\n\tfmt.Scan(&x)\n}", []string{"5 selector"}},
		"scan renamed":           {p + "import f \"fmt\"\nvar s = (f.Scanln)", []string{"3 selector"}},
		"zone":                   {p + "import \"time\"\nvar a, b = time.LoadLocation(\"/etc/passwd\")\nvar c = time.Local", []string{"3 selector", "4 selector"}},
		"untyped atomic":         {p + "import \"sync/atomic\"\nfunc F(x *int64) { atomic.AddInt64(x, 1) }", []string{"3 selector"}},
		"a local fmt":            {p + "import \"fmt\"\nvar _ = fmt.Sprint\ntype t struct{}\nfunc (t) Println() {}\nfunc F() { fmt := t{}; fmt.Println() }", nil},
		"go directive":           {p + "//go:noinline\nfunc F() {}", []string{"2 directive"}},
		"linkname":               {p + "//go:linkname f runtime.exit\nfunc f(int32)", []string{"2 directive", "3 bodyless"}},
		"embed":                  {p + "\t//go:embed ../x\nvar x string", []string{"2 directive"}},
		"indented in a body":     {p + "func F() {\n\t//go:nosplit\n}", []string{"3 directive"}},
		"line":                   {p + "//line secret.go:900\nvar x = 1", []string{"2 directive"}},
		"line in a comment":      {p + "var x = /*line secret.go:900:1*/ 1", []string{"2 directive"}},
		"refusal after line":     {p + "//line other.go:900\nfunc F()", []string{"2 directive", "3 bodyless"}},
		"export":                 {p + "//export F\nfunc F() {}", []string{"2 directive"}},
		"carriage return":        {p + "//go:noinline\r\nfunc F() {}\r\n", []string{"2 directive"}},
		"build":                  {"//go:build ignore\n\n" + p, []string{"1 build-constraint"}},
		"old build":              {"// +build cgo\n\n" + p, []string{"1 build-constraint"}},
		"late build":             {p + "//go:build linux\n", []string{"2 build-constraint"}},
		"bodyless":               {p + "func F()\nfunc (t) g()\ntype t int", []string{"2 bodyless", "3 bodyless"}},
		"builtin print":          {p + "func F() { print(1); (println)(2) }", []string{"2 builtin-print"}},
		"builtin print go":       {p + "func F() {\n go print(1)\n defer println(2)\n}", []string{"3 builtin-print", "4 builtin-print"}},
		"own print":              {p + "func print(int) {}\nfunc F() { print(1) }", nil},
		"local print":            {p + "func F(println func()) { println() }", nil},
		"method print":           {p + "type t int\nfunc (t) print() {}\nfunc F() { t(0).print() }", nil},
		"bidi in a comment":      {p + "// \u202e fed\n", []string{"2 bidi"}},
		"bidi in a string":       {p + "var x = \"\u2066\"\nvar y = \"\\u2066\"", []string{"2 bidi"}},
		"deep":                   {p + "var x = " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000), []string{"2 nesting"}},
		"deep blocks":            {p + "func F() " + strings.Repeat("{\n", 300) + strings.Repeat("}", 300), []string{"252 nesting"}},
		"as deep as may be":      {p + "var x = " + strings.Repeat("(", maxNesting) + "1" + strings.Repeat(")", maxNesting), nil},
		"deep after closing":     {p + strings.Repeat("}", 1000) + "\nvar x = " + strings.Repeat("(", maxNesting+1), []string{"3 nesting"}},
		"directive beside junk":  {p + "//go:noinline\nfunc {", []string{"2 directive"}},
		"brace on the next line": {p + "func F()\n{\n}\n", nil},
		"import beside junk":     {p + "import \"os\"\nfunc {", []string{"2 import"}},
	} {
		t.Run(name, func(t *testing.T) {
			problems, _ := Source([]submission.File{{Name: "a.go", Data: []byte(tt.source)}}, Policy{Package: "p"})
			var want []string
			for _, w := range tt.want {
				want = append(want, "a.go:"+w)
			}
			got := lines(problems)
			if name == "dot and denied" || name == "builtin print" {
				require.Subset(t, want, got)
				require.Len(t, problems, 2)
				return
			}
			require.Equal(t, want, got, "%v", problems)
			for _, p := range problems {
				require.NotEmpty(t, p.Message)
			}
		})
	}
}

func TestSourceSyntax(t *testing.T) {
	for name, tt := range map[string]struct {
		source string
		want   string
	}{
		"missing brace":  {"package p\n\nfunc F() {\n", "a.go:4 syntax"},
		"no package":     {"func F() {}\n", "a.go:1 syntax"},
		"empty":          {"", "a.go:1 syntax"},
		"NUL":            {"package p\n\x00", "a.go:2 syntax"},
		"no UTF-8":       {"package p\n\nvar x = \"\xff\"\n", "a.go:3 syntax"},
		"no Go at all":   {"\x7fELF\x02\x01", "a.go:1 syntax"},
		"claimed line":   {"package p\n//line /etc/passwd:7\nfunc {\n", "a.go:3 syntax"},
		"minus signs":    {"package p\nvar x = " + strings.Repeat("-", submission.MaxFileSize-100) + "1\n", "a.go:2 syntax"},
		"unary operator": {"package p\nvar x = " + strings.Repeat("- ", 110_000) + "1\n", "a.go:2 syntax"},
		"a lost bracket": {"package p\n\nvar x = f(1\n" + strings.Repeat("\nfunc F() { return 1; }\n", 20), "a.go:3 syntax"}, // more errors than the parser goes on after
	} {
		t.Run(name, func(t *testing.T) {
			problems, syntax := Source([]submission.File{{Name: "a.go", Data: []byte(tt.source)}}, Policy{Package: "p"})
			for _, p := range problems {
				require.NotEqual(t, "package", p.Rule)
			}
			require.NotEmpty(t, syntax)
			require.LessOrEqual(t, len(syntax), maxSyntax)
			require.Equal(t, tt.want, lines(syntax)[0])
			require.LessOrEqual(t, len(syntax[0].Message), 200)
		})
	}
}

func TestSourceOfSeveralFiles(t *testing.T) {
	files := []submission.File{
		{Name: "b.go", Data: []byte("package p\nfunc F() { print(1) }\n")},
		{Name: "a.go", Data: []byte("package q\n")},
		{Name: "c.go", Data: []byte("package p\nfunc print(int) {}\n")},
		{Name: "Bad.go", Data: []byte("package p\n")},
		{Name: "d_windows.go", Data: []byte("package p\n")},
	}
	problems, syntax := Source(files, Policy{Package: "p"})
	require.Empty(t, syntax)
	require.Equal(t, []string{"Bad.go:0 file-name", "a.go:1 package", "d_windows.go:0 build-constraint"}, lines(problems))
}

func TestSourceCaps(t *testing.T) {
	large := make([]byte, submission.MaxFileSize+1)
	problems, syntax := Source([]submission.File{{Name: "a.go", Data: large}}, Policy{})
	require.Equal(t, []string{"a.go:0 too-large"}, lines(problems))
	require.Empty(t, syntax)

	var files []submission.File
	for i := range submission.MaxFiles + 5 {
		files = append(files, submission.File{Name: fmt.Sprintf("f%02d.go", i), Data: []byte("package p\n" + strings.Repeat("//go:x\n", 2000))})
	}
	problems, _ = Source(files, Policy{})
	require.Len(t, problems, verdict.MaxProblems)
}

func TestPolicyOpens(t *testing.T) {
	p := Policy{Imports: []string{"encoding/json", "os", "fmt:Print*", "os:File.Write", "runtime:GC"}}
	for _, open := range []string{"math", "fmt", "encoding/json", "os", "runtime"} {
		require.Empty(t, p.Import(open), open)
	}
	for _, closed := range []string{"reflect", "C", "unsafe", "runtime/debug", "net", "internal/abi", "encoding/xml"} {
		require.NotEmpty(t, p.Import(closed), closed)
	}
	require.NotEmpty(t, Policy{Imports: []string{"C"}}.Import("C"))
	require.Empty(t, p.Selector("fmt", "Printf"))
	require.NotEmpty(t, p.Selector("fmt", "Scan"))
	require.NotEmpty(t, Policy{}.Selector("fmt", "Printf"))
	for _, open := range []string{"Open", "File", "File.ReadAt", "File.Write", "ErrNotExist"} {
		require.Empty(t, p.Selector("os", open), open)
	}
	for _, closed := range []string{"Exit", "NewFile", "Stdout", "OpenFile", "Args", "File.Fd", "File.SyscallConn", "File.WriteString"} {
		require.NotEmpty(t, p.Selector("os", closed), closed)
	}
	require.Empty(t, p.Selector("time", "Time.Local"), "the method is not the variable")
	require.NotEmpty(t, p.Type("reflect"))
	require.Empty(t, p.Type("io/fs"))
	require.Empty(t, p.Type("runtime"))
	require.NotEmpty(t, Policy{}.Type("runtime"))
}

// Every line of the table has a reason, and no package is in it twice.
func TestPackages(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range packages {
		require.NotEmpty(t, e.reason, e.path)
		require.False(t, seen[e.path], e.path)
		seen[e.path] = true
		require.Equal(t, e.class == inPart || e.class == onDemand, len(e.allow) > 0, e.path)
		for _, pattern := range e.allow {
			require.Equal(t, pattern != "", match(strings.TrimPrefix(pattern, "!"), strings.Trim(pattern, "!*")) || pattern == "*", pattern)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, good := range []string{"a.go", "value_2.go", "linux.go", "a_unix.go", "3.go", "test.go", "a_b_c.go"} {
		require.Nil(t, submission.CheckName(good), good)
	}
	for name, rule := range map[string]string{
		"": "file-name", ".go": "file-name", "a": "file-name", "A.go": "file-name", "a.b.go": "file-name", "a/b.go": "file-name",
		"../a.go": "file-name", "a b.go": "file-name", "a\n.go": "file-name", "é.go": "file-name", "_a.go": "file-name",
		"a_test.go": "file-name", "zz_api.go": "file-name", "a.go\x00": "file-name", "a.GO": "file-name",
		"a_linux.go": "build-constraint", "a_amd64.go": "build-constraint", "a_js_wasm.go": "build-constraint", "a_plan9.go": "build-constraint",
	} {
		p := submission.CheckName(name)
		require.NotNil(t, p, name)
		require.Equal(t, rule, p.Rule, name)
	}
}

func TestImportName(t *testing.T) {
	for path, want := range map[string]string{"math": "math", "math/rand": "rand", "math/rand/v2": "rand", "v2": "v2", "": "", "C": "C"} {
		require.Equal(t, want, ImportName(path), path)
	}
}

func TestClip(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\tb": "a b", "\x1b[3m\n": `\x1b[3m\n`, "\u202e": `\u202e`, "é": "é", "0123456789": "0123456789",
		"0123456789a": "0123456...", "012345é89a": "012345...", "\x00\x00\x00": `\x00...`, "'": "'", "\xff": "\uFFFD",
	} {
		require.Equal(t, want, verdict.Clip(in, 10), "%q", in)
	}
}

// Source ends soon, never panics and points into the file, whatever its bytes.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{
		"", "package p", "package p\nimport \"unsafe\"\n", "package p\n//go:x\nfunc f()\n", "package p\n//line a:0\nfunc {",
		"package p\ntype T[P any] struct{ f func(a, b P) }\nfunc (t T[_]) m() { print() }\n", "\xef\xbb\xbfpackage p", "package p;import . `C`",
		"package p\nfunc f() { for fmt := range 3 { fmt.Print() } }",
	} {
		f.Add([]byte(seed), "a.go")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		started := time.Now()
		problems, syntax := Source([]submission.File{{Name: name, Data: data}, {Name: "b.go", Data: data}}, Policy{Package: "p", Imports: []string{"os", "fmt:P*"}})
		if d := time.Since(started); d > 10*time.Second {
			t.Errorf("took %v", d)
		}
		count := 1 + strings.Count(string(data), "\n")
		for _, p := range append(problems, syntax...) {
			if p.Line < 0 || p.Line > count || p.Rule == "" || p.File == "" && name != "" {
				t.Errorf("problem %+v of %d lines", p, count)
			}
			if strings.ContainsAny(p.File+p.Message, "\n\r\t\x1b") {
				t.Errorf("problem %q in %q has control characters", p.Message, p.File)
			}
		}
	})
}
