package results

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// A key changes with everything that decides a result, and with nothing else.
func TestKey(t *testing.T) {
	base := func() *course.Exercise {
		return &course.Exercise{
			Name: "mean", Package: "mean", Hash: "files", Feedback: course.FeedbackHint, Limits: course.Limits{CPU: time.Second},
			Checks: []course.Check{{Name: "TestMean", Kind: verdict.Correctness, Points: 100}},
		}
	}
	key := func(change func(*course.Exercise)) string {
		e := base()
		change(e)
		return Key("content", e, "grader")
	}
	want := key(func(*course.Exercise) {})
	assert.Len(t, want, 64)
	assert.NotEqual(t, want, Key("other", base(), "grader"), "another content")
	assert.NotEqual(t, want, Key("content", base(), "other"), "another grader")
	for what, change := range map[string]func(*course.Exercise){
		"another file":           func(e *course.Exercise) { e.Hash = "other" },
		"another limit":          func(e *course.Exercise) { e.Limits.CPU++ },
		"other points":           func(e *course.Exercise) { e.Checks[0].Points-- },
		"another import allowed": func(e *course.Exercise) { e.Imports = []string{"net"} },
		"more feedback":          func(e *course.Exercise) { e.Feedback = course.FeedbackValues },
	} {
		assert.NotEqual(t, want, key(change), what)
	}
	for what, change := range map[string]func(*course.Exercise){
		"another summary":         func(e *course.Exercise) { e.Summary = "other" },
		"another README":          func(e *course.Exercise) { e.Readme = []byte("other") },
		"a check described apart": func(e *course.Exercise) { e.Checks[0].Anchor = "other" },
		"a check on another line": func(e *course.Exercise) { e.Checks[0].Line++ },
		"another starter":         func(e *course.Exercise) { e.Starter = []course.File{{Name: "other.go"}} },
	} {
		assert.Equal(t, want, key(change), what)
	}
	e := base()
	e.Checks[0].Line = 7
	Key("content", e, "grader")
	assert.Equal(t, 7, e.Checks[0].Line, "the exercise stays as it is")
}

// What was refused of a submission is part of what was handed in.
func TestContent(t *testing.T) {
	s := submission.Of("x", []submission.File{{Name: "a.go", Data: []byte("package a\n")}})
	assert.Equal(t, s.Hash, Content(s))
	s.Problems = []verdict.Problem{{File: "b.go", Rule: "too-large"}}
	one := Content(s)
	assert.NotEqual(t, s.Hash, one)
	s.Problems[0].File = "c.go"
	assert.NotEqual(t, one, Content(s))
}
