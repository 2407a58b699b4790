package grader

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
	"grade/sandbox"
	"grade/sandbox/sandboxtest"
)

const ms = time.Millisecond

// speedOf grades the speed check alone, with windows of the reference and of the
// submission that repeat.
func speedOf(t *testing.T, w *world, ref, sub []time.Duration) *verdict.Result {
	t.Helper()
	repeated := func(windows []time.Duration) (list []sandbox.Outcome) {
		for range 60 {
			for _, d := range windows {
				list = append(list, timed(d))
			}
		}
		return list
	}
	w.Script["reference bench"], w.Script["submission bench"] = answers(repeated(ref)...), answers(repeated(sub)...)
	w.options.Only = []verdict.Kind{verdict.Speed}
	r, err := w.grade(t)
	require.NoError(t, err)
	return r
}

// Pairs are taken until the verdict is sure; for a student, until the ratio is precise.
// The two sides run in turn: A B, B A, A B.
func TestPairs(t *testing.T) {
	steady := []time.Duration{50 * ms}
	for name, c := range map[string]struct {
		purpose Purpose
		sub     []time.Duration
		pairs   int // that decide
		verdict verdict.Verdict
	}{
		"sure":                                  {ForStudent, []time.Duration{50 * ms}, 2, verdict.Passed},
		"sure in a batch":                       {ForBatch, []time.Duration{40 * ms, 60 * ms}, 2, verdict.Passed},
		"sure, but not at first":                {ForBatch, []time.Duration{110 * ms}, 5, verdict.Passed},
		"sure, and later":                       {ForStudent, []time.Duration{138 * ms, 150 * ms}, 10, verdict.Passed},
		"too slow":                              {ForStudent, []time.Duration{500 * ms, 900 * ms}, 5, verdict.TooSlow},
		"too slow, near the limit":              {ForStudent, []time.Duration{260 * ms}, 10, verdict.TooSlow},
		"too slow, as near as can be told":      {ForStudent, []time.Duration{220 * ms}, 20, verdict.TooSlow},
		"too slow, not beside others":           {ForBatch, []time.Duration{220 * ms}, 20, verdict.TooSlow},
		"too slow, beside others":               {ForBatch, []time.Duration{500 * ms}, 5, verdict.TooSlow},
		"at the limit, decided for the student": {ForBatch, []time.Duration{190 * ms, 210 * ms}, 60, verdict.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Purpose = c.purpose
			r := speedOf(t, w, steady, c.sub)
			assert.Equal(t, c.verdict, r.Checks[2].Verdict, r.Checks[2].Detail)
			assert.Equal(t, c.pairs, r.Checks[2].Submission.Runs)
			runs := c.pairs
			if c.purpose == ForBatch && c.verdict == verdict.TooSlow && c.pairs != 5 { // near the limit beside other gradings
				runs += c.pairs
			}
			assert.Equal(t, runs, w.count("submission bench"))
			assert.Equal(t, runs, w.count("reference bench"))
			assert.Equal(t, "RSSRRSSRRS"[:2*min(c.pairs, 5)], order(w.Log())[:2*min(c.pairs, 5)])
			for _, q := range w.running(ofReference)[0].Requests() {
				assert.Equal(t, 4*time.Minute, q.Limits.Wall, "the reference has its own limits in each pair")
			}
			assert.InDelta(t, 50, r.Checks[2].Reference.CPUMs, 1e-9)
			assert.Equal(t, c.sub[0] == 50*ms, r.Checks[2].Submission.CPUMs == 50, "each side has its own figures")
		})
	}
}

