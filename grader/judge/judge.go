// Package judge decides what one run of a hidden test is worth. It compares the
// record of a submission's run with that of the reference's run on the same seed,
// and returns a verdict with the detail that the student reads. Every function is
// pure: judge runs nothing, reads no file and knows no programming language.
//
// [Start] judges a run without any test, [Test] the run of one check, and [Read] one
// that is judged several times; [Score] adds up the points, and [Mismatches] compares
// a result with what a shipped submission declares.
package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

// errReference marks an error that the exercise's author has to mend: the
// reference's run of the same test gives no evidence to judge by.
var errReference = errors.New("the reference's run is no measure")

// Test judges a submission's run of one check by the reference's run with the
// same seed. The first row that applies decides:
//
//	the reference's run                                      an error, never a verdict
//	  not clean: killed, a signal, a status, too much output
//	  a record that cannot be read, or does not end as passed
//	  no observation; self-reported ones in a test that is not declared so,
//	  or nothing else in a benchmark
//	  a comparison that its own values do not meet, or that accepts any value
//
//	the submission's run
//	1  killed for memory, or the kernel killed in its box    memory_limit
//	2  above a cap on output or observations                 output_limit
//	   but not: on standard error, by the runtime's account
//	   of a crash, which is row 4
//	3  wall or CPU time used up, SIGXCPU                     time_limit
//	4  ended by a signal, or a status that is not 0;         runtime_error
//	   but not: status 1 and a whole record that ends as failed
//	5  a record that is cut, or none                         missing
//	6  a record that cannot be read                          wrong_answer
//	7  a record that ends as skipped                         missing
//	8  a record that ends as failed                          wrong_answer
//	9  other observations than the reference's, by number,   wrong_answer
//	   order, name or kind, or a value that differs
//	10 everything agrees                                     passed
//
// Failed names the checks of this grading that have failed. Where check needs one of
// them, the observations that exercise.yaml names beside it are left out of row 9, on
// both sides.
//
// Only row 10 passes, and it rests on values alone: a process can choose its exit
// status and how its record ends, so these only explain a failure. The detail is
// shown to the student; that of a check that is passed says what did not count.
func Test(check course.Check, ref, sub sandbox.Outcome, words CrashWords, failed ...string) (v verdict.Verdict, detail string, err error) {
	r, err := Read(check, ref, sub, words)
	if err != nil {
		return "", "", err
	}
	v, detail = r.Verdict(failed...)
	return v, detail, nil
}

// Run is a submission's run of one check beside the reference's, with both records decoded.
// It can be judged several times, where it is open which failed checks excuse something:
// records may be megabytes, so that to decode them each time would be dear.
type Run struct {
	check     course.Check
	want, got []wire.Record
	status    wire.Status // how the submission's record ends
	// What rows 1 to 7 come to, which no failed check changes; the verdict is empty if none
	// of them applies.
	verdict verdict.Verdict
	detail  string
}

// Read decodes both records. An error is one of [Test].
func Read(check course.Check, ref, sub sandbox.Outcome, words CrashWords) (*Run, error) {
	want, err := readReference(check, ref, words)
	if err != nil {
		return nil, fault.Check(check.Name, fault.Exercise(fmt.Errorf("judge %s: %w: %w", check.Name, errReference, err)))
	}
	if c := sub.Cause; !c.Valid() {
		return nil, fmt.Errorf("judge %s: the sandbox gave an unknown cause, %d", check.Name, int(c))
	}
	r := &Run{check: check, want: want.Records}
	if r.verdict, r.detail = kill(sub, words); r.verdict == "" {
		r.readSubmission(sub, words)
	}
	return r, nil
}

// readSubmission applies rows 4 to 7.
func (r *Run) readSubmission(o sandbox.Outcome, words CrashWords) {
	got, err := wire.Decode(o.Observations)
	r.got, r.status = got.Records, got.Status
	failed := err == nil && got.Status == wire.Failed
	switch {
	case o.Signal != 0, o.ExitCode != 0 && !(failed && o.ExitCode == 1):
		r.verdict, r.detail = verdict.RuntimeError, crash(o, words)+progress(len(r.got), len(r.want))
	case errors.Is(err, wire.ErrNoEnd):
		r.verdict, r.detail = verdict.Missing, "the program ended before the test did"+progress(len(r.got), len(r.want))
	case err != nil:
		r.verdict, r.detail = verdict.WrongAnswer, "the record of the test's observations is damaged"
	case got.Status == wire.Skipped:
		r.verdict, r.detail = verdict.Missing, "the test was skipped, which counts as not passed"
	}
}

// Verdict judges the run as [Test] does, where the named checks have failed.
func (r *Run) Verdict(failed ...string) (verdict.Verdict, string) {
	v, detail := r.verdict, r.detail
	if v == "" {
		v, detail = r.compared(excuseOf(r.check, failed))
	}
	return v, abridge(detail)
}

// compared applies rows 8 to 10.
func (r *Run) compared(e excuse) (verdict.Verdict, string) {
	d, told := compareStreams(e.left(r.want), e.left(r.got)), e.told(r.want, r.got)
	switch {
	case r.status == wire.Failed:
		return verdict.WrongAnswer, joined(precondition(d, r.check.Feedback), told)
	case r.status != wire.Passed || !d.agrees():
		return verdict.WrongAnswer, joined(d.detail(r.check.Feedback), told)
	}
	return verdict.Passed, told
}

