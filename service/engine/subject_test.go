package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToken(t *testing.T) {
	for name, want := range map[string]string{
		"ada": "ada", "Ada-L_1": "Ada-L_1", "": "=", "a.b": "a=2Eb", "a b": "a=20b", "*": "=2A", ">": "=3E", "=": "=3D", "é": "=C3=A9", "\xff": "=FF",
	} {
		assert.Equal(t, want, token(name))
	}
	for _, bad := range []string{"", "=2", "=2e", "=41", "=zz", "a.b", "=2E=", " "} {
		_, err := nameOf(bad)
		assert.Error(t, err, "%q", bad)
	}
}

// Every name has one token, every token one name, and no token leaves its place in a
// subject.
func FuzzToken(f *testing.F) {
	for _, s := range []string{"", "ada", "a.b", "=", "=2E", "*", ">", "é", "\x00\xff", "名前 x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := nameOf(token(s))
		require.NoError(t, err)
		require.Equal(t, s, got)
		require.NotEmpty(t, token(s))
		require.False(t, strings.ContainsAny(token(s), ".*> \t\r\n\x00"), token(s))
		if name, err := nameOf(s); err == nil {
			require.Equal(t, s, token(name))
		}
		kind, c, n, err := parse(names{token(s)}.numbered(kindResult, cellID{s, s + "."}, 7))
		require.NoError(t, err)
		require.Equal(t, kindResult, kind)
		require.Equal(t, cellID{s, s + "."}, c)
		require.Equal(t, 7, n)
	})
}
