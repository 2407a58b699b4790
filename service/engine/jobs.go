package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"grade/grader/results"
	"grade/grader/submission"
	"grade/service"
)

// Jobs is a worker's side of the engine: it takes jobs, reads their files, and gives
// results. Its credentials allow no more.
type Jobs struct {
	names   names
	grader  string
	name    string
	log     *slog.Logger
	nc      *nats.Conn
	js      jetstream.JetStream
	closing bool // the connection is its own

	submissions, courses objects

	mu       sync.Mutex // guards what follows
	consumer jetstream.Consumer
	ackWait  time.Duration
}

// JobsConfig says whose jobs are taken, and by which worker.
type JobsConfig struct {
	Course string // see [Config]
	URL    string
	Creds  string // file with credentials; empty: none
	Grader string // of this worker; jobs for another one are left
	Name   string // of the worker; no two have the same
	Log    *slog.Logger
}

// Connect connects a worker to an engine on another machine. It goes on trying for as long
// as the context lasts: a worker may start before the engine does. The caller closes it.
func Connect(ctx context.Context, c JobsConfig) (*Jobs, error) {
	course := Config{Course: c.Course, Log: c.Log}.filled()
	nc, err := dial(ctx, course.Log, c.URL, c.Creds, c.Name, nats.CustomInboxPrefix(inbox(c.Name)))
	if err != nil {
		return nil, err
	}
	j := &Jobs{names: names{course.Course}, grader: c.Grader, name: c.Name, log: course.Log, nc: nc, closing: true}
	if err := j.open(ctx); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// inbox is where answers for a worker go. It has one of its own, so that its credentials
// can keep it from reading those of others.
func inbox(worker string) string { return "_INBOX_" + token(worker) }

// Jobs returns the worker's side for a worker in this process. It ends with the engine.
func (e *Engine) Jobs(ctx context.Context, name string) (*Jobs, error) {
	j := &Jobs{names: e.names, grader: e.config.Grader, name: name, log: e.log, nc: e.nc}
	return j, j.open(ctx)
}

// open finds what the engine has made. It waits for an engine that has not started yet.
func (j *Jobs) open(ctx context.Context) (err error) {
	if err := again(ctx, j.ask); err != nil {
		return fmt.Errorf("ask whose account it is ($JS.API.INFO): %w", err)
	}
	for what, find := range map[string]func(context.Context) error{
		"what was handed in": func(ctx context.Context) error { return j.bucket(ctx, j.names.submissions(), &j.submissions) },
		"the course":         func(ctx context.Context) error { return j.bucket(ctx, j.names.courses(), &j.courses) },
	} {
		if err := again(ctx, find); err != nil {
			return fmt.Errorf("open %s: %w", what, err)
		}
	}
	return nil
}

// ask finds out how to ask about streams: an account that has none of its own is one of
// workers, see [WorkerPermissions].
func (j *Jobs) ask(ctx context.Context) (err error) {
	if j.js, err = jetstream.New(j.nc, jetstream.WithDefaultTimeout(callTimeout)); err != nil {
		return err
	}
	if _, err = j.js.AccountInfo(ctx); errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		j.js, err = jetstream.NewWithAPIPrefix(j.nc, importedAPI, jetstream.WithDefaultTimeout(callTimeout))
	}
	return err
}

func (j *Jobs) bucket(ctx context.Context, name string, into *objects) (err error) {
	*into, err = openObjects(ctx, j.js, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = errors.Join(errNoEngine, err)
	}
	return err
}

// errNoEngine passes when the engine starts.
var errNoEngine = errors.New("the service has not started there yet")

// Name is the worker's.
func (j *Jobs) Name() string { return j.name }

// Close ends the connection, if it is its own.
func (j *Jobs) Close() error {
	if j.closing {
		j.nc.Close()
	}
	return nil
}

// ErrOtherGrader says that the engine has jobs for a grader of another version only.
var ErrOtherGrader = errors.New("the service wants a grader of another version: install the one that grade serve is of")

// Connected returns nil if the worker can take jobs, and else why not.
func (j *Jobs) Connected(ctx context.Context) error {
	_, err := j.queue(ctx)
	return err
}

// queue returns the queue of this worker's grader.
func (j *Jobs) queue(ctx context.Context) (jetstream.Consumer, error) {
	if !j.nc.IsConnected() {
		return nil, errors.New("the connection to the service is lost")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.consumer != nil {
		return j.consumer, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	c, err := j.js.Consumer(ctx, j.names.jobs(), graderToken(j.grader))
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, ErrOtherGrader
	case err != nil:
		return nil, fmt.Errorf("find the queue: %w", err)
	}
	j.consumer, j.ackWait = c, c.CachedInfo().Config.AckWait
	return c, nil
}

// lost makes the next call look for the queue again.
func (j *Jobs) lost() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.consumer = nil
}

// wait is how long the engine waits for a silent worker.
func (j *Jobs) wait() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ackWait
}

// Next waits for a job for at most a time; nil: there was none.
func (j *Jobs) Next(ctx context.Context, within time.Duration) (*Taken, error) {
	queue, err := j.queue(ctx)
	if err != nil {
		return nil, err
	}
	m, err := queue.Next(jetstream.FetchMaxWait(within))
	switch {
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, jetstream.ErrNoMessages):
		return nil, nil
	case err != nil:
		j.lost() // the engine may have another grader now, or a leader is being chosen
		return nil, fmt.Errorf("take a job: %w", err)
	}
	return j.taken(m)
}

