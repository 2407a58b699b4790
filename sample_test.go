package grade_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"grade/grader/turn"
)

// The sample course, run by what its own workflow says, as GitHub would run it: a push to
// main, a pull request of a fork that does not compile, and its next push.
func TestSampleOnGitHub(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	c := newCourse(t)
	c.commit("start", "", "README.md", "go.mod", "grade.yaml", ".github", "students/ada/mean")
	c.commit("two", "", "students/ada/variance", "students/bo")

	push := c.github("push", c.pushEvent("start", "two"))
	assert.Equal(t, 1, push.status, push.log)
	assert.Equal(t, "points=170\nmax-points=200\ngraded=2\nno-verdict=0\npassed=false\n", push.outputs)
	assert.Contains(t, push.log, "graded      ada  variance  100 of 100\ngraded      bo  variance  70 of 100\ngraded 2, cached 0, no verdict 0\n", "and not ada's mean")
	assert.Regexp(t, `(?m)^::warning file=students/bo/variance,title=.*::.*TestOffset`, push.log)
	assert.Contains(t, push.summary, "TestOffset")
	assert.Len(t, c.kept(), 2, "in the private repository")

	c.commit("cem", "from a fork", "students/cem")
	first := c.github("pull_request_target", c.requestEvent("two", "cem", "cem", "2026-12-02T10:00:00Z"))
	assert.Equal(t, 1, first.status, first.log)
	assert.Equal(t, "points=0\nmax-points=100\ngraded=1\nno-verdict=0\npassed=false\n", first.outputs)
	assert.Contains(t, first.log, "\n::error file=students/cem/variance/variance.go,line=9,title=compile::")
	assert.NotContains(t, first.log+first.summary, "bo")

	c.replace("students/cem/variance/variance.go", "sum := 0\n", "sum := 0.0\n")
	c.replace("students/cem/variance/variance.go", "float64(len(xs))\n}\n\n// Mean", "float64(max(1, len(xs)))\n}\n\n// Mean")
	c.commit("mended", "from a fork")
	second := c.github("pull_request_target", c.requestEvent("two", "mended", "cem", "2026-12-02T11:00:00Z"))
	assert.Equal(t, 0, second.status, second.log)
	assert.Equal(t, "points=100\nmax-points=100\ngraded=1\nno-verdict=0\npassed=true\n", second.outputs)
	assert.Contains(t, second.summary, "Attempt 2")
	kept := c.kept()
	require.Len(t, kept, 4)
	assert.Equal(t, "cem variance 2 students/cem/variance 2026-12-02T11:00:00Z the pull request", kept[3], "in the time of the server")

	// Merging it makes the submission no later, and does not grade it again.
	merged := c.github("push", c.pushEvent("two", "mended"))
	assert.Equal(t, 0, merged.status, merged.log)
	assert.Contains(t, merged.log, "graded 0, cached 1, no verdict 0\n")
	assert.Len(t, c.kept(), 4)

	other := c.github("pull_request_target", c.requestEvent("two", "mended", "ada", "2026-12-02T11:00:00Z"))
	assert.Equal(t, 1, other.status, other.log)
	assert.Contains(t, other.log, "students/cem is not ada's")
	assert.Contains(t, other.summary, "Other students' folders were changed")
	assert.Equal(t, "points=0\nmax-points=0\ngraded=0\nno-verdict=0\npassed=false\n", other.outputs)
}

// The same with the job for GitLab, whose project folder is empty but for its .git.
func TestSampleOnGitLab(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	c := newCourse(t)
	c.commit("start", "", "README.md", "grade.yaml", "students/ada/mean")
	c.commit("cem", "cem", "students/cem")
	job := c.gitlab(map[string]string{
		"CI_PIPELINE_SOURCE": "merge_request_event", "CI_COMMIT_SHA": c.commits["cem"], "CI_MERGE_REQUEST_DIFF_BASE_SHA": c.commits["start"],
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_PIPELINE_CREATED_AT": "2026-12-02T10:00:00Z", "GITLAB_USER_LOGIN": "cem",
	})
	assert.Equal(t, 1, job.status, job.log)
	assert.Regexp(t, `graded      cem  variance  0 of 100  does not compile: variance\.go:\d+: .*\ngraded 1, cached 0, no verdict 0\n`, job.log)
	assert.NotContains(t, job.log, "::error")
	junit, err := os.ReadFile(filepath.Join(job.dir, "junit.xml"))
	require.NoError(t, err)
	assert.Contains(t, string(junit), `<testsuite name="cem/variance"`)
	quality, err := os.ReadFile(filepath.Join(job.dir, "codequality.json"))
	require.NoError(t, err)
	assert.Regexp(t, `(?s)"path": ?"students/cem/variance/variance.go".*"begin": ?9\b`, string(quality))
	assert.Equal(t, []string{"cem variance 1 students/cem/variance 2026-12-02T10:00:00Z the pipeline"}, c.kept())

	job = c.gitlab(map[string]string{
		"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": c.commits["start"], "CI_COMMIT_BRANCH": "main", "CI_COMMIT_BEFORE_SHA": c.commits["start"], "CI_PIPELINE_CREATED_AT": "2026-12-02T10:00:00Z",
	})
	assert.Equal(t, 0, job.status, job.log)
	assert.Contains(t, job.log, "0 submissions")
}

