package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutantsOf returns the mutants of a package with one file, given without its package
// clause.
func mutantsOf(t *testing.T, code string) []Mutant {
	t.Helper()
	list, err := Of(t.Context(), []File{{Name: "a.go", Data: []byte("package a\n\n" + strings.TrimSpace(code) + "\n")}})
	require.NoError(t, err)
	return list
}

// changes are the lines that an operator's mutants have instead of others; a
// mutant that only leaves something out has "".
func changes(list []Mutant, op Operator) (lines []string) {
	for _, m := range list {
		if m.Operator != op {
			continue
		}
		var added []string
		for l := range strings.Lines(m.Diff) {
			if rest, ok := strings.CutPrefix(l, "+"); ok && strings.TrimSpace(rest) != "" {
				added = append(added, strings.TrimSpace(rest))
			}
		}
		lines = append(lines, strings.Join(added, " "))
	}
	return lines
}

func TestOperators(t *testing.T) {
	if testing.Short() {
		t.Skip("reads much, and nothing runs beside it")
	}
	for _, c := range []struct {
		op   Operator
		code string
		want []string
	}{
		{Statement, "var n int\n\nfunc F() {\n\tn = 3\n\tn++\n}", []string{"", ""}},
		{Statement, "var n int\n\nfunc F(x int) {\n\tif x > 2 {\n\t\tn--\n\t}\n}", []string{""}},
		{Statement, "var n int\n\nfunc F(x int) {\n\tif x > 2 {\n\t\tn--\n\t\tn = x\n\t}\n}", []string{"", "", ""}},
		{Statement, "func F(x int) int { y := x; return y }", nil},
		{Error, "import \"errors\"\n\nvar one = errors.New(\"one\")\n\nfunc F(x int) (int, error) {\n\tif x == 1 {\n\t\treturn 0, one\n\t}\n\treturn x, nil\n}", []string{"return 0, nil"}},
		{Return, "func F(x int) (string, *int) {\n\treturn \"a\", &x\n}", []string{`if true { return "", nil }`}},
		{Return, "type t struct{ x int }\n\nfunc F() (t, [2]bool, float64) {\n\treturn t{1}, [2]bool{}, 1\n}", []string{"if true { return *new(t), *new([2]bool), 0 }"}},
		{Return, "func F(x int) (y int) {\n\ty = x\n\treturn\n}", []string{"if true { return }"}},
		{Condition, "func F(x, y int) bool {\n\treturn x < y || x == 3\n}", []string{"return x >= y || x == 3", "return x < y || x != 3"}},
		{Logic, "func F(x, y bool) bool {\n\treturn x && !y\n}", []string{"return x || !y"}},
		{Negation, "func F(x bool, y int) int {\n\tif x {\n\t\treturn -y\n\t}\n\tif !x {\n\t\treturn 2\n\t}\n\treturn 0\n}", []string{"if !(x) {", "return y", "if x {"}},
		{Arguments, "func f(x, y int, s string) int { return x - y }\n\nfunc F(x, y int) int {\n\treturn f(x, y, \"\") + max(x, y)\n}", []string{"return f(y, x, \"\") + max(x, y)"}},
		{Arguments, "import \"fmt\"\n\nfunc F(x, y error) error {\n\treturn fmt.Errorf(\"%w: %w\", x, y)\n}", nil},
		{Arithmetic, "func F(x, y int, s string) int {\n\ts += s + s\n\tx += y\n\treturn x*y + x%2\n}", []string{"x -= y", "return x*y - x%2", "return x/y + x%2", "return x*y + x*2"}},
		{Loop, "func F(xs []int) (n int) {\n\tfor _, x := range xs {\n\t\tif x == 0 {\n\t\t\tcontinue\n\t\t}\n\t\tn += x\n\t}\n\treturn n\n}", []string{"break", "break"}},
		{Boundary, "func F(x int) bool {\n\treturn x < 2 && x >= 0 && x != 1\n}", []string{"return x < 2 && x > 0 && x != 1", "return x <= 2 && x >= 0 && x != 1"}},
		{Constant, "import \"errors\"\n\nfunc F(x int) (int, bool, error) {\n\tif x > 2 {\n\t\treturn 7, true, errors.New(\"large\")\n\t}\n\treturn 3, false, nil\n}",
			[]string{"if x > 3 {", "return 4, false, nil", "return 3, true, nil"}},
		{Constant, "import \"math\"\n\nfunc F(x float64) (float64, bool) {\n\treturn math.Inf(-1) + math.Inf(1), math.IsInf(x, 0)\n}", []string{"return math.Inf(-1) + math.Inf(-1), math.IsInf(x, 0)"}},
		{Constant, "const eps = 1e-3\n\nfunc F(x float64) (float64, bool) {\n\treturn x + eps*1 + 2.5, true\n}",
			[]string{"const eps = 1.001", "return x + eps*1 + 3.5, true", "return x + eps*0 + 2.5, true", "return x + eps*1 + 2.5, false"}},
		// A floating-point literal changes to another floating-point literal.
		{Constant, "func F() float64 {\n\tx := 1.0\n\treturn x / 4.0\n}", []string{"x := 0.0", "return x / 5.0"}},
		{Constant, "func F() float64 { return 1e300 }", nil},
		{Near, "import \"errors\"\n\nvar ErrA, errB, n = errors.New(\"a\"), errors.New(\"b\"), 0\n\nfunc F() error { return errB }", []string{"func F() error { return ErrA }"}},
		{Near, "import \"fmt\"\n\nfunc F(err error) error {\n\treturn fmt.Errorf(\"read: %w\", err)\n}", []string{`return fmt.Errorf("read: %v", err)`}},
		{Near, "import \"fmt\"\n\nfunc F(x, y error) error {\n\treturn fmt.Errorf(\"%w: %w\", x, y)\n}", []string{`return fmt.Errorf("%v: %v", x, y)`, "return x", "return y"}},
		{Near, "import \"context\"\n\nfunc F(ctx context.Context) error {\n\treturn ctx.Err()\n}", []string{"return context.Cause(ctx)"}},
		{Near, "import \"context\"\n\nfunc F(ctx context.Context) error {\n\treturn context.Cause(ctx)\n}", []string{"return ctx.Err()"}},
		{Copy, "import \"slices\"\n\nfunc F(x []int) []int {\n\treturn slices.Clone(x)\n}", []string{"return x"}},
		{Copy, "func F(x, y []int) []int {\n\tcopy(y, x)\n\treturn append([]int(nil), x...)\n}", []string{"y = x", "return x"}},
		{Copy, "func F(x, y []int) []int {\n\treturn append(y, x...)\n}", nil},
		{State, "func F(n int) ([]int, int) {\n\tx := make([]int, n)\n\ty := n\n\treturn x, y\n}", []string{"if k, ok := kept.([]int); ok && len(k) == len(x) { x = k } kept = x var kept any"}},
		{State, "func F[T any]() map[int]T {\n\tx := map[int]T{}\n\treturn x\n}", []string{"if k, ok := kept.(map[int]T); ok { x = k } kept = x var kept any"}},
		{Lock, "import \"sync\"\n\ntype t struct {\n\tmu sync.Mutex\n\tn  int\n}\n\nfunc (x *t) F() {\n\tx.mu.Lock()\n\tdefer x.mu.Unlock()\n\tx.n = 2\n}", []string{""}},
		{Case, "func F(x int) int {\n\tswitch x {\n\tcase 3:\n\t\treturn 4\n\tdefault:\n\t\treturn 5\n\t}\n\treturn 6\n}", []string{"", ""}},
		{Operand, "func F(x, y bool, n int, s string) (bool, int, string) {\n\treturn x && y, n, s + s\n}", []string{"return x, n, s + s", "return y, n, s + s"}},
		{Operand, "type t struct{ a, b int }\n\nfunc F(n int) (t, t) {\n\treturn t{a: 2, b: n}, t{1, 2}\n}", []string{"return t{b: n}, t{1, 2}", "return t{a: 2}, t{1, 2}"}},
		{Bound, "func F(n int, x []int) (chan int, int) {\n\tfor i := 0; i < n; i++ {\n\t}\n\treturn make(chan int, n), x[3]\n}", []string{"return make(chan int, (n)/2), x[3]", "return make(chan int, (n)*2), x[3]"}},
		{Bound, "func F(n, m int) bool {\n\treturn m < n || m == 64\n}", []string{"return m < (n)/2 || m == 64", "return m < (n)*2 || m == 64", "return m < n || m == 32", "return m < n || m == 128"}},
		{Narrow, "type count int\n\nfunc F(x count, y []int) {\n\tx++\n\tx += 3\n\tfor i := 0; i < 9; i++ {\n\t}\n}", []string{"x = count(uint8(x + 1))", "x = count(uint16(x + (3)))"}},
		{Float32, "func F(x, y float64) float64 {\n\ty += x\n\treturn (x + y) * 3\n}", []string{"y += float64(float32(x))", "return float64(float32((x + y) * 3))"}},
	} {
		assert.ElementsMatch(t, c.want, changes(mutantsOf(t, c.code), c.op), "%s of\n%s", c.op, c.code)
	}
}

