package typed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/grader/lang/golang/vet"
	"grade/grader/verdict"
)

// other is a package that a submission cannot import, with names for types that it
// must not reach.
const other = `package other

import (
	"reflect"
	"unsafe"
)

type P = unsafe.Pointer
type Q unsafe.Pointer
type V = reflect.Value
type List[T any] struct{ items []T }

var Counter int
var Table = [3]int{}
var Names = map[string]int{}
var Shared struct{ sync struct{ n int }; N int }
type Gauge struct{ N int }
func (g *Gauge) Set(n int) { g.N = n }
func (g Gauge) Get() int { return g.N }
var Default Gauge
var Pointer = &Default
func Get() V { return reflect.ValueOf(1) }
func Pair() (int, P) { return 0, nil }
func Values() List[V] { return List[V]{} }
func Each(f func(V)) {}
`

// goCommand runs go in a folder, as offline as a build in the sandbox.
func goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	return cmd
}

// importcfg writes the import configuration of all packages that the tests below
// import, once.
var importcfg = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "typed-test-")
	if err != nil {
		return "", err
	}
	for name, data := range map[string]string{"go.mod": "module sneaky\n\ngo 1.26\n", "other/other.go": other} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			return "", err
		}
	}
	out, err := goCommand(dir, "list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", "./other",
		"bufio", "context", "encoding/json", "encoding/binary", "errors", "fmt", "io", "iter", "maps", "math/rand/v2", "os", "reflect",
		"slices", "sort", "strings", "sync", "sync/atomic", "time", "unicode").Output()
	if err != nil {
		return "", fmt.Errorf("%w: %v", err, err.(*exec.ExitError).Stderr)
	}
	name := filepath.Join(dir, "importcfg")
	return name, os.WriteFile(name, out, 0o644)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := importcfg(); err == nil {
		os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

func checkSource(t *testing.T, source string, opened ...string) ([]verdict.Problem, bool) {
	t.Helper()
	cfg, err := importcfg()
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(name, []byte(source), 0o644))
	p := Package{Path: "sneaky/p", Files: []string{name}, ImportCfg: cfg, Lang: "go1.26", Policy: vet.Policy{Imports: opened}}
	return p.Check()
}

