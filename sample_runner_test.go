package grade_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// runner does what a runner of GitHub Actions does with the steps of a job, as far as the
// sample needs it: what it does not know is a failure.
type runner struct {
	*course
	values map[string]string // of expressions
	env    []string          // of every step
	path   string            // what steps add to PATH
	job    job
}

// github runs the sample's workflow.
func (c *course) github(event, payload string) job {
	c.t.Helper()
	dir := c.t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(c.t, os.WriteFile(file("event.json"), []byte(payload), 0o666))
	require.NoError(c.t, os.Mkdir(file("work"), 0o777))
	here, err := os.Getwd()
	require.NoError(c.t, err)
	r := &runner{course: c, path: file("path"), job: job{dir: file("work")}, values: map[string]string{}}
	r.env = append(bare(c.env), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME="+event, "GITHUB_EVENT_PATH="+file("event.json"), "GITHUB_WORKSPACE="+file("work"),
		"RUNNER_TEMP="+c.temp, "GITHUB_ACTION_PATH="+here, "GITHUB_PATH="+r.path, "GITHUB_OUTPUT="+file("outputs"), "GITHUB_STEP_SUMMARY="+file("summary"), "GITHUB_RUN_ID=1")
	r.values = eventValues(c.t, payload)
	r.values["github.repository_owner"], r.values["github.sha"] = "teaching", r.values["github.event.after"]
	for _, s := range workflow(c.t, "examples/course/.github/workflows/grade.yml").Jobs["grade"].Steps {
		r.step(s)
	}
	outputs, _ := os.ReadFile(file("outputs"))
	summary, _ := os.ReadFile(file("summary"))
	r.job.outputs, r.job.summary = string(outputs), string(summary)
	return r.job
}

// bare are the variables that a runner's machine has.
func bare(env []string) (out []string) {
	keep := regexp.MustCompile(`^(PATH|HOME|DOCKER_\w+|XDG_CACHE_HOME|GO(CACHE|MODCACHE|PROXY|SUMDB|FLAGS|WORK|TOOLCHAIN)|GIT_CONFIG_\w+|TMPDIR)=`)
	for _, e := range env {
		if keep.MatchString(e) {
			out = append(out, e)
		}
	}
	return out
}

// eventValues are the values of github.event, by their expressions.
func eventValues(t *testing.T, payload string) map[string]string {
	t.Helper()
	var event map[string]any
	require.NoError(t, json.Unmarshal([]byte(payload), &event))
	values := map[string]string{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				walk(name+"."+key, value)
			}
		case string:
			values[name] = v
		}
	}
	walk("github.event", event)
	return values
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand puts values in place of expressions. What an event has not is empty.
func (r *runner) expand(s string) string {
	return expression.ReplaceAllStringFunc(s, func(e string) string {
		for name := range strings.SplitSeq(expression.FindStringSubmatch(e)[1], " || ") {
			value, known := r.values[name]
			require.True(r.t, known || strings.HasPrefix(name, "github.event."), "the expression %s", name)
			if value != "" {
				return value
			}
		}
		return ""
	})
}

func (r *runner) step(s workflowStep) {
	r.t.Helper()
	if r.job.status != 0 && s.If == "" {
		return
	}
	require.Contains(r.t, []string{"", "${{ !cancelled() }}"}, s.If)
	action, _, _ := strings.Cut(s.Uses, "@")
	switch action {
	case "":
		r.run(s)
	case "actions/checkout":
		r.checkout(s.With)
	case "actions/setup-go": // there is one
	case "example/grade":
		r.action(s.With)
	default:
		require.Fail(r.t, "an action that this test does not know", s.Uses)
	}
}

// checkout does what actions/checkout does: it fetches everything, and leaves no credentials.
func (r *runner) checkout(with map[string]string) {
	dir := filepath.Join(r.job.dir, with["path"])
	if with["repository"] != "" {
		require.Equal(r.t, "teaching/course-private", r.expand(with["repository"]))
		require.Equal(r.t, "${{ secrets.COURSE_KEY }}", with["ssh-key"])
		r.git(r.job.dir, "clone", "-q", r.private, dir)
		return
	}
	require.Equal(r.t, "0", with["fetch-depth"])
	require.Equal(r.t, "false", with["persist-credentials"])
	r.git(r.job.dir, "clone", "-q", "--no-checkout", r.students, dir)
	r.git(dir, "checkout", "-q", "--detach", r.expand(with["ref"]))
}

// action runs the steps of action.yml.
func (r *runner) action(with map[string]string) {
	a := workflow(r.t, "action.yml")
	for name, input := range a.Inputs {
		r.values["inputs."+name] = input.Default
	}
	for name, value := range with {
		require.Contains(r.t, a.Inputs, name)
		r.values["inputs."+name] = r.expand(value)
	}
	for _, s := range a.Runs.Steps {
		require.True(r.t, s.Run == "" || s.Shell == "bash")
		r.step(s)
	}
}

// run runs a script as the runner does, in a shell of its own.
func (r *runner) run(s workflowStep) {
	env := r.env
	for name, value := range s.Env {
		env = append(env, name+"="+r.expand(value))
	}
	if added, err := os.ReadFile(r.path); err == nil {
		env = append(env, "PATH="+strings.TrimSpace(string(added))+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	flags := "-e"
	if s.Shell == "bash" {
		flags = "-eo pipefail"
	}
	script := filepath.Join(r.t.TempDir(), "script.sh")
	require.NoError(r.t, os.WriteFile(script, []byte(s.Run), 0o666))
	start := time.Now()
	out, status := bash(r.t, filepath.Join(r.job.dir, s.Dir), env, "exec bash --noprofile --norc "+flags+" "+script)
	r.t.Logf("%s: status %d after %.1f s\n%s", s.Name, status, time.Since(start).Seconds(), out)
	r.job.log += out
	if status != 0 {
		r.job.status = status
	}
}

// gitlab runs the script of the sample's job for GitLab.
func (c *course) gitlab(variables map[string]string) job {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join("examples", "course", ".gitlab-ci.yml"))
	require.NoError(c.t, err)
	var config map[string]struct {
		Script    []string
		Variables map[string]string
	}
	require.NoError(c.t, yaml.Unmarshal(data, &config))
	sample := config["grade"]
	require.Equal(c.t, "false", sample.Variables["GIT_CHECKOUT"])
	require.Equal(c.t, "0", sample.Variables["GIT_DEPTH"])
	j := job{dir: filepath.Join(c.t.TempDir(), "project")}
	c.git(c.students, "clone", "-q", "--no-checkout", c.students, j.dir)
	env := append(bare(c.env), "CI=true", "GITLAB_CI=true", "CI_PROJECT_DIR="+j.dir, "CI_DEFAULT_BRANCH=main", "CI_PIPELINE_ID=1", "COURSE_URL="+c.private)
	for name, value := range sample.Variables {
		if strings.HasPrefix(name, "GIT_") {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	j.log, j.status = bash(c.t, j.dir, env, "set -o pipefail\n"+strings.Join(sample.Script, "\n"))
	c.t.Logf("status %d\n%s", j.status, j.log)
	return j
}
