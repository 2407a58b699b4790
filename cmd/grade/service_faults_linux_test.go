package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/judge"
	"grade/grader/prove"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/client"
	"grade/service/engine"
	"grade/service/people"
)

var faultUploads = flag.Int("uploads", 30, "how many submissions TestServiceUnderFaults hands in; above 30, of all exercises of this repository")

// declared is a submission with what must come of it.
type declared struct {
	student, exercise string
	snapshot          *submission.Snapshot
	holds             func(*testing.T, *verdict.Result)
}

// world is a cluster, a service, workers, and a watcher who hears all progress.
type world struct {
	*testing.T
	cluster *cluster
	serve   *child
	workers map[string]*laborer
	watch   *engine.Engine // sees what the service sees
	js      jetstream.JetStream
	door    *people.Door
	heard   chan service.Progress

	todo []declared

	acked map[string]declared // by student and exercise

	mu   sync.Mutex // guards told
	told map[string][]service.Progress
}

// laborer is a worker's process with cables of its own to the service and to its engine.
type laborer struct {
	*child
	nats, docker *cable
}

const patience = 4 * time.Second // --worker-timeout

// Whatever breaks, every upload that was acknowledged has exactly one result in the end,
// with the verdict that it has to get.
func TestServiceUnderFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: -short: three servers, three workers and real gradings take two minutes")
	}
	engineClient(t) // skips without one
	w := newWorld(t)
	for w.breakEverything(); len(w.todo) > perRound; w.breakEverything() {
	}
	w.feed(len(w.todo))
	w.settled()
	w.exactlyOne()
	w.nothingWrongWasTold()
	w.stop()
}

// perRound is how many submissions it takes to break everything once.
const perRound = 28

// breakEverything breaks one part after another, each while a submission is graded.
func (w *world) breakEverything() {
	for _, phase := range []grader.Phase{grader.Vet, grader.Build, grader.Start, grader.Test} {
		w.workerKilledIn(phase)
	}
	if *faultUploads > 30 {
		w.workerKilledIn(grader.Measure) // the small course measures nothing
	}
	w.leaderKilled()
	w.workerCutOff()
	w.serveKilled()
	w.engineGone()
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, cluster: newCluster(t), workers: map[string]*laborer{}, heard: make(chan service.Progress, 100_000), acked: map[string]declared{}, told: map[string][]service.Progress{}}
	courseDir := w.choose()
	data, err := os.MkdirTemp("", "serve") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(data)) })
	w.serve = newChild(t, "serve", nil, "grade", "serve", "--course", courseDir, "--data", data, "--listen", "127.0.0.1:0", "--workers", "0",
		"--nats", w.cluster.url(), "--worker-timeout", patience.String())
	w.serve.start()
	w.address()
	w.observe()
	for _, name := range []string{"w1", "w2", "w3"} {
		w.employ(name, data)
	}
	eventually(t, 3*time.Minute, "three workers take jobs", func() bool { return w.taking() == 3 })
	return w
}

// address waits until the service answers, and returns where.
func (w *world) address() string {
	w.Helper()
	address := ""
	eventually(w.T, 2*time.Minute, "the service starts", func() bool {
		if all := strings.Split(w.serve.out.String(), "serving "); len(all) > 1 {
			address = addressIn("serving " + all[len(all)-1])
		}
		return address != ""
	})
	return address
}

// observe looks at the cluster beside the service, and hears what workers say.
func (w *world) observe() {
	id, err := graderID()
	require.NoError(w, err)
	w.watch, err = engine.Open(w.Context(), engine.Config{NATS: w.cluster.url(), Grader: id, AckWait: patience, Log: slog.New(slog.DiscardHandler)})
	require.NoError(w, err)
	w.Cleanup(func() { assert.NoError(w, w.watch.Close()) })
	kv, err := w.watch.KV(w.Context(), bucketPeople)
	require.NoError(w, err)
	w.door, err = people.Open(w.Context(), kv, time.Now)
	require.NoError(w, err)
	nc, err := nats.Connect(w.cluster.url(), nats.MaxReconnects(-1))
	require.NoError(w, err)
	w.Cleanup(nc.Close)
	w.js, err = jetstream.New(nc)
	require.NoError(w, err)
	_, err = nc.Subscribe("progress.course.>", func(m *nats.Msg) {
		var p service.Progress
		if json.Unmarshal(m.Data, &p) == nil {
			w.heard <- p
		}
	})
	require.NoError(w, err)
}

