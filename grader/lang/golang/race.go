package golang

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// A program with the race detector takes two to twenty times the CPU time and five to ten
// times the memory, by the detector's documentation. The limits of a run are those of the
// exercise, times these. They stop what does not end: an exercise's limits are far above
// what its tests take.
const (
	raceCPU    = 10
	raceWall   = 3
	raceMemory = 5
)

// raceProgramMax is programMax for a program with the detector, which is a few times as large.
const raceProgramMax = 4 * programMax

// raceStatus is the exit status of a program that was ended by the race detector. A
// submission cannot exit with a status of its choice.
const raceStatus = 66

// raceOptions configure the detector. The first race ends the program: a student mends one
// at a time, and a thousand reports would reach the limit on output. Without the last
// option every program sleeps for a second before it exits.
var raceOptions = fmt.Sprintf("halt_on_error=1 exitcode=%d history_size=3 atexit_sleep_ms=0", raceStatus)

// raceFlags are buildFlags for the race detector. The go command links by itself: no box has
// gcc. Package runtime/cgo, which gcc compiles, is in the cache, and gcc's own library too.
func raceFlags(cache string) []string {
	flags := append(slices.Clone(buildFlags), "-race")
	for i, f := range flags {
		if strings.HasPrefix(f, "-ldflags=") {
			flags[i] += " -linkmode=internal -libgcc=" + path.Join(cache, sandbox.CompilerLibrary)
		}
	}
	return flags
}

// raceRequest compiles the tests in directory pkg of a tree that is in the box already.
func raceRequest(d sandbox.Dirs, pkg string) sandbox.Request {
	q := buildRequest(d, nil, pkg, "", nil)
	q.Args = append(raceFlags(d.GoCache), "-toolexec="+path.Join(d.Work, toolName), "-o", path.Join(d.Scratch, programName), pkg)
	q.Env = buildEnvironment(d, "CGO_ENABLED=1", "CC=gcc", "GRADE_CC="+sandbox.CompilerVersion)
	q.Limits.CPU, q.Limits.Wall, q.Limits.CollectMax = 2*buildTime, 2*buildWall, raceProgramMax
	return q
}

// RaceRequest compiles the hidden tests for the race detector. The typed vet has passed the
// package. The reference's build is recorded, and those of submissions repeat it.
func (b *build) RaceRequest(d sandbox.Dirs, recipe []byte) sandbox.Request {
	q := raceRequest(d, "./"+hiddenDir(b.exercise))
	switch {
	case b.snapshot == nil:
		return recorded(q, d)
	case recipe != nil:
		q.Env = append(q.Env, "GRADE_VET_PKG="+b.exercise.ImportPath)
		return replayed(q, d, raceName, recipe, b.sources())
	}
	return q
}

// RaceRecipe returns the recipe of the reference's build.
func (b *build) RaceRecipe(o sandbox.Outcome) ([]byte, error) {
	out := outputOf(o)
	if starved(out) {
		return nil, tooBusy(out)
	}
	if out.program == nil || !out.well() {
		return nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not build for the race detector (status %d, %v): %s", b.exercise.Name, o.ExitCode, o.Cause, o.Stderr))
	}
	return out.recipe, nil
}

// RaceOutcome returns the program. A package that compiles without the race detector and not
// with it has a verdict of its own, because a limit stopped it, or the compiler could not
// go on.
func (b *build) RaceOutcome(o sandbox.Outcome) (program []byte, v verdict.Verdict, detail string, err error) {
	const building = "not run: to build this package for the race detector "
	out := outputOf(o)
	switch {
	case out.well() && out.program != nil:
		return out.program, "", "", nil
	case out.well(): // a program above its limit is not brought back
		return nil, verdict.MemoryLimit, building + fmt.Sprintf("gives a program of more than %d MiB; large arrays or literals fill it: make them at run time", raceProgramMax>>20), nil
	case o.OOMKills > 0, o.Cause == sandbox.CauseMemory:
		return nil, verdict.MemoryLimit, building + "takes too much memory", nil
	case starved(out):
		return nil, "", "", tooBusy(out)
	case o.Cause.OfTime():
		return nil, verdict.TimeLimit, building + "takes too long", nil
	}
	return nil, verdict.Missing, building + "fails, though it compiles without: make it simpler", nil
}

