package golang

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Finding F4: a build that keeps the compiler busy is told its limit, and not tried again.
func TestBuildLimits(t *testing.T) {
	spelled, err := newAPI("reference/p", map[string][]byte{"p.go": []byte("package p\n\nfunc F() {}\n")})
	require.NoError(t, err)
	b := &build{exercise: &course.Exercise{Name: "p"}, snapshot: submission.Of("dir", []submission.File{{Name: "p.go", Data: []byte("package p\n")}}), api: spelled}
	for name, c := range map[string]struct {
		o    sandbox.Outcome
		said string
	}{
		"memory":   {sandbox.Outcome{OOMKills: 1}, "2048 MiB of memory"},
		"CPU time": {sandbox.Outcome{Signal: 9, Cause: sandbox.CauseCPU}, "60 s of CPU time"},
		"time":     {sandbox.Outcome{Signal: 9, Cause: sandbox.CauseWall, CPU: time.Second, BoxCPU: 50 * time.Second}, "300 s, most of it at work"},
		"messages": {sandbox.Outcome{Signal: 9, Cause: sandbox.CauseStderr}, "256 KiB of messages"},
		"size":     {sandbox.Outcome{Files: []sandbox.File{{Name: reportName}}}, "16 MiB"},
	} {
		built, err := b.Outcome(c.o)
		require.NoError(t, err, name)
		assert.Equal(t, verdict.CompileError, built.Refused.Verdict, name)
		require.Len(t, built.Refused.Problems, 1, name)
		assert.Equal(t, "build-limit", built.Refused.Problems[0].Rule, name)
		assert.Contains(t, built.Refused.Problems[0].Message, c.said, name)
		assert.False(t, built.Unexplained, "%s: a second build would spend it again", name)
	}
}

// A machine that gives a build no time is no fault of the submission's.
func TestAStarvedBuildHasNoVerdict(t *testing.T) {
	spelled, err := newAPI("reference/p", map[string][]byte{"p.go": []byte("package p\n\nfunc F() {}\n")})
	require.NoError(t, err)
	b := &build{exercise: &course.Exercise{Name: "p"}, snapshot: submission.Of("dir", nil), api: spelled}
	_, err = b.Outcome(sandbox.Outcome{Signal: 9, Cause: sandbox.CauseWall, BoxCPU: 2 * time.Second})
	assert.ErrorContains(t, err, "too busy")
	_, _, err = b.Reference(sandbox.Outcome{Signal: 9, Cause: sandbox.CauseWall, BoxCPU: 2 * time.Second})
	assert.ErrorContains(t, err, "too busy")
}

// A build that failed may have cut its report short, as by filling the scratch: it is judged as
// one without a report. One that went well is never judged without a whole one.
func TestReportCutShort(t *testing.T) {
	spelled, err := newAPI("reference/p", map[string][]byte{"p.go": []byte("package p\n\nfunc F() {}\n")})
	require.NoError(t, err)
	b := &build{exercise: &course.Exercise{Name: "p"}, snapshot: submission.Of("dir", []submission.File{{Name: "p.go", Data: []byte("package p\n")}}), api: spelled}
	program, cut := sandbox.File{Name: programName, Data: []byte("ELF")}, sandbox.File{Name: reportName, Data: []byte("p.go:3\tuns")}
	for name, failed := range map[string]sandbox.Outcome{
		"full scratch": {ExitCode: 1, Stderr: []byte("compile: write the report: no space left on device\n")},
		"CPU time":     {Signal: 9, Cause: sandbox.CauseCPU},
	} {
		want, err := b.Outcome(failed)
		require.NoError(t, err, name)
		failed.Files = []sandbox.File{program, cut}
		built, err := b.Outcome(failed)
		require.NoError(t, err, name)
		assert.Equal(t, want, built, name)
		assert.Equal(t, verdict.CompileError, built.Refused.Verdict, name)
	}
	for name, files := range map[string][]sandbox.File{"cut": {program, cut}, "none": {program}, "cut, no program": {cut}, "neither": nil} {
		built, err := b.Outcome(sandbox.Outcome{Files: files})
		require.Error(t, err, name)
		assert.Zero(t, built, name)
	}
}