// Measuring ends with the run in which its budget is exceeded, but not before the second one,
// and what is undecided is decided as it is. Five runs of the reference, of 51 ms, give a
// second each.
func TestBudgetEndsSampling(t *testing.T) {
	near := repeatedAnswers(10, answered(260*ms, 5*time.Second)) // which a batch measures again, alone
	for name, c := range map[string]struct {
		purpose Purpose
		script  []sandboxtest.Answer
		want    verdict.Verdict
		runs    int // in all
	}{
		"at a look":          {ForStudent, answered(210*ms, 15*time.Second), verdict.TooSlow, 5},
		"between two":        {ForStudent, answered(210*ms, 25*time.Second), verdict.TooSlow, 3},
		"at once":            {ForStudent, answered(210*ms, 70*time.Second), verdict.TooSlow, 2},
		"within the limit":   {ForStudent, answered(190*ms, 25*time.Second), verdict.Passed, 3},
		"a fast run, a slow": {ForStudent, append(answered(50*ms, 25*time.Second), answered(500*ms, 40*time.Second)...), verdict.TooSlow, 2},
		"beside others":      {ForBatch, answered(260*ms, 15*time.Second), verdict.TooSlow, 5},
		"alone":              {ForBatch, append(near, answered(260*ms, 11*time.Second)...), verdict.TooSlow, 10 + 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Purpose, w.options.Only = c.purpose, []verdict.Kind{verdict.Speed}
			w.Script["submission bench"] = c.script
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Checks[2].Verdict)
			assert.Contains(t, r.Checks[2].Detail, "runs, because all together had taken the time that they may")
			assert.Equal(t, c.runs, w.count("submission bench"))
		})
	}
}

// answered is a run with a window that takes so long on the clock.
func answered(window, takes time.Duration) []sandboxtest.Answer {
	return []sandboxtest.Answer{{Outcome: timed(window), Takes: takes}}
}

func repeatedAnswers(times int, list []sandboxtest.Answer) (all []sandboxtest.Answer) {
	for range times {
		all = append(all, list...)
	}
	return all
}

// A run has what is left of the budget, and says so if that ended it.
func TestBudgetEndsRun(t *testing.T) {
	for name, c := range map[string]struct {
		first time.Duration // takes the first run
		wall  time.Duration // that the second may take
		tells bool
	}{"with time left": {time.Second, 50 * time.Second, false}, "with little": {69 * time.Second, 21 * time.Second, true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Only = []verdict.Kind{verdict.Speed}
			slept := sandboxtest.Answer{Outcome: sandbox.Outcome{Cause: sandbox.CauseWall}, Takes: c.wall}
			w.Script["submission bench"] = append(answered(3*time.Second, c.first), slept)
			w.Script["reference bench"] = answers(timed(999 * ms))
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, verdict.TimeLimit, r.Checks[2].Verdict)
			runs := w.running(ofSubmission)[0].Requests()
			assert.Equal(t, c.wall, runs[len(runs)-2].Limits.Wall)
			assert.GreaterOrEqual(t, runs[len(runs)-1].Limits.Wall, c.wall, "the time that is taken again is given back")
			assert.Equal(t, c.tells, strings.HasSuffix(r.Checks[2].Detail, "; all measurements together had used up the time that they may take"), r.Checks[2].Detail)
		})
	}
}

// What is forced to be measured long gains no time by it: the reference's first five runs count.
func TestBudgetDoesNotGrowWithPairs(t *testing.T) {
	for takes, c := range map[time.Duration]struct {
		runs int
		ends string
	}{
		time.Second:     {60, "too close to the limit to tell"},
		2 * time.Second: {33, "measuring ended after 33 runs"}, // 65.1 s
	} {
		w := newWorld(t)
		w.options.Only = []verdict.Kind{verdict.Speed}
		w.Script["submission bench"] = repeatedAnswers(30, append(answered(150*ms, takes), answered(250*ms, takes)...))
		r, err := w.grade(t)
		require.NoError(t, err)
		assert.Contains(t, r.Checks[2].Detail, c.ends)
		assert.Equal(t, c.runs, w.count("submission bench"))
	}
}

// What stays undecided for long waits until the others are decided, so that the time it takes
// is not theirs.
func TestUndecidedWaits(t *testing.T) {
	w := newWorld(t)
	w.apart()
	w.options.Purpose, w.options.Only = ForBatch, []verdict.Kind{verdict.Speed, verdict.Memory}
	w.Script["submission bench"] = repeatedAnswers(30, append(answered(150*ms, 3*time.Second), answered(250*ms, 3*time.Second)...))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, []verdict.Verdict{verdict.Passed, verdict.Passed}, []verdict.Verdict{r.Checks[2].Verdict, r.Checks[3].Verdict}, "%v", lines(r))
	assert.Contains(t, r.Checks[2].Detail, "measuring ended after 23 runs") // 67.1 s: two runs of the other count as well
	log := w.Log()
	weighed := slices.Index(log, "submission weigh")
	before := 0
	for _, name := range log[:weighed] {
		if name == "submission bench" {
			before++
		}
	}
	assert.Equal(t, 10, before)
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// order is a letter for each run of a benchmark.
func order(log []string) (letters string) {
	for _, name := range log {
		if strings.HasSuffix(name, " bench") {
			letters += strings.ToUpper(name[:1])
		}
	}
	return letters
}

