package course

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKit(t *testing.T) {
	tree := fstest.MapFS{}
	for _, name := range []string{"observe/a.go", "observe/a_test.go", "observe/wire/b.go", "observe/wire/testdata/c.go", "exercises/d.go"} {
		tree[name] = &fstest.MapFile{Data: []byte(name)}
	}
	own, err := Kit(tree, "grade", "1.26")
	require.NoError(t, err)
	assert.Equal(t, []File{{"observe/a.go", []byte("observe/a.go")}, {"observe/wire/b.go", []byte("observe/wire/b.go")}}, own)

	other, err := Kit(tree, "example.com/course", "1.26")
	require.NoError(t, err)
	assert.Equal(t, []File{
		{"kit/go.mod", []byte("module grade\n\ngo 1.26\n")},
		{"kit/observe/a.go", []byte("observe/a.go")}, {"kit/observe/wire/b.go", []byte("observe/wire/b.go")},
	}, other)
}