// taken reads a job. One that cannot be understood ends: no worker will understand it.
func (j *Jobs) taken(m jetstream.Msg) (*Taken, error) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	t := &Taken{jobs: j, message: m, Tries: int(meta.NumDelivered)}
	if err := json.Unmarshal(m.Data(), &t.Job); err != nil || t.Job.Schema != service.JobSchema {
		return nil, errors.Join(fmt.Errorf("job %d is not of the kind %s", meta.Sequence.Stream, service.JobSchema), err, m.Term())
	}
	if t.Job.Grader != j.grader { // its subject is cut, and may stand for two graders
		return nil, errors.Join(ErrOtherGrader, m.NakWithDelay(j.wait()))
	}
	return t, nil
}

// Announce tells the engine how the worker is.
func (j *Jobs) Announce(w service.WorkerState) error {
	w.Name, w.Grader = j.name, j.grader
	return j.tell(j.names.subject(kindWorker, token(j.name)), w)
}

func (j *Jobs) tell(subject string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return j.nc.Publish(subject, data)
}

// Course opens the files of a course that a job names.
func (j *Jobs) Course(ctx context.Context, hash string) (fs.FS, error) {
	data, err := j.courses.get(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("read the course: %w", err)
	}
	return unpackedCourse(data, hash)
}

// Taken is a job that a worker has. It ends by Give, Fail or Return; a worker that ends
// without does not keep the job for longer than the engine waits.
type Taken struct {
	Job   service.Job
	Tries int // how often it was given out, this time included

	jobs    *Jobs
	message jetstream.Msg
}

// Snapshot returns what was handed in.
func (t *Taken) Snapshot(ctx context.Context) (*submission.Snapshot, error) {
	data, err := t.jobs.submissions.get(ctx, t.Job.Content)
	if err != nil {
		return nil, fmt.Errorf("read a submission: %w", err)
	}
	s, err := unpacked(data, handIn{t.Job.Dir, t.Job.Content, t.Job.Ignored, t.Job.Problems})
	if err != nil {
		return nil, fmt.Errorf("read a submission: %w", err)
	}
	return s, nil
}

// Keep keeps the job until the context ends.
func (t *Taken) Keep(ctx context.Context) {
	const beats = 5 // in one wait: some may be lost
	tick := time.NewTicker(t.jobs.wait() / beats)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := t.message.InProgress(); err != nil {
				t.jobs.log.Warn("a job could not be kept", "job", t.Job.ID(), "because", err)
			}
		}
	}
}

// Tell tells how the job goes. Nothing is stored, and nothing waits for it.
func (t *Taken) Tell(p service.Progress) {
	p.Student, p.Exercise, p.Number, p.Worker, p.At = t.Job.Student, t.Job.Exercise, t.Job.Number, t.jobs.name, time.Now().UTC()
	if err := t.jobs.tell(t.subject(kindProgress), p); err != nil {
		t.jobs.log.Warn("progress is not told", "job", t.Job.ID(), "because", err)
	}
}

func (t *Taken) subject(kind string) string {
	return t.jobs.names.numbered(kind, cellID{t.Job.Student, t.Job.Exercise}, t.Job.Number)
}

// ErrSecond says that the attempt has a result already: another worker was given the job
// while this one was thought dead. The other result holds.
var ErrSecond = errors.New("the attempt has a result already")

// Give gives the result of the job. The error is [ErrSecond] if it comes second. It is
// repeated while the service cannot be reached, for as long as the context lasts.
func (t *Taken) Give(ctx context.Context, r results.Record) error {
	r.Schema, r.Student, r.Exercise, r.Attempt = results.RecordSchema, t.Job.Student, t.Job.Exercise, t.Job.Number
	r.Submitted, r.Source, r.Content, r.Path = t.Job.Submitted, t.Job.Source, t.Job.Content, t.Job.Dir
	err := t.publish(ctx, t.subject(kindResult), r, &t.Job.After)
	if errors.Is(err, errConflict) {
		return errors.Join(ErrSecond, t.end(ctx))
	}
	if err != nil {
		return fmt.Errorf("give a result: %w", err)
	}
	return t.end(ctx)
}

// Fail says that the job cannot be graded, and ends it.
func (t *Taken) Fail(ctx context.Context, why, told string) error {
	f := failureEntry{Schema: failureSchema, Why: why, Told: told, Worker: t.jobs.name, At: time.Now().UTC()}
	if err := t.publish(ctx, t.subject(kindFailure), f, nil); err != nil {
		return fmt.Errorf("say why there is no verdict: %w", err)
	}
	return t.end(ctx)
}

// publish keeps a message, however long the service cannot be reached.
func (t *Taken) publish(ctx context.Context, subject string, v any, expected *uint64) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if limit := t.jobs.nc.MaxPayload(); int64(len(data)) > limit {
		return fmt.Errorf("%d bytes are more than the %d that the service takes", len(data), limit)
	}
	for {
		_, err := publish(ctx, t.jobs.js, subject, data, expected)
		if err == nil || errors.Is(err, errConflict) || !passing(err) || ctx.Err() != nil {
			return err
		}
	}
}

// end acknowledges the job. If that is lost, the job is given out once more, and its second
// result is refused.
func (t *Taken) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := t.message.DoubleAck(ctx); err != nil {
		t.jobs.log.Warn("the end of a job is not known to be heard", "job", t.Job.ID(), "because", err)
	}
	return nil
}

// Return gives the job back, to be taken by any worker after a pause.
func (t *Taken) Return(pause time.Duration) error {
	t.Tell(service.Progress{Stage: service.Waiting})
	back := t.message.Nak
	if pause > 0 {
		back = func() error { return t.message.NakWithDelay(pause) }
	}
	err := back()
	if err == nil {
		err = t.jobs.nc.FlushTimeout(callTimeout)
	}
	if err != nil {
		return fmt.Errorf("give a job back: %w", err)
	}
	return nil
}
