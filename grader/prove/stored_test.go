package prove

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/grader/tree"
)

// What a course ships is taken from its files; a submission that cannot be read is told,
// and keeps no other from being graded.
func TestStoredBy(t *testing.T) {
	files := coursetest.WithEdits()
	files[coursetest.SubmissionsRoot+"too_slow/doubled/change.edits"] = "*** gears.go\n-\treturn 7\n+\treturn 2\n"
	files[coursetest.SubmissionsRoot+"README.md"] = "stray\n"
	dir := tree.New(t, files)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("package gears // secret\n"), 0o600))
	linked := filepath.Join(dir, filepath.FromSlash(coursetest.SubmissionsRoot), "wrong_answer", "off-by-one", "leak.go")
	require.NoError(t, os.Symlink(secret, linked))

	list, err := StoredBy(dir, "gears")
	require.NoError(t, err)
	told := map[string]string{}
	for _, s := range list {
		snapshot, err := s.Take()
		if told[s.Name] = "taken"; err != nil {
			told[s.Name] = err.Error()
			continue
		}
		for _, f := range snapshot.Files {
			assert.NotContains(t, string(f.Data), "secret", s.Name)
		}
	}
	assert.Equal(t, "taken", told["accepted/loop"])
	assert.Contains(t, told["too_slow/doubled"], "change.edits:2: not found in gears.go of accepted/loop")
	assert.Contains(t, told["wrong_answer/off-by-one"], "leak.go: want a regular file, not a link or a device")
	assert.NotContains(t, told, "README.md")

	_, err = StoredBy(tree.New(t, coursetest.Files()), "gears")
	assert.ErrorContains(t, err, "no folder with a submission")
}
