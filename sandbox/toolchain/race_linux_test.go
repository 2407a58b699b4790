package toolchain

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// script writes a program for the shell.
func script(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700))
}

// scriptedGo returns a toolchain whose builds run a script. Where the script lets it, a build
// gives this test's own program.
func scriptedGo(t *testing.T, text string) Go {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	g := Go{Root: t.TempDir(), Version: "go1.26.1"}
	script(t, g.Command(), "echo >>\"$0.builds\"\n"+text+fmt.Sprintf("\nwhile [ \"$1\" != -o ]; do shift; done\ncp '%s' \"$2\"\n", self))
	return g
}

// scriptedCompiler has gcc run a script.
func scriptedCompiler(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "gcc"), text)
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// Only a machine without gcc, or one where the build fails again and again, has no race
// detector. Any other fault may pass.
func TestRaceFaults(t *testing.T) {
	const library, well = `echo "$0"`, ""
	for name, c := range map[string]struct {
		gcc, build string
		builds     int
		fails      bool
		noRace     bool
	}{
		"all is well":              {library, well, 1, false, false},
		"a build fails once":       {library, `[ "$(wc -l <"$0.builds")" -gt 1 ] || exit 1`, 2, false, false},
		"each build fails":         {library, "exit 1", raceBuilds, true, true},
		"the go command is killed": {library, "kill -9 $$", 1, true, false},
		"gcc is another compiler":  {"exit 1", well, 1, true, true},
		"gcc's library is missing": {"echo /nonexistent/library", well, 1, true, true},
		"gcc is killed":            {"kill -9 $$", well, 1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			scriptedCompiler(t, c.gcc)
			g := scriptedGo(t, c.build)
			_, err := g.Race(t.Context(), t.TempDir(), 0)
			assert.Equal(t, c.fails, err != nil, err)
			assert.Equal(t, c.noRace, errors.Is(err, sandbox.ErrNoRace), err)
			builds, err := os.ReadFile(g.Command() + ".builds")
			require.NoError(t, err)
			assert.Equal(t, c.builds, strings.Count(string(builds), "\n"))
		})
	}
}

func TestRaceFaultsBeforeTheBuild(t *testing.T) {
	scriptedCompiler(t, `echo "$0"`)
	_, err := Go{Root: t.TempDir()}.Race(t.Context(), t.TempDir(), 0)
	require.ErrorIs(t, err, os.ErrNotExist, "there is no go command")
	assert.NotErrorIs(t, err, sandbox.ErrNoRace)

	cache := t.TempDir()
	_, err = scriptedGo(t, "").Race(t.Context(), filepath.Join(cache, "none", "race"), 0)
	require.ErrorIs(t, err, os.ErrNotExist, "there is no folder for the cache")
	assert.NotErrorIs(t, err, sandbox.ErrNoRace)

	t.Setenv("PATH", t.TempDir())
	_, err = scriptedGo(t, "").Race(t.Context(), cache, 0)
	assert.ErrorIs(t, err, sandbox.ErrNoRace, "there is no gcc")
}

// A machine may lack the linker that a program names, or have one that cannot load it.
func TestRaceLinker(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	f, err := elf.Open(sh)
	require.NoError(t, err)
	defer f.Close()
	at := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if at < 0 {
		t.Skip("NOT TESTED: the shell is a static program")
	}
	data, err := os.ReadFile(sh)
	require.NoError(t, err)
	_, err = loads(t.Context(), sh)
	require.NoError(t, err)
	for _, linker := range []string{"/none\x00", "/bin/false\x00"} {
		program := filepath.Join(t.TempDir(), "program")
		changed := bytes.Clone(data)
		copy(changed[f.Progs[at].Off:], linker+strings.Repeat("\x00", int(f.Progs[at].Filesz)-len(linker)))
		require.NoError(t, os.WriteFile(program, changed, 0o700))
		_, err := loads(t.Context(), program)
		assert.ErrorIs(t, err, sandbox.ErrNoRace, linker)
	}
}
