package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/intake/gittest"
	"grade/grader/report"
	"grade/grader/turn"
)

// What submissions of a fork try that want to know what is hidden. The vet is opened for
// operating system and runtime, so that it is not what stops them. Answer has to return a
// secret, which only the reference knows.
var spies = map[string]map[string]string{
	"environment": {"a.go": `import ("fmt"; "os"; "strings")
func init() { fmt.Println(os.Environ()); fmt.Fprintln(os.Stderr, os.Environ()) }
func Answer(int) string { return strings.Join(os.Environ(), "\n") }`},
	"files": {"a.go": `import ("fmt"; "os")
func read(dir string, depth int) (all string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if b, err := os.ReadFile(dir + e.Name()); err == nil { all += e.Name() + string(b[:min(len(b), 4096)]) }
		if e.IsDir() && depth > 0 { all += read(dir + e.Name() + "/", depth-1) }
	}
	return all[:min(len(all), 1<<20)]
}
func Answer(int) string {
	all := read("/", 3)
	fmt.Println(all)
	panic(all)
}`},
	"program":   {"a.go": `import "os"` + "\nfunc Answer(int) string { b, _ := os.ReadFile(\"/proc/self/exe\"); os.Stdout.Write(b); os.Stderr.Write(b); panic(string(b)) }"},
	"stack":     {"a.go": `import ("fmt"; "runtime/debug")` + "\nfunc Answer(int) string { fmt.Println(string(debug.Stack())); panic(string(debug.Stack())) }"},
	"stacks":    {"a.go": `import ("os"; "runtime")` + "\nfunc Answer(int) string { b := make([]byte, 1<<20); b = b[:runtime.Stack(b, true)]; os.Stderr.Write(b); return string(b) }"},
	"crash":     {"a.go": "func Answer(n int) string { var p *int; return string(rune(*p)) }"},
	"deadlock":  {"a.go": "func Answer(n int) string { select {} }"},
	"line":      {"a.go": "func Answer(n int) string {\n//line exercises/vault/hidden/vault_test.go:9\n\treturn n\n}"},
	"lines":     {"a.go": "func Answer(n int) string {\n/*line ../hidden/vault_test.go:15:3*/ return undefined\n}"},
	"type":      {"a.go": "func Answer(n string) string { return n }"},
	"types":     {"a.go": "type Answer[T any] struct{ t T }"},
	"generic":   {"a.go": "func Answer[T, U any](n T) (u U) { return u }"},
	"nothing":   {"a.go": "const x = 1"},
	"names":     {"a.go": "func Answer(n int) string { return helper(t, o, secrets) }"},
	"embed":     {"a.go": "import _ \"embed\"\n//go:embed ../hidden/vault_test.go /etc/passwd\nvar text string\nfunc Answer(int) string { return text }"},
	"cgo":       {"a.go": "// #include \"../hidden/vault_test.go\"\nimport \"C\"\nfunc Answer(int) string { return \"\" }"},
	"generate":  {"a.go": "//go:generate sh -c \"env; cat ../../course/reference/vault/vault.go\"\nfunc Answer(int) string { return \"\" }"},
	"assembly":  {"a.go": "func Answer(int) string", "a.s": "#include \"../hidden/vault_test.go\"\n#include \"/etc/passwd\"\n"},
	"imports":   {"a.go": "import \"example.com/vault/exercises/vault/hidden\"\nfunc Answer(int) string { return hidden.Secret }"},
	"test":      {"a.go": "func Answer(int) string { return \"\" }", "a_test.go": "package vault\nimport (\"os\"; \"testing\")\nfunc TestMain(m *testing.M) { os.Stdout.WriteString(os.Getenv(\"GITHUB_TOKEN\")) }"},
	"file link": {"a.go": "-> ../../../course/reference/vault/vault.go", "b.go": "func Answer(int) string { return \"\" }"},
	"hook": {"a.go": "func Answer(int) string { return \"\" }", ".gitattributes": "*.go filter=spy diff=spy export-subst\n", ".lfsconfig": "[lfs]\nurl = http://127.0.0.1:1/\n",
		".gitmodules": "[submodule \"x\"]\npath = x\nurl = ../course\n", "sub/.gitattributes": "* filter=spy\n"},
	"::error file=x::$(cat hidden)":                 {"a.go": "func Answer(int) string { return 1 }"},
	"##[command]env\n::set-output name=points::100": {"a.go": "func Answer(int) string { return 1 }"},
	"&amp;<script>alert(1)</script>|`=cmd()":        {"a.go": "func Answer(int) string { return 1 }"},
}

