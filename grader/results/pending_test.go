package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNextPending(t *testing.T) {
	pending := func(content string, hour int) *Pending {
		return &Pending{Exercise: "autograd", Content: content, Submitted: at(hour)}
	}
	graded := func(content string, hour int) Outcome {
		return Outcome{Pending: *pending(content, hour), Graded: true}
	}
	failed := func(content string, hour int) Outcome { return Outcome{Pending: *pending(content, hour)} }
	inFolder := func(o Outcome) Outcome {
		o.LiesThere = true
		return o
	}
	for _, test := range []struct {
		name    string
		was     *Pending
		last    string // content of the last attempt
		outcome Outcome
		want    *Pending
	}{
		{"what has a verdict is not pending",
			nil, "a", graded("a", 9), nil},
		{"what came to no verdict is pending",
			nil, "", failed("a", 9), pending("a", 9)},
		{"new work that came to no verdict is pending beside what was graded",
			nil, "a", failed("b", 9), pending("b", 9)},
		{"what has not changed since it was graded has a verdict, though this run came to none",
			nil, "a", failed("a", 9), nil},
		{"what cannot be read is pending, whatever was graded before",
			nil, "a", failed("", 9), pending("", 9)},
		{"what has no known exercise is in no list",
			nil, "", Outcome{Pending: Pending{Content: "a"}}, nil},

		{"what fails once more has the earlier time",
			pending("a", 9), "", failed("a", 11), pending("a", 9)},
		{"what fails once more, at no known time, keeps its time",
			pending("a", 9), "", failed("a", 0), pending("a", 9)},
		{"what fails once more, and was handed in before that, has the earlier time",
			pending("a", 9), "", failed("a", 8), pending("a", 8)},
		{"what cannot be read any more is what it was",
			pending("a", 9), "", failed("", 11), pending("a", 9)},
		{"newer work that fails takes the place of older work, with its own time",
			pending("a", 9), "", failed("b", 11), pending("b", 11)},

		{"a verdict ends the wait",
			pending("a", 9), "a", graded("a", 9), nil},
		{"a verdict on newer work ends the wait of older work",
			pending("a", 9), "b", graded("b", 11), nil},
		{"a verdict on older work, as of a job that is done again, ends no wait",
			pending("b", 9), "a", graded("a", 8), pending("b", 9)},
		{"a verdict on work of an unknown time ends no wait",
			pending("b", 9), "a", graded("a", 0), pending("b", 9)},
		{"a verdict on any work ends a wait of an unknown time",
			pending("b", 0), "a", graded("a", 0), nil},
		{"a verdict on what lies in the folder now ends the wait of what lay there before",
			pending("b", 9), "a", inFolder(graded("a", 0)), nil},
		{"what lies in the folder is what was graded: the wait of what lay there before ends, though this run failed",
			pending("b", 9), "a", inFolder(failed("a", 0)), nil},
	} {
		got := NextPending(test.was, test.last, test.outcome)
		assert.Equal(t, test.want, got, test.name)
		if test.was != nil && got != nil && *test.want == *test.was && test.outcome.Graded {
			assert.Same(t, test.was, got, "%s: nothing has changed", test.name)
		}
	}
}
