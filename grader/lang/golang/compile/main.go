// Compile builds hidden tests with a package, in the sandbox of a build and under its
// limits, and applies to the package those rules of vet that need types.
//
//	compile record RECIPE go test -c ...   has the go command build, and writes down how it did
//	compile replay RECIPE go test -c ...   does the same for another package, without the go command
//	go test -c -toolexec=compile ...       checks the package when the go command compiles it
//
// The go command spends more on finding out what to compile than on compiling, and for all
// submissions of an exercise it finds out the same. So the reference's build is recorded: its
// calls of the compiler and the linker, with what they read. Replay repeats them with the
// files of a submission in the place of the reference's. What it cannot build it leaves
// to the go command, whose messages are those that the grader reads.
//
// The environment configures all three:
//
//	GRADE_VET_PKG      import path of the package to check, and of the one that is replaced
//	GRADE_VET_IMPORTS  packages that the exercise opens, as in vet.Policy, with commas
//	GRADE_VET_OUT      file for the report, which is empty without a problem; unset: nothing is checked
//	GRADE_FILES        replay: the package's Go files, with commas
//	GRADE_PACKAGES     record: packages of the standard library that a submission may import, with spaces
//	GRADE_CC           what to say in place of a C compiler that is asked for its version
//
// If there are problems, the package is not compiled, and the build fails.
//
// The go command does not compile a package that it finds in its build cache, and
// there is no report then. The grader puts a fresh comment into each package that
// it builds, and treats a missing report as its own fault.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv)) }

// run does what the first argument says.
func run(args []string, getenv func(string) string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "compile: run me with go build -toolexec")
		return 2
	}
	if len(args) > 2 && args[0] == "record" {
		return record(args[1], args[2:], getenv)
	}
	if len(args) > 2 && args[0] == "replay" {
		return replay(args[1], args[2:], getenv)
	}
	return toolexec(args, getenv)
}

// become replaces this process by a tool, or runs the tool where the system cannot.
func become(command []string) int {
	_ = syscall.Exec(command[0], command, os.Environ())
	return call(command)
}

// call runs a tool and returns its exit status.
func call(command []string, env ...string) int {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			return code
		}
		fmt.Fprintf(os.Stderr, "compile: run %s: %v\n", command[0], err)
		return 2
	}
	return 0
}
