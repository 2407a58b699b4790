package engine

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aCluster is a server that an operator runs, with files of credentials for an account and
// for its own.
func aCluster(t *testing.T, noSync bool) (url, creds, system string) {
	t.Helper()
	s, err := startServer(Config{Course: "course", DataDir: t.TempDir(), Listen: "127.0.0.1:0", noSync: noSync, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.stop()) })
	return s.url(Config{Listen: "127.0.0.1:0"}), userOf(t, s.keys.account), userOf(t, s.keys.system)
}

// userOf returns a file of credentials of a user who may do everything in an account.
func userOf(t *testing.T, account nkeys.KeyPair) string {
	t.Helper()
	signed, pair, err := user(account, "operator", jwt.Permissions{}, time.Time{})
	require.NoError(t, err)
	seed, err := pair.Seed()
	require.NoError(t, err)
	data, err := jwt.FormatUserConfig(signed, seed)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "user.creds")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

// Users of the course's account from before the server started are refused: older versions
// gave workers some.
func TestOldUsersAreRefused(t *testing.T) {
	dir := t.TempDir()
	k, err := openKeys(filepath.Join(dir, "keys"))
	require.NoError(t, err)
	old := userOf(t, k.account)
	before := time.Now()
	require.Eventually(t, func() bool { return time.Now().Unix() > before.Unix()+2 }, time.Minute, 10*time.Millisecond, "revocations are by the second")
	c := Config{Course: "course", DataDir: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}
	s, err := startServer(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.stop()) })
	_, err = nats.Connect(s.url(c), nats.UserCredentials(old))
	require.ErrorIs(t, err, nats.ErrAuthorization)
	nc, err := nats.Connect(s.url(c), nats.UserCredentials(userOf(t, k.account)))
	require.NoError(t, err)
	nc.Close()
}

// A cluster that is seen to acknowledge before it syncs is refused; where it cannot be seen,
// the log says so.
func TestSyncIsLookedAt(t *testing.T) {
	for _, test := range []struct {
		name      string
		noSync    bool
		look      bool
		err, warn string
	}{
		{name: "syncs", look: true},
		{name: "does not sync", noSync: true, look: true, err: "acknowledges before it has synced"},
		{name: "cannot be seen", noSync: true, warn: "it cannot be seen whether the cluster syncs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			url, creds, system := aCluster(t, test.noSync)
			var log bytes.Buffer
			c := Config{NATS: url, Creds: creds, Grader: "g", Log: slog.New(slog.NewTextHandler(&log, nil))}
			if test.look {
				c.SystemCreds = system
			}
			e, err := Open(t.Context(), c)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, e.Close())
			assert.Contains(t, log.String(), test.warn)
			assert.Equal(t, test.warn != "", log.Len() > 0, log.String())
		})
	}
}

// Credentials of another account than the system's see nothing, and are told.
func TestSystemCredentialsOfAnotherAccount(t *testing.T) {
	url, creds, _ := aCluster(t, false)
	_, err := Open(t.Context(), Config{NATS: url, Creds: creds, SystemCreds: creds, Grader: "g"})
	require.ErrorContains(t, err, "system account")
}
