package engine

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
)

func TestKV(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(t.Context(), Config{DataDir: dir, Grader: "g"})
	require.NoError(t, err)
	k, err := e.KV(t.Context(), "people")
	require.NoError(t, err)
	_, err = k.Get(t.Context(), "a.b *")
	require.ErrorIs(t, err, service.ErrNotFound)
	first, err := k.Create(t.Context(), "a.b *", []byte("1"), 0)
	require.NoError(t, err)
	_, err = k.Create(t.Context(), "a.b *", []byte("2"), 0)
	require.ErrorIs(t, err, service.ErrConflict)
	second, err := k.Update(t.Context(), "a.b *", []byte("3"), first, 0)
	require.NoError(t, err)
	_, err = k.Update(t.Context(), "a.b *", []byte("4"), first, 0)
	require.ErrorIs(t, err, service.ErrConflict)
	got, err := k.Get(t.Context(), "a.b *")
	require.NoError(t, err)
	assert.Equal(t, service.Entry{Value: []byte("3"), Revision: second}, got)
	require.NoError(t, k.Delete(t.Context(), "a.b *"))
	require.NoError(t, k.Delete(t.Context(), "never there"))
	_, err = k.Get(t.Context(), "a.b *")
	require.ErrorIs(t, err, service.ErrNotFound)
	_, err = k.Create(t.Context(), "a.b *", []byte("5"), 0)
	require.NoError(t, err, "after it was deleted")
	_, err = k.Put(t.Context(), "short", []byte("x"), time.Second)
	require.NoError(t, err)
	_, err = k.Put(t.Context(), "long", []byte("x"), time.Hour)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := k.Get(t.Context(), "short")
		return err == service.ErrNotFound
	}, time.Minute, 20*time.Millisecond, "its time has ended")
	_, err = k.Create(t.Context(), "short", []byte("y"), 0)
	require.NoError(t, err, "after its time")
	_, err = e.KV(t.Context(), "people and more")
	require.ErrorContains(t, err, "letters, digits")
	keys, err := k.Keys(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"a.b *", "long", "short"}, keys)
	require.NoError(t, e.Close())

	e, err = Open(t.Context(), Config{DataDir: dir, Grader: "g"})
	require.NoError(t, err)
	defer e.Close()
	k, err = e.KV(t.Context(), "people")
	require.NoError(t, err)
	got, err = k.Get(t.Context(), "a.b *")
	require.NoError(t, err)
	assert.Equal(t, "5", string(got.Value))
}

// forgetful publishes, and loses the first acknowledgement.
type forgetful struct {
	jetstream.JetStream
	lost bool
}

func (f *forgetful) PublishMsg(ctx context.Context, m *nats.Msg, options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := f.JetStream.PublishMsg(ctx, m, options...)
	if !f.lost && err == nil {
		f.lost = true
		return nil, nats.ErrTimeout
	}
	return ack, err
}

// A write whose acknowledgement is lost is not taken for another's: a link would be used up
// without a session.
func TestLostAcknowledgement(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: t.TempDir(), Grader: "g"})
	require.NoError(t, err)
	defer e.Close()
	k, err := e.KV(t.Context(), "people")
	require.NoError(t, err)
	k.js = &forgetful{JetStream: e.js}
	first, err := k.Create(t.Context(), "a", []byte("1"), 0)
	require.NoError(t, err)
	k.js = &forgetful{JetStream: e.js}
	_, err = k.Update(t.Context(), "a", []byte("2"), first, 0)
	require.NoError(t, err)
	k.js = &forgetful{JetStream: e.js, lost: true}
	_, err = k.Update(t.Context(), "a", []byte("2"), first, 0)
	require.ErrorIs(t, err, service.ErrConflict, "the same data of another write")
}

// A bucket that any replica answers for is not ready: what opened it would ask the replicas
// for ever, and none answers once its reads go to the leader.
func TestBucketThatIsBeingMade(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: t.TempDir(), Grader: "g"})
	require.NoError(t, err)
	defer e.Close()
	_, err = e.KV(t.Context(), "people")
	require.NoError(t, err)
	for _, stream := range []string{"OBJ_" + e.names.submissions(), "KV_" + e.names.bucket("people")} {
		s, err := e.js.Stream(t.Context(), stream)
		require.NoError(t, err)
		c := s.CachedInfo().Config
		require.False(t, c.AllowDirect, "%s asks its leader", stream)
		c.AllowDirect = true // as between the two steps in which another service makes it
		_, err = e.js.UpdateStream(t.Context(), c)
		require.NoError(t, err)
	}
	_, err = openObjects(t.Context(), e.js, e.names.submissions())
	require.ErrorIs(t, err, errNoEngine)

	o, err := e.createObjects(t.Context(), e.names.submissions(), 1)
	require.NoError(t, err)
	require.NoError(t, o.put(t.Context(), "hash", func() ([]byte, error) { return []byte("data"), nil }))
	o, err = openObjects(t.Context(), e.js, e.names.submissions())
	require.NoError(t, err)
	data, err := o.get(t.Context(), "hash")
	require.NoError(t, err)
	assert.Equal(t, "data", string(data))
	k, err := e.KV(t.Context(), "people")
	require.NoError(t, err)
	_, err = k.Put(t.Context(), "ada", []byte("x"), 0)
	require.NoError(t, err)
	got, err := k.Get(t.Context(), "ada")
	require.NoError(t, err)
	assert.Equal(t, "x", string(got.Value))
}
