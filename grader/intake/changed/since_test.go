package changed

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
	"grade/grader/intake/forge"
	"grade/grader/intake/gittest"
)

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
	"pull request without its head":               {run: forge.Run{Name: "x", Request: true, Head: gittest.LostCommit, Base: "main"}, fails: "is not in the clone"},
	"pull request without its base":               {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: gittest.LostCommit}, fails: "the base, " + gittest.LostCommit + ", is not in the clone"},
	"pull request of another history":             {run: forge.Run{Name: "x", Request: true, Head: "elsewhere", Base: "main"}, want: "..elsewhere", warns: "no commit in common"},
	"push":                                        {run: forge.Run{Name: "x", Head: "main", Base: "start"}, want: "start..main"},
	"push that takes back":                        {run: forge.Run{Name: "x", Head: "start", Base: "ada"}, want: "ada..start"},
	"push of a new branch":                        {run: forge.Run{Name: "x", Head: "ada", Fallback: "refs/remotes/origin/main"}, want: "start..ada"},
	"push of a new branch, main not fetched":      {run: forge.Run{Name: "x", Head: "ada", Fallback: "refs/remotes/origin/trunk"}, want: "..ada", warns: "the clone has no refs/remotes/origin/trunk"},
	"first push of the default branch":            {run: forge.Run{Name: "x", Head: "main"}, want: "..main"},
	"forced push":                                 {run: forge.Run{Name: "x", Head: "ada", Base: gittest.LostCommit, Fallback: "refs/remotes/origin/main"}, want: "start..ada", warns: gittest.LostCommit + ", is gone"},
	"forced push of the default branch":           {run: forge.Run{Name: "x", Head: "main", Base: gittest.LostCommit}, want: "..main", warns: gittest.LostCommit + ", is gone"},
	"deleted branch":                              {run: forge.Run{Name: "x", Nothing: true, Head: gittest.LostCommit}, want: ".."},
	"schedule":                                    {run: forge.Run{Name: "x", Head: "main", Everything: true}, want: "..main"},
	"schedule, with a base":                       {run: forge.Run{Name: "x", Head: "main", Everything: true}, base: "start", want: "start..main"},
	"pull request, all of it":                     {run: forge.Run{Name: "x", Request: true, Head: "ada", Base: "main"}, all: true, want: "..ada"},
	"a laptop":                                    {base: "ada", want: "start..main"},
	"a laptop, without a base":                    {fails: "what is there to be graded?"},
	"a laptop, with a base that is none":          {base: "--output=x", fails: "the base, --output=x, is not in the clone"},
}

func TestSince(t *testing.T) {
	h := gittest.Course(t)
	for name, c := range sinceCases {
		t.Run(name, func(t *testing.T) {
			named := func(revision string) string {
				if id := h.Commits[revision]; id != "" && c.run.Name != "" {
					return id
				}
				return revision
			}
			c.run.Head, c.run.Base = named(c.run.Head), named(c.run.Base)
			clone := about(t, h.Dir, c.run)
			clone.Base, clone.All = named(c.base), c.all
			got, warnings, err := clone.Since(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				var usage *fault.Error
				require.ErrorAs(t, err, &usage)
				return
			}
			require.NoError(t, err)
			base, head, _ := strings.Cut(c.want, "..")
			assert.Equal(t, Span{Head: h.Commits[head], Base: h.Commits[base], Nothing: head == ""}, got)
			assert.Equal(t, c.warns != "", len(warnings) > 0, "%q", warnings)
			assert.Contains(t, strings.Join(warnings, "\n"), c.warns)
		})
	}
}

// A request and its target that have each merged what the other was before have two best common
// commits. Compared with the one that its author has dated last, it brings back what others have
// changed since; so it is refused until it has merged the target.
func TestSinceCrossed(t *testing.T) {
	h := gittest.New(t)
	h.Commit("start", map[string]string{"bo/m.go": "good\n", "mallory/m.go": "1\n"})
	h.Git("checkout", "-qb", "mallory")
	t.Setenv("GIT_COMMITTER_DATE", "2030-01-01T00:00:00Z")
	h.Commit("evil", map[string]string{"bo/m.go": "evil\n", "mallory/m.go": "2\n"})
	t.Setenv("GIT_COMMITTER_DATE", "")
	h.Git("checkout", "-q", "main")
	h.Commit("target", map[string]string{"bo/m.go": "better\n"})
	h.Git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merged", "mallory")
	h.Git("checkout", "-q", "mallory")
	h.Git("merge", "-q", "--no-ff", "-s", "ours", "-m", "crossed", h.Commits["target"])
	head := h.Git("rev-parse", "HEAD")
	run := forge.Run{Name: "x", Request: true, Head: head, Base: "main", Target: "refs/heads/main"}
	clone := about(t, h.Dir, run)
	_, _, err := clone.Since(t.Context())
	require.ErrorContains(t, err, "have parted at 2 commits")
	var usage *fault.Error
	require.ErrorAs(t, err, &usage)
	assert.Contains(t, usage.Advice, "merge the target branch")

	h.Git("merge", "-q", "-s", "ours", "-m", "taken in", "main")
	run.Head = h.Git("rev-parse", "HEAD")
	clone = about(t, h.Dir, run)
	span, _, err := clone.Since(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Span{Head: run.Head, Base: h.Git("rev-parse", "main")}, span)
}

// What a shallow clone lacks is an error that says what to fetch, and not a reason to
// grade all students.
func TestSinceInShallowClones(t *testing.T) {
	h := gittest.Course(t)
	for name, c := range map[string]struct {
		branch string
		run    forge.Run
	}{
		"push":         {"main", forge.Run{Head: h.Commits["main"], Base: h.Commits["start"]}},
		"new branch":   {"ada", forge.Run{Head: h.Commits["ada"], Fallback: "refs/remotes/origin/main"}},
		"pull request": {"ada", forge.Run{Request: true, Head: h.Commits["ada"], Base: h.Commits["main"]}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			h.Git("clone", "-q", "--depth", "1", "--branch", c.branch, "file://"+h.Dir, dir)
			c.run.Name = "x"
			for _, fetch := range []string{"", "main"} { // the base is there and the history is not
				if fetch != "" {
					h.Git("-C", dir, "fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
				}
				if c.run.Base == h.Commits["start"] && fetch != "" {
					continue
				}
				clone := about(t, dir, c.run)
				_, _, err := clone.Since(t.Context())
				require.ErrorContains(t, err, "is not in")
				var usage *fault.Error
				require.ErrorAs(t, err, &usage)
				assert.Contains(t, usage.Advice, "fetch-depth: 0")
			}
		})
	}
}
