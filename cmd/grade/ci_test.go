package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
	"grade/grader/intake/changed"
	"grade/grader/intake/forge"
	"grade/grader/intake/gittest"
	"grade/grader/intake/repository"
)

// ciAbout is a ci command about a repository.
func ciAbout(t *testing.T, dir string, run forge.Run) (o *ciOptions, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	repo, err := repository.Open(t.Context(), dir)
	require.NoError(t, err)
	o = &ciOptions{clone: changed.Clone{Dir: dir, Run: run, Repo: repo}, env: func(string) string { return "" }}
	o.app = newApp(nil, &bytes.Buffer{}, log)
	return o, log
}

// The rules of the course come from where the author of what is graded cannot write.
func TestRulesAreNotTheStudents(t *testing.T) {
	h := gittest.Course(t)
	h.Git("checkout", "-q", "ada") // what is checked out says nothing
	own := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(own, []byte("title: by flag\n"), 0o666))
	for name, c := range map[string]struct {
		run          forge.Run
		policy, want string
		fails        string
	}{
		"pull request":      {run: forge.Run{Name: "x", Request: true, Rules: []string{h.Commits["main"]}}, want: "new"},
		"first that is":     {run: forge.Run{Name: "x", Rules: []string{"refs/remotes/origin/trunk", "refs/remotes/origin/main"}}, want: "new"},
		"an old base":       {run: forge.Run{Name: "x", Rules: []string{h.Commits["start"]}}, want: "old"},
		"no rules there":    {run: forge.Run{Name: "x", Rules: []string{h.Commits["elsewhere"]}}, want: ""},
		"nothing to go by":  {run: forge.Run{Name: "x", Rules: []string{strings.Repeat("1", 40)}}, fails: "read the rules of the course"},
		"flag":              {run: forge.Run{Name: "x", Rules: []string{h.Commits["main"]}}, policy: own, want: "by flag"},
		"one's own machine": {run: forge.Run{}, want: "ada's own"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := ciAbout(t, h.Dir, c.run)
			o.policyFile = c.policy
			err := o.readPolicy(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, o.policy.Title)
		})
	}
}

// What a student may have written is not taken for the course's.
func TestApart(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"course/exercises/x": "x", "reports": "-> /tmp", "junit.xml": "-> ../outside.xml"})
	linked := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(filepath.Join(h.Dir, "course"), linked))
	untrusted := forge.Run{Name: "x", Request: true}
	for want, set := range map[string]func(*ciOptions){
		"--course":                   func(o *ciOptions) { o.app.courseDir = filepath.Join(h.Dir, "course") },
		"--policy":                   func(o *ciOptions) { o.policyFile = filepath.Join(h.Dir, "grade.yaml") },
		"--results":                  func(o *ciOptions) { o.results = filepath.Join(linked, "results") },
		"reports is a link in":       func(o *ciOptions) { o.reports.values = []string{"junit=" + filepath.Join(h.Dir, "reports", "a.xml")} },
		"junit.xml is a link in the": func(o *ciOptions) { o.reports.values = []string{"junit=" + filepath.Join(h.Dir, "junit.xml")} },
	} {
		o, _ := ciAbout(t, h.Dir, untrusted)
		set(o)
		require.NoError(t, o.reports.check())
		require.ErrorContains(t, o.apart(), want)
		if strings.HasPrefix(want, "--") {
			o.clone.Run = forge.Run{Name: "x", Trusted: true}
			require.NoError(t, o.apart(), "a push to the default branch is the course's own")
		}
	}
	below, _ := ciAbout(t, filepath.Join(h.Dir, "course"), untrusted)
	below.app.courseDir = h.Dir
	require.ErrorContains(t, below.apart(), "--course", "a folder of a clone is the clone")
	t.Chdir(filepath.Dir(h.Dir))
	link := filepath.Join(t.TempDir(), "work")
	require.NoError(t, os.Symlink(h.Dir, link))
	below, _ = ciAbout(t, link, untrusted)
	below.results = filepath.Join(filepath.Base(h.Dir), "results")
	require.ErrorContains(t, below.apart(), "--results", "by whatever way")

	o, _ := ciAbout(t, h.Dir, untrusted)
	o.app.courseDir = t.TempDir()
	o.reports.values = []string{"junit=" + filepath.Join(h.Dir, "plain.xml"), "github-annotations=-"}
	require.NoError(t, o.reports.check())
	require.NoError(t, o.apart())
}

// The time of submission is the server's, or the caller's; the zone of one
// that states none is the course's.
func TestHandedIn(t *testing.T) {
	pushed := time.Date(2026, 12, 1, 22, 0, 0, 0, time.UTC)
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		run        forge.Run
		flag, want string
	}{
		"server":  {run: forge.Run{Submitted: pushed, Source: "the push"}, want: "2026-12-01T22:00:00Z the push"},
		"flag":    {run: forge.Run{Submitted: pushed, Source: "the push"}, flag: "2026-12-02 08:00", want: "2026-12-02T08:00:00+01:00 --submitted"},
		"unknown": {},
	} {
		o := &ciOptions{clone: changed.Clone{Run: c.run}, submitted: c.flag, policy: gradebook.NewPolicy(nil)}
		o.policy.Zone = berlin
		at, source, err := o.handedIn()
		require.NoError(t, err, name)
		if c.want == "" {
			assert.Zero(t, at, name)
			continue
		}
		assert.Equal(t, c.want, at.Format(time.RFC3339)+" "+source, name)
	}
}

// Each line of the log begins with a word of ours, whatever a commit has for names.
func TestNotesAreEscaped(t *testing.T) {
	o, log := ciAbout(t, gittest.New(t).Dir, forge.Run{Name: "x"})
	o.app.note("%s", "students/ada/\n::error::x was deleted")
	assert.Regexp(t, `^grade: students/ada/.*::error::x was deleted\n$`, log.String())
}