func TestRules(t *testing.T) {
	const jsonError = "package p\nimport \"encoding/json\"\nfunc F(e *json.UnsupportedValueError) "
	for name, tt := range map[string]struct {
		source string
		want   []string // line and rule
	}{
		// Errors of json hold a reflect.Value (attack A20).
		"json": {jsonError + "{\n_ = e.Value.UnsafePointer()\n}", []string{"4 type", "4 unsafe"}},
		"json through an interface": {"package p\nimport (\"encoding/json\"; \"errors\")\nfunc F(err error) {\nvar e *json.UnsupportedValueError\nif errors.As(err, &e) {\nvar x any = e.Value\n_ = x\n}\n}",
			[]string{"6 type"}},
		"json in a type switch": {"package p\nimport \"encoding/json\"\nfunc F(err error) {\nswitch e := err.(type) {\ncase *json.UnsupportedValueError:\nv := e.Value\n_ = v\n}\n}",
			[]string{"6 type", "7 type"}},
		"json by a method value":     {jsonError + "any {\nf := e.Value.Pointer\nreturn f\n}", []string{"4 type"}},
		"json by inference":          {"package p\nimport \"encoding/json\"\nfunc id[T any](x T) T { return x }\nfunc F(e *json.UnsupportedValueError) {\n_ = id(e.Value)\n}", []string{"5 type"}},
		"json by a method of a type": {"package p\nimport \"encoding/json\"\nfunc call[T any, V interface{ UnsafePointer() T }](v V) T { return v.UnsafePointer() }\nfunc F(e *json.UnsupportedValueError) {\n_ = call(e.Value)\n}", []string{"5 type", "5 unsafe"}},
		"json by a type of one's own": {"package p\nimport \"encoding/json\"\ntype mine json.UnsupportedValueError\nfunc F(m mine) {\nm.Value.SetInt(1)\n}",
			[]string{"5 type"}},
		"json embedded":   {"package p\nimport \"encoding/json\"\ntype mine struct{ *json.UnsupportedValueError }\nfunc F(m mine) {\n_ = m.Value\n}", []string{"5 type"}},
		"json's own type": {jsonError + "string { return e.Str }", nil},
		"json's error":    {"package p\nimport (\"encoding/json\"; \"errors\")\nfunc F(err error) bool {\nvar e *json.UnsupportedValueError\nreturn errors.As(err, &e)\n}", nil},

		"alias of unsafe.Pointer": {"package p\nimport \"sneaky/other\"\nvar p other.P\n", []string{"3 unsafe"}},
		"named unsafe.Pointer":    {"package p\nimport \"sneaky/other\"\nfunc f(q other.Q) {}\n", []string{"3 unsafe"}},
		"own alias of it":         {"package p\nimport \"sneaky/other\"\ntype mine = other.P\nvar p []mine\n", []string{"3 unsafe", "4 unsafe"}},
		"conversion to it":        {"package p\nimport \"sneaky/other\"\nvar x int\nvar y = *(*uint)(other.P(&x))\n", []string{"4 unsafe"}},
		"one of two results":      {"package p\nimport \"sneaky/other\"\nvar x, _ = other.Pair()\n", []string{"3 unsafe"}},
		"passed on":               {"package p\nimport \"sneaky/other\"\nfunc take(int, any) {}\nfunc f() { take(other.Pair()) }\n", []string{"4 unsafe"}},
		"returned on":             {"package p\nimport \"sneaky/other\"\nfunc f() (int, any) { return other.Pair() }\n", []string{"3 unsafe"}},
		"as a function":           {"package p\nimport \"sneaky/other\"\nvar f = other.Get\n", []string{"3 type"}},
		"as a type argument":      {"package p\nimport \"sneaky/other\"\nvar l = other.Values()\n", []string{"3 type"}},
		"as a parameter":          {"package p\nimport \"sneaky/other\"\nfunc f() { g := other.Each; _ = g }\n", []string{"3 type"}},
		"in a channel":            {"package p\nimport \"sneaky/other\"\nvar c chan map[string]func(...*other.V)\n", []string{"3 type"}},
		"in a constraint":         {"package p\nimport \"sneaky/other\"\nfunc f[T interface{ other.P | int }]() {}\n", []string{"3 unsafe"}},
		"untyped atomics":         {"package p\nimport \"sync/atomic\"\nvar f = atomic.LoadPointer\n", []string{"3 selector", "3 unsafe"}},

		"assignment":           {"package p\nimport \"io\"\nfunc init() { io.EOF = nil }\n", []string{"3 foreign-variable"}},
		"assignment of two":    {"package p\nimport \"io\"\nvar x int\nfunc init() { x, (io.EOF) = 1, nil }\n", []string{"4 foreign-variable"}},
		"address":              {"package p\nimport \"io\"\nvar p = &io.EOF\n", []string{"3 foreign-variable"}},
		"address in brackets":  {"package p\nimport \"io\"\nvar p = &(io.EOF)\n", []string{"3 foreign-variable"}},
		"address as argument":  {"package p\nimport \"io\"\nfunc set[T any](p *T, v T) { *p = v }\nfunc init() { set(&io.EOF, nil) }\n", []string{"4 foreign-variable"}},
		"range":                {"package p\nimport \"io\"\nfunc init() { for _, io.EOF = range []error{nil} {} }\n", []string{"3 foreign-variable"}},
		"receive":              {"package p\nimport \"io\"\nfunc f(c chan error) { select { case io.EOF = <-c: } }\n", []string{"3 foreign-variable"}},
		"through a pointer":    {"package p\nimport \"time\"\nfunc init() { *time.UTC = time.Location{} }\n", []string{"3 foreign-variable"}},
		"into a table":         {"package p\nimport \"unicode\"\nfunc init() { unicode.Latin.R16[0].Lo = 0 }\n", []string{"3 foreign-variable"}},
		"into a map":           {"package p\nimport \"unicode\"\nfunc init() { unicode.Categories[\"Lu\"] = nil; delete(unicode.Scripts, \"Latin\") }\n", []string{"3 foreign-variable"}},
		"clear":                {"package p\nimport \"unicode\"\nfunc init() { clear(unicode.CaseRanges) }\n", []string{"3 foreign-variable"}},
		"copy":                 {"package p\nimport \"unicode\"\nfunc init() { copy(unicode.CaseRanges[1:], unicode.CaseRanges) }\n", []string{"3 foreign-variable"}},
		"append":               {"package p\nimport \"unicode\"\nvar x = append(unicode.CaseRanges[:0], unicode.CaseRange{})\n", []string{"3 foreign-variable"}},
		"increment":            {"package p\nimport \"sneaky/other\"\nfunc init() { other.Counter++; other.Counter += 2 }\n", []string{"3 foreign-variable"}},
		"slice of an array":    {"package p\nimport \"sneaky/other\"\nvar x = other.Table[:]\n", []string{"3 foreign-variable"}},
		"field":                {"package p\nimport \"sneaky/other\"\nfunc init() { other.Shared.N = 1 }\n", []string{"3 foreign-variable"}},
		"method on a variable": {"package p\nimport \"sneaky/other\"\nfunc init() { other.Default.Set(1) }\n", []string{"3 foreign-variable"}},
		"method value":         {"package p\nimport \"sneaky/other\"\nvar f = other.Default.Set\n", []string{"3 foreign-variable"}},
		"dot import":           {"package p\nimport . \"io\"\nfunc init() { EOF = nil }\n", []string{"3 foreign-variable"}},
		"reading": {"package p\nimport (\"io\"; \"unicode\"; \"time\"; \"encoding/binary\"; \"sneaky/other\")\nvar e = io.EOF\nvar b = unicode.Is(unicode.Latin, 'x')\nvar l = *time.UTC\n" +
			"func F(x []byte) int { binary.LittleEndian.PutUint64(x, 1); other.Pointer.Set(1); return other.Default.Get() + other.Table[0] }\n", nil},

		"scan as a value":       {"package p\nimport \"fmt\"\nvar s = fmt.Scan\n", []string{"3 selector"}},
		"scan behind a name":    {"package p\nimport \"fmt\"\nfunc f(fmt2 int) { x := fmt.Scanln; x() }\nfunc g(fmt string) { _ = fmt }\n", []string{"3 selector"}},
		"print by dot":          {"package p\nimport . \"fmt\"\nfunc f() { Println() }\n", []string{"3 selector"}},
		"exit":                  {"package p\nimport \"os\"\nfunc f() { defer os.Exit(0) }\n", []string{"3 selector"}},
		"method of a file":      {"package p\nimport \"os\"\nfunc f(f *os.File) { f.Write(nil) }\n", []string{"3 selector"}},
		"embedded file":         {"package p\nimport \"os\"\ntype t struct{ *os.File }\nfunc f(x t) { g := x.WriteString; _ = g }\n", []string{"4 selector"}},
		"method expression":     {"package p\nimport \"os\"\nvar f = (*os.File).Fd\n", []string{"3 selector"}},
		"system call of a file": {"package p\nimport \"os\"\nfunc f(f *os.File) { _, _ = f.SyscallConn() }\n", []string{"3 selector", "3 type"}},
		"open for reading":      {"package p\nimport \"os\"\nfunc F(name string) (int, error) {\nf, err := os.Open(name)\nif err != nil { return 0, err }\ndefer f.Close()\nreturn f.ReadAt(nil, 5)\n}\n", nil},
		"builtin":               {"package p\nfunc f() { println(1) }\n", []string{"2 builtin-print"}},
		"builtin beside local":  {"package p\nfunc f() { println(1) }\nfunc g(println func()) { println() }\n", []string{"2 builtin-print"}},

		"denied method by an assertion":  {"package p\nimport \"os\"\nfunc F(f *os.File) { any(f).(interface{ Fd() uintptr }).Fd() }\n", []string{"3 selector"}},
		"denied method by a conversion":  {"package p\nimport \"os\"\ntype fd interface{ Fd() uintptr }\nfunc F(f *os.File) { fd.Fd(f) }\n", []string{"3 selector"}},
		"denied method by a constraint":  {"package p\nimport \"os\"\nfunc G[T interface{ Chdir() error }](t T) { t.Chdir() }\nfunc F(f *os.File) { G(f) }\n", []string{"3 selector"}},
		"denied method by a type switch": {"package p\nfunc F(r any) {\nswitch r := r.(type) {\ncase interface{ Readdirnames(n int) ([]string, error) }:\nr.Readdirnames(1)\n}\n}\n", []string{"4 selector"}},
		"denied method of a parameter":   {"package p\ntype I[T any] interface{ Fd() T }\nfunc F(r any) { r.(I[uintptr]).Fd() }\n", []string{"2 selector"}},
		"denied method, embedded":        {"package p\nimport \"os\"\ntype I interface {\ninterface{ Truncate(n int64) error }\n}\ntype S struct{ *os.File }\nvar _ I = S{}\n", []string{"4 selector"}},
		"denied method expression":       {"package p\nimport \"os\"\nvar fd = (*os.File).Fd\n", []string{"3 selector"}},
		"denied method of an embedded":   {"package p\nimport \"os\"\ntype S struct{ *os.File }\nfunc F(s S) { s.Fd() }\n", []string{"4 selector"}},
		"denied method's name only":      {"package p\ntype I interface { Fd(int) uintptr; Sync(); Close() error; Write([]byte) (int, error) }\ntype T struct{}\nfunc (T) Fd() uintptr { return 0 }\n", nil},

		"honest": {`package p
import ("context"; "errors"; "fmt"; "io"; "iter"; "maps"; "math/rand/v2"; "slices"; "sort"; "strings"; "sync"; "sync/atomic"; "time"; "bufio")
type Node[T any] struct { mu sync.Mutex; next atomic.Pointer[Node[T]]; n atomic.Int64; v T }
var ErrX = errors.New("x")
var pool = sync.Pool{New: func() any { return new(strings.Builder) }}
type ints []int
func (x ints) Len() int { return len(x) }
func (x ints) Less(i, j int) bool { return x[i] < x[j] }
func (x ints) Swap(i, j int) { x[i], x[j] = x[j], x[i] }
func All[T any](n *Node[T]) iter.Seq2[int, T] { return func(yield func(int, T) bool) { _ = yield(0, n.v) } }
func F(ctx context.Context, r io.Reader, m map[string]int) (err error) {
	var wg sync.WaitGroup
	n := &Node[int]{}
	n.mu.Lock()
	defer n.mu.Unlock()
	wg.Go(func() { n.n.Add(1) })
	for k, v := range maps.All(m) { _, _ = k, v }
	for i, v := range All(n) { _, _ = i, v }
	sort.Sort(sort.Reverse(ints(slices.Collect(maps.Values(m)))))
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s := bufio.NewScanner(r)
	for s.Scan() { fmt.Fprint(io.Discard, s.Text(), rand.N(10)) }
	defer func() { if v := recover(); v != nil { err = fmt.Errorf("%v: %w", v, io.EOF) } }()
	next, stop := iter.Pull(slices.Values([]int{1}))
	defer stop()
	_, _ = next()
	select { case <-ctx.Done(): case <-time.After(1): }
	if err = io.ErrUnexpectedEOF; errors.Is(err, io.EOF) { return ErrX }
	b := pool.Get().(*strings.Builder); b.Reset()
	return ctx.Err()
}
`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			problems, sure := checkSource(t, tt.source, "encoding/json", "os")
			require.True(t, sure, "does not compile")
			var got []string
			for _, p := range problems {
				require.Equal(t, "a.go", p.File)
				require.NotEmpty(t, p.Message)
				got = append(got, fmt.Sprintf("%d %s", p.Line, p.Rule))
			}
			require.Equal(t, tt.want, got, "%v", problems)
		})
	}
}

