package golang

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang"
	"grade/sandbox"
)

// publicBuild is a build of the reference with the tests that students get.
type publicBuild struct {
	build
}

// Public prepares a build of the reference with the starter's tests; nil if there are none.
func (l *Language) Public(e *course.Exercise) (lang.Build, error) {
	files, err := kitFiles(l.kit, e.Module)
	if err != nil {
		return nil, err
	}
	for _, f := range e.Reference {
		files = append(files, sandbox.File{Name: path.Join(packageDir(e), f.Name), Data: f.Data})
	}
	tests := false
	for _, f := range e.Starter {
		// Whatever else lies beside the tests may be what they read.
		if source := strings.HasSuffix(f.Name, ".go") && !strings.HasSuffix(f.Name, "_test.go"); source {
			continue
		}
		tests = tests || strings.HasSuffix(f.Name, "_test.go")
		files = append(files, sandbox.File{Name: path.Join(packageDir(e), f.Name), Data: f.Data})
	}
	if !tests {
		return nil, nil
	}
	return &publicBuild{build{exercise: e, files: files}}, nil
}

// Request compiles the tests, without the typed vet: nothing of a student's is built.
func (b *publicBuild) Request(d sandbox.Dirs) sandbox.Request {
	q := buildRequest(d, b.files, "./"+packageDir(b.exercise), "", nil)
	q.Args = slices.DeleteFunc(q.Args, func(arg string) bool { return strings.HasPrefix(arg, "-toolexec=") })
	return q
}

// Reference returns the program, or says which line of the starter's tests does not compile:
// they are built in the reference's folder, and lie in another.
func (b *publicBuild) Reference(o sandbox.Outcome) (program, recipe []byte, err error) {
	out := outputOf(o)
	if out.program != nil && out.well() {
		return out.program, nil, nil
	}
	said, e := string(o.Stderr), b.exercise
	for _, f := range e.Starter {
		said = strings.ReplaceAll(said, path.Join(packageDir(e), f.Name)+":", path.Join("exercises", e.Name, "starter", f.Name)+":")
	}
	return nil, nil, fault.Exercise(fmt.Errorf("exercise %s: the starter's tests do not build with the reference (status %d, %v): %s", e.Name, o.ExitCode, o.Cause, said))
}

// PublicTests runs all tests of such a build.
func (l *Language) PublicTests(e *course.Exercise) sandbox.Request {
	return runRequest(e, "^(Test|Example)", "", forTesting)
}
