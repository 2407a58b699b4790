package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"grade/grader/fault"
	"grade/grader/results"
)

// drafts are results that do not hold yet, in a stream of their own: the newest of each
// key.
type drafts struct {
	s      *Store
	index  results.Index
	closed bool
}

// Drafts opens the results that do not hold yet.
func (s *Store) Drafts() (results.Drafts, error) {
	if !s.drafting.TryLock() {
		return nil, &fault.Error{Message: "open the results that do not hold yet: another regrade is using them", Advice: "wait until it has ended"}
	}
	d := &drafts{s: s}
	if err := d.read(); err != nil {
		s.drafting.Unlock()
		return nil, fmt.Errorf("open the results that do not hold yet: %w", err)
	}
	return d, nil
}

// read reads the stream.
func (d *drafts) read() error {
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	stream, err := d.s.e.js.Stream(ctx, d.s.e.names.drafts())
	if err != nil {
		return err
	}
	left := stream.CachedInfo().State.Msgs
	if left == 0 {
		return nil
	}
	c, err := d.s.e.js.OrderedConsumer(ctx, d.s.e.names.drafts(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	messages, err := c.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for ; left > 0; left-- {
		m, err := messages.Next(jetstream.NextMaxWait(keepTimeout)) // each: there may be thousands
		if err != nil {
			return err
		}
		var r results.Record
		if err := json.Unmarshal(m.Data(), &r); err != nil {
			return err
		}
		d.index.Add(r)
	}
	return nil
}

func (d *drafts) ByKey(key string) (results.Record, bool) {
	d.s.e.mu.Lock()
	defer d.s.e.mu.Unlock()
	return d.index.ByKey(key)
}

func (d *drafts) Append(r results.Record) error {
	if err := d.s.e.usable(); err != nil { // the room that is left is for results of what was handed in
		return fmt.Errorf("keep a draft: %w", err)
	}
	r.Schema = results.RecordSchema
	data, err := json.Marshal(r)
	if err == nil {
		_, err = publish(context.Background(), d.s.e.js, d.s.e.names.subject(kindDraft, token(r.Key)), data, nil)
	}
	if err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	d.s.e.mu.Lock()
	defer d.s.e.mu.Unlock()
	d.index.Add(r)
	return nil
}

func (d *drafts) Discard() error {
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	stream, err := d.s.e.js.Stream(ctx, d.s.e.names.drafts())
	if err == nil {
		err = stream.Purge(ctx)
	}
	if err != nil {
		err = fmt.Errorf("discard drafts: %w", err)
	}
	return errors.Join(err, d.Close())
}

func (d *drafts) Close() error {
	d.s.e.mu.Lock()
	defer d.s.e.mu.Unlock()
	if !d.closed {
		d.closed = true
		d.s.drafting.Unlock()
	}
	return nil
}