// kill applies rows 1 to 3; the verdict is empty if none of them applies.
func kill(o sandbox.Outcome, words CrashWords) (verdict.Verdict, string) {
	const sigxcpu = 24 // on Linux, where submissions run; the grader's own system may number it otherwise
	// Of a program whose time is over, it is the last words that are long.
	stderrCut := (o.Cause == sandbox.CauseStderr || o.StderrCut) && !o.Cause.OfTime()
	switch {
	case o.OOMKills > 0, o.Cause == sandbox.CauseMemory:
		return verdict.MemoryLimit, "exceeded its memory limit"
	case o.Cause == sandbox.CauseStdout, o.StdoutCut:
		return verdict.OutputLimit, "exceeded its limit on standard output"
	case stderrCut && words(o.Stderr) != "":
		return "", "" // a deadlock prints every goroutine's stack, a panic all of its value
	case stderrCut:
		return verdict.OutputLimit, "exceeded its limit on standard error"
	case o.Cause == sandbox.CauseObservations, o.ObserveCut:
		return verdict.OutputLimit, "gave the test more values than it can record"
	case o.Cause == sandbox.CauseCPU, o.Signal == sigxcpu:
		return verdict.TimeLimit, "exceeded its limit on CPU time"
	case o.Cause == sandbox.CauseIdle:
		return verdict.TimeLimit, "waited without computing anything for longer than a test may: it is deadlocked, or sleeps"
	case o.Cause == sandbox.CauseWall && o.CPU < o.Wall/50: // less than a busy machine gives to a program that spins
		return verdict.TimeLimit, "exceeded its limit on wall time, mostly waiting: it may sleep or be deadlocked"
	case o.Cause == sandbox.CauseWall:
		return verdict.TimeLimit, "exceeded its limit on wall time"
	}
	return "", ""
}

// CrashWords translates the language runtime's message in the standard error of a
// program that crashed into one of a fixed list of texts; "" if there is none. Nothing
// else of standard error is shown, because a submission can print hidden inputs there.
type CrashWords func(stderr []byte) string

// Start judges a run without any test. A program that does not get through its own
// initialisation has a verdict; for any other, the verdict is empty.
func Start(o sandbox.Outcome, words CrashWords) (v verdict.Verdict, detail string) {
	if v, detail = kill(o, words); v != "" {
		return v, detail
	}
	if o.ExitCode != 0 || o.Signal != 0 {
		return verdict.RuntimeError, crash(o, words)
	}
	return "", ""
}

// crash describes how the program ended. It tells no status and no signal by its
// number, which a submission can choose.
func crash(o sandbox.Outcome, words CrashWords) string {
	message := words(o.Stderr)
	switch {
	case message != "":
	case o.Signal != 0:
		message = "the program was killed by a signal, as after a fault in its memory"
	default:
		message = "the program ended with an error status"
	}
	if o.PidsHit > 0 {
		message += ", having reached its limit on threads"
	}
	return message
}

// InTheTest is added to the detail of a crash whose stack has no line of the
// submission's.
const InTheTest = "; no line of the submission is on the stack: the test crashed, or waits, on what the submission gave it, " +
	"such as too few elements, a nil, or a channel or loop without an end"

// progress says how far the test had come, in words that a submission cannot count
// with.
func progress(got, want int) string {
	switch {
	case got == 0:
		return ", before the test observed anything"
	case got < want:
		return ", in the middle of the test"
	}
	return ", after all that the test observes"
}

// precondition describes a test that ended as failed. Such a test stops by its own
// decision, so the observations that it did not reach are not listed as missing.
func precondition(d streamDifference, policy course.Feedback) string {
	detail := "the test stopped at a condition of its own that did not hold, " + d.position()
	if d.differ > 0 {
		detail += "; " + d.values(policy)
	}
	return detail
}

// joined joins parts of a detail that are not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// readReference decodes the reference's record and refuses one that cannot serve as
// a measure.
func readReference(check course.Check, o sandbox.Outcome, words CrashWords) (wire.Stream, error) {
	if v, detail := kill(o, words); v != "" {
		return wire.Stream{}, fmt.Errorf("%s: it %s", v, detail)
	}
	if !o.Cause.Valid() || o.Cause != sandbox.CauseNone || o.Signal != 0 || o.ExitCode != 0 {
		return wire.Stream{}, fmt.Errorf("%s: %s", verdict.RuntimeError, crash(o, words))
	}
	s, err := wire.Decode(o.Observations)
	switch {
	case err != nil:
		return wire.Stream{}, err
	case s.Status != wire.Passed:
		return wire.Stream{}, fmt.Errorf("the test ended as %v", s.Status)
	case !slices.ContainsFunc(s.Records, func(r wire.Record) bool { return check.SelfReported || !r.SelfReported }):
		return wire.Stream{}, errors.New("every observation is self-reported, so a submission could forge the verdict: record what the test itself observes")
	}
	for _, r := range s.Records {
		if err := checkReference(check, r); err != nil {
			return wire.Stream{}, fmt.Errorf("observation %s: %w", quote(r.Name), err)
		}
	}
	return s, checkExcuses(check, s.Records)
}

// checkReference refuses a record whose comparison accepts any value, or not even
// the reference's own.
func checkReference(check course.Check, r wire.Record) error {
	if r.SelfReported && !check.SelfReported && check.Kind == verdict.Correctness {
		return errors.New("it is self-reported: say so in exercise.yaml, or observe it in a check of its own")
	}
	if why := loose(r.Comparison); why != "" {
		return fmt.Errorf("its comparison accepts too much: %s", why)
	}
	if d := compare(r.Comparison, r.Value, r.Value); d.class != agree {
		return fmt.Errorf("its comparison refuses the reference's own value: %s", d.class)
	}
	return nil
}
