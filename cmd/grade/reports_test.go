package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// reportSession is a submit with reports, in an environment of its own.
func reportSession(t *testing.T, grade gradeFunc, reports ...string) *session {
	t.Helper()
	s := newSession(t, grade)
	s.env = func(string) string { return "" }
	s.reports = reports
	return s
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

func TestReportsAreWritten(t *testing.T) {
	dir := t.TempDir()
	html, xml := filepath.Join(dir, "a.html"), filepath.Join(dir, "a=b.xml")
	s := reportSession(t, answers(graded(50, 0), nil), "html="+html, "junit="+xml, "github-annotations=-")
	require.ErrorIs(t, s.run(t.Context()), errPointsMissing)
	assert.Contains(t, content(t, html), "<h1>ring</h1>")
	assert.Contains(t, content(t, xml), "<testsuites")
	assert.Regexp(t, `(?s)\nring  50 of 100 points.*\n::notice title=ring::50 of 100 points, unofficial\n$`, s.out.String())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2, "nothing beside them")
}

// An old grade is kept where there is no new one, and no student reads our errors.
func TestReportsWithoutVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"ours":      {errors.New("engine gone at /srv/secret"), "This says nothing about the submission"},
		"theirs":    {&fault.Error{Message: "no Go file in /srv/secret", Told: "no Go file in the submission"}, "no Go file in the submission"},
		"usage":     {&fault.Error{Message: "seed of /srv/secret"}, "This says nothing about the submission"},
		"interrupt": {context.Canceled, "This says nothing about the submission"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			xml, scope := filepath.Join(dir, "junit.xml"), filepath.Join(dir, "results.json")
			require.NoError(t, os.WriteFile(xml, []byte("old"), 0o600))
			s := reportSession(t, answers(nil, c.err), "junit="+xml, "gradescope="+scope, "prairielearn=-")
			require.ErrorIs(t, s.run(t.Context()), c.err)
			assert.Equal(t, "old", content(t, xml))
			assert.Contains(t, content(t, scope), c.want)
			assert.NotContains(t, content(t, scope)+s.out.String(), "secret")
			assert.Contains(t, s.out.String(), `"gradable": false`)
		})
	}
}

// A student reads what is to be done about the submission, and neither what the person who
// runs grade did wrong nor where.
func TestNoVerdictTellsTheStudentsFaultsOnly(t *testing.T) {
	const notTheirs = "This says nothing about the submission"
	folder := func(t *testing.T, files map[string]string) string {
		dir := filepath.Join(t.TempDir(), "secret")
		require.NoError(t, os.Mkdir(dir, 0o777))
		for name, data := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666))
		}
		return dir
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, *session)
		want  string
	}{
		"empty folder": {func(t *testing.T, s *session) { s.dir = folder(t, nil) }, "the submission is empty"},
		"no Go file":   {func(t *testing.T, s *session) { s.dir = folder(t, map[string]string{"a.txt": ""}) }, "no Go file in the submission"},
		"package": {func(t *testing.T, s *session) { s.dir = folder(t, map[string]string{"a.go": "package rong"}) },
			"a.go:1: no exercise has a package rong"},
		"no package":  {func(t *testing.T, s *session) { s.dir = folder(t, map[string]string{"a.go": ""}) }, "a.go:1: no package clause"},
		"no folder":   {func(_ *testing.T, s *session) { s.dir = "/secret" }, notTheirs},
		"no course":   {func(_ *testing.T, s *session) { s.app.courseDir = "/secret" }, notTheirs},
		"no exercise": {func(_ *testing.T, s *session) { s.exercise = "secret" }, notTheirs},
	} {
		t.Run(name, func(t *testing.T) {
			scope := filepath.Join(t.TempDir(), "results.json")
			s := reportSession(t, answers(nil, errors.New("not called")), "gradescope="+scope, "prairielearn=-")
			c.spoil(t, s)
			err := s.run(t.Context())
			assert.Equal(t, exitUsage, s.app.code(t.Context(), err), "%v", err)
			for _, told := range []string{content(t, scope), s.out.String()} {
				assert.Contains(t, told, c.want)
				assert.NotContains(t, told, "secret")
				assert.Equal(t, c.want != notTheirs, strings.Contains(told, "cannot be graded as it is"))
			}
		})
	}
}

// One report that cannot be written keeps no other back.
func TestReportThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o777))
	xml := filepath.Join(t.TempDir(), "junit.xml")
	goes := func(context.Context, *submission.Snapshot, *course.Exercise, sandboxFlags, grader.Options) (*verdict.Result, error) {
		return graded(50, 50), os.Remove(dir)
	}
	s := reportSession(t, goes, "html="+filepath.Join(dir, "a.html"), "junit="+xml)
	err := s.run(t.Context())
	assert.ErrorContains(t, err, "a.html")
	assert.Equal(t, exitNoVerdict, s.app.exit(t.Context(), nil, err))
	assert.Contains(t, content(t, xml), "<testsuites")
	assert.Contains(t, s.out.String(), "ring  100 of 100 points")
}

// The environment may have a time that is none, for whom it may: only one format asks.
func TestCommitTimeIsForItsFormatOnly(t *testing.T) {
	env := map[string]string{
		"CLASSROOM": "c", "ASSIGNMENT": "a", "USERNAME": "ada", "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "https://example.org/c",
		"RELEASE_URL": "https://example.org/r", "COMMIT_TIME": "yesterday",
	}
	with := func(reports ...string) error {
		s := reportSession(t, answers(graded(50, 50), nil), reports...)
		s.env = func(name string) string { return env[name] }
		return s.run(t.Context())
	}
	assert.NoError(t, with("html=-"))
	assert.ErrorContains(t, with("classroom50=-"), `COMMIT_TIME "yesterday" is no time: give it as git show -s --format=%cI prints it`)
	env["COMMIT_TIME"] = "2026-03-14T16:00:00+01:00"
	assert.NoError(t, with("classroom50=-"))
}
