package judge

import (
	"errors"
	"fmt"
	"slices"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

// errReference marks errors that are the exercise's: its reference, run under
// the same test, did not give the evidence to judge by.
var errReference = errors.New("the reference's run is no measure")

// Test decides what a submission's run of one check is worth, given the
// reference's run with the same seed. The first row that applies decides:
//
//	the reference's run                                      an error, never a verdict
//	  not clean: killed, a signal, a status, too much output
//	  a record that cannot be read, or does not end as passed
//	  no observation; self-reported ones in a test that is not declared so,
//	  or nothing else in a benchmark
//	  a comparison that its own values do not meet, or that tells nothing apart
//
//	the submission's run
//	1  killed for memory, or the kernel killed in its box    memory_limit
//	2  above a cap on output or observations                 output_limit
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
// Only row 10 passes, and it rests on values alone: status and record say how a
// failure came about. The detail is what the student is told.
func Test(check course.Check, ref, sub sandbox.Outcome, words CrashWords) (v verdict.Verdict, detail string, err error) {
	want, err := readReference(check, ref, words)
	if err != nil {
		return "", "", fault.Check(check.Name, fault.Exercise(fmt.Errorf("judge %s: %w: %w", check.Name, errReference, err)))
	}
	if c := sub.Cause; !c.Valid() {
		return "", "", fmt.Errorf("judge %s: the sandbox gave an unknown cause, %d", check.Name, int(c))
	}
	v, detail = judgeRun(want.Records, sub, check.Feedback, words)
	return v, abridge(detail), nil
}

// judgeRun is rows 1 to 10.
func judgeRun(want []wire.Record, o sandbox.Outcome, policy course.Feedback, words CrashWords) (verdict.Verdict, string) {
	if v, detail := Kill(o); v != "" {
		return v, detail
	}
	got, err := wire.Decode(o.Observations)
	cut := errors.Is(err, wire.ErrNoEnd)
	failed := err == nil && got.Status == wire.Failed
	switch {
	case o.Signal != 0, o.ExitCode != 0 && !(failed && o.ExitCode == 1):
		return verdict.RuntimeError, crash(o, words) + progress(len(got.Records), len(want))
	case cut:
		return verdict.Missing, "the program ended before the test did" + progress(len(got.Records), len(want))
	case err != nil:
		return verdict.WrongAnswer, "the record of its observations could not be read"
	case got.Status == wire.Skipped:
		return verdict.Missing, "the test was skipped"
	}
	d := compareStreams(want, got.Records)
	switch {
	case failed:
		return verdict.WrongAnswer, precondition(d, policy)
	case got.Status != wire.Passed || !d.agrees():
		return verdict.WrongAnswer, d.detail(policy)
	}
	return verdict.Passed, ""
}

// Kill is rows 1 to 3; the verdict is empty if none of them applies.
func Kill(o sandbox.Outcome) (verdict.Verdict, string) {
	const sigxcpu = 24 // on Linux, where the sandbox runs, whatever runs the grader
	switch {
	case o.OOMKills > 0, o.Cause == sandbox.CauseMemory:
		return verdict.MemoryLimit, "killed for the memory it used"
	case o.Cause == sandbox.CauseStdout, o.StdoutCut:
		return verdict.OutputLimit, "wrote too much to standard output"
	case o.Cause == sandbox.CauseStderr, o.StderrCut:
		return verdict.OutputLimit, "wrote too much to standard error"
	case o.Cause == sandbox.CauseObservations, o.ObserveCut:
		return verdict.OutputLimit, "gave the test too much to observe"
	case o.Cause == sandbox.CauseCPU, o.Signal == sigxcpu:
		return verdict.TimeLimit, "used up its CPU time"
	case o.Cause == sandbox.CauseWall && o.CPU < o.Wall/4:
		return verdict.TimeLimit, "used up its wall time, mostly waiting"
	case o.Cause == sandbox.CauseWall:
		return verdict.TimeLimit, "used up its wall time"
	}
	return "", ""
}

// CrashWords finds the language's own fixed message in what a program that crashed
// wrote to standard error; "" if there is none. Nothing else of that is shown.
type CrashWords func(stderr []byte) string

// Start decides what a run without any test is worth: a program that does not get
// through its own initialisation has a verdict, any other none.
func Start(o sandbox.Outcome, words CrashWords) (v verdict.Verdict, detail string) {
	if v, detail = Kill(o); v != "" {
		return v, detail
	}
	if o.ExitCode != 0 || o.Signal != 0 {
		return verdict.RuntimeError, crash(o, words)
	}
	return "", ""
}

// crash says how the program ended, with the language's message if there is one.
func crash(o sandbox.Outcome, words CrashWords) string {
	message := words(o.Stderr)
	switch {
	case message != "":
	case o.Signal != 0:
		message = fmt.Sprintf("ended by signal %d", o.Signal)
	case o.ExitCode == 2:
		message = "ended with exit status 2, as a panic does"
	default:
		message = fmt.Sprintf("ended with exit status %d", o.ExitCode)
	}
	if o.PidsHit > 0 {
		message += ", with more threads than it may have"
	}
	return message
}

// progress says how far a test came. A number that cannot be is not shown.
func progress(got, want int) string {
	if got > want {
		return ""
	}
	return fmt.Sprintf(", after %d of %s", got, count(want))
}

// precondition is for a test that ended as failed: it made up its mind itself,
// so that observations it did not come to are no news.
func precondition(d streamDifference, policy course.Feedback) string {
	detail := "a condition that the test checks itself does not hold" + progress(d.got, d.want)
	if d.differ > 0 {
		detail += "; " + d.values(policy)
	}
	return detail
}

// readReference decodes the reference's record and makes sure that it can be
// judged by.
func readReference(check course.Check, o sandbox.Outcome, words CrashWords) (wire.Stream, error) {
	if v, detail := Kill(o); v != "" {
		return wire.Stream{}, fmt.Errorf("%s: it %s", v, detail)
	}
	if !o.Cause.Valid() || o.Cause != sandbox.CauseNone || o.Signal != 0 || o.ExitCode != 0 {
		return wire.Stream{}, fmt.Errorf("%s: it %s", verdict.RuntimeError, crash(o, words))
	}
	s, err := wire.Decode(o.Observations)
	switch {
	case err != nil:
		return wire.Stream{}, err
	case s.Status != wire.Passed:
		return wire.Stream{}, fmt.Errorf("the test ended as %v", s.Status)
	case !slices.ContainsFunc(s.Records, func(r wire.Record) bool { return check.SelfReported || !r.SelfReported }):
		return wire.Stream{}, errors.New("nothing is observed but what is self-reported, so that the verdict could be forged")
	}
	for _, r := range s.Records {
		if err := checkReference(check, r); err != nil {
			return wire.Stream{}, fmt.Errorf("observation %s: %w", quote(r.Name), err)
		}
	}
	return s, nil
}

// checkReference makes sure that one of the reference's records measures
// something, and that the reference itself is up to it.
func checkReference(check course.Check, r wire.Record) error {
	if r.SelfReported && !check.SelfReported && check.Kind == verdict.Correctness {
		return errors.New("it is self-reported: say so in exercise.yaml, or observe it in a check of its own")
	}
	if why := loose(r.Comparison); why != "" {
		return fmt.Errorf("its comparison tells nothing apart: %s", why)
	}
	if d := compare(r.Comparison, r.Value, r.Value); d.class != agree {
		return fmt.Errorf("the reference's own value is %s", d.class)
	}
	return nil
}
