package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The key of a kept program has no flags: they are these. Who changes them has to change the
// key as well, or programs that were built with the old ones stay in use.
func TestFlagsBelongToTheKey(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	g := scriptedGo(t, `printf '%s\n' "$@" >"$0.args"; env >"$0.env"`)
	_, err := g.Compile(t.Context(), program("one"), "cmd/hello", "arm64")
	require.NoError(t, err)

	args, err := os.ReadFile(g.Command() + ".args")
	require.NoError(t, err)
	given := strings.Fields(string(args))
	i := len(given) - 2
	assert.Equal(t, "program", filepath.Base(given[i]))
	assert.Equal(t, "build -trimpath -buildvcs=false -ldflags=-s -w -o ./cmd/hello", strings.Join(append(given[:i:i], given[i+1]), " "))

	env, err := os.ReadFile(g.Command() + ".env")
	require.NoError(t, err)
	for _, one := range []string{"GOFLAGS=-mod=readonly", "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GODEBUG="} {
		assert.Contains(t, strings.Split(string(env), "\n"), one)
	}
}
