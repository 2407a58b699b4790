package golang

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"grade/grader/submission"
	"grade/grader/tree"
)

// apiReference has one of everything that a reference may export.
const apiReference = `package p

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"time"
)

type Float interface{ ~float32 | ~float64 }

type Matrix[T Float] struct {
	Rows, Cols int
	Data       []T
	inner      int
}

func (m Matrix[E]) At(i, j int) E { return m.Data[i*m.Cols+j] }

func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error { return nil }

func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Matrix[T], error] {
	return nil
}

type Value struct{ x float64 }

func New(x float64) *Value              { return &Value{x} }
func Sum(vs ...*Value) *Value           { return nil }
func (v *Value) Add(o *Value) *Value    { return v }
func (v *Value) Data() float64          { return v.x }
func (v Value) String() (name string)   { return "" }

type Mode int

const (
	Min Mode = iota
	Max
)

const Limit, Title = 10, "title"
const Timeout = 5 * time.Second

var ErrShape = errors.New("p: shape")
var ErrStop, ErrEmpty error
var Default = Matrix[float64]{}

type Dataset[S any] interface {
	Len() int
	Get(ctx context.Context, i int) (S, error)
}

type Collate[S, B any] func(idx []int, samples []S) (B, error)
type Loader[S, B any] struct{ s S; b B }

func NewLoader[S, B any](ds Dataset[S], c Collate[S, B]) (*Loader[S, B], error) { return nil, nil }
func (l *Loader[X, Y]) Epoch(ctx context.Context, epoch int) iter.Seq2[Y, error] { return nil }

type Params interface{ Params() iter.Seq[[]float64] }
type Reader interface{ io.Reader; Len() int }
type Sealed interface{ Public(); private() }
type Loss func(pred, y []float64) (mean float64, err error)
type Vec = []float64
type Source rand.Rand
type Ordered interface{ cmp.Ordered }
type SliceOf[T any] interface{ ~[]T }
type Table map[string][]int
type Fault error
type ItemError struct {
	Index int
	Err   error
	sync.Mutex
}

func (e *ItemError) Error() string { return "" }
`

func apiOf(t *testing.T, dir, source string) *api {
	t.Helper()
	api, err := newAPI(dir, map[string][]byte{"p.go": []byte(source)})
	require.NoError(t, err)
	return api
}

// change replaces text in the reference, pairwise, once each.
func change(t *testing.T, pairs ...string) string {
	t.Helper()
	source := apiReference
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, source, pairs[i])
		source = strings.Replace(source, pairs[i], pairs[i+1], 1)
	}
	return source
}

