package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded builds an honest package and returns the recipe.
func recorded(t *testing.T) (name string) {
	t.Helper()
	dir := t.TempDir()
	honest := packageToBuild{source: "package p\n\nfunc F() {}\n", built: true}
	honest.lay(t, dir)
	_, _ = honest.build(t, dir) // now the standard library is in go's cache: a recipe knows no assembler
	honest.lay(t, dir)
	name = filepath.Join(dir, "recipe")
	out, err := honest.build(t, dir, "record", name)
	honest.hold(t, dir, out, err)
	require.FileExists(t, name, "%s", out)
	return name
}

// A build by a recipe comes to the same as one by the go command.
func TestReplay(t *testing.T) {
	recipe := recorded(t)
	for name, p := range packages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p.lay(t, dir)
			out, err := p.build(t, dir, "replay", recipe)
			p.hold(t, dir, out, err)
			if p.built {
				out, err = goCommand(dir, filepath.Join(dir, "p.test"), "-test.v").CombinedOutput()
				require.NoError(t, err)
				require.Contains(t, string(out), "--- PASS: TestF")
			}
		})
	}
}

// Without a file for the report nothing is checked, by a recipe or by the go command.
func TestReplayUnchecked(t *testing.T) {
	recipe := recorded(t)
	for _, mode := range [][]string{nil, {"replay", recipe}} {
		dir := t.TempDir()
		packages["print"].lay(t, dir)
		out, err := packageToBuild{unchecked: true}.build(t, dir, mode...)
		require.NoError(t, err, "%s", out)
		require.NoFileExists(t, filepath.Join(dir, "report"))
		require.FileExists(t, filepath.Join(dir, "p.test"))
	}
}

// Only what a recipe cannot build is left to the go command.
func TestReplayWithoutGo(t *testing.T) {
	recipe := recorded(t)
	for source, without := range map[string]bool{
		"package p\n\nfunc F() {}\n": true,
		"package p\n\nimport \"fmt\"\n\nfunc F() string { return fmt.Sprint(1) }\n":      true, // the reference does not import it
		"package p\n\nimport \"errors\"\n\nfunc F() error { return errors.New(\"\") }\n": true, // fmt does
		"package p\n\nimport \"container/ring\"\n\nvar F = ring.New\n":                   false,
		"package p\n\nfunc F() int { return \"\" }\n":                                    false,
	} {
		dir := t.TempDir()
		packageToBuild{source: source}.lay(t, dir)
		fake := filepath.Join(dir, "bin")
		require.NoError(t, os.Mkdir(fake, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(fake, "go"), []byte("#!/bin/sh\nexit 9\n"), 0o755))
		t.Setenv("PATH", fake+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := packageToBuild{}.build(t, dir, "replay", recipe)
		require.Equal(t, without, err == nil, "%s: %s", source, out)
	}
}

// A recipe that cannot be followed costs no build.
func TestReplayOfABrokenRecipe(t *testing.T) {
	dir := t.TempDir()
	honest := packages["honest"]
	for name, data := range map[string]string{
		"empty": "", "no calls": `{"Version":1}`, "of another version": `{"Version":2}`,
		"no link":                  `{"Version":1,"Calls":[{"Args":["/x/compile","-p","m/reference/p","a.go"]}]}`,
		"another package":          `{"Version":1,"Calls":[{"Args":["/x/compile","-p","m","a.go"]},{"Args":["/x/compile","-p","main","_testmain.go"]},{"Args":["/x/link","-o","x"]}]}`,
		"a tool that is not there": `{"Version":1,"Calls":[{"Args":["/x/compile","-p","m/reference/p","a.go"]},{"Args":["/x/compile","-p","main","_testmain.go"]},{"Args":["/x/link","-o","x"]}]}`,
	} {
		honest.lay(t, dir)
		recipe := filepath.Join(dir, "recipe")
		require.NoError(t, os.WriteFile(recipe, []byte(data), 0o644))
		out, err := honest.build(t, dir, "replay", recipe)
		require.NoError(t, err, "%s: %s", name, out)
		honest.hold(t, dir, out, err)
	}
}
