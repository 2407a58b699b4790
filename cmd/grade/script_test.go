package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what scripts can run: grade itself, and where the system allows it,
// programs that run another one on a terminal or interrupt it. A script asks with
// the program's name as a condition.
var programs = map[string]func(){"grade": main}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits},
		Condition:           func(cond string) (bool, error) { _, ok := programs[cond]; return ok, nil },
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm-256color")
			// As make test builds: else vet and test of a script compile the standard library anew.
			env.Setenv("GOFLAGS", "-trimpath")
			env.Setenv("CGO_ENABLED", "0")
			keepCaches(env.Setenv)
			return os.CopyFS(filepath.Join(env.WorkDir, "course"), os.DirFS(filepath.Join("testdata", "course")))
		},
	})
}

// keepCaches lets what has an environment of its own use the caches of the user of this test,
// Go's and grade's: without them it compiles the standard library first.
func keepCaches(setenv func(name, value string)) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return // slow, and right
	}
	setenv("XDG_CACHE_HOME", dir)
	setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(dir, "go-build")))
}

// cmdExits runs a command that must end with exactly the given status, which "exec"
// and "! exec" do not ask for:
//
//	exits N command [args...]
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%q ended with status %d, want %d", args[1:], got, want)
	}
}
