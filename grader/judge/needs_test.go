package judge

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang/golang"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

// resting needs TestLoss for what begins with "loss", and TestOrder for nothing.
var resting = course.Check{Name: "TestRun", Kind: verdict.Correctness, Feedback: course.FeedbackHint, Needs: []course.Need{
	{Check: "TestOrder"}, {Check: "TestLoss", Observations: []string{"loss*"}},
}}

func epochs(first, second float64, weights int64, more ...wire.Record) []wire.Record {
	return append([]wire.Record{record("loss 1", float(first)), record("weights", integer(weights)), record("loss 2", float(second))}, more...)
}

// Where a needed check has failed, the observations that rest on it do not count, and all
// others do.
func TestExcused(t *testing.T) {
	const told = "observations that rest on TestLoss, which failed, do not count here"
	for _, test := range []struct {
		name   string
		failed []string
		got    []wire.Record
		want   verdict.Verdict
		detail string
	}{
		{"nothing has failed", nil, epochs(1, 9, 7), verdict.WrongAnswer, `one value differs from what is expected: "loss 2"`},
		{"it has failed", []string{"TestLoss"}, epochs(8, 9, 7), verdict.Passed, told},
		{"a need without observations has failed", []string{"TestOrder"}, epochs(1, 9, 7), verdict.WrongAnswer, `one value differs from what is expected: "loss 2"`},
		{"a check that is not needed has failed", []string{"TestLosses"}, epochs(1, 9, 7), verdict.WrongAnswer, `one value differs from what is expected: "loss 2"`},
		{"what counts differs too", []string{"TestLoss"}, epochs(1, 9, 6), verdict.WrongAnswer, `the value differs from what is expected: "weights"; ` + told},
		{"nothing differs", []string{"TestLoss"}, epochs(1, 2, 7), verdict.Passed, ""},
		{"it is left out", []string{"TestLoss"}, epochs(1, 2, 7)[1:2], verdict.Passed, told},
		{"there are more of it", []string{"TestLoss"}, epochs(1, 2, 7, record("loss 3", float(3))), verdict.Passed, told},
		{"there are more of what counts", []string{"TestLoss"}, epochs(1, 2, 7, record("weights", integer(7))), verdict.WrongAnswer, "the test observed all that is expected, and then more: something happens once too often; " + told},
		{"what counts is left out", []string{"TestLoss"}, epochs(1, 2, 7)[:1], verdict.WrongAnswer, `the test ended where "weights" should be, the first that it observes: something did not happen; ` + told},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, detail, err := Test(resting, ran(stream(wire.Passed, epochs(1, 2, 7)...)), ran(stream(wire.Passed, test.got...)), golang.CrashWords, test.failed...)
			require.NoError(t, err)
			assert.Equal(t, test.want, v)
			assert.Equal(t, test.detail, detail)
		})
	}
}

// A failed check excuses differences alone: no crash, and no test that ends as failed.
func TestOnlyDifferencesAreExcused(t *testing.T) {
	ref := ran(stream(wire.Passed, epochs(1, 2, 7)...))
	crashed := ran(stream(0, epochs(1, 2, 7)...))
	crashed.ExitCode = 2
	v, _, err := Test(resting, ref, crashed, golang.CrashWords, "TestLoss")
	require.NoError(t, err)
	assert.Equal(t, verdict.RuntimeError, v)
	v, _, err = Test(resting, ref, ran(stream(wire.Failed, epochs(1, 9, 7)...)), golang.CrashWords, "TestLoss")
	require.NoError(t, err)
	assert.Equal(t, verdict.WrongAnswer, v)
}

// A check all of whose observations can be excused would be passed by failing another:
// that is the author's fault, whatever the submission does.
func TestSomethingAlwaysCounts(t *testing.T) {
	reported := record("weights", integer(7))
	reported.SelfReported = true
	for _, records := range [][]wire.Record{{record("loss", float(1))}, {record("loss", float(1)), reported}} {
		check, run := resting, ran(stream(wire.Passed, records...))
		_, _, err := Test(check, run, run, golang.CrashWords)
		assert.ErrorIs(t, err, fault.ErrExercise)
		check.SelfReported = true
		_, _, err = Test(check, run, run, golang.CrashWords)
		assert.Equal(t, len(records) == 2, err == nil)
	}
}

