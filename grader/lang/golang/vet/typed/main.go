// Typed applies those rules of vet that need types to one package, where and
// while that package is compiled. It is a program for the -toolexec flag of go:
//
//	go build -toolexec=/path/to/typed ./...
//
// It runs in the sandbox of a build and under its limits, for type-checking
// hostile source can take any time and memory. The environment tells it what to
// do:
//
//	GRADE_VET_PKG      import path of the package to look at
//	GRADE_VET_IMPORTS  what the exercise opens, as in vet.Policy, with commas
//	GRADE_VET_OUT      file for the report, which is there and empty if all is well
//
// Where there are problems, the compiler is not run and the build fails. Every
// other call of a tool is passed on as it is.
//
// What go takes from its build cache is not compiled, and so not looked at: a
// report that is missing after a build says so. The grader puts a fresh comment
// into each package that it builds.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"grade/grader/lang/golang/vet"
	"grade/grader/submission"
	"grade/grader/verdict"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "typed: run me with go build -toolexec")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:], os.Getenv))
}

// run does what go asks for: command is a tool with its arguments.
func run(command []string, getenv func(string) string) int {
	j, ok := parseCommand(command)
	if pkg := getenv("GRADE_VET_PKG"); !ok || pkg == "" || j.path != pkg {
		return become(command)
	}
	j.arch = getenv("GOARCH")
	if imports := getenv("GRADE_VET_IMPORTS"); imports != "" {
		j.policy.Imports = strings.Split(imports, ",")
	}
	problems, sure := j.check()
	code := 0
	if len(problems) == 0 && !sure {
		// The compiler must see the errors that we saw. If it sees none, it
		// understands something else by this source than we do.
		if code = call(command); code == 0 {
			problems = []verdict.Problem{j.unclear()}
		}
	}
	if err := os.WriteFile(getenv("GRADE_VET_OUT"), vet.AppendReport(nil, problems), 0o666); err != nil {
		fmt.Fprintf(os.Stderr, "typed: write the report: %v\n", err)
		return 2
	}
	switch {
	case len(problems) > 0:
		return 1
	case sure:
		return become(command)
	}
	return code
}

// become replaces this process by a tool, or does as if where that is not
// possible.
func become(command []string) int {
	_ = syscall.Exec(command[0], command, os.Environ())
	return call(command)
}

// call runs a tool and returns its exit status.
func call(command []string) int {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			return code
		}
		fmt.Fprintf(os.Stderr, "typed: run %s: %v\n", command[0], err)
		return 2
	}
	return 0
}

// job is one call of the compiler.
type job struct {
	path      string   // import path of the package
	files     []string // its Go files
	importcfg string   // file that says where its imports are
	lang      string   // language version, as in go1.26
	arch      string   // empty: this machine's
	policy    vet.Policy
}

// parseCommand reads the compiler's arguments; ok is false if this is no
// compilation.
func parseCommand(command []string) (j job, ok bool) {
	if strings.TrimSuffix(filepath.Base(command[0]), ".exe") != "compile" {
		return j, false
	}
	args := command[1:]
	for len(args) > 0 && strings.HasSuffix(args[len(args)-1], ".go") {
		last := args[len(args)-1]
		args = args[:len(args)-1]
		if filepath.Base(last) != submission.APIFile {
			j.files = append(j.files, last)
		}
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "V":
			return j, false
		case "p":
			j.path = value
		case "importcfg":
			j.importcfg = value
		case "lang":
			j.lang = value
		}
	}
	return j, len(j.files) > 0
}
