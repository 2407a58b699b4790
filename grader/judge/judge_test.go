package judge

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang/golang"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

func record(name string, v wire.Value) wire.Record {
	return wire.Record{Name: name, Comparison: exact, Value: v}
}

// stream encodes records and an end; status 0 leaves the end out.
func stream(status wire.Status, records ...wire.Record) []byte {
	b := []byte(wire.Magic)
	for _, r := range records {
		b = wire.Append(b, r)
	}
	if status == 0 {
		return b
	}
	return wire.AppendEnd(b, status)
}

// sample has a record of every kind.
func sample() []wire.Record {
	return []wire.Record{
		record("ok", boolean(true)),
		record("n", integer(3)),
		record("ns", ints(1, 2, 3)),
		record("x", float(2.5)),
		record("xs", floats(1, 0, nan, inf)),
		record("m", matrix(2, 3, 1, 2, 3, 4, 5, 6)),
		record("s", text("héllo")),
		record("ss", texts("a", "", "c")),
		record("err", failure("EOF")),
	}
}

func ran(observations []byte) sandbox.Outcome {
	return sandbox.Outcome{Observations: observations}
}

// with changes one record of the sample.
func with(i int, v wire.Value) []wire.Record {
	s := sample()
	s[i].Value = v
	return s
}

func rename(i int, name string) []wire.Record {
	s := sample()
	s[i].Name = name
	return s
}

var testCheck = course.Check{Name: "TestX", Kind: verdict.Correctness, Points: 5, Feedback: course.FeedbackHint}

func judge(t *testing.T, o sandbox.Outcome, policy course.Feedback) (verdict.Verdict, string) {
	t.Helper()
	check := testCheck
	check.Feedback = policy
	v, detail, err := Test(check, ran(stream(wire.Passed, sample()...)), o, golang.CrashWords)
	require.NoError(t, err)
	return v, detail
}