// An exercise may open a package that is refused otherwise.
func TestRulesOpened(t *testing.T) {
	problems, sure := checkSource(t, "package p\nimport (\"fmt\"; \"reflect\")\nfunc F(x any) { fmt.Println(reflect.TypeOf(x)) }\n", "reflect", "fmt:Print*")
	require.True(t, sure)
	require.Empty(t, problems)
}

// A //line directive moves no problem to another line.
func TestRulesIgnoreLineDirectives(t *testing.T) {
	problems, _ := checkSource(t, "package p\nimport \"io\"\n//line secret.go:900\nvar p = &io.EOF\n")
	require.Len(t, problems, 1)
	require.Equal(t, "a.go", problems[0].File)
	require.Equal(t, 4, problems[0].Line)
}

// The rules apply beside type errors too, and check is then not sure.
func TestRulesBesideErrors(t *testing.T) {
	problems, sure := checkSource(t, "package p\nimport \"io\"\nvar p = &io.EOF\nvar x int = \"\"\n")
	require.Len(t, problems, 1)
	require.False(t, sure)
	for _, source := range []string{"package p\nfunc {", "", "package p\nvar x = y\n", "package p\nimport \"nowhere\"\nvar x = nowhere.X\n"} {
		problems, sure = checkSource(t, source)
		require.Empty(t, problems, source)
		require.False(t, sure, source)
	}
}
