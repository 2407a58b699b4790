package main

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/grader/lang/golang/vet"
	"grade/grader/lang/golang/vet/typed"
	"grade/grader/tree"
	"grade/grader/verdict"
)

// program builds this package, once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "compile-test-")
	if err != nil {
		return "", err
	}
	tool := filepath.Join(dir, "compile")
	out, err := goCommand(".", "go", "build", "-buildvcs=false", "-o", tool, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return tool, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if tool, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(tool))
	}
	os.Exit(code)
}

// goCommand runs a command in a folder, as offline as a build in the sandbox.
func goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOTMPDIR="+dir)
	return cmd
}

// packageToBuild is a package, and what its build comes to.
type packageToBuild struct {
	source  string
	api     string // what the grader adds
	imports string
	report  []verdict.Problem // places and rules
	built   bool
	output  string // part of what go says

	unchecked bool // no report is asked for
}

// packages are built by the go command and by a recipe alike.
var packages = map[string]packageToBuild{
	"honest":           {source: "package p\n\nimport \"fmt\"\n\nfunc F() string { return fmt.Sprint(1) }\n", built: true},
	"address":          {source: "package p\n\nimport \"io\"\n\nvar p = &io.EOF\n\nfunc F() { *p = nil }\n", report: []verdict.Problem{{File: "a.go", Line: 5, Rule: "foreign-variable"}}},
	"assignment":       {source: "package p\n\nimport \"io\"\n\nfunc F() { io.EOF = nil }\n", report: []verdict.Problem{{File: "a.go", Line: 5, Rule: "foreign-variable"}}},
	"json":             {source: "package p\n\nimport \"encoding/json\"\n\nfunc F() {\n\t_, err := json.Marshal(func() {})\n\t_ = err\n\tvar e *json.UnsupportedValueError\n\tprint(e.Value.UnsafePointer())\n}\n", imports: "encoding/json", report: []verdict.Problem{{File: "a.go", Line: 9, Rule: "builtin-print"}, {File: "a.go", Line: 9, Rule: "type"}, {File: "a.go", Line: 9, Rule: "unsafe"}}},
	"json, harmless":   {source: "package p\n\nimport \"encoding/json\"\n\nfunc F() { _, _ = json.Marshal(1) }\n", imports: "encoding/json", built: true},
	"print":            {source: "package p\n\nimport \"fmt\"\n\nfunc F() { f := fmt.Println; f() }\n", report: []verdict.Problem{{File: "a.go", Line: 5, Rule: "selector"}}},
	"print, opened":    {source: "package p\n\nimport \"fmt\"\n\nfunc F() { f := fmt.Println; f() }\n", imports: "os,fmt:Print*", built: true},
	"the grader's own": {source: "package p\n\nfunc F() {}\n", api: "package p\n\nimport \"unsafe\"\n\nvar _ unsafe.Pointer\n", built: true},
	"a mistake":        {source: "package p\n\nfunc F() int { return \"\" }\n", output: "a.go:3:23: cannot use"},
	"a wrong API":      {source: "package p\n\nfunc F() {}\n", api: "package p\n\nvar _ func() int = F\n", output: "zz_api.go:3:20: cannot use"},
	"both":             {source: "package p\n\nimport \"io\"\n\nvar p = &io.EOF\n\nfunc F() int { return \"\" }\n", report: []verdict.Problem{{File: "a.go", Line: 5, Rule: "foreign-variable"}}},
}

// lay writes a package and its hidden tests.
func (p packageToBuild) lay(t *testing.T, dir string) {
	t.Helper()
	if p.api == "" {
		p.api = "package p\n"
	}
	p.api += "\n// " + rand.Text() + "\n" // or go takes the same source out of its cache, and compile does not see it
	hidden := "package hidden\n\nimport (\n\t\"testing\"\n\n\t\"m/reference/p\"\n)\n\nfunc TestF(t *testing.T) { p.F() }\n\nvar Tag = \"" + rand.Text() + "\"\n"
	tree.Add(t, dir, map[string]string{"go.mod": "module m\n\ngo 1.26\n", "reference/p/a.go": p.source,
		"reference/p/zz_api.go": p.api, "exercises/p/hidden/p_test.go": hidden})
}

