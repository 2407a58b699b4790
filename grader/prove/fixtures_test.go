package prove

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/judge"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// scripted is a Fixtures whose gradings give the scores in the script, one after the
// other, and count.
func scripted(scores map[string][]int, list ...fixture.Submission) (s *Fixtures, gradings map[string]int) {
	gradings = map[string]int{}
	var mu sync.Mutex
	e := &course.Exercise{Checks: []course.Check{{Name: "TestA", Points: 60}, {Name: "TestB", Points: 30}, {Name: "BenchmarkC/speed", Points: 10}}}
	return FixturesBy(e, list, func(_ context.Context, s *submission.Snapshot, _ grader.Options) (*verdict.Result, error) {
		dir := s.Dir
		mu.Lock()
		defer mu.Unlock()
		gradings[dir]++
		if gradings[dir] > len(scores[dir]) {
			return nil, errors.New("the engine is gone")
		}
		return &verdict.Result{Verdict: verdict.Graded, Score: scores[dir][gradings[dir]-1], MaxScore: 100}, nil
	}), gradings
}

func shipped(name string, class fixture.Class, score int, twin string) fixture.Submission {
	return fixture.Submission{Name: name, Dir: name, Class: class, Files: []course.File{{Name: "a.go"}}, Expect: fixture.Expect{Verdict: "graded", Score: &score, Twin: twin}}
}

// Without measuring, what a hidden test alone stops can be graded, whatever score is expected.
func TestTestable(t *testing.T) {
	e := &course.Exercise{Checks: []course.Check{{Name: "TestA", Kind: verdict.Correctness}, {Name: "TestB", Kind: verdict.Correctness}, {Name: "BenchmarkC/speed", Kind: verdict.Speed}}}
	for want, list := range map[bool][]map[string]verdict.Verdict{
		true:  {{"TestA": verdict.WrongAnswer}, {"TestA": verdict.Passed, "TestB": verdict.WrongAnswer}},
		false: {nil, {"TestA": verdict.Passed}, {"BenchmarkC/speed": verdict.TooSlow}, {"TestA": verdict.WrongAnswer, "BenchmarkC/speed": verdict.TooSlow}},
	} {
		for _, checks := range list {
			assert.Equal(t, want, testable(e, fixture.Expect{Checks: checks}), "%v", checks)
		}
	}
}

// What nothing is expected of is not graded: a score may follow from what is.
func TestNeeded(t *testing.T) {
	s, _ := scripted(nil)
	checks := func(list ...string) map[string]verdict.Verdict {
		m := map[string]verdict.Verdict{}
		for _, name := range list {
			m[name] = "wrong_answer"
		}
		return m
	}
	n := func(i int) *int { return &i }
	for name, c := range map[string]struct {
		expect fixture.Expect
		want   []string
	}{
		"checks":                       {fixture.Expect{Verdict: "graded", Checks: checks("BenchmarkC/speed", "TestB")}, []string{"TestB", "BenchmarkC/speed"}},
		"a maximum that follows":       {fixture.Expect{Verdict: "graded", Checks: checks("TestA"), MaxScore: n(40)}, []string{"TestA"}},
		"a maximum that does not":      {fixture.Expect{Verdict: "graded", Checks: checks("TestA"), MaxScore: n(39)}, nil},
		"what is passed loses nothing": {fixture.Expect{Verdict: "graded", Checks: map[string]verdict.Verdict{"TestA": "passed"}, MaxScore: n(40)}, nil},
		"a maximum alone":              {fixture.Expect{Verdict: "graded", MaxScore: n(40)}, nil},
		"a score":                      {fixture.Expect{Verdict: "graded", Checks: checks("TestA"), Score: n(40)}, nil},
		"another verdict":              {fixture.Expect{Verdict: "invalid"}, nil},
	} {
		assert.Equal(t, c.want, needed(s.exercise, c.expect), name)
	}
}