// The cause of a failed check is the failed one at the root of what it needs.
func TestCauses(t *testing.T) {
	checks := []course.Check{
		{Name: "A"}, {Name: "B", Needs: []course.Need{{Check: "A"}}}, {Name: "C", Needs: []course.Need{{Check: "D"}, {Check: "B"}}}, {Name: "D"},
		{Name: "X", Needs: []course.Need{{Check: "Y"}}}, {Name: "Y", Needs: []course.Need{{Check: "X"}}},
	}
	for _, test := range []struct{ failed, want map[string]string }{
		{map[string]string{"A": "", "B": "", "C": ""}, map[string]string{"B": "A", "C": "A"}},
		{map[string]string{"B": "", "C": ""}, map[string]string{"C": "B"}},
		{map[string]string{"A": "", "C": ""}, map[string]string{}}, // what stands between is passed
		{map[string]string{"C": "", "D": "", "B": ""}, map[string]string{"C": "D"}},
		{map[string]string{"X": "", "Y": ""}, map[string]string{"X": "Y", "Y": "X"}}, // the loader refuses it
	} {
		var results []verdict.CheckResult
		for _, c := range checks {
			v := verdict.Passed
			if _, ok := test.failed[c.Name]; ok {
				v = verdict.RuntimeError
			}
			results = append(results, verdict.CheckResult{Name: c.Name, Verdict: v})
		}
		got := map[string]string{}
		for _, r := range Causes(checks, results) {
			if r.Cause != "" {
				got[r.Name] = r.Cause
			}
		}
		assert.Equal(t, test.want, got, "%v", test.failed)
		assert.Empty(t, results[1].Cause, "the argument is not changed")
	}
	assert.Empty(t, Causes(checks, []verdict.CheckResult{{Name: "B", Verdict: verdict.WrongAnswer}, {Name: "A", Verdict: verdict.NotRun}})[0].Cause)
}

// The smallest sets are enough, each without one that could be spared.
func TestEnough(t *testing.T) {
	for _, test := range []struct {
		rule func(has func(string) bool) bool
		want [][]string
	}{
		{func(has func(string) bool) bool { return has("b") }, [][]string{{"b"}}},
		{func(has func(string) bool) bool { return has("a") && has("c") || has("b") }, [][]string{{"b"}, {"a", "c"}}},
		{func(func(string) bool) bool { return false }, nil},
	} {
		got := Enough([]string{"a", "b", "c"}, func(set []string) bool {
			return test.rule(func(name string) bool { return slices.Contains(set, name) })
		})
		assert.ElementsMatch(t, test.want, got)
	}
}

// Where no set is enough, one try shows it; where each set needs the same checks, there are as
// many tries as checks, and two more.
func TestEnoughTriesFewSets(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	for needed, want := range map[string]int{"g": 1, "f": 8, "abcdef": 8} {
		tries := 0
		Enough(names, func(set []string) bool {
			tries++
			return !slices.ContainsFunc(strings.Split(needed, ""), func(name string) bool { return !slices.Contains(set, name) })
		})
		assert.Equal(t, want, tries, needed)
	}
}

// enoughPlainly is [Enough] that tries every set, and reads both records for each.
func enoughPlainly(check course.Check, ref, sub sandbox.Outcome, failed []string) (sets [][]string, err error) {
	var found []int
	for subset := 1; subset < 1<<len(failed); subset++ {
		v, _, e := Test(check, ref, sub, golang.CrashWords, chosen(failed, subset)...)
		err = errors.Join(err, e)
		if v == verdict.Passed && !slices.ContainsFunc(found, func(smaller int) bool { return subset&smaller == smaller }) {
			found, sets = append(found, subset), append(sets, chosen(failed, subset))
		}
	}
	return sets, err
}

// someRecords are random records, with few names and values so that they often agree.
func someRecords(r *rand.Rand) []wire.Record {
	list := []wire.Record{record("x", integer(0))}
	for range r.IntN(5) {
		list = append(list, record(string(rune('a'+r.IntN(4))), integer(int64(r.IntN(2)))))
	}
	return list
}

