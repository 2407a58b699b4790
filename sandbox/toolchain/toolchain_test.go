package toolchain

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	g, err := Find(t.Context())
	require.NoError(t, err)
	assert.FileExists(t, g.Command())
	assert.True(t, strings.HasPrefix(g.Version, "go1."), g.Version)

	t.Setenv("PATH", t.TempDir())
	_, err = Find(t.Context())
	require.ErrorContains(t, err, "install Go")
}

func program(says string) fstest.MapFS {
	return fstest.MapFS{"cmd/hello/main.go": {Data: []byte("package main\n\nfunc main() { print(\"" + says + "\") }\n")}}
}

func TestCompile(t *testing.T) {
	if base, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		t.Setenv("GOCACHE", filepath.Join(base, "go-build")) // the standard library is there
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod -tags=surprise") // ignored
	g, err := Find(t.Context())
	require.NoError(t, err)
	one, err := g.Compile(t.Context(), program("one"), "cmd/hello", runtime.GOARCH)
	require.NoError(t, err)
	again, err := g.Compile(t.Context(), program("one"), "cmd/hello", runtime.GOARCH)
	require.NoError(t, err)
	two, err := g.Compile(t.Context(), program("two"), "cmd/hello", runtime.GOARCH)
	require.NoError(t, err)
	assert.Equal(t, one, again)
	assert.NotEqual(t, one, two)
	if runtime.GOOS == "linux" {
		said, err := exec.Command(two).CombinedOutput()
		require.NoError(t, err)
		assert.Equal(t, "two", string(said))
	}
	_, err = g.Compile(t.Context(), program("\n"), "cmd/hello", runtime.GOARCH)
	require.ErrorContains(t, err, "compile cmd/hello for linux/"+runtime.GOARCH)
	require.ErrorContains(t, err, "main.go:3")
	left, err := os.ReadDir(filepath.Dir(two))
	require.NoError(t, err)
	assert.Len(t, left, 2, "a failed build leaves no file")
}

func TestHash(t *testing.T) {
	seen := map[string]bool{}
	for _, tree := range []fstest.MapFS{
		{}, {"a": {Data: []byte("b")}}, {"a": {Data: []byte("c")}}, {"b": {Data: []byte("b")}}, {"a": {}, "b": {}}, {"a": {Data: []byte("\"b\" 0\n")}},
	} {
		h, err := hashTree(tree)
		require.NoError(t, err)
		seen[h] = true
	}
	assert.Len(t, seen, 6)
}

func TestLanguageVersion(t *testing.T) {
	for version, want := range map[string]string{"go1.26.1": "1.26", "go1.27": "1.27", "go1.26.1-custom": "1.26"} {
		assert.Equal(t, want, languageVersion(version), version)
	}
}

// The cache refuses a directory that another user made, since grade runs programs
// from it.
func TestSharedCache(t *testing.T) {
	temp := t.TempDir()
	dir, err := sharedCache(temp)
	require.NoError(t, err)
	again, err := sharedCache(temp)
	require.NoError(t, err)
	assert.Equal(t, dir, again)
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = sharedCache(temp)
	require.ErrorContains(t, err, "not a private directory of this user")
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Symlink(t.TempDir(), dir))
	_, err = sharedCache(temp)
	require.ErrorContains(t, err, "not a private directory of this user")
	if os.Getuid() == 0 {
		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chown(dir, 65534, 65534))
		_, err = sharedCache(temp)
		require.ErrorContains(t, err, "not a private directory of this user")
	}
}

func TestCacheDirWithoutAHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("TMPDIR", t.TempDir())
	unlisted := func() string { return "" }
	dir, err := cacheDir(unlisted, "a", "b")
	require.NoError(t, err)
	assert.DirExists(t, dir)
	assert.True(t, strings.HasPrefix(dir, os.TempDir()))

	t.Setenv("GOCACHE", "")
	env, err := withCache(nil, unlisted)
	require.NoError(t, err)
	assert.Contains(t, env, "GOCACHE="+filepath.Join(filepath.Dir(filepath.Dir(dir)), "go-build"))

	home := t.TempDir()
	listed := func() string { return home }
	dir, err = cacheDir(listed, "a")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(home, ".cache", "grade", "a"), dir)
	env, err = withCache(nil, listed)
	require.NoError(t, err)
	assert.Equal(t, []string{"HOME=" + home}, env)

	t.Setenv("GOCACHE", "/theirs")
	env, err = Go{}.environ("amd64")
	require.NoError(t, err)
	assert.Equal(t, []string{"GOCACHE=/theirs"}, slices.DeleteFunc(env, func(v string) bool { return !strings.HasPrefix(v, "GOCACHE=") }))
}
