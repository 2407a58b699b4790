package grade_test

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// programDir is where the tests of this package build grade, once for all of them.
var programDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (status int) {
	var err error
	if programDir, err = os.MkdirTemp("", "grade-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programDir)
	return m.Run()
}

var build = sync.OnceValues(func() (out []byte, err error) {
	return exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", programDir, "./cmd/grade").CombinedOutput()
})

// program returns the folder that has grade.
func program(t *testing.T) string {
	t.Helper()
	out, err := build()
	require.NoError(t, err, "%s", out)
	return programDir
}