// What is not tried changes no set, whichever observations rest on which checks.
func TestEnoughAsPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	several := 0
	for range 5000 {
		check, failed := testCheck, []string{"A", "B", "C", "D"}
		for _, name := range failed {
			n := course.Need{Check: name}
			for _, at := range someOf(r, 4) {
				n.Observations = append(n.Observations, string(rune('a'+at)))
			}
			check.Needs = append(check.Needs, n)
		}
		ref, sub := ran(stream(wire.Passed, someRecords(r)...)), ran(stream(wire.Passed, someRecords(r)...))
		run, err := Read(check, ref, sub, golang.CrashWords)
		require.NoError(t, err)
		if v, _ := run.Verdict(); v == verdict.Passed {
			continue
		}
		want, err := enoughPlainly(check, ref, sub, failed)
		require.NoError(t, err)
		require.Equal(t, want, Enough(failed, func(set []string) bool { v, _ := run.Verdict(set...); return v == verdict.Passed }))
		if len(want) > 1 {
			several++
		}
	}
	assert.Greater(t, several, 100, "claims with more than one set")
}

// The claims worth most are granted, each by checks that cost at least as much.
func TestExcuses(t *testing.T) {
	claim := func(name string, points int, by ...[]string) Claim { return Claim{name, points, by} }
	for name, test := range map[string]struct {
		failed map[string]int
		claims []Claim
		want   map[string][]string
	}{
		"one":                       {map[string]int{"A": 3}, []Claim{claim("X", 3, []string{"A"})}, map[string][]string{"X": {"A"}}},
		"too dear":                  {map[string]int{"A": 3}, []Claim{claim("X", 4, []string{"A"})}, map[string][]string{}},
		"the dearer of two":         {map[string]int{"A": 3}, []Claim{claim("X", 2, []string{"A"}), claim("Y", 3, []string{"A"})}, map[string][]string{"Y": {"A"}}},
		"both":                      {map[string]int{"A": 5}, []Claim{claim("X", 2, []string{"A"}), claim("Y", 3, []string{"A"})}, map[string][]string{"X": {"A"}, "Y": {"A"}}},
		"one that both need":        {map[string]int{"A": 3, "B": 2}, []Claim{claim("X", 2, []string{"A", "B"})}, map[string][]string{"X": {"A", "B"}}},
		"by another, for room":      {map[string]int{"A": 3, "B": 3}, []Claim{claim("X", 3, []string{"A"}, []string{"B"}), claim("Y", 3, []string{"A"})}, map[string][]string{"X": {"B"}, "Y": {"A"}}},
		"a claim that is refused":   {map[string]int{"A": 3}, []Claim{claim("X", 4, []string{"A"}), claim("Y", 4, []string{"X"})}, map[string][]string{"Y": {"X"}}},
		"a granted one pays none":   {map[string]int{"A": 4}, []Claim{claim("X", 4, []string{"A"}), claim("Y", 3, []string{"X"})}, map[string][]string{"X": {"A"}}},
		"by a check that is passed": {map[string]int{"A": 4}, []Claim{claim("X", 1, []string{"B"})}, map[string][]string{}},
		"one of no points is lost":  {map[string]int{"A": 0}, []Claim{claim("X", 0, []string{"A"})}, map[string][]string{}},
	} {
		assert.Equal(t, test.want, Excuses(test.failed, test.claims), name)
	}
}

// Many checks that rest on one are settled in steps that grow with its points, and not with
// the sets of these checks.
func TestManyClaimsOnOneCheck(t *testing.T) {
	const points = 20
	for _, n := range []int{16, 40} { // of 16, the sets are few enough to be counted where this fails
		var claims []Claim
		for i := range n {
			claims = append(claims, Claim{fmt.Sprint("X", i), 1, [][]string{{"A"}}})
		}
		s := newSettlement(map[string]int{"A": points}, claims)
		require.Equal(t, min(n, points), s.best(0, s.purses).points)
		require.LessOrEqual(t, len(s.known), n*(points+1))
		require.Len(t, Excuses(map[string]int{"A": points}, claims), min(n, points))
	}
}