// Only what has to be caught may get through, and only once.
func TestHoldTwice(t *testing.T) {
	right, wrong := shipped("right", fixture.Accepted, 100, ""), shipped("wrong", fixture.WrongAnswer, 60, "")
	s, n := scripted(map[string][]int{"right": {90, 100}, "wrong": {100, 60, 100, 90}}, right, wrong)
	h, err := s.Hold(t.Context(), right, grader.Options{})
	require.NoError(t, err)
	assert.Len(t, h.Mismatches, 1)
	assert.Equal(t, 1, n["right"])

	h, err = s.Hold(t.Context(), wrong, grader.Options{})
	require.NoError(t, err)
	assert.Empty(t, h.Mismatches)
	assert.Len(t, h.FirstMismatches, 1)

	h, err = s.Hold(t.Context(), wrong, grader.Options{})
	require.NoError(t, err)
	assert.Equal(t, []judge.Mismatch{{Field: "score", What: "score 90, want 60"}}, h.Mismatches)

	_, err = s.Hold(t.Context(), wrong, grader.Options{})
	assert.ErrorContains(t, err, "engine", "what is ours is no difference")
}

// A second grading is on other inputs; with a seed, on the same other ones each time.
func TestHoldOnOtherInputs(t *testing.T) {
	first := strings.Repeat("ab", 32)
	for seed, want := range map[string][]string{"": {"", ""}, first: {first, seedOf(first, 2)}} {
		var seeds []string
		s := FixturesBy(&course.Exercise{}, nil, func(_ context.Context, _ *submission.Snapshot, o grader.Options) (*verdict.Result, error) {
			seeds = append(seeds, o.Seed)
			return &verdict.Result{Verdict: verdict.Graded, Score: 100, MaxScore: 100}, nil
		})
		_, err := s.Hold(t.Context(), shipped("wrong", fixture.WrongAnswer, 60, ""), grader.Options{Seed: seed})
		require.NoError(t, err)
		assert.Equal(t, want, seeds)
	}
	assert.NotEqual(t, first, seedOf(first, 2))
	assert.Len(t, seedOf(first, 2), len(first))
}

// A twin is graded once for all who share it and ask for the same checks, and not at
// all for one that gains nothing.
func TestTwinsAreGradedOnce(t *testing.T) {
	list := []fixture.Submission{shipped("honest", fixture.WrongAnswer, 40, "")}
	scores := map[string][]int{"honest": {40, 40, 40}, "nothing": {0}}
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, shipped(name, fixture.Forgery, 40, "honest"))
		scores[name] = []int{40, 40, 40}
	}
	list = append(list, shipped("nothing", fixture.Forgery, 0, "honest"))
	s, n := scripted(scores, list...)
	_, err := s.Hold(t.Context(), list[4], grader.Options{})
	require.NoError(t, err)
	assert.Zero(t, n["honest"])

	var all sync.WaitGroup
	for _, one := range list[1:4] {
		all.Go(func() {
			h, err := s.Hold(t.Context(), one, grader.Options{})
			assert.NoError(t, err)
			assert.Empty(t, h.Mismatches)
		})
	}
	all.Wait()
	assert.Equal(t, 1, n["honest"])
	other := list[1]
	other.Expect = fixture.Expect{Verdict: "graded", Checks: map[string]verdict.Verdict{"TestA": "passed"}, Twin: "honest"}
	_, err = s.Hold(t.Context(), other, grader.Options{})
	require.NoError(t, err)
	assert.Equal(t, 3, n["honest"], "with other checks, and with other inputs for the second chance")
}

func TestForgeryThatBeatsItsTwin(t *testing.T) {
	honest, forgery := shipped("honest", fixture.WrongAnswer, 40, ""), shipped("forgery", fixture.Forgery, 50, "honest")
	s, _ := scripted(map[string][]int{"honest": {40, 40}, "forgery": {50, 50}}, honest, forgery)
	h, err := s.Hold(t.Context(), forgery, grader.Options{})
	require.NoError(t, err)
	assert.Equal(t, []judge.Mismatch{{Field: "twin", What: "score 50; its control, the same program without the trick, scores 40"}}, h.Mismatches)

	s, _ = scripted(map[string][]int{"honest": {40, 50}, "forgery": {50, 50}}, honest, forgery)
	h, err = s.Hold(t.Context(), forgery, grader.Options{})
	require.NoError(t, err)
	assert.Empty(t, h.Mismatches, "it was the twin that had bad luck")
}