// Where the reference against itself shows a noisy machine, a failure has to happen
// twice, and the report says so. A pass stands.
func TestNoisyControl(t *testing.T) {
	noisy := []time.Duration{20 * ms, 80 * ms, 50 * ms, 30 * ms}
	fails, passes := []time.Duration{900 * ms}, []time.Duration{50 * ms}
	for name, c := range map[string]struct {
		sub   []time.Duration
		want  verdict.Verdict
		runs  []int // of each time that the looks began anew
		warns int
	}{
		"it fails twice":            {fails, verdict.TooSlow, []int{5, 5}, 1},
		"it fails, and passes then": {append(repeat(fails, 5), repeat(passes, 35)...), verdict.Passed, []int{5, 2}, 0},
		"it passes":                 {passes, verdict.Passed, []int{5}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Purpose = ForBatch
			r := speedOf(t, w, noisy, c.sub)
			assert.Equal(t, c.want, r.Checks[2].Verdict)
			require.Len(t, r.Warnings, c.warns)
			assert.Contains(t, append(r.Warnings, "")[0], strings.Repeat("BenchmarkTrain/speed: the machine was busy with other programs while this was measured: two runs of the reference differed by", c.warns))
			assert.Equal(t, sum(c.runs), w.count("submission bench"))
			assert.Equal(t, c.runs[len(c.runs)-1], r.Checks[2].Submission.Runs, "figures of an attempt are not mixed with another's")
		})
	}
	drifting := newWorld(t)
	drifting.options.Purpose = ForBatch
	r := speedOf(t, drifting, []time.Duration{20 * ms, 24 * ms, 36 * ms, 72 * ms, 144 * ms}, passes)
	// Each to the one before: 1.2, 1.5, 2, 2. Median 1.5 and 2 in the geometric middle;
	// quartiles 2 and 1.42, which is three quarters of the way from 1.2 to 1.5.
	assert.Equal(t, []string{"BenchmarkTrain/speed: the machine was busy with other programs while this was measured: two runs of the reference differed by 73 % in time. The verdict allows for it; the figure may be another one the next time"}, r.Warnings)

	quiet := newWorld(t)
	r = speedOf(t, quiet, []time.Duration{50 * ms}, fails)
	assert.Empty(t, r.Warnings)
	assert.Equal(t, 5, quiet.count("submission bench"), "once is enough")
}

func repeat(d []time.Duration, n int) (list []time.Duration) {
	for range n {
		list = append(list, d...)
	}
	return list
}

// stopped is a run that was ended for its CPU time.
func stopped(after time.Duration) sandbox.Outcome {
	return sandbox.Outcome{Cause: sandbox.CauseCPU, CPU: after, Peak: 30 << 20}
}

