package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"grade/grader/lang/golang/vet"
	"grade/grader/lang/golang/vet/typed"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// reportTo names the variable with the file for the report; without one nothing is checked.
const reportTo = "GRADE_VET_OUT"

// toolexec runs one command of the go command, a tool with its arguments. The package to
// check is checked first; every other call is passed on unchanged.
func toolexec(command []string, getenv func(string) string) int {
	if version := getenv("GRADE_CC"); version != "" && command[0] == "gcc" {
		fmt.Println(version) // the go command looks a package up that gcc has compiled elsewhere
		return 0
	}
	if log := getenv(recordTo); log != "" {
		if err := note(log, command); err != nil {
			fmt.Fprintf(os.Stderr, "compile: record: %v\n", err)
			return 2
		}
	}
	p, ok := parseCommand(command)
	if pkg := getenv("GRADE_VET_PKG"); !ok || pkg == "" || p.Path != pkg || getenv(reportTo) == "" {
		return become(command)
	}
	configure(&p, getenv)
	problems, sure := p.Check()
	code := 0
	if len(problems) == 0 && !sure {
		// The compiler must report the errors that go/types found. If it does not, the
		// two read this source in different ways.
		if code = call(command); code == 0 {
			problems = []verdict.Problem{p.Unclear()}
		}
	}
	switch ok := report(problems, getenv); {
	case !ok:
		return 2
	case len(problems) > 0:
		return 1
	case sure:
		return become(command)
	}
	return code
}

// configure sets what the environment says of a check.
func configure(p *typed.Package, getenv func(string) string) {
	p.Arch = getenv("GOARCH")
	if imports := getenv("GRADE_VET_IMPORTS"); imports != "" {
		p.Policy.Imports = strings.Split(imports, ",")
	}
}

// report writes the vet's report, and says so if it cannot. It leaves no part of one: a full
// scratch is the submission's doing, and what is cut short reads as damage of ours.
func report(problems []verdict.Problem, getenv func(string) string) (ok bool) {
	name := getenv(reportTo)
	err := os.WriteFile(name, vet.AppendReport(nil, problems), 0o666)
	if err != nil {
		_ = os.Remove(name)
		fmt.Fprintf(os.Stderr, "compile: write the report: %v\n", err)
	}
	return err == nil
}

// parseCommand reads the compiler's arguments; ok is false for any other command.
func parseCommand(command []string) (p typed.Package, ok bool) {
	if tool(command) != "compile" {
		return p, false
	}
	args := command[1:]
	for len(args) > 0 && strings.HasSuffix(args[len(args)-1], ".go") {
		last := args[len(args)-1]
		args = args[:len(args)-1]
		if filepath.Base(last) != submission.APIFile {
			p.Files = append(p.Files, last)
		}
	}
	if _, isVersion := flag(args, "V"); isVersion {
		return p, false
	}
	p.Path, _ = flag(args, "p")
	p.ImportCfg, _ = flag(args, "importcfg")
	p.Lang, _ = flag(args, "lang")
	return p, len(p.Files) > 0
}

// tool is the name of the tool that a command calls.
func tool(command []string) string {
	return strings.TrimSuffix(filepath.Base(command[0]), ".exe")
}

// flag returns the value of a flag, written -name=value or -name value.
func flag(args []string, name string) (value string, ok bool) {
	for i, arg := range args {
		key, value, joined := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if key != name || key == arg {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		return value, true
	}
	return "", false
}
