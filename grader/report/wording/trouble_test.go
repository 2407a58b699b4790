package wording

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/verdict"
)

// failing is a check of one point that failed, with what it is said to need.
func failing(name, cause string) verdict.CheckResult {
	return verdict.CheckResult{Name: name, Kind: string(verdict.Correctness), Verdict: verdict.WrongAnswer, MaxPoints: 1, Cause: cause, Detail: name + " differs"}
}

// told writes troubles as text: a check, what needs it, what failed in the same way.
func told(checks ...verdict.CheckResult) string {
	var list []string
	for _, x := range Troubles(&verdict.Result{Verdict: verdict.Graded, Checks: checks}) {
		s := x.Check.Name
		for _, c := range x.Needs {
			s += " <" + c.Name
		}
		for _, c := range x.Same {
			s += " =" + c.Name
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}

func TestTroubles(t *testing.T) {
	crash := func(name string, line int) verdict.CheckResult {
		c := failing(name, "")
		c.Verdict, c.Places = verdict.RuntimeError, []verdict.Place{{File: "a.go", Line: line}}
		return c
	}
	same := func(c verdict.CheckResult, v verdict.Verdict, hint, detail string) verdict.CheckResult {
		c.Verdict, c.Hint, c.Detail = v, hint, detail
		return c
	}
	passed := failing("P", "")
	passed.Verdict, passed.Points = verdict.Passed, 1
	slow := failing("M", "")
	slow.Kind, slow.Verdict, slow.MaxPoints = string(verdict.Speed), verdict.TooSlow, 50
	a, b, c := failing("A", ""), failing("B", ""), failing("C", "")
	notAsked := same(c, verdict.NotRun, "", "")
	for name, x := range map[string]struct{ got, want string }{
		"nothing failed":               {told(passed), ""},
		"not asked for":                {told(notAsked), ""},
		"in the exercise's order":      {told(a, passed, b), "A; B"},
		"measured ones last":           {told(slow, a), "A; M"},
		"what others need comes first": {told(a, b, failing("C", "B")), "B <C; A"},
		"a chain":                      {told(failing("C", "B"), failing("B", "A"), a), "A <C <B"},
		"what passed explains nothing": {told(passed, failing("B", "P")), "B"},
		"a check that is not there":    {told(failing("B", "X")), "B"},
		"itself":                       {told(failing("A", "A")), "A"},
		"a ring":                       {told(failing("A", "B"), failing("B", "A")), "A; B"},
		"a ring and what needs it":     {told(failing("A", "B"), failing("B", "A"), failing("C", "B")), "A; B; C"},
		"a line":                       {told(crash("A", 7), crash("B", 8), crash("C", 7)), "A =C; B"},
		"a line, and none":             {told(crash("A", 7), same(b, verdict.RuntimeError, "", "A differs")), "A; B"},
		"the same words":               {told(same(a, verdict.TimeLimit, "x", "long"), same(b, verdict.TimeLimit, "y", "long")), "A =B"},
		"of another verdict":           {told(same(a, verdict.TimeLimit, "x", "long"), same(b, verdict.MemoryLimit, "x", "long")), "A; B"},
		"answers of other rules":       {told(same(a, verdict.WrongAnswer, "x", "1 of 1"), same(b, verdict.WrongAnswer, "y", "1 of 1")), "A; B"},
		"answers of one rule":          {told(same(a, verdict.WrongAnswer, "x", "1 of 1"), same(b, verdict.WrongAnswer, "x", "1 of 1")), "A =B"},
		"what needs one of several":    {told(crash("A", 7), crash("B", 7), failing("C", "B")), "A <C =B"},
	} {
		assert.Equal(t, x.want, x.got, name)
	}
	assert.Empty(t, Troubles(&verdict.Result{Verdict: verdict.Invalid, Checks: []verdict.CheckResult{a}}))
}

func TestFollowers(t *testing.T) {
	x := Trouble{Check: failing("A", "")}
	assert.Empty(t, x.Followers(0))
	for i := range 3 {
		x.Needs = append(x.Needs, failing(fmt.Sprint("N", i), "A"))
	}
	x.Same = x.Needs[:1]
	assert.Equal(t, []string{"3 more checks (3 points) failed and need it: N0, N1, N2", "1 more check (1 point) failed in the same way: N0"}, x.Followers(0))
	assert.Equal(t, "3 more checks (3 points) failed and need it: N0, N1, and 1 other", x.Followers(2)[0])
	assert.Equal(t, "3 more checks (3 points) failed and need it: N0, N1, N2", x.Followers(3)[0])
	assert.Equal(t, 5, x.Lost())
}