func TestJudgeTest(t *testing.T) {
	good := stream(wire.Passed, sample()...)
	failed := stream(wire.Failed, sample()[:3]...)
	index := []byte("panic: runtime error: index out of range [5] with length 3 [recovered, repanicked]\n\ngoroutine 7 [running]:\nhidden.go:3\n")
	for _, test := range []struct {
		name    string
		o       sandbox.Outcome
		verdict verdict.Verdict
		detail  string
	}{
		{"all agrees", sandbox.Outcome{Observations: good}, verdict.Passed, ""},
		{"what it prints is nothing", sandbox.Outcome{Observations: good, Stdout: []byte("--- FAIL: TestX"), Stderr: index}, verdict.Passed, ""},

		{"1: a kill in its box, whatever it says", sandbox.Outcome{Observations: good, OOMKills: 1}, verdict.MemoryLimit, "exceeded its memory limit"},
		{"1: by the watchdog, before time", sandbox.Outcome{Cause: sandbox.CauseMemory, Signal: 9}, verdict.MemoryLimit, "exceeded its memory limit"},
		{"1: before output", sandbox.Outcome{Cause: sandbox.CauseStdout, OOMKills: 1}, verdict.MemoryLimit, "exceeded its memory limit"},
		{"2: standard output", sandbox.Outcome{Cause: sandbox.CauseStdout, Signal: 9}, verdict.OutputLimit, "exceeded its limit on standard output"},
		{"2: standard error, by the runtime's account of a crash", sandbox.Outcome{Cause: sandbox.CauseStderr, Signal: 9, StderrCut: true, Stderr: []byte("fatal error: all goroutines are asleep - deadlock!\n")}, verdict.RuntimeError,
			"deadlock: all goroutines wait for each other, before the test observed anything"},
		{"2: standard error, by a panic with a long text", sandbox.Outcome{Cause: sandbox.CauseStderr, Signal: 9, StderrCut: true, Stderr: []byte("panic: many words\n")}, verdict.RuntimeError,
			"the program ended with a panic, with a value of its own, before the test observed anything"},
		{"2: standard error", sandbox.Outcome{Cause: sandbox.CauseStderr, Signal: 9}, verdict.OutputLimit, "exceeded its limit on standard error"},
		{"2: observations", sandbox.Outcome{Cause: sandbox.CauseObservations, Signal: 9}, verdict.OutputLimit, "gave the test more values than it can record"},
		{"2: cut just as it ended", sandbox.Outcome{Observations: good, ObserveCut: true}, verdict.OutputLimit, "gave the test more values than it can record"},
		{"2: before time", sandbox.Outcome{Cause: sandbox.CauseWall, StdoutCut: true}, verdict.OutputLimit, "exceeded its limit on standard output"},
		{"3: wall", sandbox.Outcome{Cause: sandbox.CauseWall, Wall: 20 * time.Second, CPU: 9 * time.Second}, verdict.TimeLimit, "exceeded its limit on wall time"},
		{"3: asleep", sandbox.Outcome{Cause: sandbox.CauseWall, Wall: 20 * time.Second, CPU: time.Second / 4}, verdict.TimeLimit, "exceeded its limit on wall time, mostly waiting: it may sleep or be deadlocked"},
		{"3: CPU", sandbox.Outcome{Cause: sandbox.CauseCPU, Signal: 9}, verdict.TimeLimit, "exceeded its limit on CPU time"},
		{"3: SIGXCPU", sandbox.Outcome{Signal: 24}, verdict.TimeLimit, "exceeded its limit on CPU time"},
		{"3: after a whole record", sandbox.Outcome{Observations: good, Cause: sandbox.CauseWall, Signal: 9}, verdict.TimeLimit, "exceeded its limit on wall time"},

		{"4: a signal", sandbox.Outcome{Signal: 11}, verdict.RuntimeError, "the program was killed by a signal, as after a fault in its memory, before the test observed anything"},
		{"4: a signal after a whole record", sandbox.Outcome{Observations: good, Signal: 11}, verdict.RuntimeError, "the program was killed by a signal, as after a fault in its memory, after all that the test observes"},
		{"4: a panic", sandbox.Outcome{Observations: failed, ExitCode: 2, Stderr: index}, verdict.RuntimeError, "panic: index out of range: the index was the length or more, in the middle of the test"},
		{"4: a panic with words of its own", sandbox.Outcome{Observations: failed, ExitCode: 2, Stderr: []byte("panic: the input was 42\n")}, verdict.RuntimeError, "the program ended with a panic, with a value of its own, in the middle of the test"},
		{"4: exit", sandbox.Outcome{ExitCode: 3}, verdict.RuntimeError, "the program ended with an error status, before the test observed anything"},
		{"4: exit 1 without an end", sandbox.Outcome{Observations: stream(0, sample()[:2]...), ExitCode: 1}, verdict.RuntimeError, "the program ended with an error status, in the middle of the test"},
		{"4: exit 1 after a record that passed", sandbox.Outcome{Observations: good, ExitCode: 1}, verdict.RuntimeError, "the program ended with an error status, after all that the test observes"},
		{"4: exit 1 with a record that cannot be read", sandbox.Outcome{Observations: []byte("junk"), ExitCode: 1}, verdict.RuntimeError, "the program ended with an error status, before the test observed anything"},
		{"4: no thread to be had", sandbox.Outcome{ExitCode: 2, PidsHit: 1, Stderr: []byte("fatal error: newosproc\n")}, verdict.RuntimeError, "too many threads, having reached its limit on threads, before the test observed anything"},

		{"5: exit in init", sandbox.Outcome{}, verdict.Missing, "the program ended before the test did, before the test observed anything"},
		{"5: exit in the middle", sandbox.Outcome{Observations: stream(0, sample()[:4]...)}, verdict.Missing, "the program ended before the test did, in the middle of the test"},
		{"5: in the middle of a record", sandbox.Outcome{Observations: good[:len(good)-5]}, verdict.Missing, "the program ended before the test did, in the middle of the test"},
		{"5: all but the end", sandbox.Outcome{Observations: stream(0, sample()...)}, verdict.Missing, "the program ended before the test did, after all that the test observes"},
		{"6: junk", sandbox.Outcome{Observations: []byte("--- PASS: TestX (0.00s)\nok")}, verdict.WrongAnswer, "the record of the test's observations is damaged"},
		{"6: a second record after the first", sandbox.Outcome{Observations: append(good[:len(good):len(good)], good...)}, verdict.WrongAnswer, "the record of the test's observations is damaged"},
		{"7: skipped", sandbox.Outcome{Observations: stream(wire.Skipped, sample()...)}, verdict.Missing, "the test was skipped, which counts as not passed"},
		{"8: a precondition", sandbox.Outcome{Observations: failed, ExitCode: 1}, verdict.WrongAnswer, `the test stopped at a condition of its own that did not hold, where "x" should come after "ns"`},
		{"8: a precondition, and a value", sandbox.Outcome{Observations: stream(wire.Failed, with(1, integer(4))[:3]...), ExitCode: 1}, verdict.WrongAnswer, `the test stopped at a condition of its own that did not hold, where "x" should come after "ns"; one value differs from what is expected: "n"`},
		{"8: failed, though it exits with 0", sandbox.Outcome{Observations: stream(wire.Failed, sample()...)}, verdict.WrongAnswer, `the test stopped at a condition of its own that did not hold, after "err", the last that it observes`},

		{"9: a value", sandbox.Outcome{Observations: stream(wire.Passed, with(3, float(2.6))...)}, verdict.WrongAnswer, `one value differs from what is expected: "x"`},
		{"9: NaN", sandbox.Outcome{Observations: stream(wire.Passed, with(3, float(nan))...)}, verdict.WrongAnswer, `one value differs from what is expected: "x"`},
		{"9: a kind", sandbox.Outcome{Observations: stream(wire.Passed, with(3, integer(2))...)}, verdict.WrongAnswer, `one value differs from what is expected: "x"`},
		{"9: a name", sandbox.Outcome{Observations: stream(wire.Passed, rename(4, "CANARY")...)}, verdict.WrongAnswer, `the test observed something else where "xs" should come after "x": an error comes where a value should or a value where an error should, or something happens too early, too late or not at all`},
		{"9: too few", sandbox.Outcome{Observations: stream(wire.Passed, sample()[:8]...)}, verdict.WrongAnswer, `the test ended where "err" should come after "ss": something did not happen`},
		{"9: none", sandbox.Outcome{Observations: stream(wire.Passed)}, verdict.WrongAnswer, `the test ended where "ok" should be, the first that it observes: something did not happen`},
		{"9: too many", sandbox.Outcome{Observations: stream(wire.Passed, append(sample(), record("CANARY", integer(1)))...)}, verdict.WrongAnswer, "the test observed all that is expected, and then more: something happens once too often"},
		{"9: a value, and another name", sandbox.Outcome{Observations: stream(wire.Passed, append(with(0, boolean(false))[:4], rename(4, "CANARY")[4:]...)...)}, verdict.WrongAnswer, `one value differs from what is expected: "ok"; then the test observed something else where "xs" should come after "x"`},
		{"9: a value, and too many", sandbox.Outcome{Observations: stream(wire.Passed, append(with(0, boolean(false)), sample()...)...)}, verdict.WrongAnswer, `one value differs from what is expected: "ok"; the test observed all that is expected, and then more: something happens once too often`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, detail := judge(t, test.o, course.FeedbackHint)
			assert.Equal(t, test.verdict, v)
			assert.Equal(t, test.detail, detail)
		})
	}
}

