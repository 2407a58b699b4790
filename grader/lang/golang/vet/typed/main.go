// Typed applies those rules of vet that need types to one package, while the go
// command compiles that package. It is a program for the -toolexec flag of go:
//
//	go build -toolexec=/path/to/typed ./...
//
// It runs in the sandbox of a build and under its limits, because type-checking
// hostile source can take any time and memory. The environment configures it:
//
//	GRADE_VET_PKG      import path of the package to check
//	GRADE_VET_IMPORTS  packages that the exercise opens, as in vet.Policy, with commas
//	GRADE_VET_OUT      file for the report; an empty one means no problem
//
// If there are problems, typed does not run the compiler, and the build fails. It
// passes every other call of a tool on unchanged.
//
// The go command does not compile a package that it finds in its build cache, and
// typed then writes no report. The grader puts a fresh comment into each package that
// it builds, and treats a missing report as its own fault.
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

// run runs one command of the go command, a tool with its arguments.
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
		// The compiler must report the errors that go/types found. If it does not, the
		// two read this source in different ways.
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

// become replaces this process by a tool, or runs the tool where the system cannot.
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
	importcfg string   // file with the places of its imports
	lang      string   // language version, as in go1.26
	arch      string   // empty: this machine's
	policy    vet.Policy
}

// parseCommand reads the compiler's arguments; ok is false for any other command.
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