// vaults is a course of two exercises, whose answers are secrets: vault tells students
// what it tells by default, and glass everything.
func vaults(t *testing.T, c canaries, glass string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), c["folder"])
	write := func(name, text string) {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
	write("go.mod", "module example.com/vault\n\ngo 1.26\n")
	for name, x := range map[string]struct{ answer, feedback string }{"vault": {c["expected value"], "hint"}, "glass": {glass, "values"}} {
		write("exercises/"+name+"/exercise.yaml", "title: Vault\nsummary: Says a secret number.\npackage: "+name+"\nfeedback: "+x.feedback+"\nchecks: [{test: TestAnswer, points: 100}]\n"+trickImports)
		write("exercises/"+name+"/README.md", "# Vault\n\n```go\nfunc Answer(n int) string\n```\n\nTestAnswer\n")
		write("exercises/"+name+"/starter/a.go", "package "+name+"\n\nfunc Answer(n int) string { return \"\" }\n")
		write("exercises/"+name+"/hidden/a_test.go", strings.NewReplacer("reference/vault", "reference/"+name, "vault.", name+".", "NAME", "x"+c["identifier"], "TEXT", c["hidden test"]).Replace(vaultTest))
		write("reference/"+name+"/a.go", "package "+name+"\n\n// "+c["reference"]+"\nfunc Answer(n int) string { return \""+x.answer+"\" + string(rune('a'+n%9)) }\n")
	}
	return root
}

const vaultTest = `package hidden

import (
	"testing"

	"example.com/vault/reference/vault"
	"grade/observe"
)

// TEXT
const NAME = "TEXT"

// The answer.
func TestAnswer(t *testing.T) {
	o := observe.New(t)
	NAMEs(o)
}

func NAMEs(o *observe.Observer) { o.String("answer", vault.Answer(len(NAME)+o.Rand().IntN(9))) }
`

// A pull request of a fork reads neither hidden tests, reference and expected values nor
// the job's secrets in anything that comes of it.
func TestForkSeesNothingHidden(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("grades two dozen submissions")
	}
	engineClient(t)
	c := canaries{}
	for _, what := range []string{"environment", "token", "hidden test", "identifier", "reference", "expected value", "folder"} {
		c[what] = rand.Text()
	}
	glass := rand.Text()
	course := vaults(t, c, glass)
	h := gittest.New(t)
	h.Commit("base", map[string]string{"README.md": "x"})
	files := map[string]string{"students/outside": "-> ../" + c["folder"][:4]}
	for student, spy := range spies {
		for name, text := range spy {
			if strings.HasSuffix(name, ".go") && !strings.Contains(text, "package vault") && !strings.HasPrefix(text, "-> ") {
				text = "package vault\n" + text + "\n"
			}
			files["students/"+strings.ReplaceAll(student, "/", "-")+"/vault/"+name] = text
		}
	}
	files["students/honest/vault/a.go"] = "package vault\n\nfunc Answer(n int) string { return \"" + c["expected value"] + "\" + string(rune('a'+n%9)) }\n"
	files["students/control/glass/a.go"] = "package glass\n\nfunc Answer(n int) string { return \"\" }\n"
	files["students/folder/vault"] = "-> ../../../course/reference/vault"
	h.Commit("spies", files)

	dir := t.TempDir()
	asFork(t, h, dir, c)
	args := append([]string{"ci", "--course", course}, everyReport(dir)...)
	var out, err bytes.Buffer
	code := run(t.Context(), args, nil, &out, &err)
	require.Equal(t, exitMissing, code, "%s%s", out.String(), err.String())
	assert.Contains(t, out.String(), "graded      honest  vault  100 of 100\n", "the secret is what is asked for")
	assert.Contains(t, out.String(), "no verdict 0\n", "and whatever they try is their own fault")
	assert.Equal(t, 1, strings.Count(out.String(), "100 of 100"))
	for l := range strings.Lines(out.String()) {
		assert.Regexp(t, `^(graded |::(error|warning|notice) )`, l, "each line begins as ours do")
	}

	c.search(t, "standard output", out.Bytes())
	c.search(t, "standard error", err.Bytes())
	seen := 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		c.search(t, name[len(dir):], data)
		seen++
		return err
	}))
	assert.Greater(t, seen, 2*len(spies))
	junit, readErr := os.ReadFile(filepath.Join(dir, "many-junit"))
	require.NoError(t, readErr)
	assert.Contains(t, string(junit), glass, "what an exercise opens is found, so that what is not would be")
}

// asFork is the environment of a job about a pull request, in which there are secrets.
func asFork(t *testing.T, h *gittest.History, dir string, c canaries) {
	t.Helper()
	payload := fmt.Sprintf(`{"pull_request": {"updated_at": "2026-12-01T00:00:00Z", "base": {"sha": %q, "repo": {"full_name": "a/b"}}, "head": {"sha": %q, "repo": {"full_name": "c/b"}}}}`, h.Commits["base"], h.Commits["spies"])
	event := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(event, []byte(payload), 0o666))
	for name, value := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_EVENT_PATH": event, "GITHUB_WORKSPACE": h.Dir,
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"), "GITHUB_OUTPUT": filepath.Join(dir, "outputs"),
		"GRADE_TEST_SECRET": c["environment"], "GITHUB_TOKEN": c["token"],
	} {
		t.Setenv(name, value)
	}
}

// everyReport asks for each format, of many and of one.
func everyReport(dir string) (args []string) {
	for _, f := range report.Formats() {
		if f.OfMany() && f.Name != "canvas" { // which is of whole courses
			args = append(args, "--report", f.Name+"="+filepath.Join(dir, "many-"+f.Name))
		}
		if f.OfOne() && f.Lacks(report.Identity{}) == nil {
			args = append(args, "--report", f.Name+"="+filepath.Join(dir, "one-"+f.Name, "{student}", "{exercise}"))
		}
	}
	return args
}