func TestTheReferencesComparisonCounts(t *testing.T) {
	ref := record("x", float(1))
	ref.Comparison = wire.Comparison{Op: wire.Within, A: 0.01}
	loosened, reported := record("x", float(1.5)), record("x", float(1.001))
	loosened.Comparison = wire.Comparison{Op: wire.Within, A: 100}
	reported.SelfReported = true
	for _, test := range []struct {
		got  wire.Record
		want verdict.Verdict
	}{{record("x", float(1.001)), verdict.Passed}, {reported, verdict.Passed}, {loosened, verdict.WrongAnswer}} {
		v, _, err := Test(testCheck, ran(stream(wire.Passed, ref)), ran(stream(wire.Passed, test.got)), golang.CrashWords)
		require.NoError(t, err)
		assert.Equal(t, test.want, v)
	}
}

func TestAWrongReferenceGivesNoVerdict(t *testing.T) {
	good := stream(wire.Passed, sample()...)
	own := func(c wire.Comparison, v wire.Value) sandbox.Outcome {
		return sandbox.Outcome{Observations: stream(wire.Passed, wire.Record{Name: "x", Comparison: c, Value: v})}
	}
	reported := record("x", integer(1))
	reported.SelfReported = true
	for _, test := range []struct {
		o    sandbox.Outcome
		want string
	}{
		{sandbox.Outcome{Observations: good, OOMKills: 1}, "memory_limit"},
		{sandbox.Outcome{Observations: good, Cause: sandbox.CauseWall}, "time_limit"},
		{sandbox.Outcome{Observations: good, StdoutCut: true}, "output_limit"},
		{sandbox.Outcome{Observations: good, Signal: 9}, "killed by a signal"},
		{sandbox.Outcome{Observations: good, ExitCode: 1}, "an error status"},
		{sandbox.Outcome{Observations: good, Cause: 99}, "runtime_error"},
		{sandbox.Outcome{Observations: nil}, "no end"},
		{sandbox.Outcome{Observations: []byte("junk")}, "malformed"},
		{sandbox.Outcome{Observations: stream(wire.Failed, sample()...)}, "ended as failed"},
		{sandbox.Outcome{Observations: stream(wire.Skipped, sample()...)}, "ended as skipped"},
		{sandbox.Outcome{Observations: stream(wire.Passed)}, "could forge the verdict"},
		{sandbox.Outcome{Observations: stream(wire.Passed, reported)}, "self-reported"},
		{sandbox.Outcome{Observations: stream(wire.Passed, sample()[0], reported)}, "say so in exercise.yaml"},
		{own(wire.Comparison{Op: wire.AtMost, A: 0.5}, float(10)), "more than is allowed"},
		{own(wire.Comparison{Op: wire.Within, B: 1}, float(10)), "accepts too much"},
		{own(wire.Comparison{Op: wire.ULPs, N: 1 << 60}, float(10)), "accepts too much"},
	} {
		v, detail, err := Test(testCheck, test.o, ran(good), golang.CrashWords)
		assert.ErrorIs(t, err, errReference)
		assert.ErrorIs(t, err, fault.ErrExercise)
		assert.NotEmpty(t, fault.CheckOf(err))
		assert.ErrorContains(t, err, test.want)
		assert.ErrorContains(t, err, "judge TestX: ")
		assert.Empty(t, v)
		assert.Empty(t, detail)
	}
	_, _, err := Test(testCheck, ran(good), sandbox.Outcome{Observations: good, Cause: 99}, golang.CrashWords)
	assert.ErrorContains(t, err, "unknown cause")
}