// employ starts a worker with cables of its own.
func (w *world) employ(name, dir string) {
	host := engineClient(w.T).DaemonHost()
	socket, ok := strings.CutPrefix(host, "unix://")
	require.True(w, ok, "the engine listens on a socket of this machine: %s", host)
	l := &laborer{
		nats:   newCable(w.T, "tcp", "127.0.0.1:0", w.cluster.clients...),
		docker: newCable(w.T, "unix", filepath.Join(dir, name+".sock"), socket),
	}
	l.child = newChild(w.T, name, []string{"DOCKER_HOST=unix://" + filepath.Join(dir, name+".sock")},
		"grade", "work", "--nats", "nats://"+l.nats.address(), "--name", name, "--workers", "1")
	w.workers[name] = l
	l.start()
}

func (w *world) taking() (n int) {
	for _, state := range w.watch.Queue().Workers {
		if state.Takes() {
			n++
		}
	}
	return n
}

// feed hands in some more submissions, each by a student with a token, until the service
// acknowledges it.
func (w *world) feed(n int) {
	w.Helper()
	n = min(n, len(w.todo))
	batch := w.todo[:n]
	w.todo = w.todo[n:]
	for _, d := range batch {
		w.handIn(d)
	}
}

func (w *world) handIn(d declared) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	p := people.Person{Login: d.student, Name: d.student, Role: people.Student}
	require.NoError(w, w.door.Admit(ctx, p))
	token, err := w.door.NewToken(ctx, p, "test")
	require.NoError(w, err)
	w.follow(d)
	for {
		c, err := client.New(w.address(), token)
		require.NoError(w, err)
		a, err := c.HandIn(ctx, d.exercise, d.snapshot)
		if err == nil {
			require.Equal(w, 1, a.Number, "a repeated upload is the same attempt")
			w.acked[d.student+" "+d.exercise] = d
			return
		}
		if refused := (*client.Refusal)(nil); errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests {
			require.NoError(w, err, "%s %s", d.student, d.exercise)
		}
		require.NoError(w, ctx.Err(), "hand in: %v", err)
		time.Sleep(100 * time.Millisecond) // the service is down, or a leader is being chosen
	}
}

// follow keeps all that is told of a student's work.
func (w *world) follow(d declared) {
	key := d.student + " " + d.exercise
	follow := w.watch.Follow(w.Context(), d.student, d.exercise)
	go func() {
		for p := range follow {
			w.mu.Lock()
			w.told[key] = append(w.told[key], p)
			w.mu.Unlock()
		}
	}()
}

// during waits until a worker is in a phase, of an attempt that begins after this call;
// "" is any. It feeds the queue, so that there is work.
func (w *world) during(phase grader.Phase) *laborer {
	w.Helper()
	for len(w.heard) > 0 {
		<-w.heard
	}
	w.feed(3)
	deadline := time.After(3 * time.Minute)
	for {
		select {
		case p := <-w.heard:
			if l := w.workers[p.Worker]; l != nil && p.Event != nil && !p.Event.Done && (phase == "" || p.Event.Phase == phase) {
				return l
			}
		case <-deadline:
			require.FailNow(w, fmt.Sprintf("no worker was in phase %q", phase))
		}
	}
}

func (w *world) workerKilledIn(phase grader.Phase) {
	l := w.during(phase)
	l.kill()
	l.start()
	w.Logf("%s: killed and started again in phase %s", l.name, phase)
}