// RaceTest runs one hidden test under the race detector. GOMEMLIMIT stays that of other
// runs: the detector's own memory is none of Go's.
func (l *Language) RaceTest(e *course.Exercise, test, seed string) sandbox.Request {
	q := testRequest(e, test, seed)
	q.Env = append(q.Env, "GORACE="+raceOptions)
	q.Limits.CPU *= raceCPU
	q.Limits.Wall *= raceWall
	q.Limits.Memory *= raceMemory
	return q
}

// RaceBox is the box of such a run, made of that of another.
func (l *Language) RaceBox(s sandbox.Spec) sandbox.Spec {
	s.Purpose, s.Memory = sandbox.RaceRun, raceMemory*s.Memory
	return s
}

// Race finds the two accesses in what the detector has written to standard error. A
// submission can write there too, but it cannot exit with the detector's status, and a
// report of its own making costs its own points only. If there are several, all count as
// one: an invented one cannot hide the detector's.
func (l *Language) Race(o sandbox.Outcome, s *submission.Snapshot, e *course.Exercise) (r lang.Race, ok bool) {
	if !endedByDetector(o) {
		return r, false
	}
	created := map[string]lang.Access{} // by goroutines: one can have made many accesses
	for _, m := range raceCreation.FindAllSubmatch(o.Stderr, -1) {
		created[string(m[1])] = placed(m[2], s, e)
	}
	reports := raceReport.FindAllSubmatch(o.Stderr, -1)
	for _, m := range reports {
		a := placed(m[3], s, e)
		if a == (lang.Access{}) { // a goroutine may run the standard library alone
			a = created[strings.TrimPrefix(string(m[2]), "goroutine ")]
		}
		a.Write = bytes.HasSuffix(bytes.ToLower(m[1]), []byte("write"))
		r.Accesses = append(r.Accesses, a)
	}
	// A race has two sides. Those in the submission come first, for the student to see.
	slices.SortStableFunc(r.Accesses, func(a, b lang.Access) int { return cmp.Compare(given(b.Place), given(a.Place)) })
	r.Accesses = r.Accesses[:min(len(r.Accesses), 2)]
	return r, len(reports) > 0
}

func endedByDetector(o sandbox.Outcome) bool {
	return o.Cause == sandbox.CauseNone && o.Signal == 0 && o.ExitCode == raceStatus
}

// Unraced reports whether the detector ended a run without a report, as it does at the start of
// every program where the kernel gives a process fewer addresses than it needs.
func (l *Language) Unraced(o sandbox.Outcome) bool {
	return endedByDetector(o) && !raceReport.Match(o.Stderr)
}

// placed says whose a stack is: the submission's if it has a line of that, or else perhaps the
// test's.
func placed(stack []byte, s *submission.Snapshot, e *course.Exercise) (a lang.Access) {
	a.Place = innermost(stack, s, e)
	a.Test = a.Place.File == "" && bytes.Contains(stack, []byte(" "+path.Join(e.Module, hiddenDir(e))+"/"))
	return a
}

func given(p verdict.Place) int { return min(p.Line, 1) }

// raceReport matches one access: how it was made, by which goroutine, and its stack, innermost
// call first.
var raceReport = regexp.MustCompile(`(?m)^((?:Previous )?(?:[Rr]ead|[Ww]rite)) at 0x[0-9a-f]+ by (.*):\n((?:  .*\n)*)`)

// raceCreation matches where a goroutine was started.
var raceCreation = regexp.MustCompile(`(?m)^Goroutine ([0-9]+) \(.*\) created at:\n((?:  .*\n)*)`)

// raceFrame matches the place of a call.
var raceFrame = regexp.MustCompile(`(?m)^      (.+):([0-9]+) \+0x[0-9a-f]+$`)

// innermost returns the first place of a stack in the submission's own files.
func innermost(stack []byte, s *submission.Snapshot, e *course.Exercise) verdict.Place {
	for _, m := range raceFrame.FindAllSubmatch(stack, -1) {
		name, ours := strings.CutPrefix(string(m[1]), e.ImportPath+"/")
		line, err := strconv.Atoi(string(m[2]))
		if ours && err == nil && hasLine(s, name, line) {
			return verdict.Place{File: name, Line: line}
		}
	}
	return verdict.Place{}
}

// hasLine reports whether a submission has a line, so that no other is ever shown.
func hasLine(s *submission.Snapshot, name string, line int) bool {
	i := slices.IndexFunc(s.Files, func(f submission.File) bool { return f.Name == name })
	return i >= 0 && line >= 1 && line <= bytes.Count(s.Files[i].Data, []byte("\n"))+1
}
