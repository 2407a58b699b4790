package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// callTimeout bounds one call to the server, keepTimeout keeping one thing with all its
// repetitions: while a cluster chooses a leader, calls fail for some seconds.
const (
	callTimeout = 5 * time.Second
	keepTimeout = 30 * time.Second
)

// createStreams makes what a course needs of streams, unless it is there.
func (e *Engine) createStreams(ctx context.Context) error {
	replicas, err := e.replicas(ctx)
	if err != nil {
		return err
	}
	var subjects []string
	for _, kind := range kept {
		subjects = append(subjects, e.names.all(kind))
	}
	for _, c := range []jetstream.StreamConfig{
		{Name: e.names.log(), Subjects: subjects, Description: "what was handed in, and its results"},
		{Name: e.names.jobs(), Subjects: []string{e.names.all(kindJob)}, Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Description: "attempts that wait for a worker"},
		{Name: e.names.drafts(), Subjects: []string{e.names.all(kindDraft)}, MaxMsgsPerSubject: 1, Description: "results of a regrade that do not hold yet"},
	} {
		c.Storage, c.Replicas = jetstream.FileStorage, replicas
		if err := e.create(ctx, c.Name, func(ctx context.Context) error { return e.ensureStream(ctx, c) }); err != nil {
			return err
		}
	}
	if !e.config.Visit {
		if err := e.createConsumer(ctx); err != nil {
			return err
		}
	}
	if e.submissions, err = e.createObjects(ctx, e.names.submissions(), replicas); err != nil {
		return err
	}
	e.courses, err = e.createObjects(ctx, e.names.courses(), replicas)
	return err
}

// ensureStream makes a stream, or makes it what this version wants. It is kept no fewer times
// than it is: while one of three servers is down, the others do not name it.
func (e *Engine) ensureStream(ctx context.Context, c jetstream.StreamConfig) error {
	s, err := e.js.Stream(ctx, c.Name)
	switch {
	case err == nil && e.config.Visit:
		return nil
	case err == nil:
		c.Replicas = max(c.Replicas, s.CachedInfo().Config.Replicas)
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return err
	}
	_, err = e.js.CreateOrUpdateStream(ctx, c)
	return err
}

// ensureBucket makes a bucket and its stream, unless it is there, and has reads go to the
// stream's leader. Buckets are made so that any replica answers, and one that is behind does
// not have yet what was acknowledged: a session would be unknown on the page after the
// sign-in.
func (e *Engine) ensureBucket(ctx context.Context, stream string, replicas int, make func() error) error {
	s, err := e.js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if err = make(); err == nil {
			s, err = e.js.Stream(ctx, stream)
		}
	}
	if err != nil {
		return err
	}
	c := s.CachedInfo().Config
	if !c.AllowDirect && (e.config.Visit || c.Replicas >= replicas) {
		return nil
	}
	c.AllowDirect, c.Replicas = false, max(replicas, c.Replicas)
	_, err = e.js.UpdateStream(ctx, c)
	return err
}

// bucketStream opens the stream of a bucket. Whoever opens the bucket opens this first: a
// bucket that was opened while any replica answered would ask them for ever, and none
// answers any more.
func bucketStream(ctx context.Context, js jetstream.JetStream, name string) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, name)
	if err == nil && s.CachedInfo().Config.AllowDirect {
		err = errNoEngine
	}
	return s, err
}

// create makes one thing; while a cluster chooses its leader, it tries again.
func (e *Engine) create(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	if err := again(ctx, do); err != nil {
		return fmt.Errorf("create %s: %w", what, err)
	}
	return nil
}

// createConsumer makes the queue's one consumer for jobs of this grader. Those of other
// graders go, with their jobs: they are queued anew, for this one.
func (e *Engine) createConsumer(ctx context.Context) error {
	mine := graderToken(e.config.Grader)
	return e.create(ctx, "the queue's consumer", func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, e.names.jobs())
		if err != nil {
			return err
		}
		for name := range allOf(s.ConsumerNames(ctx).Name()) {
			if name == mine {
				continue
			}
			if err := s.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
				return err
			}
			if err := s.Purge(ctx, jetstream.WithPurgeSubject(e.names.subject(kindJob, name, ">"))); err != nil {
				return err
			}
		}
		_, err = s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: mine, AckPolicy: jetstream.AckExplicitPolicy, AckWait: e.config.AckWait, MaxDeliver: -1,
			FilterSubject: e.names.subject(kindJob, mine, ">"),
		})
		return err
	})
}

// allOf ranges over a channel.
func allOf[T any](c <-chan T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for x := range c {
			if !yield(x) {
				return
			}
		}
	}
}

// replicas returns on how many servers things are kept.
func (e *Engine) replicas(ctx context.Context) (int, error) {
	if e.config.Replicas > 0 || e.server != nil {
		return max(1, e.config.Replicas), nil
	}
	if err := e.create(ctx, "what a course is kept in", func(ctx context.Context) error { // a cluster that has just started has no leader yet
		_, err := e.js.AccountInfo(ctx)
		return err
	}); err != nil {
		return 0, fmt.Errorf("%w; JetStream has to be enabled for this account of the cluster, and most of its servers have to be up", err)
	}
	const most = 3
	if len(e.nc.DiscoveredServers())+1 >= most || len(strings.Split(e.config.NATS, ",")) >= most {
		return most, nil
	}
	return 1, nil
}

// errConflict says that the log holds another message than was expected.
var errConflict = errors.New("something else was kept meanwhile")

// publish keeps a message, and returns its sequence when it is on the disk. With expected,
// it does so only if the last message of the subject has that sequence; else the error is
// errConflict.
func publish(ctx context.Context, js jetstream.JetStream, subject string, data []byte, expected *uint64) (seq uint64, err error) {
	var options []jetstream.PublishOpt
	if expected != nil {
		options = append(options, jetstream.WithExpectLastSequencePerSubject(*expected))
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	err = again(ctx, func(ctx context.Context) error {
		ack, err := js.Publish(ctx, subject, data, options...)
		if err == nil {
			seq = ack.Sequence
		}
		return err
	})
	if isConflict(err) {
		return 0, errConflict
	}
	return seq, err
}

func isConflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// again calls do until it succeeds, fails for good, or the context ends. Each call has a time
// of its own: what was sent to a server that went down is never answered.
func again(ctx context.Context, do func(context.Context) error) error {
	const pause = 250 * time.Millisecond
	for {
		err := timed(ctx, do)
		if err == nil || !passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

func timed(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return do(ctx)
}

// passing reports whether an error may pass: a leader is being chosen, or a server starts.
func passing(err error) bool {
	for _, e := range []error{
		nats.ErrNoResponders, nats.ErrTimeout, nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrNoStreamResponse,
		context.DeadlineExceeded, jetstream.ErrNoStreamResponse, errNoEngine,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503 && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled
}
