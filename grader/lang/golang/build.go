package golang

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

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
	recipe   []byte // of the reference's build; nil: there is none
}

// Build prepares one build. It spells out the API anew for each, because the go
// command could otherwise take the package from its cache and skip the typed vet.
func (l *Language) Build(ctx context.Context, e *course.Exercise, s *submission.Snapshot, recipe []byte, goarch string) (lang.Build, error) {
	spelled, err := newAPI(packageDir(e), contents(e.Reference))
	if err != nil {
		return nil, fault.Exercise(fmt.Errorf("exercise %s: %w", e.Name, err))
	}
	tool, err := l.compiler(ctx, goarch)
	if err != nil {
		return nil, fmt.Errorf("compile the compiler's driver: %w", err)
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
	return &build{exercise: e, snapshot: s, api: spelled, files: files, recipe: recipe}, nil
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

// Request compiles the hidden tests. The reference's build is recorded, for those of
// submissions to repeat it.
func (b *build) Request(d sandbox.Dirs) sandbox.Request {
	q := buildRequest(d, b.files, "./"+hiddenDir(b.exercise), b.exercise.ImportPath, b.exercise.Imports)
	switch {
	case b.snapshot == nil:
		return recorded(q, d)
	case b.recipe != nil:
		return replayed(q, d, recipeName, b.recipe, b.sources())
	}
	return q
}

// sources names the files of the package that the go command would compile.
func (b *build) sources() (names []string) {
	for _, f := range b.files {
		dir, name := path.Split(f.Name)
		if path.Clean(dir) == packageDir(b.exercise) && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && name[0] != '_' && name[0] != '.' {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// output is the outcome of a build with the files that it wrote.
type output struct {
	sandbox.Outcome
	program []byte // nil if there is none
	vetted  []byte // the typed vet's report; nil if it wrote none
	recipe  []byte // how it was built; nil if that was not recorded
}

func outputOf(o sandbox.Outcome) output {
	b := output{Outcome: o}
	for _, f := range o.Files {
		switch f.Name {
		case programName:
			b.program = f.Data
		case reportName:
			b.vetted = append([]byte{}, f.Data...) // there, even if empty
		case recipeName:
			b.recipe = f.Data
		}
	}
	return b
}

// well reports whether the go command succeeded within its limits.
func (b output) well() bool {
	return b.ExitCode == 0 && b.Signal == 0 && b.Cause == sandbox.CauseNone && b.OOMKills == 0
}

// Reference returns the reference's program, and the recipe to build others by.
func (b *build) Reference(o sandbox.Outcome) (program, recipe []byte, err error) {
	out := outputOf(o)
	if starved(out) {
		return nil, nil, tooBusy(out)
	}
	if out.program == nil || !out.well() {
		return nil, nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not build with the hidden tests (status %d, %v): %s%s",
			b.exercise.Name, o.ExitCode, o.Cause, o.Stderr, out.vetted))
	}
	return out.program, out.recipe, nil
}

// Outcome judges a submission's build. The reference has built with the same tests, so
// that a failure is the submission's, also one that has cut the report short, as by a limit.
// A build that went well needs a whole report: nothing passes without the typed vet.
func (b *build) Outcome(o sandbox.Outcome) (lang.Built, error) {
	out := outputOf(o)
	refused, err := vet.ParseReport(out.vetted)
	switch {
	case err != nil && out.well():
		return lang.Built{}, err
	case len(refused) > 0:
		return lang.Built{Refused: verdict.Refusal{Verdict: verdict.Invalid, Problems: refused}}, nil
	case out.well() && out.vetted == nil:
		return lang.Built{}, errors.New("build: the package was compiled, but the typed vet wrote no report")
	case out.well() && out.program != nil:
		return lang.Built{Program: out.program}, nil
	case starved(out):
		return lang.Built{}, tooBusy(out)
	}
	return b.failed(out), nil
}

// failed explains a build without a program: by a limit, by messages about the
// submission's own files, or else by one message about the package as a whole.
func (b *build) failed(out output) lang.Built {
	unexplained := false
	problems := b.api.problems(append(slices.Clone(out.Stdout), out.Stderr...), b.snapshot)
	limit := buildLimit(out)
	switch {
	case limit != "":
		problems = b.wholly("build-limit", limit)
	case len(problems) > 0:
	case out.Cause == sandbox.CauseStdout || out.Cause == sandbox.CauseStderr:
		problems = b.wholly("build-limit", fmt.Sprintf("the build printed more than %d KiB of messages, and none of the first names a line of yours", buildOutput>>10))
	default:
		unexplained = true
		problems = b.wholly("compile", "this package does not build with the hidden tests, and the compiler names no line of yours: "+
			"declare everything exactly as the exercise's README does, and look for code that a compiler cannot handle or finish")
	}
	return lang.Built{Refused: verdict.Refusal{Verdict: verdict.CompileError, Problems: problems}, Unexplained: unexplained}
}

// buildLimit names the limit that a build has exceeded, and what to do; "" if it has
// not exceeded any.
func buildLimit(b output) string {
	const busy = "constants, types or very large functions keep the compiler busy: make them simpler"
	switch {
	case b.OOMKills > 0, b.Cause == sandbox.CauseMemory:
		return fmt.Sprintf("the build took more than %d MiB of memory; constants, types or very large literals fill the compiler's: make them simpler", buildMemory>>20)
	case b.Cause == sandbox.CauseCPU:
		return fmt.Sprintf("the build took more than %.0f s of CPU time, where an ordinary one takes one or two; %s", buildTime.Seconds(), busy)
	case b.Cause == sandbox.CauseWall:
		return fmt.Sprintf("the build took more than %.0f s, most of it at work, where an ordinary one takes one or two; %s", buildWall.Seconds(), busy)
	case b.well():
		return fmt.Sprintf("the build gave a program of more than %d MiB; large arrays or literals fill it: make them at run time", programMax>>20)
	}
	return ""
}

// starved reports whether a build had no time because the machine gave it none: it was
// stopped by the clock on the wall when it had used little of what it may.
func starved(b output) bool {
	return b.Cause == sandbox.CauseWall && max(b.CPU, b.BoxCPU) < buildTime/4
}

func tooBusy(b output) error {
	return fmt.Errorf("build: the machine is too busy: in %v it gave a build %v of CPU time", buildWall, max(b.CPU, b.BoxCPU).Round(time.Millisecond))
}

// wholly returns a problem of the submission as a whole, placed at its first file.
func (b *build) wholly(rule, message string) []verdict.Problem {
	p := verdict.Problem{Rule: rule, Message: message}
	if len(b.snapshot.Files) > 0 {
		p.File = b.snapshot.Files[0].Name
	}
	return []verdict.Problem{p}
}