// plainly is [Excuses] that tries everything and remembers nothing.
func plainly(claims []Claim, purses map[string]int) (points int, granted map[string][]string) {
	if len(claims) == 0 {
		return 0, map[string][]string{}
	}
	c := claims[0]
	refused := maps.Clone(purses)
	refused[c.Check] = c.Points
	points, granted = plainly(claims[1:], refused)
	for _, by := range c.By {
		after, ok := maps.Clone(purses), true
		for _, name := range by {
			ok = ok && after[name] >= max(1, c.Points)
			after[name] -= c.Points
		}
		if more, rest := plainly(claims[1:], after); ok && c.Points+more > points {
			points, granted = c.Points+more, rest
			granted[c.Check] = by
		}
	}
	return points, granted
}

// What is remembered changes no decision.
func TestExcusesAsPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := 0
	for range 2000 {
		failed, names := map[string]int{}, []string{"unknown"}
		for i := range 1 + r.IntN(3) {
			names = append(names, fmt.Sprint("A", i))
			failed[names[i+1]] = r.IntN(7)
		}
		var claims []Claim
		for i := range r.IntN(6) {
			c := Claim{Check: fmt.Sprint("X", i), Points: r.IntN(4)}
			for range 1 + r.IntN(3) {
				var set []string
				for _, at := range someOf(r, len(names)) {
					set = append(set, names[at])
				}
				c.By = append(c.By, append(set, names[r.IntN(len(names))]))
			}
			claims, names = append(claims, c), append(names, c.Check)
		}
		_, want := plainly(claims, failed)
		require.Equal(t, want, Excuses(failed, claims), "%v %+v", failed, claims)
		some += len(want)
	}
	assert.Greater(t, some, 1000, "claims that were granted")
}

// world is an exercise of checks that rest on earlier ones, and a program with mistakes.
type world struct {
	points []int
	wrong  []bool    // fails for itself
	by     [][][]int // what would excuse it; empty: it is passed unless it is wrong
}

func randomWorld(r *rand.Rand) (w world) {
	for i := range 3 + r.IntN(4) {
		w.points, w.wrong = append(w.points, 1+r.IntN(5)), append(w.wrong, r.IntN(4) == 0)
		var by [][]int
		for range r.IntN(3) {
			if set := someOf(r, i); len(set) > 0 {
				by = append(by, set)
			}
		}
		w.by = append(w.by, by)
	}
	return w
}

func someOf(r *rand.Rand, n int) (set []int) {
	for j := range n {
		if r.IntN(3) == 0 {
			set = append(set, j)
		}
	}
	return set
}

// score is what a program earns that fails some checks on purpose besides. Where none of what
// excuses a check has failed, it is as right as the program is, unless it shows the mistake
// of another: then it fails with that one, or alone.
func (w world) score(onPurpose func(i int) bool) (total int) {
	failed, names := map[string]int{}, map[int]string{}
	var claims []Claim
	for i, points := range w.points {
		names[i] = fmt.Sprint(i)
		var by [][]string
		for _, set := range w.by[i] {
			var list []string
			for _, j := range set {
				if _, ok := failed[names[j]]; ok || slices.ContainsFunc(claims, func(c Claim) bool { return c.Check == names[j] }) {
					list = append(list, names[j])
				}
			}
			if len(list) == len(set) {
				by = append(by, list)
			}
		}
		switch {
		case onPurpose(i) || w.wrong[i] && len(by) == 0:
			failed[names[i]] = points
		case w.wrong[i]:
			claims = append(claims, Claim{names[i], points, by})
		default:
			total += points
		}
	}
	granted := Excuses(failed, claims)
	for _, c := range claims {
		if granted[c.Check] != nil {
			total += c.Points
		}
	}
	return total
}

// Nothing is gained by failing checks on purpose, whichever they are: in random exercises,
// for every set of them.
func TestNothingIsGainedByFailing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	excused := 0
	for range 3000 {
		w := randomWorld(r)
		honest := w.score(func(int) bool { return false })
		for set := 1; set < 1<<len(w.points); set++ {
			got := w.score(func(i int) bool { return set>>i&1 == 1 })
			require.LessOrEqual(t, got, honest, "%+v, failing %b on purpose", w, set)
		}
		if lost := sumOf(w); honest > lost {
			excused++
		}
	}
	assert.Greater(t, excused, 100, "worlds in which something was excused")
}

// sumOf is what a program earns without any excuse.
func sumOf(w world) (total int) {
	for i, points := range w.points {
		if !w.wrong[i] {
			total += points
		}
	}
	return total
}
