package grade_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/turn"
)

// otherProgram stands in for grade, which has nothing to do with how its results are kept,
// and for sleep.
const otherProgram = `#!/usr/bin/env bash
case "$0 ${1-}" in
*sleep*) exit ;;
esac
while [ "$1" != --results ]; do shift; done
if [ -n "${RESULT-}" ]; then mkdir -p "$2"; echo "$RESULT" >>"$2/results.jsonl"; fi
exit "${STATUS:-0}"
`

// keeping is a course whose private repository refuses as many pushes as told.
func keeping(t *testing.T, refused int) *course {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"grade", "sleep"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(otherProgram), 0o777))
	}
	c := newCourseWith(t, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH")))
	hook := "#!/bin/sh\nn=$(cat hooks/left)\necho $((n - 1)) >hooks/left\ntest $n -le 0\n"
	require.NoError(t, os.MkdirAll(filepath.Join(c.private, "hooks"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(c.private, "hooks", "left"), fmt.Appendln(nil, refused), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(c.private, "hooks", "pre-receive"), []byte(hook), 0o777))
	c.commit("start", "", "README.md", "grade.yaml")
	return c
}

// keepOnGitLab runs the whole job, and keepOnGitHub the step after grade's.
func keepOnGitLab(c *course, result string, status int) job {
	return c.gitlab(map[string]string{
		"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": c.commits["start"], "RESULT": result, "STATUS": fmt.Sprint(status), "PATH": variable(c.env, "PATH"),
	})
}

func keepOnGitHub(c *course, result string, _ int) job {
	r := &runner{course: c, path: "none", job: job{dir: c.t.TempDir()}, env: append(bare(c.env), "GITHUB_RUN_ID=1")}
	course := filepath.Join(r.job.dir, "course")
	c.git(r.job.dir, "clone", "-q", c.private, course)
	out, _ := bash(c.t, r.job.dir, append(c.env, "RESULT="+result), "grade --results course/grades")
	steps := workflow(c.t, "examples/course/.github/workflows/grade.yml").Jobs["grade"].Steps
	require.Equal(c.t, "keep the results", steps[len(steps)-1].Name, out)
	r.step(steps[len(steps)-1])
	return r.job
}

// variable is the last value of a variable.
func variable(env []string, name string) (value string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// Results are kept although others push at the same time, and where they could not be the
// job says so.
func TestSampleKeepsResults(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	for forge, keep := range map[string]func(*course, string, int) job{"GitLab": keepOnGitLab, "GitHub": keepOnGitHub} {
		for name, x := range map[string]struct {
			refused int
			result  string
			status  int // of grade
			want    int
			kept    string
		}{
			"nothing yet":          {want: 0},
			"at once":              {result: "one", want: 0, kept: "one"},
			"after some tries":     {refused: 3, result: "one", want: 0, kept: "one"},
			"not at all":           {refused: 9, result: "one", want: 3},
			"points missing":       {result: "one", status: 1, want: 1, kept: "one"},
			"missing and lost":     {refused: 9, result: "one", status: 1, want: 3},
			"usage, and no folder": {status: 2, want: 2},
		} {
			if forge == "GitHub" && x.status != 0 {
				continue // an earlier step's
			}
			t.Run(forge+"/"+name, func(t *testing.T) {
				c := keeping(t, x.refused)
				got := keep(c, x.result, x.status)
				assert.Equal(t, x.want, got.status, got.log)
				assert.Equal(t, x.want == 3, strings.Contains(got.log, "The results could not be kept: run this job again."))
				out, _ := bash(t, c.private, c.env, "git show main:grades/results.jsonl 2>&1")
				assert.Equal(t, x.kept != "", strings.TrimSpace(out) == x.kept, out)
			})
		}
	}
}

// What another run has kept meanwhile stays beside it.
func TestSampleKeepsResultsOfTwo(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	c := keeping(t, 0)
	// The other run's push comes in between: a hook of git's does it before the first of ours.
	push := fmt.Sprintf("#!/bin/sh\nrm \"$0\"\ncd %q && git clone -q %q . && mkdir grades && echo other >grades/results.jsonl && git add . && git -c user.name=b -c user.email=b commit -qm other && git push -q\n", t.TempDir(), c.private)
	template := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(template, "hooks"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(template, "hooks", "pre-push"), []byte("#!/bin/sh\nunset $(git rev-parse --local-env-vars)\nif [ ! -e "+template+"/done ]; then touch "+template+"/done; "+template+"/push; fi\n"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(template, "push"), []byte(push), 0o777))
	c.env = append(c.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0="+filepath.Join(template, "hooks"))
	got := keepOnGitLab(c, "mine", 0)
	assert.Equal(t, 0, got.status, got.log)
	assert.ElementsMatch(t, []string{"mine", "other"}, strings.Fields(c.git(c.private, "show", "main:grades/results.jsonl")))
}
