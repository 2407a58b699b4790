package worker

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
)

// listening is an engine that takes workers over the network, and the credentials of one.
func listening(t *testing.T, worker string) (e *engine.Engine, creds string) {
	t.Helper()
	return listeningIn(t, t.TempDir(), worker)
}

// listeningIn is the same with its data in a folder.
func listeningIn(t *testing.T, dir, worker string) (e *engine.Engine, creds string) {
	t.Helper()
	e = openedWith(t, engine.Config{DataDir: dir, Listen: "127.0.0.1:0"})
	data, err := engine.WorkerCredentials(dir, "", worker, 0)
	require.NoError(t, err)
	creds = written(t, data)
	name, err := engine.WorkerOf(data)
	require.NoError(t, err)
	assert.Equal(t, worker, name)
	return e, creds
}

func written(t *testing.T, data []byte) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "worker.creds")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

// A worker on another machine does all its work with its credentials.
func TestWorkerOverTheNetwork(t *testing.T) {
	e, creds := listening(t, "lab 7.example.org")
	jobs, err := engine.Connect(t.Context(), engine.JobsConfig{URL: e.URL(), Creds: creds, Grader: "g", Name: "lab 7.example.org"})
	require.NoError(t, err)
	defer jobs.Close()
	run(t, jobs, scripted{grade: right})
	_, err = e.HandIn(t.Context(), upload("ada", "one"))
	require.NoError(t, err)
	a := await(t, e, "ada", service.Graded)
	assert.Equal(t, "lab 7.example.org", a.Worker)
	_, err = e.HandIn(t.Context(), upload("bob", "two"))
	require.NoError(t, err)
	await(t, e, "bob", service.Graded)
}

// What the credentials of a worker do not allow is refused by the server.
func TestWorkerCredentialsAllowNothingElse(t *testing.T) {
	e, creds := listening(t, "w1")
	_, err := e.HandIn(t.Context(), upload("ada", "one"))
	require.NoError(t, err)
	violations := make(chan error, 100)
	nc, err := nats.Connect(e.URL(), nats.UserCredentials(creds), nats.CustomInboxPrefix("_INBOX_w1"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violations <- err }))
	require.NoError(t, err)
	defer nc.Close()
	refused := func(what string, do func() error) {
		t.Helper()
		require.NoError(t, do(), what)
		require.NoError(t, nc.Flush())
		select {
		case err := <-violations:
			assert.ErrorIs(t, err, nats.ErrPermissionViolation, what)
		case <-time.After(time.Minute):
			t.Errorf("%s is allowed", what)
		}
	}
	for _, subject := range []string{
		"attempt.course.gears.ada", "job.course.g.gears.ada", "pending.course.gears.ada", "draft.course.key", "worker.course.w2",
		"result.another.gears.ada.1", "$KV.kv-course-people.session", "$O.submissions-course.M.x",
		"$JS.API.STREAM.DELETE.log-course", "$JS.API.STREAM.PURGE.log-course", "$JS.API.STREAM.UPDATE.log-course", "$JS.API.STREAM.CREATE.mine",
		"$JS.API.STREAM.MSG.GET.log-course", "$JS.API.STREAM.MSG.GET.KV_kv-course-people", "$JS.API.DIRECT.GET.log-course.attempt.course.gears.ada", "$JS.API.STREAM.MSG.DELETE.log-course",
		"$JS.API.STREAM.INFO.log-course", "$JS.API.STREAM.NAMES", "$JS.API.CONSUMER.CREATE.log-course", "$JS.API.CONSUMER.CREATE.log-course.mine", "$JS.API.CONSUMER.DURABLE.CREATE.log-course.mine",
		"$JS.API.CONSUMER.CREATE.jobs-course.mine", "$JS.API.CONSUMER.DELETE.jobs-course.g", "$JS.API.CONSUMER.CREATE.OBJ_submissions-course.mine", "$SYS.REQ.SERVER.PING",
	} {
		refused("publishing to "+subject, func() error { return nc.Publish(subject, []byte("{}")) })
	}
	for _, subject := range []string{">", "result.>", "progress.course.>", "worker.>", "_INBOX.>", "_INBOX_w2.>", "$JS.>"} {
		refused("reading "+subject, func() error { _, err := nc.SubscribeSync(subject); return err })
	}
	a := e.Attempts("ada", gears)
	require.Len(t, a, 1)
	assert.Equal(t, service.Waiting, a[0].Stage)
}

