package docker

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeEngine has containers, and removes them within a time.
type fakeEngine struct {
	containers []container.Summary
	takes      time.Duration
	removed    []string
}

func (f *fakeEngine) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Request: r, Body: http.NoBody, Header: http.Header{"Content-Type": {"application/json"}}}
	if r.Method == http.MethodDelete {
		select {
		case <-time.After(f.takes):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		f.removed = append(f.removed, path.Base(r.URL.Path))
		answer.StatusCode = http.StatusNoContent
		return answer, nil
	}
	list, err := json.Marshal(f.containers)
	answer.Body = io.NopCloser(bytes.NewReader(list))
	return answer, err
}

// opened is what Open makes of the fake engine.
func (f *fakeEngine) opened(t *testing.T) *Engine {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHTTPClient(&http.Client{Transport: f}), client.WithVersion("1.44"))
	require.NoError(t, err)
	label, err := owner()
	require.NoError(t, err)
	return &Engine{client: c, owner: label}
}

func (f *fakeEngine) has(id, label string, created time.Time) {
	f.containers = append(f.containers, container.Summary{ID: id, Created: created.Unix(), Labels: map[string]string{OwnerLabel: label}})
}

// Close removes what is left of its own, and nothing of another engine's that the same process
// has open.
func TestCloseRemovesItsOwn(t *testing.T) {
	f := &fakeEngine{}
	e, other := f.opened(t), f.opened(t)
	f.has("own", e.owner, time.Now())
	f.has("other", other.owner, time.Now())
	require.NoError(t, e.Close())
	assert.Equal(t, []string{"own"}, f.removed)
	boot, err := bootID()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(other.owner, boot+" "))
	assert.False(t, orphaned(other.owner, boot, time.Time{}, time.Now()), "its process lives")
}

// A busy engine takes a while to remove a container, which nothing would remove later.
func TestSlowRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeEngine{takes: time.Minute}
		b := &box{engine: f.opened(t), id: "slow"}
		b.engine.closing.Go(b.remove)
		b.engine.settle()
		assert.Equal(t, []string{"slow"}, f.removed)
	})
}

// How old a container is, the engine's clock says, and not this machine's.
func TestStraysAreOldByTheEnginesClock(t *testing.T) {
	for _, ahead := range []time.Duration{-48 * time.Hour, 0, 48 * time.Hour} {
		f := &fakeEngine{}
		e := f.opened(t)
		now := time.Now().Add(ahead)
		e.info.SystemTime = now.Format(time.RFC3339Nano)
		f.has("new", "other 1 1", now.Add(-strayAge/2))
		f.has("old", "other 1 1", now.Add(-2*strayAge))
		require.NoError(t, e.sweep(t.Context()))
		assert.Equal(t, []string{"old"}, f.removed, ahead)
	}
	f := &fakeEngine{}
	f.has("any", "other 1 1", time.Unix(0, 0))
	require.NoError(t, f.opened(t).sweep(t.Context()))
	assert.Empty(t, f.removed, "an engine that does not tell the time")
}
