package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade"
	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/results"
	"grade/grader/turn"
	"grade/grader/verdict"
	"grade/sandbox"
)

var (
	proving  = flag.Bool("prove", false, "grade every shipped submission, and write down what that has proved")
	allTests = flag.Bool("all-tests", false, "run all hidden tests of each submission, and count what its mistake costs beyond what it declares")
)

// proof says which submissions of an exercise came out as they declare, with which files of
// the exercise and of grade. `make prove` writes it as exercises/NAME/proved.json.
type proof struct {
	Commit      string            `json:"commit"` // for people: the digests say what was graded
	Machine     string            `json:"machine"`
	Grader      string            `json:"grader"`      // digest of the sources that decide
	Exercise    string            `json:"exercise"`    // the exercise's hash
	Submissions map[string]string `json:"submissions"` // digests, by names
	Sum         string            `json:"sum"`         // of all the rest, so that an edit by hand shows
}

func proofFile(exercise string) string {
	return filepath.Join(courseRoot, course.ExercisesDir, exercise, "proved.json")
}

func (p proof) sum(t *testing.T) string {
	p.Sum = ""
	return digest(t, p)
}

// digest is of a value as JSON.
func digest(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return fmt.Sprintf("%x", sha256.Sum256(data))[:16]
}

// digestOf is of all that a submission is graded by.
func digestOf(t *testing.T, s fixture.Submission) string {
	s.Edits, s.Expect.Why = nil, ""
	return digest(t, s)
}

// readProof returns the proof of an exercise; an empty one if there is none.
func readProof(t *testing.T, exercise string) (p proof) {
	t.Helper()
	data, err := os.ReadFile(proofFile(exercise))
	if errors.Is(err, fs.ErrNotExist) {
		return p
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &p))
	require.Equal(t, p.sum(t), p.Sum, "%s was edited: make prove writes it", proofFile(exercise))
	return p
}

// proofOf is what a run without a failure proves now.
func proofOf(t *testing.T, e *course.Exercise, list []fixture.Submission, machine string) proof {
	t.Helper()
	grader, err := results.SourceDigest(grade.Deciding)
	require.NoError(t, err)
	p := proof{Commit: turn.Commit(), Machine: machine, Grader: grader[:16], Exercise: e.Hash[:16], Submissions: map[string]string{}}
	for _, s := range list {
		p.Submissions[s.Name] = digestOf(t, s)
	}
	p.Sum = p.sum(t)
	return p
}

// holds reports whether a submission is proved: nothing that it is graded by has changed.
func (p proof) holds(now proof, name string) bool {
	return p.Grader == now.Grader && p.Exercise == now.Exercise && p.Submissions[name] == now.Submissions[name]
}

// sampled is one of how many proved submissions are graded all the same. Which it is, the
// commit decides.
const sampled = 80

// sampledWhole is sampled for those whose grading runs benchmarks, which takes five times as long.
const sampledWhole = 320

// timed are the classes whose grading runs benchmarks: the verdicts that a busy machine may
// change.
var timed = []fixture.Class{fixture.Accepted, fixture.TooSlow, fixture.TooMuchMemory}

// sampleOf says one of how many submissions like this one a sample takes.
func sampleOf(s fixture.Submission) uint64 {
	if slices.Contains(timed, s.Class) {
		return sampledWhole
	}
	return sampled
}

// toGrade says of an exercise's submissions which have to be graded: all that are right,
// all that are not proved, and a sample of the rest.
func toGrade(t *testing.T, e *course.Exercise, list []fixture.Submission) (chosen []shippedOne) {
	t.Helper()
	before, now := readProof(t, e.Name), proofOf(t, e, list, "")
	proved := 0
	for _, s := range list {
		one := shippedOne{Submission: s, Options: grader.Options{Seed: now.seed()}}
		if before.holds(now, s.Name) && !*proving {
			proved++
			if !turn.Drawn(now.Commit, sampleOf(s), e.Name, s.Name) {
				if s.Class != fixture.Accepted {
					continue
				}
				one.Only = []verdict.Kind{verdict.Correctness}
			}
		}
		chosen = append(chosen, one)
	}
	t.Logf("%d of %d submissions are graded; %d were proved by make prove at %s", len(chosen), len(list), proved, cmp.Or(before.Commit, "no commit"))
	return chosen
}

// seed is that of the gradings which prove, and of those which repeat one: what was right
// yesterday is not wrong today by the luck of its inputs. For that, `grade exercise seeds`
// grades on many.
func (p proof) seed() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(p.Exercise)))
}

func machineOf(info sandbox.Info) string {
	return fmt.Sprintf("%d CPUs, %s/%s, %s, cgroup %s, built with %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, info.Runtime, info.Cgroup, runtime.Version())
}

// writeProof writes which submissions of an exercise a run has proved, and which of the others
// were proved before and have not changed.
func writeProof(t *testing.T, e *course.Exercise, list, right []fixture.Submission, info sandbox.Info) {
	t.Helper()
	before, p, all := readProof(t, e.Name), proofOf(t, e, right, machineOf(info)), proofOf(t, e, list, "")
	for name := range before.Submissions {
		if before.holds(all, name) {
			p.Submissions[name] = all.Submissions[name]
		}
	}
	p.Sum = p.sum(t)
	data, err := json.MarshalIndent(p, "", "\t")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(proofFile(e.Name), append(data, '\n'), 0o644))
}

// A proof is of submissions that are there, and was written by make prove. One that is out of
// date is no fault: what it does not prove is graded.
func TestProofs(t *testing.T) {
	t.Parallel()
	eachExercise(t, func(t *testing.T, e *course.Exercise, list []fixture.Submission) {
		before, now := readProof(t, e.Name), proofOf(t, e, list, "")
		for name, digest := range before.Submissions {
			assert.NotEmpty(t, digest, name)
		}
		if before.Sum != "" {
			assert.NotEmpty(t, before.Machine)
			assert.NotEmpty(t, before.Commit)
		}
		for _, s := range list {
			one := s
			one.Files = append([]course.File{{Name: "more.go"}}, s.Files...)
			assert.NotEqual(t, now.Submissions[s.Name], digestOf(t, one), "another file is another submission")
		}
	})
}

// What has changed is not proved.
func TestProofHolds(t *testing.T) {
	p := proof{Grader: "g", Exercise: "e", Submissions: map[string]string{"accepted/a": "1"}}
	assert.True(t, p.holds(p, "accepted/a"))
	assert.False(t, p.holds(proof{Grader: "h", Exercise: "e", Submissions: p.Submissions}, "accepted/a"))
	assert.False(t, p.holds(proof{Grader: "g", Exercise: "f", Submissions: p.Submissions}, "accepted/a"))
	assert.False(t, p.holds(proof{Grader: "g", Exercise: "e", Submissions: map[string]string{"accepted/a": "2"}}, "accepted/a"))
}
