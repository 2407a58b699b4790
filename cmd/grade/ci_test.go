package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"grade/exercises/course"
)

// history is a repository of a test, with commits that have names.
type history struct {
	t       *testing.T
	dir     string
	commits map[string]string
}

func newHistory(t *testing.T) *history {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	h := &history{t: t, dir: t.TempDir(), commits: map[string]string{}}
	h.git("init", "-q", "-b", "main")
	return h
}

func (h *history) git(args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = h.dir
	out, err := cmd.CombinedOutput()
	require.NoError(h.t, err, "git %s: %s", args, out)
	return strings.TrimSpace(string(out))
}

// commit writes files, and deletes those without a text, and commits.
func (h *history) commit(name string, files map[string]string) {
	h.t.Helper()
	for file, text := range files {
		path := filepath.Join(h.dir, filepath.FromSlash(file))
		switch to, link := strings.CutPrefix(text, "-> "); {
		case text == "":
			require.NoError(h.t, os.Remove(path))
		case link:
			require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(h.t, os.Symlink(to, path))
		default:
			require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(h.t, os.WriteFile(path, []byte(text), 0o666))
		}
	}
	h.git("add", "-A")
	h.git("commit", "-qm", name, "--allow-empty")
	h.commits[name] = h.git("rev-parse", "HEAD")
}

// about is a ci command about this repository.
func (h *history) about(dir string, run forge.Run) (o *ciOptions, log *bytes.Buffer) {
	h.t.Helper()
	log = &bytes.Buffer{}
	o = &ciOptions{dir: dir, forge: run, env: func(string) string { return "" }}
	o.app = newApp(nil, &bytes.Buffer{}, log)
	repo, err := repository.Open(h.t.Context(), dir)
	require.NoError(h.t, err)
	o.repo = repo
	return o, log
}

// course is a history as courses have it: main goes on after ada has begun a branch.
func courseHistory(t *testing.T) *history {
	h := newHistory(t)
	h.commit("start", map[string]string{"grade.yaml": "title: old\n", "students/ada/autograd/a.go": "package autograd\n"})
	h.git("checkout", "-qb", "ada")
	h.commit("ada", map[string]string{"students/ada/autograd/a.go": "package autograd // 1\n", "grade.yaml": "title: ada's own\n"})
	h.git("checkout", "-q", "main")
	h.commit("main", map[string]string{"students/bob/cosine/a.go": "package cosine\n", "grade.yaml": "title: new\n"})
	h.git("update-ref", "refs/remotes/origin/main", "main")
	h.git("checkout", "-q", "--detach", "ada")
	h.git("merge", "-q", "-X", "ours", "-m", "x", "main")
	h.commit("taken in", nil)
	h.git("update-ref", "refs/remotes/origin/merged", "HEAD")
	h.git("checkout", "-q", "--orphan", "elsewhere")
	h.git("rm", "-rqf", ".")
	h.commit("elsewhere", nil)
	h.git("checkout", "-q", "main")
	return h
}

// lostCommit is in no clone.
const lostCommit = "1111111111111111111111111111111111111111"

