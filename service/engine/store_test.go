package engine

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/grader/results/storetest"
)

// openedStore is a store that closes its engine.
type openedStore struct{ *Store }

func (s openedStore) Close() error { return s.e.Close() }

func TestStore(t *testing.T) {
	storetest.Test(t, func(t *testing.T) func() storetest.Opened {
		dir := t.TempDir()
		return func() storetest.Opened {
			e, err := Open(t.Context(), Config{DataDir: dir, Grader: "g", Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			require.NoError(t, err)
			return openedStore{e.Store()}
		}
	})
}
