package golang

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang"
	"grade/grader/lang/golang/vet"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// build is one build of hidden tests with a package.
type build struct {
	exercise *course.Exercise
	snapshot *submission.Snapshot // nil: of the reference
	api      *api
	files    []sandbox.File
}

// Build prepares one build. It spells out the API anew for each, because the go
// command could otherwise take the package from its cache and skip the typed vet.
func (l *Language) Build(ctx context.Context, e *course.Exercise, s *submission.Snapshot, goarch string) (lang.Build, error) {
	spelled, err := newAPI(packageDir(e), contents(e.Reference))
	if err != nil {
		return nil, fault.Exercise(fmt.Errorf("exercise %s: %w", e.Name, err))
	}
	tool, err := l.vetTool(ctx, goarch)
	if err != nil {
		return nil, fmt.Errorf("compile the vet: %w", err)
	}
	files, err := kitFiles(l.kit, e.Module)
	if err != nil {
		return nil, err
	}
	pkg := contents(e.Reference)
	if s != nil {
		pkg = submitted(s, e)
	}
	for name, data := range pkg {
		files = append(files, sandbox.File{Name: path.Join(packageDir(e), name), Data: data})
	}
	files = append(files,
		sandbox.File{Name: path.Join(packageDir(e), submission.APIFile), Data: spelled.file},
		sandbox.File{Name: toolName, Exec: true, Data: tool})
	for _, f := range e.Hidden {
		files = append(files, sandbox.File{Name: path.Join(hiddenDir(e), f.Name), Data: f.Data})
	}
	return &build{exercise: e, snapshot: s, api: spelled, files: files}, nil
}

// submitted returns the files of a submission, its copies of provided files replaced
// by the exercise's own.
func submitted(s *submission.Snapshot, e *course.Exercise) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range s.Files {
		files[f.Name] = f.Data
	}
	for _, f := range e.Starter {
		if slices.Contains(e.Provided, f.Name) {
			files[f.Name] = f.Data
		}
	}
	return files
}

// Request compiles the hidden tests.
func (b *build) Request(d sandbox.Dirs) sandbox.Request {
	return buildRequest(d, b.files, "./"+hiddenDir(b.exercise), b.exercise.ImportPath, b.exercise.Imports)
}

// output is the outcome of a build with the files that it wrote.
type output struct {
	sandbox.Outcome
	program []byte // nil if there is none
	vetted  []byte // the typed vet's report; nil if it wrote none
}

func outputOf(o sandbox.Outcome) output {
	b := output{Outcome: o}
	for _, f := range o.Files {
		switch f.Name {
		case programName:
			b.program = f.Data
		case reportName:
			b.vetted = append([]byte{}, f.Data...) // there, even if empty
		}
	}
	return b
}

// well reports whether the go command succeeded within its limits.
func (b output) well() bool {
	return b.ExitCode == 0 && b.Signal == 0 && b.Cause == sandbox.CauseNone && b.OOMKills == 0
}

// Reference returns the reference's program.
func (b *build) Reference(o sandbox.Outcome) ([]byte, error) {
	out := outputOf(o)
	if out.program == nil || !out.well() {
		return nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not build with the hidden tests (status %d, %v): %s%s",
			b.exercise.Name, o.ExitCode, o.Cause, o.Stderr, out.vetted))
	}
	return out.program, nil
}

// Outcome judges a submission's build. The reference has built with the same tests, so
// that a failure is the submission's.
func (b *build) Outcome(o sandbox.Outcome) (lang.Built, error) {
	out := outputOf(o)
	refused, err := vet.ParseReport(out.vetted)
	switch {
	case err != nil:
		return lang.Built{}, err
	case len(refused) > 0:
		return lang.Built{Refused: verdict.Refusal{Verdict: verdict.Invalid, Problems: refused}}, nil
	case out.well() && out.vetted == nil:
		return lang.Built{}, errors.New("build: the package was compiled, but the typed vet wrote no report")
	case out.well() && out.program != nil:
		return lang.Built{Program: out.program}, nil
	}
	return b.failed(out), nil
}

// failed explains a build without a program: by a limit, by messages about the
// submission's own files, or else by one message about the package as a whole.
func (b *build) failed(out output) lang.Built {
	unexplained := false
	problems := b.api.problems(append(slices.Clone(out.Stdout), out.Stderr...), b.snapshot)
	if limit := buildLimit(out); limit != "" {
		problems = b.wholly("build-limit", "building this package "+limit+"; make it simpler")
	} else if len(problems) == 0 {
		unexplained = true
		problems = b.wholly("compile", "this package does not build with the hidden tests, and the compiler names no line of yours: "+
			"declare everything exactly as the exercise's README does, and look for code that a compiler cannot handle or finish")
	}
	return lang.Built{Refused: verdict.Refusal{Verdict: verdict.CompileError, Problems: problems}, Unexplained: unexplained}
}

// buildLimit describes the limit that a build has exceeded; "" if it has not.
func buildLimit(b output) string {
	switch {
	case b.OOMKills > 0, b.Cause == sandbox.CauseMemory:
		return fmt.Sprintf("takes more than %d MiB of memory", buildMemory>>20)
	case b.Cause == sandbox.CauseCPU:
		return fmt.Sprintf("takes more than %v of CPU time", buildTime)
	case b.well():
		return fmt.Sprintf("gives a program of more than %d MiB", programMax>>20)
	}
	return ""
}

// wholly returns a problem of the submission as a whole, placed at its first file.
func (b *build) wholly(rule, message string) []verdict.Problem {
	p := verdict.Problem{Rule: rule, Message: message}
	if len(b.snapshot.Files) > 0 {
		p.File = b.snapshot.Files[0].Name
	}
	return []verdict.Problem{p}
}
