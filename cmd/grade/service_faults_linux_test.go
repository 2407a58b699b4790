package main

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader"
	"grade/grader/turn"
	"grade/service"
	"grade/service/client"
	"grade/service/people"
)

var faultUploads = flag.Int("uploads", 30, "how many submissions TestServiceUnderFaults hands in; above 30, of all exercises of this repository")

// Whatever breaks, every upload that was acknowledged has exactly one result in the end,
// with the verdict that it has to get.
func TestServiceUnderFaults(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("NOT TESTED: -short: three servers, three workers and real gradings take two minutes")
	}
	t.Parallel()
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

// perRound is how many submissions it takes to break everything once, at most.
const perRound = 34

// breakEverything breaks one part after another, each while a submission is graded.
func (w *world) breakEverything() {
	for _, phase := range []grader.Phase{grader.Vet, grader.Build, grader.Start, grader.Test} {
		w.workerKilledIn(phase)
	}
	if *faultUploads > 30 {
		w.workerKilledIn(grader.Race) // the small course has no race checks, and measures nothing
		w.workerKilledIn(grader.Measure)
	}
	w.leaderKilled()
	w.workerCutOff()
	w.serveKilled()
	w.engineGone()
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
	ctx, cancel := context.WithTimeout(w.Context(), 10*time.Minute)
	defer cancel()
	p := people.Person{Login: d.student, Name: d.student, Role: people.Student}
	var token string
	untilKept(w.T, "a student with a token", func(ctx context.Context) (err error) {
		if err = w.door.Admit(ctx, p); err == nil {
			token, err = w.door.NewToken(ctx, p, "test")
		}
		return err
	})
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

// during calls act as soon as a worker is in a phase, of an attempt that begins after this
// call; "" is any. It feeds the queue meanwhile, so that there is work.
func (w *world) during(phase grader.Phase, act func(*laborer)) *laborer {
	w.Helper()
	for len(w.heard) > 0 {
		<-w.heard
	}
	found := make(chan *laborer, 1)
	go func() {
		defer close(found)
		deadline := time.After(10 * time.Minute)
		for {
			select {
			case p := <-w.heard:
				if l := w.workers[p.Worker]; l != nil && p.Event != nil && !p.Event.Done && (phase == "" || p.Event.Phase == phase) {
					act(l)
					found <- l
					return
				}
			case <-deadline:
				return
			}
		}
	}()
	w.feed(3)
	l := <-found
	require.NotNil(w, l, "no worker was in phase %q", phase)
	return l
}

func (w *world) workerKilledIn(phase grader.Phase) {
	l := w.during(phase, func(l *laborer) { l.kill() })
	l.start()
	w.Logf("%s: killed and started again in phase %s", l.name, phase)
}

// leaderKilled kills the server that leads the log while uploads come in.
func (w *world) leaderKilled() {
	leader := ""
	eventually(w.T, 5*time.Minute, "a server leads", func() bool {
		leader = w.leader()
		return leader != ""
	})
	w.during("", func(*laborer) { w.cluster.nodes[leader].kill() })
	w.feed(2)
	eventually(w.T, 5*time.Minute, "another server leads", func() bool {
		now := w.leader()
		return now != "" && now != leader
	})
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
	l := w.during(grader.Test, func(l *laborer) { l.nats.set(silent) })
	time.Sleep(2 * patience) // this long is what is tested
	l.nats.set(whole)
	w.Logf("%s: cut off for %v", l.name, 2*patience)
}

func (w *world) serveKilled() {
	w.during("", func(*laborer) {
		w.serve.kill()
		w.serve.start()
	})
	w.feed(2)
	w.Log("serve: killed and started again")
}

// engineGone takes the Docker engine from a worker, which stops taking jobs and says why.
func (w *world) engineGone() {
	l := w.during(grader.Build, func(l *laborer) { l.docker.set(gone) })
	why := func() string {
		for _, state := range w.watch.Queue().Workers {
			if state.Name == l.name {
				return state.Why
			}
		}
		return ""
	}
	said := ""
	eventually(w.T, 5*time.Minute, "the worker takes no jobs", func() bool {
		said = why()
		return strings.Contains(strings.ToLower(said), "docker")
	})
	w.Logf("%s: without an engine it says %q", l.name, said)
	l.docker.set(whole)
	eventually(w.T, 5*time.Minute, "the worker takes jobs again", func() bool { return why() == "" })
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
	var info *jetstream.StreamInfo
	untilKept(w.T, "the results are counted", func(ctx context.Context) error {
		s, err := w.js.Stream(ctx, "log-course")
		if err == nil {
			info, err = s.Info(ctx, jetstream.WithSubjectFilter("result.course.>"))
		}
		return err
	})
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
		eventually(w.T, 5*time.Minute, "no container of "+l.name+" is left", func() bool { return len(containersOf(w.T, docker, pid)) == 0 })
	}
	assert.Equal(w, exitOK, w.serve.terminate())
}