func TestAPIProblems(t *testing.T) {
	variants := map[string]struct {
		source string
		want   []string // rule: message, or a part of it
	}{
		"the reference itself": {apiReference, nil},
		"other names": {change(t, "Similarity[T Float](ctx context.Context, dst, a, b Matrix[T])", "Similarity[N Float](c ctx.Context, x Matrix[N], y, z Matrix[N])",
			`"context"`, `ctx "context"`, "ctx context.Context", "c ctx.Context", "ctx context.Context", "c ctx.Context", "ctx context.Context", "c ctx.Context"), nil},
		"other ways": {change(t, "type Value struct{ x float64 }", "type Value = value\ntype value struct { core }\ntype core struct{ x float64 }\nfunc (c *core) Data() float64 { return c.x }",
			"func (v *Value) Data() float64          { return v.x }", "", "&Value{x}", "&Value{core{x}}",
			`var ErrShape = errors.New("p: shape")`, "type shapeError string\nfunc (e shapeError) Error() string { return string(e) }\nconst ErrShape shapeError = \"x\"",
			"func (v *Value) Add(o *Value) *Value    { return v }", "func (v Value) Add(o *Value) *Value { return &v }",
			`"errors"`, ""), nil},
		"parameter by value": {change(t, "Add(o *Value) *Value    { return v }", "Add(o Value) *Value { return v }"),
			[]string{"api: want func (v *Value) Add(o *Value) *Value, have func (v *Value) Add(o Value) *Value"}},
		"function": {change(t, "func New(x float64) *Value              { return &Value{x} }", "func New(x float32) *Value { return nil }"),
			[]string{"api: want func New(x float64) *Value, have func New(x float32) *Value"}},
		"missing": {change(t, "func (v *Value) Data() float64          { return v.x }", "", "func Sum(vs ...*Value) *Value           { return nil }", ""),
			[]string{"api: the exercise wants func Sum(vs ...*Value) *Value, which is missing", "api: the exercise wants func (v *Value) Data() float64, which is missing"}},
		"missing type": {change(t, "type Loss func(pred, y []float64) (mean float64, err error)", ""),
			[]string{"api: the exercise wants type Loss func(pred, y []float64) (mean float64, err error), which is missing"}},
		"pointer receiver": {change(t, "func (v Value) String()", "func (v *Value) String()"),
			[]string{"api: want func (v Value) String() (name string), have func (v *Value) String() (name string)"}},
		"not generic": {change(t, "func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error", "func Similarity(ctx context.Context, dst, a, b Matrix[float64]) error"),
			[]string{"api: want func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error, have func Similarity(ctx context.Context, dst, a, b Matrix[float64]) error"}},
		"no context": {change(t, "func Similarity[T Float](ctx context.Context, dst", "func Similarity[T Float](dst"),
			[]string{"api: want func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error, have func Similarity[T Float](dst, a, b Matrix[T]) error"}},
		"iterator": {change(t, "func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Matrix[T], error]", "func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq[Matrix[T]]"),
			[]string{"have func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq[Matrix[T]]"}},
		"narrow constraint": {change(t, "type Float interface{ ~float32 | ~float64 }", "type Float interface{ ~float64 }"),
			[]string{"api: want type Float interface{~float32 | ~float64}, have type Float interface{~float64}"}},
		"wide constraint": {change(t, "type Float interface{ ~float32 | ~float64 }", "type Float interface{ ~float32 | ~float64 | ~int }"),
			[]string{"api: want type Float interface{~float32 | ~float64}, have type Float interface{~float32 | ~float64 | ~int}"}},
		"generic method": {change(t, "func (m Matrix[E]) At(i, j int) E { return m.Data[i*m.Cols+j] }", "func (m Matrix[E]) At(i, j int) float64 { return 0 }"),
			[]string{"api: want func (m Matrix[E]) At(i, j int) E, have func (m Matrix[E]) At(i, j int) float64"}},
		"generic method of two": {change(t, "func (l *Loader[X, Y]) Epoch(ctx context.Context, epoch int) iter.Seq2[Y, error]", "func (l *Loader[X, Y]) Epoch(ctx context.Context, epoch int) iter.Seq2[X, error]"),
			[]string{"api: want func (l *Loader[X, Y]) Epoch(ctx context.Context, epoch int) iter.Seq2[Y, error], have func (l *Loader[X, Y]) Epoch(ctx context.Context, epoch int) iter.Seq2[X, error]"}},
		"plain type": {change(t, "type Matrix[T Float] struct {", "type Matrix struct {", "Data       []T", "Data []float64", "func (m Matrix[E]) At(i, j int) E { return m.Data[i*m.Cols+j] }", "",
			"func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error { return nil }", "", "func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Matrix[T], error] {\n\treturn nil\n}", "", "Matrix[float64]{}", "Matrix{}"),
			[]string{"api: want type Matrix[T Float] struct, have type Matrix struct"}},
		"field type": {change(t, "Rows, Cols int", "Rows, Cols int64", "i*m.Cols+j", "0"),
			[]string{"api: want field Rows int in type Matrix, have field Rows int64 in type Matrix", "api: want field Cols int in type Matrix, have field Cols int64 in type Matrix"}},
		"missing field":  {change(t, "Index int", "index int"), []string{"api: the exercise wants field Index int in type ItemError, which is missing"}},
		"promoted field": {change(t, "Index int", "base", "type ItemError", "type base struct{ Index int }\ntype ItemError"), []string{"api: the exercise wants field Index int in type ItemError, which is missing"}},
		"mode":           {change(t, "type Mode int", "type Mode uint8"), []string{"api: want type Mode int, have type Mode uint8"}},
		"untyped const":  {change(t, "Min Mode = iota", "Min = iota"), []string{"api: want const Min Mode, have const Min", "api: want const Max Mode, have const Max"}},
		"const as var":   {change(t, "const Limit, Title = 10, \"title\"", "const Limit = 10\nvar Title = \"title\""), []string{"api: want const Title, have var Title"}},
		"error as func":  {change(t, `var ErrShape = errors.New("p: shape")`, "func ErrShape() error { return errors.New(\"\") }"), []string{"api: want var ErrShape, have func ErrShape() error"}},
		"interface with more": {change(t, "Len() int\n\tGet", "Len() int\n\tClose() error\n\tGet"),
			[]string{"api: want type Dataset[S any] interface{Len() int; Get(ctx context.Context, i int) (S, error)}, have type Dataset[S any] interface{Len() int; Close() error;"}},
		"interface with less": {change(t, "type Params interface{ Params() iter.Seq[[]float64] }", "type Params interface{}"),
			[]string{"api: want type Params interface{Params() iter.Seq[[]float64]}, have type Params interface{}"}},
		"function type": {change(t, "type Collate[S, B any] func(idx []int, samples []S) (B, error)", "type Collate[S, B any] func(samples []S) (B, error)"),
			[]string{"have type Collate[S, B any] func(samples []S) (B, error)"}},
		"alias":     {change(t, "type Vec = []float64", "type Vec []float64"), []string{"api: want type Vec = []float64, have type Vec []float64"}},
		"map type":  {change(t, "type Table map[string][]int", "type Table []int"), []string{"api: want type Table map[string][]int, have type Table []int"}},
		"own error": {change(t, "type Mode int", "type error interface{ Fail() }\ntype Mode int"), []string{"api: the exercise's API uses Go's predeclared error"}},
		"own mistake": {change(t, "return &Value{x}", "return Value{x}"),
			[]string{"compile: cannot use Value{…} (value of struct type Value) as *Value value in return statement"}},
		"call": {change(t, "return &Value{x}", "return New(x, x)"),
			[]string{"compile: too many arguments in call to New; have (float64, float64); want (float64)"}},
		"hostile": {change(t, "return &Value{x}", "return `\n::error::\x1b[31m\u202e` + 1"),
			[]string{"compile: invalid operation: `"}},
	}
	output, apis := buildAll(t, slices.Sorted(maps.Keys(variants)), func(name string) string { return variants[name].source })
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			s := &submission.Snapshot{Files: []submission.File{{Name: "p.go", Data: []byte(v.source)}}, PackageFile: "p.go", PackageLine: 1}
			problems := apis[name].problems(output, s)
			var got []string
			for _, p := range problems {
				require.Equal(t, "p.go", p.File)
				require.Positive(t, p.Line)
				got = append(got, p.Rule+": "+p.Message)
			}
			for _, want := range v.want {
				require.True(t, slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, want) }), "want %q\nin   %q\nof\n%s", want, got, output)
			}
			if len(v.want) == 0 {
				require.Empty(t, got)
			}
			for _, g := range got {
				require.NotContains(t, g, apiPrefix)
				require.False(t, strings.ContainsAny(g, "\n\x1b\u202e"), g)
			}
		})
	}
}