var sinceCases = map[string]struct {
	run   forge.Run
	base  string // --base
	all   bool
	want  string // "BASE..HEAD" in names of commits
	warns string
	fails string
}{
	"pull request: since it has parted from main": {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: "main"}, want: "start..ada"},
	"pull request that is behind":                 {run: forge.Run{Name: "x", Request: true, Head: "start", Base: "main"}, want: "start..start"},
	"pull request that has taken in main":         {run: forge.Run{Name: "x", Request: true, Head: "taken in", Base: "start", Target: "refs/remotes/origin/main"}, want: "main..taken in"},
	"pull request that is merged meanwhile":       {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: "main", Target: "refs/remotes/origin/merged"}, want: "start..ada"},
	"pull request, target not fetched":            {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: "main", Target: "refs/remotes/origin/trunk"}, want: "start..ada"},
	"pull request without its head":               {run: forge.Run{Name: "x", Request: true, Head: lostCommit, Base: "main"}, fails: "is not in the clone"},
	"pull request without its base":               {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: lostCommit}, fails: "the base, " + lostCommit + ", is not in the clone"},
	"pull request of another history":             {run: forge.Run{Name: "x", Request: true, Head: "elsewhere", Base: "main"}, want: "..elsewhere", warns: "no commit in common"},
	"push":                                        {run: forge.Run{Name: "x", Head: "main", Base: "start"}, want: "start..main"},
	"push that takes back":                        {run: forge.Run{Name: "x", Head: "start", Base: "ada"}, want: "ada..start"},
	"push of a new branch":                        {run: forge.Run{Name: "x", Head: "ada", Fallback: "refs/remotes/origin/main"}, want: "start..ada"},
	"push of a new branch, main not fetched":      {run: forge.Run{Name: "x", Head: "ada", Fallback: "refs/remotes/origin/trunk"}, want: "..ada", warns: "the clone has no refs/remotes/origin/trunk"},
	"first push of the default branch":            {run: forge.Run{Name: "x", Head: "main"}, want: "..main"},
	"forced push":                                 {run: forge.Run{Name: "x", Head: "ada", Base: lostCommit, Fallback: "refs/remotes/origin/main"}, want: "start..ada", warns: lostCommit + ", is gone"},
	"forced push of the default branch":           {run: forge.Run{Name: "x", Head: "main", Base: lostCommit}, want: "..main", warns: lostCommit + ", is gone"},
	"deleted branch":                              {run: forge.Run{Name: "x", Nothing: true, Head: lostCommit}, want: ".."},
	"schedule":                                    {run: forge.Run{Name: "x", Head: "main", Everything: true}, want: "..main"},
	"schedule, with a base":                       {run: forge.Run{Name: "x", Head: "main", Everything: true}, base: "start", want: "start..main"},
	"pull request, all of it":                     {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: "main"}, all: true, want: "..ada"},
	"a laptop":                                    {base: "ada", want: "start..main"},
	"a laptop, without a base":                    {fails: "what is there to be graded?"},
	"a laptop, with a base that is none":          {base: "--output=x", fails: "the base, --output=x, is not in the clone"},
}

func TestSince(t *testing.T) {
	h := courseHistory(t)
	for name, c := range sinceCases {
		t.Run(name, func(t *testing.T) {
			named := func(revision string) string {
				if id := h.commits[revision]; id != "" && c.run.Name != "" {
					return id
				}
				return revision
			}
			c.run.Head, c.run.Base = named(c.run.Head), named(c.run.Base)
			o, log := h.about(h.dir, c.run)
			o.base, o.all = named(c.base), c.all
			got, err := o.since(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.Equal(t, exitUsage, o.app.code(t.Context(), err))
				return
			}
			require.NoError(t, err)
			base, head, _ := strings.Cut(c.want, "..")
			assert.Equal(t, span{head: h.commits[head], base: h.commits[base], nothing: head == ""}, got)
			assert.Equal(t, c.warns != "", log.Len() > 0, log.String())
			assert.Contains(t, log.String(), c.warns)
		})
	}
}

// What a shallow clone lacks is an error that says what to fetch, and not a reason to
// grade everybody.
func TestSinceInShallowClones(t *testing.T) {
	h := courseHistory(t)
	for name, c := range map[string]struct {
		branch string
		run    forge.Run
	}{
		"push":         {"main", forge.Run{Head: h.commits["main"], Base: h.commits["start"]}},
		"new branch":   {"ada", forge.Run{Head: h.commits["ada"], Fallback: "refs/remotes/origin/main"}},
		"pull request": {"ada", forge.Run{Request: true, Head: h.commits["ada"], Base: h.commits["main"]}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			h.git("clone", "-q", "--depth", "1", "--branch", c.branch, "file://"+h.dir, dir)
			c.run.Name = "x"
			for _, fetch := range []string{"", "main"} { // the base is there and the history is not
				if fetch != "" {
					h.git("-C", dir, "fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
				}
				if c.run.Base == h.commits["start"] && fetch != "" {
					continue
				}
				o, _ := h.about(dir, c.run)
				_, err := o.since(t.Context())
				require.ErrorContains(t, err, "is not in")
				assert.Contains(t, o.app.hint(&cobra.Command{}, err), "fetch-depth: 0")
			}
		})
	}
}