// The server asks nothing about where an answer is to go: a question whose answer would be a
// command of its own, or a record, changes nothing.
func TestAnswersForWorkersGoNowhereElse(t *testing.T) {
	dir := t.TempDir()
	e, creds := listeningIn(t, dir, "w1")
	_, err := e.HandIn(t.Context(), upload("ada", "one"))
	require.NoError(t, err)
	kv, err := e.KV(t.Context(), "site")
	require.NoError(t, err)
	_, err = kv.Create(t.Context(), "extensions", []byte("kept"), 0)
	require.NoError(t, err)
	nc, err := nats.Connect(e.URL(), nats.UserCredentials(creds), nats.CustomInboxPrefix("_INBOX_w1"))
	require.NoError(t, err)
	defer nc.Close()
	questions, _ := engine.WorkerPermissions("", "w1")
	filled := strings.NewReplacer(".*.*.", "._.x.", ".*", ".g", ".>", ".g.1.1.1.1.1")
	for _, question := range questions {
		if !strings.Contains(question, "API") && !strings.Contains(question, "ACK") {
			continue // news and results, which a worker may give in any case
		}
		for _, answer := range []string{
			"$JS.API.STREAM.DELETE.OBJ_submissions-course", "$JS.API.STREAM.PURGE.log-course", "$JS.API.STREAM.DELETE.log-course", "$KV.kv-course-site.extensions", "attempt.course.gears.bob",
		} {
			for _, body := range []string{"", "+WPI", "{", "{}", `{"seq":1}`} {
				require.NoError(t, nc.PublishRequest(filled.Replace(question), answer, []byte(body)))
			}
		}
	}
	_, err = nc.Request(filled.Replace(questions[1]), nil, time.Minute) // the server has seen all before it
	require.NoError(t, err)
	entry, err := kv.Get(t.Context(), "extensions")
	require.NoError(t, err)
	assert.Equal(t, "kept", string(entry.Value))
	require.NoError(t, e.Close())
	again := openedWith(t, engine.Config{DataDir: dir})
	require.Len(t, again.Attempts("ada", gears), 1, "the log is there")
	_, err = again.Source(t.Context(), "ada", gears, 1)
	require.NoError(t, err)
}

// Without credentials, or with those of another service, no worker connects.
func TestNoCredentials(t *testing.T) {
	e, _ := listening(t, "w1")
	_, other := listening(t, "w1")
	for _, creds := range []string{"", other} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := engine.Connect(ctx, engine.JobsConfig{URL: e.URL(), Creds: creds, Grader: "g", Name: "w1"})
		cancel()
		require.ErrorIs(t, err, nats.ErrAuthorization)
		require.ErrorContains(t, err, "new credentials")
	}
}

// A worker that is refused again and again, as after a service was restored without its keys,
// works on when the file has credentials that hold.
func TestNewCredentials(t *testing.T) {
	old, creds := listening(t, "w")
	way := openWay(t, old)
	jobs, err := engine.Connect(t.Context(), engine.JobsConfig{URL: way.url, Creds: creds, Grader: "g", Name: "w"})
	require.NoError(t, err)
	defer jobs.Close()
	run(t, jobs, scripted{grade: right})

	e, other := listening(t, "w")
	way.lead(e)
	before := way.taken.Load()
	require.NoError(t, old.Close())
	require.Eventually(t, func() bool { return way.taken.Load() > before+3 }, time.Minute, time.Millisecond, "it goes on trying")
	data, err := os.ReadFile(other)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(creds, data, 0o600))
	_, err = e.HandIn(t.Context(), upload("ada", "one"))
	require.NoError(t, err)
	await(t, e, "ada", service.Graded)
}

// way leads from an address to an engine, which may become another one.
type way struct {
	url   string
	taken atomic.Int64 // how often
	to    atomic.Pointer[string]
}

func openWay(t *testing.T, e *engine.Engine) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	w := &way{url: "nats://" + l.Addr().String()}
	w.lead(e)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

func (w *way) lead(e *engine.Engine) {
	address := strings.TrimPrefix(e.URL(), "nats://")
	w.to.Store(&address)
}

func (w *way) carry(c net.Conn) {
	defer c.Close()
	w.taken.Add(1)
	server, err := net.Dial("tcp", *w.to.Load())
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, c)
		server.Close()
	}()
	_, _ = io.Copy(c, server)
}

func right(_ context.Context, s *submission.Snapshot) (*verdict.Result, error) {
	return resultOf(s), nil
}

var errEngine = errors.New("the engine does not answer")
