package forge

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	one   = "1111111111111111111111111111111111111111"
	two   = "2222222222222222222222222222222222222222"
	three = "3333333333333333333333333333333333333333"
	zeros = "0000000000000000000000000000000000000000"

	repo = `"repository": {"full_name": "course/students", "default_branch": "main", "pushed_at": 1796160000}`
)

var (
	pushed  = time.Unix(1796160000, 0).UTC()
	updated = time.Date(2026, 12, 1, 22, 59, 1, 0, time.UTC)
)

// request is the event of a pull request; from is the head's repository as JSON.
func request(from string) string {
	return `{"action": "synchronize", "pull_request": {"updated_at": "2026-12-01T22:59:01Z", "created_at": "2026-11-01T00:00:00Z",
		"base": {"sha": "` + one + `", "ref": "main", "repo": {"full_name": "course/students"}},
		"head": {"sha": "` + two + `", "ref": "refs/heads/main", "repo": ` + from + `}}, ` + repo + `}`
}

func push(ref, before string) string {
	return `{"ref": "` + ref + `", "before": "` + before + `", "after": "` + two + `", "created": true, "forced": false, "deleted": false,
		"head_commit": {"timestamp": "1999-01-01T00:00:00Z"}, ` + repo + `}`
}

func TestGitHub(t *testing.T) {
	for name, c := range map[string]struct {
		event, payload string
		env            map[string]string
		want           Run
	}{
		"push to the default branch": {event: "push", payload: push("refs/heads/main", one),
			want: Run{Head: two, Base: one, Trusted: true, Rules: []string{"refs/remotes/origin/main", two}, Submitted: pushed, Source: "the push"}},
		"push of a new branch": {event: "push", payload: push("refs/heads/ada", zeros),
			want: Run{Head: two, Fallback: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main"}, Submitted: pushed, Source: "the push"}},
		"push of a tag": {event: "push", payload: push("refs/tags/main", zeros),
			want: Run{Head: two, Fallback: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main"}, Submitted: pushed, Source: "the push"}},
		"pull request": {event: "pull_request", payload: request(`{"full_name": "course/students"}`),
			want: Run{Request: true, Head: two, Base: one, Target: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main", one}, Submitted: updated, Source: "the pull request"}},
		"pull request of a fork": {event: "pull_request_target", payload: request(`{"full_name": "ada/students"}`),
			want: Run{Request: true, Fork: true, Head: two, Base: one, Target: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main", one}, Submitted: updated, Source: "the pull request"}},
		"pull request of a fork that is gone": {event: "pull_request_target", payload: request("null"),
			want: Run{Request: true, Fork: true, Head: two, Base: one, Target: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main", one}, Submitted: updated, Source: "the pull request"}},
		"by hand": {event: "workflow_dispatch", payload: `{"ref": "refs/heads/ada", ` + repo + `}`, env: map[string]string{"GITHUB_SHA": three, "GITHUB_REF": "refs/heads/ada"},
			want: Run{Everything: true, Head: three, Fallback: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main"}}},
		"schedule": {event: "schedule", payload: `{"schedule": "0 4 * * *"}`, env: map[string]string{"GITHUB_SHA": three, "GITHUB_REF": "refs/heads/main"},
			want: Run{Everything: true, Head: three, Trusted: true, Rules: []string{"refs/remotes/origin/main", three}}},
		"of another kind": {event: "merge_group", payload: `{"repository": {"default_branch": "main"}}`, env: map[string]string{"GITHUB_SHA": three},
			want: Run{Unclear: true, Head: three, Rules: []string{"refs/remotes/origin/main"}}},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": c.event, "GITHUB_EVENT_PATH": "event.json", "GITHUB_WORKSPACE": "work", "GITHUB_OUTPUT": "out", "GITHUB_STEP_SUMMARY": "sum"}
			maps.Copy(env, c.env)
			got, err := Read(func(name string) string { return env[name] }, func(name string) ([]byte, error) {
				assert.Equal(t, "event.json", name)
				return []byte(c.payload), nil
			})
			require.NoError(t, err)
			c.want.Name, c.want.Dir, c.want.Annotates, c.want.Summary, c.want.Outputs = "GitHub Actions, "+c.event, "work", true, "sum", "out"
			assert.Equal(t, c.want, got)
		})
	}
}

func TestGitHubNotUnderstood(t *testing.T) {
	for want, c := range map[string]struct{ event, payload string }{
		"has no pull_request with base and head":              {"pull_request", "{}"},
		"read the event of GitHub Actions: event.json: parsi": {"push", `{"repository": {"pushed_at": "yesterday"}}`},
		"unexpected end": {"push", ""},
	} {
		env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": c.event, "GITHUB_EVENT_PATH": "event.json"}
		_, err := Read(func(name string) string { return env[name] }, func(string) ([]byte, error) { return []byte(c.payload), nil })
		assert.ErrorContains(t, err, want)
	}
	for want, env := range map[string]map[string]string{
		"GITHUB_EVENT_PATH): gone":     {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "event.json"},
		"GITHUB_EVENT_PATH is not set": {"GITHUB_ACTIONS": "true"},
	} {
		_, err := Read(func(name string) string { return env[name] }, func(string) ([]byte, error) { return nil, errors.New("gone") })
		assert.ErrorContains(t, err, want)
	}
}

func TestGitLab(t *testing.T) {
	created := time.Date(2026, 12, 1, 23, 0, 2, 0, time.UTC)
	for name, c := range map[string]struct {
		source string
		env    map[string]string
		want   Run
	}{
		"push to the default branch": {"push", map[string]string{"CI_COMMIT_BEFORE_SHA": one, "CI_COMMIT_BRANCH": "main"},
			Run{Base: one, Trusted: true, Rules: []string{"refs/remotes/origin/main", two}, Submitted: created, Source: "the pipeline"}},
		"push of a new branch": {"push", map[string]string{"CI_COMMIT_BEFORE_SHA": zeros, "CI_COMMIT_BRANCH": "ada"},
			Run{Fallback: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main"}, Submitted: created, Source: "the pipeline"}},
		"merge request": {"merge_request_event", map[string]string{"CI_MERGE_REQUEST_DIFF_BASE_SHA": one, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
			"CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "course/students", "CI_MERGE_REQUEST_PROJECT_PATH": "course/students"},
			Run{Request: true, Base: one, Target: "refs/remotes/origin/main", Rules: []string{"refs/remotes/origin/main", one}, Submitted: created, Source: "the pipeline"}},
		"merged results of a fork": {"merge_request_event", map[string]string{"CI_MERGE_REQUEST_DIFF_BASE_SHA": one, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": three,
			"CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "ada/students", "CI_MERGE_REQUEST_PROJECT_PATH": "course/students"},
			Run{Request: true, Fork: true, Head: three, Base: one, Rules: []string{one}, Submitted: created, Source: "the pipeline"}},
		"schedule": {"schedule", map[string]string{"CI_COMMIT_BRANCH": "main"},
			Run{Everything: true, Trusted: true, Rules: []string{"refs/remotes/origin/main", two}}},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": c.source, "CI_PROJECT_DIR": "work", "CI_COMMIT_SHA": two, "CI_DEFAULT_BRANCH": "main", "CI_PIPELINE_CREATED_AT": "2026-12-01T23:00:02Z"}
			maps.Copy(env, c.env)
			got, err := Read(func(name string) string { return env[name] }, nil)
			require.NoError(t, err)
			c.want.Name, c.want.Dir = "GitLab CI, "+c.source, "work"
			if c.want.Head == "" {
				c.want.Head = two
			}
			assert.Equal(t, c.want, got)
		})
	}
	for want, env := range map[string]map[string]string{
		"no CI_MERGE_REQUEST_DIFF_BASE_SHA": {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event"},
		"CI_PIPELINE_CREATED_AT":            {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "push", "CI_PIPELINE_CREATED_AT": "soon"},
	} {
		_, err := Read(func(name string) string { return env[name] }, nil)
		assert.ErrorContains(t, err, want)
	}
}

// Outside any CI nothing is known, and nothing is read.
func TestNowhere(t *testing.T) {
	got, err := Read(func(string) string { return "" }, nil)
	require.NoError(t, err)
	assert.Equal(t, Run{}, got)
}