// Actions of others are pinned to a commit that was reviewed.
func TestSamplePinsActions(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+/[\w.-]+@[0-9a-f]{40}$`)
	steps := append(workflow(t, "examples/course/.github/workflows/grade.yml").Jobs["grade"].Steps, workflow(t, "action.yml").Runs.Steps...)
	seen := 0
	for _, s := range steps {
		if s.Uses != "" {
			seen++
			assert.Regexp(t, pinned, s.Uses)
		}
		assert.NotContains(t, s.Run, "${{", "text of an event in a script is a program")
	}
	assert.Equal(t, 4, seen)
}

// The private course passes its own check.
func TestSampleCourse(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("grades with an engine; see: make course")
	}
	out, status := bash(t, filepath.Join("examples", "course-private"), withGrade(t), "grade exercise check && go vet ./...")
	assert.Equal(t, 0, status, out)
}

// course is the sample as real repositories: the students', and the private one with the
// bare one that it is pushed to.
type course struct {
	t                       *testing.T
	env                     []string
	students, private, temp string
	commits                 map[string]string
}

func newCourse(t *testing.T) *course {
	t.Helper()
	if testing.Short() {
		t.Skip("grades with an engine; see: make course")
	}
	return newCourseWith(t, withGrade(t))
}

// newCourseWith has programs of its own on the path.
func newCourseWith(t *testing.T, env []string) *course {
	t.Helper()
	c := &course{t: t, env: append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1"), commits: map[string]string{}}
	root := t.TempDir()
	c.students, c.private, c.temp = filepath.Join(root, "students"), filepath.Join(root, "course-private.git"), filepath.Join(root, "temp")
	require.NoError(t, os.Mkdir(c.temp, 0o777))
	c.git(root, "init", "-q", "-b", "main", c.students)
	source := filepath.Join(root, "course-private")
	require.NoError(t, os.CopyFS(source, os.DirFS(filepath.Join("examples", "course-private"))))
	c.git(root, "init", "-q", "-b", "main", source)
	c.git(source, "add", "-A")
	c.git(source, "commit", "-qm", "course")
	c.git(root, "clone", "-q", "--bare", source, c.private)
	return c
}

func (c *course) git(dir string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(c.env, "GIT_AUTHOR_DATE=2001-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z") // forged
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "git %s: %s", args, out)
	return strings.TrimSpace(string(out))
}

// commit commits what is in the students' repository, with more files of the sample; on
// another branch than main, if one is named.
func (c *course) commit(name, branch string, files ...string) {
	c.t.Helper()
	if branch = strings.ReplaceAll(branch, " ", "-"); branch != "" && !strings.Contains(c.git(c.students, "branch"), branch) {
		c.git(c.students, "checkout", "-qb", branch)
	}
	for _, f := range files {
		from, to := filepath.Join("examples", "course", f), filepath.Join(c.students, f)
		require.NoError(c.t, os.MkdirAll(filepath.Dir(to), 0o777))
		out, err := exec.Command("cp", "-r", from, to).CombinedOutput()
		require.NoError(c.t, err, "%s", out)
	}
	c.git(c.students, "add", "-A")
	c.git(c.students, "commit", "-qm", name)
	c.commits[name] = c.git(c.students, "rev-parse", "HEAD")
}

func (c *course) replace(name, old, with string) {
	c.t.Helper()
	file := filepath.Join(c.students, name)
	data, err := os.ReadFile(file)
	require.NoError(c.t, err)
	require.Contains(c.t, string(data), old)
	require.NoError(c.t, os.WriteFile(file, []byte(strings.Replace(string(data), old, with, 1)), 0o666))
}

// kept are the results in the private repository, a line each.
func (c *course) kept() (list []string) {
	c.t.Helper()
	for line := range strings.Lines(c.git(c.private, "show", "main:grades/results.jsonl")) {
		var r struct {
			Student, Exercise, Folder, Submitted string
			Attempt                              int
			Source                               string `json:"submitted_source"`
		}
		require.NoError(c.t, json.Unmarshal([]byte(line), &r))
		list = append(list, fmt.Sprintf("%s %s %d %s %s %s", r.Student, r.Exercise, r.Attempt, r.Folder, r.Submitted, r.Source))
	}
	return list
}

const sampleRepository = `"repository": {"full_name": "teaching/students", "default_branch": "main", "pushed_at": 1795788000}`

func (c *course) pushEvent(before, after string) string {
	return fmt.Sprintf(`{"ref": "refs/heads/main", "before": %q, "after": %q, %s}`, c.commits[before], c.commits[after], sampleRepository)
}

func (c *course) requestEvent(base, head, author, updated string) string {
	return fmt.Sprintf(`{"pull_request": {"updated_at": %q, "user": {"login": %q}, "base": {"sha": %q, "ref": "main", "repo": {"full_name": "teaching/students"}},
		"head": {"sha": %q, "repo": {"full_name": "%s/students"}}}, %s}`, updated, author, c.commits[base], c.commits[head], author, sampleRepository)
}

// job is what came of one.
type job struct {
	dir, log, outputs, summary string
	status                     int
}

// workflowFile is the part of a workflow or an action that matters here.
type workflowFile struct {
	Jobs map[string]struct{ Steps []workflowStep } `yaml:"jobs"`
	// Of an action.
	Runs   struct{ Steps []workflowStep }      `yaml:"runs"`
	Inputs map[string]struct{ Default string } `yaml:"inputs"`
}

type workflowStep struct {
	Name, Uses, Run, Shell string
	Dir                    string `yaml:"working-directory"`
	If                     string
	With, Env              map[string]string
}

func workflow(t *testing.T, name string) (w workflowFile) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, &w))
	return w
}