// build builds it as the grader does, by mode and what the grader passes with that.
func (p packageToBuild) build(t *testing.T, dir string, mode ...string) (out []byte, err error) {
	t.Helper()
	tool, err := program()
	require.NoError(t, err)
	args := []string{"go", "test", "-c", "-vet=off", "-trimpath", "-buildvcs=false", "-toolexec=" + tool, "-o", filepath.Join(dir, "p.test"), "./exercises/p/hidden"}
	if len(mode) > 0 {
		args = slices.Concat([]string{tool}, mode, args)
	}
	cmd := goCommand(dir, args...)
	if !p.unchecked {
		cmd.Env = append(cmd.Env, "GRADE_VET_OUT="+filepath.Join(dir, "report"))
	}
	cmd.Env = append(cmd.Env, "GRADE_VET_PKG=m/reference/p", "GRADE_VET_IMPORTS="+p.imports,
		"GRADE_PACKAGES=fmt io", "GRADE_FILES="+filepath.Join(dir, "reference/p/a.go")+","+filepath.Join(dir, "reference/p/zz_api.go"))
	return cmd.CombinedOutput()
}

// hold compares a build with what it has to come to.
func (p packageToBuild) hold(t *testing.T, dir string, out []byte, err error) {
	t.Helper()
	require.Equal(t, p.built, err == nil, "%s", out)
	require.Contains(t, string(out), p.output)
	_, missing := os.Stat(filepath.Join(dir, "p.test"))
	require.Equal(t, p.built, missing == nil)

	data, err := os.ReadFile(filepath.Join(dir, "report"))
	require.NoError(t, err, "no report: the rules were not applied")
	problems, err := vet.ParseReport(data)
	require.NoError(t, err)
	for i := range problems {
		require.NotEmpty(t, problems[i].Message)
		problems[i].Message = ""
	}
	require.Equal(t, p.report, problems, "%s", out)
}

// Go calls the program in a build as the grader makes it.
func TestToolexec(t *testing.T) {
	for name, p := range packages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p.lay(t, dir)
			out, err := p.build(t, dir)
			p.hold(t, dir, out, err)
		})
	}
}

func TestParseCommand(t *testing.T) {
	const compile = "/go/pkg/tool/linux_amd64/compile"
	j, ok := parseCommand([]string{compile, "-o", "x.a", "-trimpath", "/w=>m;/b=>", "-p", "m/reference/p", "-lang=go1.26", "-complete", "-importcfg", "/b/importcfg",
		"-pack", "/w/a.go", "./b.go", "/w/zz_api.go"})
	require.True(t, ok)
	require.Equal(t, typed.Package{Path: "m/reference/p", Files: []string{"./b.go", "/w/a.go"}, ImportCfg: "/b/importcfg", Lang: "go1.26"}, j)
	for _, command := range [][]string{
		{compile, "-V=full"}, {compile}, {"/go/asm", "-p", "m", "a.go"}, {"/go/link", "-importcfg", "x", "a.a"}, {compile, "-p", "m", "/w/zz_api.go"},
	} {
		_, ok := parseCommand(command)
		require.False(t, ok, "%q", command)
	}
}

// Typed refuses a source that the compiler accepts and the type checker does not:
// its rules have not been applied.
func TestRunDisagreement(t *testing.T) {
	dir := t.TempDir()
	tree.Add(t, dir, map[string]string{"a.go": "package p\n\nvar x int = \"\"\n", "importcfg": "", "compile": "#!/bin/sh\nexit 0\n", "fail/compile": "#!/bin/sh\nexit 7\n"})
	report := filepath.Join(dir, "report")
	env := func(name string) string {
		return map[string]string{"GRADE_VET_PKG": "m/p", "GRADE_VET_OUT": report}[name]
	}
	args := []string{"-p", "m/p", "-importcfg", filepath.Join(dir, "importcfg"), filepath.Join(dir, "a.go")}

	require.Equal(t, 1, run(append([]string{filepath.Join(dir, "compile")}, args...), env))
	data, err := os.ReadFile(report)
	require.NoError(t, err)
	problems, err := vet.ParseReport(data)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "types", problems[0].Rule)
	require.Equal(t, "a.go", problems[0].File)

	require.Equal(t, 7, run(append([]string{filepath.Join(dir, "fail", "compile")}, args...), env))
	data, err = os.ReadFile(report)
	require.NoError(t, err)
	require.Empty(t, data)
}

// A report that cannot be written whole leaves nothing, and fails the build.
func TestReportOnAFullDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	require.NoError(t, os.Symlink("/dev/full", name))
	env := func(string) string { return name }
	require.False(t, report([]verdict.Problem{{File: "a.go", Line: 1, Rule: "unsafe"}}, env))
	_, err := os.Lstat(name)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