// A run of the submission is stopped at a multiple of what the limit allows by the
// reference's last run, at four times the exercise's own limits, and when the time for all
// measuring is used up.
func TestCappedRuns(t *testing.T) {
	for name, c := range map[string]struct {
		reference time.Duration // its window; a millisecond more is its process
		sub       sandbox.Outcome
		cpu, wall time.Duration // that the first run of the submission may take
		want      string
	}{
		"stopped beyond twice the limit": {149 * ms, stopped(1800 * ms), 1800 * ms, 2*time.Second + 7200*ms, "too_slow: stopped after 12 times the reference's CPU time"},
		"stopped at twice the limit":     {149 * ms, stopped(1200 * ms), 1800 * ms, 2*time.Second + 7200*ms, "too_slow: stopped after 8 times the reference's CPU time"},
		"stopped below twice the limit":  {149 * ms, stopped(1199 * ms), 1800 * ms, 2*time.Second + 7200*ms, "time_limit: exceeded its limit on CPU time"},
		"a second at least":              {19 * ms, stopped(time.Second), time.Second, 2*time.Second + 960*ms, "too_slow: stopped after 50 times the reference's CPU time"},
		"beyond the exercise's limit":    {1999 * ms, stopped(24 * time.Second), 24 * time.Second, 80 * time.Second, "too_slow: stopped after 12 times the reference's CPU time"},
		"ten times the reference's":      {9999 * ms, stopped(100 * time.Second), 100 * time.Second, 160 * time.Second, "too_slow: stopped after 10 times the reference's CPU time"},
		"a sleeper": {149 * ms, sandbox.Outcome{Cause: sandbox.CauseWall, CPU: ms, Wall: time.Minute}, 1800 * ms, 2*time.Second + 7200*ms,
			"time_limit: exceeded its limit on wall time, mostly waiting: it may sleep or be deadlocked"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.sub.Stderr = []byte("SIGQUIT: quit\n\ngoroutine 7 [running]:\nexample.com/course/reference/gears.f()\n\texample.com/course/reference/gears/gears.go:1 +0x1\n")
			w.Script["reference bench"], w.Script["submission bench"] = answers(timed(c.reference)), answers(c.sub)
			w.options.Only = []verdict.Kind{verdict.Speed}
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(r.Checks[2].Verdict)+": "+r.Checks[2].Detail)
			assert.Equal(t, c.want[0:8] == "too_slow", r.Checks[2].Ratio != nil)
			assert.Equal(t, c.want[0:8] == "too_slow", r.Checks[2].Places == nil, "a submission chooses the line in which it is stopped")
			assert.Equal(t, 2, w.count("submission bench"), "one stopped run decides nothing")
			runs := w.running(ofSubmission)[0].Requests()
			sub, ref := runs[len(runs)-2].Limits, last(w.running(ofReference)).Limits
			assert.Equal(t, []time.Duration{c.cpu, c.wall}, []time.Duration{sub.CPU, sub.Wall})
			assert.Equal(t, []time.Duration{40 * time.Second, 4 * time.Minute}, []time.Duration{ref.CPU, ref.Wall}, "the reference is not capped, and has four times the limits")
			assert.InDelta(t, float64(c.sub.CPU)/1e6, r.Checks[2].Submission.CPUMs, 1e-9)
		})
	}
}

// The first run of a series that a limit of time has ended is taken again on fresh inputs, and
// leaves no trace. The second one decides, and so does one that hid memory.
func TestStoppedOnce(t *testing.T) {
	slow, fast, near := stopped(time.Second), timed(50*ms), timed(130*ms)
	slept := sandbox.Outcome{Cause: sandbox.CauseIdle, Wall: 15 * time.Second}
	hid := slow
	hid.BoxPeak, hid.BoxPeakSource = 300<<20, sandbox.SourceCgroupV2
	for name, c := range map[string]struct {
		runs  []sandbox.Outcome
		want  verdict.Verdict
		count int
	}{
		"the first":            {[]sandbox.Outcome{slow, fast}, verdict.Passed, 3},
		"a later one":          {[]sandbox.Outcome{near, slow, near}, verdict.Passed, 6},
		"one that waited":      {[]sandbox.Outcome{slept, fast}, verdict.Passed, 3},
		"two in a row":         {[]sandbox.Outcome{slow, slow, fast}, verdict.TooSlow, 2},
		"two with one between": {[]sandbox.Outcome{slow, near, slow, fast}, verdict.TooSlow, 3},
		"one that hid memory":  {[]sandbox.Outcome{hid, fast}, verdict.TooSlow, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Purpose, w.options.Only = ForBatch, []verdict.Kind{verdict.Speed}
			w.Script["submission start"] = answers(sandbox.Outcome{BoxPeak: 20 << 20, BoxPeakSource: sandbox.SourceCgroupV2})
			w.Script["submission bench"] = answers(c.runs...)
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Checks[2].Verdict, r.Checks[2].Detail)
			assert.Equal(t, c.count, w.count("submission bench"))
			assert.Equal(t, c.count, w.count("reference bench"))
			inputs := map[string]bool{}
			for _, q := range w.running(ofSubmission)[0].Requests()[1:] {
				inputs[fmt.Sprint(q.Args, q.Env)] = true
			}
			assert.Len(t, inputs, c.count, "each run has inputs of its own")
		})
	}
}