// buildAll compiles a package for each name in one go build, with the file that checks
// it, and returns the compiler's output.
func buildAll(t *testing.T, all []string, source func(name string) string) ([]byte, map[string]*api) {
	t.Helper()
	files := map[string]string{"go.mod": "module grade\n\ngo 1.26\n"}
	apis := map[string]*api{}
	for i, name := range all {
		dir := fmt.Sprintf("v%d/reference/p", i)
		apis[name] = apiOf(t, dir, apiReference)
		files[dir+"/p.go"] = source(name)
		files[dir+"/"+submission.APIFile] = string(apis[name].file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "./...")
	cmd.Dir = tree.New(t, files)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	output, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, "every version but the first is wrong")
	return output, apis
}

// newAPI refuses a reference whose API no submission can have.
func TestAPIRefusesReference(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"syntax":            {"package p\nfunc {", "p.go:2"},
		"unexported result": {"package p\ntype value struct{}\nfunc New() *value { return nil }\n", "New is exported, and value in it is not"},
		"unexported field":  {"package p\ntype mode int\ntype Config struct{ Mode mode }\n", "Config.Mode is exported, and mode in it is not"},
		"unexported const":  {"package p\ntype mode int\nconst Max mode = 1\n", "Max is exported, and mode in it is not"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newAPI("reference/p", map[string][]byte{"p.go": []byte(tt.source)})
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := newAPI("reference/p", nil)
	require.ErrorContains(t, err, "no Go file")
}

// newAPI accepts every shipped reference.
func TestAPIOfReferences(t *testing.T) {
	dirs, err := filepath.Glob("../../../reference/*")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		sources := map[string][]byte{}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				sources[filepath.Base(f)], err = os.ReadFile(f)
				require.NoError(t, err)
			}
		}
		if len(sources) > 0 {
			_, err = newAPI("reference/"+filepath.Base(dir), sources)
			require.NoError(t, err)
		}
	}
}