func TestSelfReportedWhereItIsDeclared(t *testing.T) {
	reported := record("allocs", integer(1))
	reported.SelfReported = true
	for _, test := range []struct {
		check   course.Check
		records []wire.Record
		ok      bool
	}{
		{course.Check{Kind: verdict.Correctness, SelfReported: true}, []wire.Record{reported}, true},
		{course.Check{Kind: verdict.Correctness}, []wire.Record{sample()[0], reported}, false},
		{course.Check{Kind: verdict.Speed}, []wire.Record{sample()[0], reported}, true},
		{course.Check{Kind: verdict.Speed}, []wire.Record{reported}, false},
	} {
		run := ran(stream(wire.Passed, test.records...))
		v, _, err := Test(test.check, run, run, golang.CrashWords)
		assert.Equal(t, test.ok, err == nil, "%v", err)
		assert.Equal(t, test.ok, v == verdict.Passed)
	}
}

// canonical encodes the names and values of a stream, without comparisons and flags,
// with one zero and one NaN.
func canonical(records []wire.Record) []byte {
	var b []byte
	norm := func(x float64) float64 {
		switch {
		case x == 0:
			return 0
		case x != x:
			return nan
		}
		return x
	}
	for _, r := range records {
		r.SelfReported, r.Comparison = false, exact
		r.Value.Float = norm(r.Value.Float)
		r.Value.Floats = slices.Clone(r.Value.Floats)
		for i, x := range r.Value.Floats {
			r.Value.Floats[i] = norm(x)
		}
		b = wire.Append(b, r)
	}
	return b
}

