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
	api      *API
	files    []sandbox.File
}

// Build prepares one build. Each spells out the API anew, or the go command could
// take the package from its cache, past the typed vet.
func (l *Language) Build(ctx context.Context, e *course.Exercise, s *submission.Snapshot, goarch string) (lang.Build, error) {
	api, err := NewAPI(packageDir(e), contents(e.Reference))
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
		sandbox.File{Name: path.Join(packageDir(e), submission.APIFile), Data: api.File},
		sandbox.File{Name: toolName, Exec: true, Data: tool})
	for _, f := range e.Hidden {
		files = append(files, sandbox.File{Name: path.Join(hiddenDir(e), f.Name), Data: f.Data})
	}
	return &build{exercise: e, snapshot: s, api: api, files: files}, nil
}

// submitted are the files of a submission, with the exercise's own in place of
// its copies.
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

// output is what a build left behind.
type output struct {
	sandbox.Outcome
	program []byte // nil if there is none
	vetted  []byte // the typed vet's report; nil if it did not come to one
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

// well reports whether the go command was content.
func (b output) well() bool {
	return b.ExitCode == 0 && b.Signal == 0 && b.Cause == sandbox.CauseNone && b.OOMKills == 0
}

// Reference is the reference's program.
func (b *build) Reference(o sandbox.Outcome) ([]byte, error) {
	out := outputOf(o)
	if out.program == nil || !out.well() {
		return nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not build with the hidden tests (status %d, %v): %s%s",
			b.exercise.Name, o.ExitCode, o.Cause, o.Stderr, out.vetted))
	}
	return out.program, nil
}

// Outcome decides on a build, given that the reference's goes well.
func (b *build) Outcome(o sandbox.Outcome) (lang.Built, error) {
	out := outputOf(o)
	refused, err := vet.ParseReport(out.vetted)
	switch {
	case err != nil:
		return lang.Built{}, err
	case len(refused) > 0:
		return lang.Built{Refused: verdict.Refusal{Verdict: verdict.Invalid, Problems: refused}}, nil
	case out.well() && out.vetted == nil:
		return lang.Built{}, errors.New("build: the package was compiled without the vet seeing it")
	case out.well() && out.program != nil:
		return lang.Built{Program: out.program}, nil
	}
	return b.failed(out), nil
}

// failed says why there is no program. Where neither a limit nor a message about the
// submission's own files explains it, the words are of the package as a whole.
func (b *build) failed(out output) lang.Built {
	unexplained := false
	problems := b.api.Problems(append(slices.Clone(out.Stdout), out.Stderr...), b.snapshot)
	if limit := buildLimit(out); limit != "" {
		problems = b.wholly("build-limit", "building the package "+limit+": make it simpler")
	} else if len(problems) == 0 {
		unexplained = true
		problems = b.wholly("compile", "the compiler or the linker gives up on this package or never ends, "+
			"or it does not fit the hidden tests: declare everything as the exercise's README spells it")
	}
	return lang.Built{Refused: verdict.Refusal{Verdict: verdict.CompileError, Problems: problems}, Unexplained: unexplained}
}

// buildLimit names the limit that a build has passed, if it has.
func buildLimit(b output) string {
	switch {
	case b.OOMKills > 0, b.Cause == sandbox.CauseMemory:
		return fmt.Sprintf("takes the compiler more than %d MiB", buildMemory>>20)
	case b.Cause == sandbox.CauseCPU:
		return fmt.Sprintf("takes the compiler more than %v", buildTime)
	case b.well():
		return fmt.Sprintf("gives a program of more than %d MiB", programMax>>20)
	}
	return ""
}

// wholly is a problem of the submission as a whole, shown at its first file.
func (b *build) wholly(rule, message string) []verdict.Problem {
	p := verdict.Problem{Rule: rule, Message: message}
	if len(b.snapshot.Files) > 0 {
		p.File = b.snapshot.Files[0].Name
	}
	return []verdict.Problem{p}
}
