package grade_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The wrappers call grade with a report for their reader, try again only after a
// fault of ours, and never make a grade of one.
func TestExampleWrappers(t *testing.T) {
	for name, c := range map[string]struct {
		script, source string
		attempts       int
		env            []string
	}{
		"gradescope":   {"run_autograder", "source", 2, []string{"AUTOGRADER="}},
		"prairielearn": {"entrypoint.sh", "bin", 1, []string{"EXERCISE=tally", "GRADE_ROOT="}},
	} {
		for status, writes := range map[string]bool{"0": true, "1": true, "2": true, "3": false, "137": false} {
			t.Run(name+"/"+status, func(t *testing.T) {
				root := t.TempDir()
				source := filepath.Join(root, c.source)
				require.NoError(t, os.CopyFS(source, os.DirFS(filepath.Join("examples", name))))
				require.NoError(t, os.WriteFile(filepath.Join(source, "grade"), []byte(fakeGrade), 0o777))
				env := append(os.Environ(), "PATH="+source+string(os.PathListSeparator)+os.Getenv("PATH"), "STATUS="+status, "DOCKER_HOST=")
				if writes {
					env = append(env, "WRITES=1")
				}
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
				assert.Equal(t, writes, doc["score"] != nil)
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

// fakeGrade notes its arguments, writes a result if it is to, and ends as told.
const fakeGrade = `#!/usr/bin/env bash
echo "$*" >>calls
if [ -n "${WRITES:-}" ]; then echo '{"score": 1}' >results/results.json; fi
exit "$STATUS"
`