// Every mutant compiles, and no two are the same program.
func TestMutantsCompileAndDiffer(t *testing.T) {
	list := mutantsOf(t, "func F(x int) int {\n\tvar y int\n\ty = x + 1\n\tif y > 3 {\n\t\treturn 2\n\t}\n\treturn y\n}")
	require.NotEmpty(t, list)
	seen := map[string]bool{}
	for _, m := range list {
		assert.False(t, seen[string(m.Data)], m.Diff)
		seen[string(m.Data)] = true
		_, err := Of(t.Context(), []File{{Name: "a.go", Data: m.Data}})
		assert.NoError(t, err, m.Diff)
	}
}

// An ID outlives changes elsewhere in the file, because equivalent.yaml names it.
func TestIDsStay(t *testing.T) {
	ids := func(code string) (list []string) {
		for _, m := range mutantsOf(t, code) {
			list = append(list, m.ID)
		}
		return list
	}
	f := "func F(x int) int {\n\treturn x + x + 3\n}\n"
	before, after := ids(f), ids("// G is new.\nfunc G() int { return 7 }\n\n"+f)
	require.NotEmpty(t, before)
	assert.Subset(t, after, before)
	slices.Sort(before)
	assert.Len(t, slices.Compact(before), len(before), "no ID twice")
	assert.Contains(t, before[0], "a.go:F:")
}