// The rules of the course come from where the author of what is graded cannot write.
func TestRulesAreNotTheStudents(t *testing.T) {
	h := courseHistory(t)
	h.git("checkout", "-q", "ada") // what is checked out says nothing
	own := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(own, []byte("title: by flag\n"), 0o666))
	for name, c := range map[string]struct {
		run          forge.Run
		policy, want string
		fails        string
	}{
		"pull request":      {run: forge.Run{Name: "x", Request: true, Rules: []string{h.commits["main"]}}, want: "new"},
		"first that is":     {run: forge.Run{Name: "x", Rules: []string{"refs/remotes/origin/trunk", "refs/remotes/origin/main"}}, want: "new"},
		"an old base":       {run: forge.Run{Name: "x", Rules: []string{h.commits["start"]}}, want: "old"},
		"no rules there":    {run: forge.Run{Name: "x", Rules: []string{h.commits["elsewhere"]}}, want: ""},
		"nothing to go by":  {run: forge.Run{Name: "x", Rules: []string{strings.Repeat("1", 40)}}, fails: "read the rules of the course"},
		"flag":              {run: forge.Run{Name: "x", Rules: []string{h.commits["main"]}}, policy: own, want: "by flag"},
		"one's own machine": {run: forge.Run{}, want: "ada's own"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := h.about(h.dir, c.run)
			o.policy = c.policy
			got, err := o.readRules(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Title)
		})
	}
}

// What a student may have written is not taken for the course's.
func TestApart(t *testing.T) {
	h := newHistory(t)
	h.commit("start", map[string]string{"course/exercises/x": "x", "reports": "-> /tmp", "junit.xml": "-> ../outside.xml"})
	linked := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(filepath.Join(h.dir, "course"), linked))
	untrusted := forge.Run{Name: "x", Request: true}
	for want, set := range map[string]func(*ciOptions){
		"--course":                   func(o *ciOptions) { o.app.courseDir = filepath.Join(h.dir, "course") },
		"--policy":                   func(o *ciOptions) { o.policy = filepath.Join(h.dir, "grade.yaml") },
		"--results":                  func(o *ciOptions) { o.results = filepath.Join(linked, "results") },
		"reports is a link in":       func(o *ciOptions) { o.reports.values = []string{"junit=" + filepath.Join(h.dir, "reports", "a.xml")} },
		"junit.xml is a link in the": func(o *ciOptions) { o.reports.values = []string{"junit=" + filepath.Join(h.dir, "junit.xml")} },
	} {
		o, _ := h.about(h.dir, untrusted)
		set(o)
		require.NoError(t, o.reports.check())
		require.ErrorContains(t, o.apart(), want)
		if strings.HasPrefix(want, "--") {
			o.forge = forge.Run{Name: "x", Trusted: true}
			require.NoError(t, o.apart(), "a push to the default branch is the course's own")
		}
	}
	below, _ := h.about(filepath.Join(h.dir, "course"), untrusted)
	below.app.courseDir = h.dir
	require.ErrorContains(t, below.apart(), "--course", "a folder of a clone is the clone")
	t.Chdir(filepath.Dir(h.dir))
	link := filepath.Join(t.TempDir(), "work")
	require.NoError(t, os.Symlink(h.dir, link))
	below, _ = h.about(link, untrusted)
	below.results = filepath.Join(filepath.Base(h.dir), "results")
	require.ErrorContains(t, below.apart(), "--results", "by whatever way")

	o, _ := h.about(h.dir, untrusted)
	o.app.courseDir = t.TempDir()
	o.reports.values = []string{"junit=" + filepath.Join(h.dir, "plain.xml"), "github-annotations=-"}
	require.NoError(t, o.reports.check())
	require.NoError(t, o.apart())
}

func TestOutputsAreNumbers(t *testing.T) {
	assert.Regexp(t, `^(points|max-points|graded|no-verdict)=\d+\n(max-points|graded|no-verdict)=\d+\n(graded|no-verdict)=\d+\nno-verdict=\d+\npassed=(true|false)\n$`, summed{points: 3}.outputs())
}

// The time of submission is the server's, or whoever runs grade says it; the zone of one
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
		o := &ciOptions{forge: c.run, submitted: c.flag}
		o.rules = &rules{Policy: course.NewPolicy()}
		o.rules.Zone = berlin
		at, source, err := o.handedIn()
		require.NoError(t, err, name)
		if c.want == "" {
			assert.Zero(t, at, name)
			continue
		}
		assert.Equal(t, c.want, at.Format(time.RFC3339)+" "+source, name)
	}
}