// A stream with a changed byte has the same names and values, or does not pass.
func TestAChangedByteDoesNotPass(t *testing.T) {
	good := stream(wire.Passed, sample()...)
	want := canonical(sample())
	passed := 0
	for i := range good {
		for x := range 256 {
			bad := slices.Clone(good)
			bad[i] = byte(x)
			v, detail := judge(t, sandbox.Outcome{Observations: bad}, course.FeedbackValues)
			assertHarmless(t, detail)
			if v != verdict.Passed {
				continue
			}
			passed++
			s, err := wire.Decode(bad)
			if err != nil || s.Status != wire.Passed || !bytes.Equal(want, canonical(s.Records)) {
				t.Fatalf("passes with byte %d as %#x", i, x)
			}
		}
	}
	assert.Greater(t, passed, len(good), "the unchanged bytes at least, and the NaN's payload")
}

func FuzzJudge(f *testing.F) {
	good := stream(wire.Passed, sample()...)
	f.Add(good, []byte(nil), 0, 0, 0, 0)
	f.Add(good[:20], []byte("panic: runtime error: index out of range [1] with length 0\n"), 2, 0, 0, 0)
	f.Add(stream(wire.Failed, sample()[:2]...), []byte("fatal error: stack overflow"), 1, 0, 0, 0)
	f.Add(stream(wire.Passed, with(5, matrix(3, 2, 1, 2, 3, 4, 5, 6))...), []byte("panic: "), 0, 9, 3, 1)
	want := canonical(sample())
	f.Fuzz(func(t *testing.T, observations, stderr []byte, exit, signal, cause, oom int) {
		o := sandbox.Outcome{Observations: observations, Stderr: stderr, ExitCode: exit, Signal: signal, Cause: sandbox.Cause(cause), OOMKills: oom}
		for _, policy := range []course.Feedback{course.FeedbackHint, course.FeedbackClass, course.FeedbackValues} {
			check := testCheck
			check.Feedback = policy
			v, detail, err := Test(check, ran(good), o, golang.CrashWords)
			if err != nil {
				assert.False(t, o.Cause.Valid(), "%v", err)
				continue
			}
			assert.Contains(t, verdict.CheckVerdicts, v)
			assertHarmless(t, detail)
			assert.Equal(t, v == verdict.Passed, detail == "", "what does not pass says why")
			if v == verdict.Passed {
				s, err := wire.Decode(observations)
				assert.NoError(t, err)
				assert.Equal(t, wire.Passed, s.Status)
				assert.Equal(t, want, canonical(s.Records))
				assert.Zero(t, exit|signal|cause)
			}
		}
		// Nor may any reference cause a panic.
		_, _, _ = Test(testCheck, o, ran(good), golang.CrashWords)
		_, _, _ = Test(testCheck, o, o, golang.CrashWords)
	})
}

// Whatever status, signal and number of observations a submission chooses, a crash has
// few texts.
func TestACrashHasFewTexts(t *testing.T) {
	told := map[string]bool{}
	for n := range len(sample()) + 1 {
		for code := range 256 {
			for _, o := range []sandbox.Outcome{{ExitCode: code}, {Signal: code % 65, ExitCode: code}, {ExitCode: code, PidsHit: code}} {
				o.Observations = stream(0, sample()[:n]...)
				_, detail := judge(t, o, course.FeedbackHint)
				told[detail] = true
			}
		}
	}
	assert.LessOrEqual(t, len(told), 3*(3+3+1)+1, "three steps of the way, of three ends, with and without a limit on threads")
	for detail := range told {
		assert.NotRegexp(t, `\d`, detail)
	}
}