// last is the last request of a program.
func last(boxes []*sandboxtest.Box) sandbox.Request {
	requests := boxes[len(boxes)-1].Requests()
	return requests[len(requests)-1]
}

// Peaks are taken on a CPU that nothing is timed on and wait for no other grading; what
// is timed waits for a CPU of its own. As a proof both are taken on one.
func TestWhereIsMeasured(t *testing.T) {
	for purpose, want := range map[Purpose]string{
		ForStudent: "[0 1] weigh, bench", ForBatch: "[1] bench, weigh", ForMutant: "[1] bench, weigh",
	} {
		w := newWorld(t)
		w.apart()
		w.config.Boxes = lockFile(t)
		w.options.Purpose = purpose
		r, err := w.grade(t)
		require.NoError(t, err)
		assert.Equal(t, 100, r.Score)
		var kinds []string
		for _, name := range w.Log() {
			kind := name[strings.IndexByte(name, ' ')+1:]
			if (kind == "bench" || kind == "weigh") && (len(kinds) == 0 || kinds[len(kinds)-1] != kind) {
				kinds = append(kinds, kind)
			}
		}
		sub, ref := w.running(ofSubmission)[0], w.running(ofReference)[0]
		assert.Equal(t, want, fmt.Sprint(sub.Pinned(), " ", strings.Join(kinds, ", ")), purpose)
		assert.Equal(t, sub.Pinned(), ref.Pinned(), purpose)
	}
}

// A grading says that it waits for another one, which holds the gate while it measures,
// and lets go of it whatever became of it.
func TestWaitsForAnother(t *testing.T) {
	w := newWorld(t)
	w.config.Boxes = lockFile(t)
	w.options.Only = []verdict.Kind{verdict.Speed}
	other := newWorld(t)
	other.config, other.options.Only = w.config, w.options.Only
	other.Script["submission bench"] = []sandboxtest.Answer{{Takes: time.Minute, Err: errEngine}}
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			g := New(other.Sandbox, other.config)
			defer g.Close()
			_, err := g.Grade(t.Context(), other.snapshot, other.exercise, other.options)
			assert.ErrorIs(t, err, errEngine)
		}()
		time.Sleep(time.Second) // of the bubble: the other one measures now
		g := New(w.Sandbox, w.config)
		defer g.Close()
		started := time.Now()
		r, err := g.Grade(t.Context(), w.snapshot, w.exercise, w.options)
		require.NoError(t, err)
		assert.Equal(t, 27, r.Score)
		assert.GreaterOrEqual(t, time.Since(started), 59*time.Second)
		<-done
	})
	waited := 0
	for _, e := range w.events {
		if e.Waiting != "" {
			waited++
			assert.Equal(t, Event{Phase: Measure, Waiting: "waiting for another grading to finish measuring"}, e)
		}
	}
	assert.Equal(t, 1, waited)
}

// Two of five peaks have to be within the limit, above what the reference held when its
// window opened.
func TestPeaks(t *testing.T) {
	w := newWorld(t)
	w.options.Only = []verdict.Kind{verdict.Memory}
	w.Script["reference bench"] = answers(peaked(120<<20), peaked(110<<20), peaked(130<<20), peaked(110<<20), peaked(110<<20))
	w.Script["submission bench"] = answers(peaked(190<<20), peaked(140<<20), peaked(160<<20), peaked(170<<20), peaked(210<<20))
	r, err := w.grade(t)
	require.NoError(t, err)
	c := r.Checks[3]
	assert.Equal(t, verdict.Passed, c.Verdict)
	assert.InDelta(t, 1.5, *c.Ratio, 1e-9, "150 MiB to 100 MiB")
	assert.InDelta(t, 2, c.Interval[1], 1e-9)
	assert.Equal(t, int64(140<<20), c.Submission.PeakBytes)
	assert.Equal(t, int64(110<<20), c.Reference.PeakBytes)
	assert.Equal(t, 5, w.count("submission bench"))
}

