package grade_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The wrappers call grade with a report for their reader, try again only after a
// fault of ours, and never make a grade of one.
func TestExampleWrappers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, source string
		attempts       int
		env            []string
	}{
		"gradescope":   {"run_autograder", "source", 2, []string{"AUTOGRADER="}},
		"prairielearn": {"entrypoint.sh", "bin", 1, []string{"EXERCISE=tally", "GRADE_ROOT="}},
	} {
		for status, writes := range map[string]string{
			"0": `{"score": 1}`, "1": `{"score": 0.5}`, "2": `{"message": "what the student has to do"}`, "3": `{"message": "no grade"}`, "137": "",
		} {
			t.Run(name+"/"+status, func(t *testing.T) {
				root := t.TempDir()
				source := filepath.Join(root, c.source)
				require.NoError(t, os.CopyFS(source, os.DirFS(filepath.Join("examples", name))))
				require.NoError(t, os.WriteFile(filepath.Join(source, "grade"), []byte(fakeGrade), 0o777))
				env := append(os.Environ(), "PATH="+source+string(os.PathListSeparator)+os.Getenv("PATH"), "STATUS="+status, "WRITES="+writes, "DOCKER_HOST=")
				for _, e := range c.env {
					if strings.HasSuffix(e, "=") {
						e += root
					}
					env = append(env, e)
				}
				out, code := bash(t, root, env, filepath.Join(source, c.script))
				require.Zero(t, code, out)

				b, err := os.ReadFile(filepath.Join(root, "results", "results.json"))
				require.NoError(t, err)
				var doc map[string]any
				require.NoError(t, json.Unmarshal(b, &doc))
				if writes != "" {
					assert.Equal(t, writes+"\n", string(b), "what grade has said stays as it is")
				} else {
					assert.NotContains(t, doc, "score", "killed is no grade")
				}
				calls, err := os.ReadFile(filepath.Join(root, "calls"))
				require.NoError(t, err)
				want := 1
				if status == "3" {
					want = c.attempts
				}
				assert.Equal(t, want, strings.Count(string(calls), "\n"), string(calls))
				assert.Contains(t, string(calls), "--report "+name+"="+root)
				assert.Contains(t, string(calls), "--sandbox process")
			})
		}
	}
}

// All attempts together have the time of one.
func TestGradescopeWrapperHasOneDeadline(t *testing.T) {
	t.Parallel()
	run := func(limit string, env ...string) (calls []string) {
		root := t.TempDir()
		source := filepath.Join(root, "source")
		require.NoError(t, os.CopyFS(source, os.DirFS(filepath.Join("examples", "gradescope"))))
		require.NoError(t, os.WriteFile(filepath.Join(source, "grade"), []byte(fakeGrade), 0o777))
		settings, err := os.OpenFile(filepath.Join(source, "settings.sh"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = settings.WriteString(limit)
		require.NoError(t, errors.Join(err, settings.Close()))
		out, code := bash(t, root, append(append(os.Environ(), "AUTOGRADER="+root, "STATUS=3", "DOCKER_HOST="), env...), filepath.Join(source, "run_autograder"))
		require.Zero(t, code, out)
		b, err := os.ReadFile(filepath.Join(root, "calls"))
		require.NoError(t, err)
		for _, call := range regexp.MustCompile(`--timeout (\d+)s `).FindAllStringSubmatch(string(b), -1) {
			calls = append(calls, call[1])
		}
		return calls
	}
	assert.Len(t, run("limit=5", "TAKES=5.1"), 1, "no time is left")
	both := run("", "TAKES=1.1")
	require.Len(t, both, 2)
	assert.Less(t, both[1], both[0], "the second attempt has what is left") // three digits each
}

// fakeGrade notes its arguments, takes its time, writes a result if it is to, and ends
// as told.
const fakeGrade = `#!/usr/bin/env bash
echo "$*" >>calls
sleep "${TAKES:-0}"
if [ -n "${WRITES:-}" ]; then echo "$WRITES" >results/results.json; fi
exit "$STATUS"
`