// leaderKilled kills the server that leads the log while uploads come in.
func (w *world) leaderKilled() {
	w.during("")
	leader := w.leader()
	w.cluster.nodes[leader].kill()
	w.feed(2)
	eventually(w.T, time.Minute, "another server leads", func() bool { now := w.leader(); return now != "" && now != leader })
	w.cluster.nodes[leader].start()
	w.Logf("%s: killed while it led, and started again", leader)
}

func (w *world) leader() string {
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
	defer cancel()
	s, err := w.js.Stream(ctx, "log-course")
	if err != nil || s.CachedInfo().Cluster == nil {
		return ""
	}
	return s.CachedInfo().Cluster.Leader
}

// workerCutOff cuts a worker off for longer than the wait, while it grades. It comes back
// with its result after the job was given to another one.
func (w *world) workerCutOff() {
	l := w.during(grader.Test)
	l.nats.set(silent)
	time.Sleep(2 * patience) // this long is what is tested
	l.nats.set(whole)
	w.Logf("%s: cut off for %v", l.name, 2*patience)
}

func (w *world) serveKilled() {
	w.during("")
	w.serve.kill()
	w.serve.start()
	w.feed(2)
	w.Log("serve: killed and started again")
}

// engineGone takes the Docker engine from a worker, which stops taking jobs and says why.
func (w *world) engineGone() {
	l := w.during(grader.Build)
	why := func() string {
		for _, state := range w.watch.Queue().Workers {
			if state.Name == l.name {
				return state.Why
			}
		}
		return ""
	}
	l.docker.set(gone)
	eventually(w.T, time.Minute, "the worker takes no jobs", func() bool { return why() != "" && why() != "it is starting" })
	assert.Contains(w, strings.ToLower(why()), "docker")
	w.Logf("%s: without an engine it says %q", l.name, why())
	l.docker.set(whole)
	eventually(w.T, time.Minute, "the worker takes jobs again", func() bool { return why() == "" })
}

// settled waits until every acknowledged upload has a result.
func (w *world) settled() {
	w.Helper()
	eventually(w.T, 5*time.Minute+time.Duration(len(w.acked))*20*time.Second, "every upload has a result", func() bool {
		for _, d := range w.acked {
			if a, ok := w.watch.Attempt(d.student, d.exercise, 1); !ok || a.Stage != service.Graded {
				return false
			}
		}
		return true
	})
}

// exactlyOne counts the results that the stream holds, and compares them with what was
// declared.
func (w *world) exactlyOne() {
	s, err := w.js.Stream(w.Context(), "log-course")
	require.NoError(w, err)
	info, err := s.Info(w.Context(), jetstream.WithSubjectFilter("result.course.>"))
	require.NoError(w, err)
	assert.Len(w, info.State.Subjects, len(w.acked))
	for subject, n := range info.State.Subjects {
		assert.EqualValues(w, 1, n, subject)
	}
	require.Equal(w, *faultUploads, len(w.acked))
	by := map[string]int{}
	for _, d := range w.acked {
		a, ok := w.watch.Attempt(d.student, d.exercise, 1)
		require.True(w, ok)
		d.holds(w.T, a.Record.Result)
		by[a.Worker]++
	}
	w.Logf("results by worker: %v", by)
}

// nothingWrongWasTold looks at all that followers have heard.
func (w *world) nothingWrongWasTold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, list := range w.told {
		graded := false
		for _, p := range list {
			assert.NotEqual(w, service.NoVerdict, p.Stage, key)
			assert.NotEqual(w, service.Replaced, p.Stage, key)
			assert.False(w, graded && p.Stage != service.Graded, "%s: %s after it was graded", key, p.Stage)
			graded = graded || p.Stage == service.Graded
		}
		assert.True(w, graded, "%s: its follower was not told of the result", key)
	}
}