// A single run far above is not believed, and twice as many are taken.
func TestPeakOutlier(t *testing.T) {
	for name, c := range map[string]struct {
		second int64
		want   verdict.Verdict
	}{"it stays alone": {100 << 20, verdict.Passed}, "it comes again": {900 << 20, verdict.TooMuchMemory}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Only = []verdict.Kind{verdict.Memory}
			low := peaked(100 << 20)
			w.Script["submission bench"] = answers(low, peaked(900<<20), low, low, low, low, peaked(c.second), low, low, low)
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Checks[3].Verdict)
			assert.Equal(t, 10, w.count("submission bench"))
		})
	}
}

// What a program is fast in, it has to be slim in: a mixture loses one of the two.
func TestOneRunGivesBothFigures(t *testing.T) {
	slim, fat := timed(900*ms), timed(50*ms)
	fat.Peak = 900 << 20
	w := newWorld(t)
	w.Script["submission bench"] = answers(repeatedRuns(20, slim, fat)...)
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, 63, r.Score, "%v", lines(r))
	assert.Equal(t, []verdict.Verdict{verdict.TooSlow, verdict.TooMuchMemory}, []verdict.Verdict{r.Checks[2].Verdict, r.Checks[3].Verdict})
}

func repeatedRuns(times int, runs ...sandbox.Outcome) (list []sandbox.Outcome) {
	for range times {
		list = append(list, runs...)
	}
	return list
}

// A slow submission is asked for its memory all the same: with more time, in one run.
func TestSlowIsNotGreedy(t *testing.T) {
	for name, c := range map[string]struct {
		sub  sandbox.Outcome
		want string
		runs int
	}{
		"it ends": {timed(30 * time.Second), "passed", 1},
		"it does not": {stopped(40 * time.Second), "time_limit: exceeded its limit on CPU time; it held 30 MiB until then, and how much it needs in all cannot be told " +
			"before the work is done; look for work that is done again and again and need not be: a search, a copy, an allocation inside a loop", 1},
		"it is quick": {timed(50 * time.Millisecond), "passed", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Only = []verdict.Kind{verdict.Memory}
			w.Script["submission bench"] = answers(c.sub)
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, strings.TrimSuffix(string(r.Checks[3].Verdict)+": "+r.Checks[3].Detail, ": "))
			assert.Equal(t, c.runs, w.count("submission bench"))
			l := last(w.running(ofSubmission)).Limits
			assert.Equal(t, 40*time.Second, l.CPU)
			assert.InDelta(t, 70*time.Second, l.Wall, float64(2*time.Second), "what is left of the time for all measuring bounds the wall time")
		})
	}
}

// A submission that was stopped for its time in pairs is asked for its memory apart.
func TestTooSlowAndSlim(t *testing.T) {
	w := newWorld(t)
	w.Script["submission bench"] = answers(stopped(10*time.Second), stopped(10*time.Second), timed(30*time.Second))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, []verdict.Verdict{verdict.TooSlow, verdict.Passed}, []verdict.Verdict{r.Checks[2].Verdict, r.Checks[3].Verdict})
}

// What no page of the program maps any more counts by the account of its box, in every run, but
// for what the reference's box shows as well.
func TestHeldElsewhere(t *testing.T) {
	held := func(box int64) sandbox.Outcome {
		o := timed(50 * ms)
		o.BoxPeak, o.BoxPeakSource = box, sandbox.SourceCgroupV2
		return o
	}
	for name, c := range map[string]struct {
		grown, reference int64 // what the boxes hold at most from the second run on
		want             verdict.Verdict
	}{
		"as much as it shows":       {116 << 20, 116 << 20, verdict.Passed},
		"more than it shows":        {300 << 20, 116 << 20, verdict.TooMuchMemory},
		"as the reference's":        {300 << 20, 300 << 20, verdict.Passed},
		"more than the reference's": {500 << 20, 300 << 20, verdict.TooMuchMemory},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Only = []verdict.Kind{verdict.Memory}
			w.Script["submission start"] = answers(sandbox.Outcome{BoxPeak: 20 << 20, BoxPeakSource: sandbox.SourceCgroupV2})
			w.Script["reference start"] = w.Script["submission start"]
			w.Script["submission bench"] = answers(held(100<<20), held(c.grown))
			w.Script["reference bench"] = answers(held(100<<20), held(c.reference))
			r, err := w.grade(t)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Checks[3].Verdict)
			if c.want != verdict.Passed {
				assert.Equal(t, "cgroup v2", r.Checks[3].Submission.PeakSource)
			}
		})
	}
}
