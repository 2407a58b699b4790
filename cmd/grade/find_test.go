package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/gradebook"
)

// What is kept with the results below a path is not handed in once more.
func TestKeptSubmissionsAreNotFound(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"ada/mean/a.go", "bo/submissions/mean/a.go", "grade-results/submissions/abc.zip"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), nil, 0o666))
	}
	o := &batchOptions{app: newApp(nil, io.Discard, io.Discard), paths: []string{root}, results: filepath.Join(root, "grade-results"), policy: gradebook.NewPolicy([]string{"mean"})}
	list, err := o.find(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "ada", list[0].Student)
	assert.Equal(t, "bo/submissions", list[1].Student)
}