// Which mutants are wanted changes none of them: the same change of the same lines has its
// number, and of two drafts with one text the first is the mutant. Where none is wanted, none
// is compiled.
func TestThose(t *testing.T) {
	const code = "package a\n\nvar n, m int\n\nfunc F(x int) {\n\tn = x\n\tm = 3\n\tn = x\n\tm = 3\n\tif x > 2 {\n\t\tn--\n\t}\n}\n"
	files := []File{{Name: "a.go", Data: []byte(code)}}
	s, err := load(t.Context(), files)
	require.NoError(t, err)
	drafts := s.drafts(files)
	all := s.mutants(drafts, func(string) bool { return true })
	require.Less(t, len(all), len(drafts))
	require.True(t, slices.ContainsFunc(all, func(m Mutant) bool { return strings.HasSuffix(m.ID, ".2") }))
	for _, d := range drafts {
		for n := 1; n <= 3; n++ {
			id := numbered(d.ID, n)
			want := slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool { return m.ID != id })
			assert.ElementsMatch(t, want, s.mutants(drafts, func(other string) bool { return other == id }), id)
		}
	}
	assert.Empty(t, deciding(drafts, func(string) bool { return false }))
}

func TestOfRefusesABrokenPackage(t *testing.T) {
	for code, want := range map[string]string{
		"package a\nfunc":                             "expected '('",
		"package a\n\nvar x int = \"\"\n":             "cannot use",
		"package a\n\nimport _ \"no/such/package\"\n": "no/such/package",
	} {
		_, err := Of(t.Context(), []File{{Name: "a.go", Data: []byte(code)}})
		require.ErrorContains(t, err, want)
	}
}

func TestKeptFilesHaveNoMutants(t *testing.T) {
	list, err := Of(t.Context(), []File{
		{Name: "a.go", Data: []byte("package a\n\nfunc F() int { return G() + 2 }\n")},
		{Name: "b.go", Data: []byte("package a\n\nfunc G() int { return 3 }\n"), Keep: true},
	})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, m := range list {
		assert.Equal(t, "a.go", m.File)
	}
}
