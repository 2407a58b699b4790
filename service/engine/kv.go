package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"grade/service"
)

// KV is a bucket of small values that are kept for good, or for a time.
type KV struct {
	js     jetstream.JetStream
	bucket jetstream.KeyValue
	stream jetstream.Stream // that the bucket is in
	name   string
}

// KV opens a bucket, or makes it. Its name is of letters, digits, - and _; a key may be any
// text.
func (e *Engine) KV(ctx context.Context, bucket string) (*KV, error) {
	if err := checkPlain(bucket); err != nil {
		return nil, fmt.Errorf("open a bucket: %w", err)
	}
	k := &KV{js: e.js, name: e.names.bucket(bucket)}
	replicas, err := e.replicas(ctx)
	if err != nil {
		return nil, err
	}
	err = e.create(ctx, k.name, func(ctx context.Context) error {
		err := e.ensureBucket(ctx, "KV_"+k.name, replicas, func() error {
			_, err := e.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
				Bucket: k.name, Storage: jetstream.FileStorage, Replicas: replicas, History: 1,
				LimitMarkerTTL: time.Minute, // lets single values end; their deletion is remembered so long
			})
			return err
		})
		if err == nil {
			k.stream, err = bucketStream(ctx, e.js, "KV_"+k.name)
		}
		if err == nil {
			k.bucket, err = e.js.KeyValue(ctx, k.name)
		}
		return err
	})
	return k, err
}

// Get returns a value, or [service.ErrNotFound].
func (k *KV) Get(ctx context.Context, key string) (service.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	var found jetstream.KeyValueEntry
	err := again(ctx, func(ctx context.Context) (err error) {
		found, err = k.bucket.Get(ctx, token(key))
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return service.Entry{}, service.ErrNotFound
	}
	if err != nil {
		return service.Entry{}, fmt.Errorf("get from %s: %w", k.name, err)
	}
	return service.Entry{Value: found.Value(), Revision: found.Revision()}, nil
}

// Put keeps a value for a time, or for good if the time is 0, and returns its revision. The
// server counts whole seconds.
func (k *KV) Put(ctx context.Context, key string, value []byte, ttl time.Duration) (uint64, error) {
	return k.put(ctx, key, value, ttl)
}

// Create keeps a value if there is none, or returns [service.ErrConflict].
func (k *KV) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (uint64, error) {
	last, err := k.last(ctx, key)
	switch {
	case err != nil:
		return 0, fmt.Errorf("get from %s: %w", k.name, err)
	case last != nil && !deleted(last):
		return 0, service.ErrConflict
	case last != nil:
		return k.Update(ctx, key, value, last.Sequence, ttl)
	}
	return k.Update(ctx, key, value, 0, ttl)
}

// last returns the last message of a key, which may say that its value was deleted; nil:
// there is none. The bucket's own History makes a consumer, which waits for ever after the
// server that it was made on is killed.
func (k *KV) last(ctx context.Context, key string) (m *jetstream.RawStreamMsg, err error) {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	err = again(ctx, func(ctx context.Context) (err error) {
		m, err = k.stream.GetLastMsgForSubject(ctx, k.subject(key))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	return m, err
}

// deleted reports whether a message says that a value is no more: by its deletion, or by
// the end of its time.
func deleted(m *jetstream.RawStreamMsg) bool {
	return m.Header.Get("KV-Operation") != "" || m.Header.Get("Nats-Marker-Reason") != ""
}

func (k *KV) subject(key string) string { return "$KV." + k.name + "." + token(key) }

// Update replaces a value of a revision, or returns [service.ErrConflict].
func (k *KV) Update(ctx context.Context, key string, value []byte, revision uint64, ttl time.Duration) (uint64, error) {
	seq, err := k.put(ctx, key, value, ttl, jetstream.WithExpectLastSequencePerSubject(revision))
	if isConflict(err) {
		err = service.ErrConflict
	}
	return seq, err
}

// writeHeader has what tells one write from all others.
const writeHeader = "Grade-Write"

// put publishes to the bucket's stream: its own Put has no time to live. A write whose
// acknowledgement is lost is repeated, and finds itself in its way: it has succeeded then.
func (k *KV) put(ctx context.Context, key string, value []byte, ttl time.Duration, options ...jetstream.PublishOpt) (seq uint64, err error) {
	if ttl > 0 {
		options = append(options, jetstream.WithMsgTTL(max(time.Second, ttl.Round(time.Second))))
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	m, id, calls := &nats.Msg{Subject: k.subject(key), Data: value}, rand.Text(), 0
	err = again(ctx, func(ctx context.Context) error {
		calls++
		m.Header = nats.Header{writeHeader: {id}}
		ack, err := k.js.PublishMsg(ctx, m, options...)
		if err == nil {
			seq = ack.Sequence
		}
		return err
	})
	if isConflict(err) && calls > 1 {
		if last, failed := k.last(ctx, key); failed == nil && last != nil && last.Header.Get(writeHeader) == id {
			return last.Sequence, nil
		}
	}
	if err != nil && !isConflict(err) {
		err = fmt.Errorf("keep in %s: %w", k.name, err)
	}
	return seq, err
}

// Delete removes a value; one that is not there, too.
func (k *KV) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	err := again(ctx, func(ctx context.Context) error { return k.bucket.Delete(ctx, token(key)) })
	if err != nil {
		return fmt.Errorf("delete from %s: %w", k.name, err)
	}
	return nil
}

// Keys lists the keys that have a value, sorted.
func (k *KV) Keys(ctx context.Context) (list []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	err = again(ctx, func(ctx context.Context) error {
		lister, err := k.bucket.ListKeys(ctx)
		if err != nil {
			return err
		}
		list = nil
		for t := range lister.Keys() {
			if key, err := nameOf(t); err == nil {
				list = append(list, key)
			}
		}
		return ctx.Err() // the list ends with it, and is not whole then
	})
	if err != nil {
		return nil, fmt.Errorf("list the keys of %s: %w", k.name, err)
	}
	slices.Sort(list)
	return list, nil
}