// stop ends all programs, and looks for what they have left.
func (w *world) stop() {
	docker := engineClient(w.T)
	for _, l := range w.workers {
		pid := l.cmd.Process.Pid
		assert.Equal(w, exitOK, l.terminate(), l.name)
		eventually(w.T, time.Minute, "no container of "+l.name+" is left", func() bool { return len(containersOf(w.T, docker, pid)) == 0 })
	}
	assert.Equal(w, exitOK, w.serve.terminate())
}

// choose fills the list of what is handed in, and returns the course.
func (w *world) choose() (dir string) {
	if *faultUploads > 30 {
		return w.chooseShipped()
	}
	dir = sampleCourse(w.T)
	all, broken, err := course.Open(course.Folder(dir)).LoadAll()
	require.NoError(w, err)
	require.Empty(w, broken)
	for i := range *faultUploads {
		e := all[i%len(all)]
		w.todo = append(w.todo, declaredOf(w.T, e, i))
	}
	return dir
}

// declaredOf makes a submission of an exercise of the sample course: right, wrong, refused
// or one that does not compile, in turn.
func declaredOf(t *testing.T, e *course.Exercise, i int) declared {
	t.Helper()
	var files []submission.File
	for _, f := range e.Reference {
		files = append(files, submission.File{Name: f.Name, Data: append(f.Data, fmt.Sprintf("\n// student %d\n", i)...)})
	}
	d := declared{student: fmt.Sprintf("s%03d", i), exercise: e.Name}
	want, score := verdict.Graded, 100
	switch i / 2 % 5 {
	case 1:
		for _, f := range e.Starter {
			if !strings.HasSuffix(f.Name, "_test.go") {
				files, score = []submission.File{{Name: f.Name, Data: f.Data}}, 0
			}
		}
	case 2:
		files[0].Data = append(files[0].Data, "\nvar _ int = \"\"\n"...)
		want, score = verdict.CompileError, 0
	case 3:
		files[0].Data = []byte("package " + e.Package + "\n\nimport _ \"net\"\n")
		want, score = verdict.Invalid, 0
	}
	d.snapshot = submission.Of("upload", files)
	d.holds = func(t *testing.T, r *verdict.Result) {
		t.Helper()
		assert.Equal(t, want, r.Verdict, "%s %s", d.student, d.exercise)
		assert.Equal(t, score, r.Score, "%s %s", d.student, d.exercise)
	}
	return d
}

// chooseShipped takes shipped submissions of all exercises of this repository, one of each
// in turn, as different ones as there are. It leaves out those that declare their verdict
// beside another's, and those of which not every file can be sent.
func (w *world) chooseShipped() string {
	c := course.Open(os.DirFS(courseRoot))
	names, err := c.Names()
	require.NoError(w, err)
	var all [][]declared
	for _, name := range names {
		list, err := fixture.Load(c, name)
		require.NoError(w, err)
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var of []declared
		for _, one := range list {
			if d := shippedAs(w.T, one, name, len(of)); one.Expect.Twin == "" && len(d.snapshot.Problems) == 0 {
				of = append(of, d)
			}
		}
		all = append(all, of)
	}
	for i := 0; len(w.todo) < *faultUploads; i++ {
		of := all[i%len(all)]
		require.NotEmpty(w, of, "there are not so many submissions")
		w.todo, all[i%len(all)] = append(w.todo, of[0]), of[1:]
	}
	return courseRoot
}

func shippedAs(t *testing.T, one fixture.Submission, exercise string, i int) declared {
	t.Helper()
	s, err := prove.Snapshot("upload", one.Files)
	require.NoError(t, err)
	d := declared{student: fmt.Sprintf("s%03d", i), exercise: exercise, snapshot: s}
	d.holds = func(t *testing.T, r *verdict.Result) {
		t.Helper()
		for _, m := range judge.Mismatches(one.Expect, r, nil) {
			t.Errorf("%s %s: %s", exercise, one.Name, m)
		}
	}
	return d
}
