package engine

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
)

// A server that cannot start says so at once, and what to mend: it would go on without the
// part that is missing, and calls to it would wait in vain.
func TestServerThatCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	occupied := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(occupied, "nats"), nil, 0o600))
	for want, c := range map[string]Config{
		"address already in use":               {DataDir: t.TempDir(), Listen: taken.Addr().String()},
		"storage directory is not a directory": {DataDir: occupied},
	} {
		begun := time.Now()
		_, err := Open(t.Context(), c)
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.Caller, fault.KindOf(err), want)
		assert.Less(t, time.Since(begun), startTimeout/2, want)
	}
}

// The room that is free when a server starts is no limit of its own.
func TestServerHasNoLimitOfItsOwn(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: t.TempDir()})
	require.NoError(t, err)
	defer e.Close()
	assert.EqualValues(t, maxStore, e.server.server.JetStreamConfig().MaxStore)
}

// An engine whose server has given up says so, and takes nothing.
func TestServerThatGaveUp(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: t.TempDir()})
	require.NoError(t, err)
	defer e.Close()
	require.NoError(t, e.Alive(t.Context()))
	require.NoError(t, e.server.server.DisableJetStream()) // as it does itself when its disk is full
	assert.ErrorContains(t, e.Alive(t.Context()), "make room")
}
